(* The functions of the stubs. A ['b] is a string, bytes or a bigarray of bytes; offsets and lengths
   after it are within it, which the callers ensure. Each function returns a code: 0, or that of an
   error. *)

type ec_private
type ec_public = Bytes.t
type ed_private
type ed_public = Bytes.t

external ec_private : unit -> ec_private = "cycloid_ocaml_ec_private"
external ed_private : unit -> ed_private = "cycloid_ocaml_ed_private"
external ec_public_size : unit -> int = "cycloid_ocaml_ec_public_size" [@@noalloc]
external ed_public_size : unit -> int = "cycloid_ocaml_ed_public_size" [@@noalloc]

let ec_public =
  let size = ec_public_size () in
  fun () -> Bytes.create size

let ed_public =
  let size = ed_public_size () in
  fun () -> Bytes.create size

external ec_private_of_bytes : ec_private -> int -> 'b -> int -> int -> int
  = "cycloid_ocaml_ec_private_of_bytes"
  [@@noalloc]

external ec_private_to_bytes : ec_private -> 'b -> int -> int -> int
  = "cycloid_ocaml_ec_private_to_bytes"
  [@@noalloc]

external ec_public_of_private : ec_private -> ec_public -> int
  = "cycloid_ocaml_ec_public_of_private"
  [@@noalloc]

external ec_public_of_sec1 : ec_public -> int -> 'b -> int -> int -> int
  = "cycloid_ocaml_ec_public_of_sec1"
  [@@noalloc]

external ec_public_to_sec1 : ec_public -> bool -> 'b -> int -> int -> int
  = "cycloid_ocaml_ec_public_to_sec1"
  [@@noalloc]

(* [_release] runs without the runtime lock, for operations of more than 100 us. *)

external ecdsa_sign :
  ec_private -> int -> int -> 'b -> int -> int -> 'b -> int -> 'b -> int -> bool -> int
  = "cycloid_ocaml_ecdsa_sign_bytecode" "cycloid_ocaml_ecdsa_sign"
  [@@noalloc]

external ecdsa_sign_release :
  ec_private -> int -> int -> 'b -> int -> int -> 'b -> int -> 'b -> int -> bool -> int
  = "cycloid_ocaml_ecdsa_sign_bytecode" "cycloid_ocaml_ecdsa_sign"

external ecdsa_sign_with_nonce :
  ec_private -> int -> 'b -> int -> int -> 'b -> int -> int -> 'b -> int -> 'b -> int -> int
  = "cycloid_ocaml_ecdsa_sign_with_nonce_bytecode" "cycloid_ocaml_ecdsa_sign_with_nonce"
  [@@noalloc]

external ecdsa_nonce : ec_private -> int -> int -> 'b -> int -> int -> 'b -> int -> int
  = "cycloid_ocaml_ecdsa_nonce_bytecode" "cycloid_ocaml_ecdsa_nonce"
  [@@noalloc]

external ecdsa_verify :
  ec_public -> int -> 'b -> int -> int -> 'b -> int -> int -> 'b -> int -> int -> bool -> int
  = "cycloid_ocaml_ecdsa_verify_bytecode" "cycloid_ocaml_ecdsa_verify"
  [@@noalloc]

external ecdsa_verify_release :
  ec_public -> int -> 'b -> int -> int -> 'b -> int -> int -> 'b -> int -> int -> bool -> int
  = "cycloid_ocaml_ecdsa_verify_bytecode" "cycloid_ocaml_ecdsa_verify"

external ecdh : ec_private -> int -> 'b -> int -> int -> 'b -> int -> int
  = "cycloid_ocaml_ecdh_bytecode" "cycloid_ocaml_ecdh"
  [@@noalloc]

external ecdh_release : ec_private -> int -> 'b -> int -> int -> 'b -> int -> int
  = "cycloid_ocaml_ecdh_release_bytecode" "cycloid_ocaml_ecdh_release"

external ec_generator : ec_public -> int -> int = "cycloid_ocaml_ec_generator" [@@noalloc]
external ec_add : ec_public -> ec_public -> ec_public -> int = "cycloid_ocaml_ec_add" [@@noalloc]

external ec_multiply : ec_public -> ec_private -> ec_public -> int = "cycloid_ocaml_ec_multiply"
  [@@noalloc]

external ec_multiply_release : ec_public -> ec_private -> ec_public -> int
  = "cycloid_ocaml_ec_multiply_release"

external x25519_public : 'b -> int -> 'b -> int -> int = "cycloid_ocaml_x25519_public" [@@noalloc]

external x25519_agree : 'b -> int -> 'b -> int -> 'b -> int -> int
  = "cycloid_ocaml_x25519_agree_bytecode" "cycloid_ocaml_x25519_agree"
  [@@noalloc]

external ed_private_of_seed : ed_private -> 'b -> int -> int = "cycloid_ocaml_ed_private_of_seed"
  [@@noalloc]

external ed_private_to_seed : ed_private -> 'b -> int -> int = "cycloid_ocaml_ed_private_to_seed"
  [@@noalloc]

external ed_public_of_private : ed_private -> ed_public -> int
  = "cycloid_ocaml_ed_public_of_private"
  [@@noalloc]

external ed_public_of_bytes : ed_public -> 'b -> int -> int = "cycloid_ocaml_ed_public_of_bytes"
  [@@noalloc]

external ed_public_to_bytes : ed_public -> 'b -> int -> int = "cycloid_ocaml_ed_public_to_bytes"
  [@@noalloc]

external ed_sign : ed_private -> 'b -> int -> int -> 'b -> int -> int
  = "cycloid_ocaml_ed_sign_bytecode" "cycloid_ocaml_ed_sign"
  [@@noalloc]

external ed_verify : ed_public -> 'b -> int -> 'b -> int -> int -> int
  = "cycloid_ocaml_ed_verify_bytecode" "cycloid_ocaml_ed_verify"
  [@@noalloc]

external random : Bytes.t -> int -> bool = "cycloid_ocaml_random" [@@noalloc]
