module Face = Face

type error = Face.error

let pp_error = Face.pp_error

exception Message_too_long = Face.Message_too_long

module type Hash = sig
  type t

  val digest_string : ?off:int -> ?len:int -> string -> t
  val to_raw_string : t -> string
end

module type Random = sig
  type g

  val generate : ?g:g -> int -> string
end

module type Dh = sig
  type g
  type secret

  val secret_of_octets : ?compress:bool -> string -> (secret * string, error) result
  val secret_to_octets : secret -> string
  val gen_key : ?compress:bool -> ?g:g -> unit -> secret * string
  val key_exchange : secret -> string -> (string, error) result
end

module type Dsa = sig
  type g
  type priv
  type pub

  val byte_length : int
  val bit_length : int
  val priv_of_octets : string -> (priv, error) result
  val priv_to_octets : priv -> string
  val pub_of_octets : string -> (pub, error) result
  val pub_to_octets : ?compress:bool -> pub -> string
  val pub_of_priv : priv -> pub
  val generate : ?g:g -> unit -> priv * pub

  val sign :
    ?mask:[ `No | `Yes | `Yes_with of g ] -> key:priv -> ?k:string -> string -> string * string

  val verify : key:pub -> string * string -> string -> bool

  module K_gen (H : Hash) : sig
    val generate : key:priv -> string -> string
  end
end

module type Dh_dsa = sig
  type g

  module Dh : Dh with type g := g

  module Dsa : sig
    include Dsa with type g := g

    module Primitive : sig
      val generator : pub
      val add : pub -> pub -> pub
      val scalar_mult : priv -> pub -> pub
    end
  end
end

module type Ed25519 = sig
  type g
  type priv
  type pub

  val priv_of_octets : string -> (priv, error) result
  val priv_to_octets : priv -> string
  val pub_of_octets : string -> (pub, error) result
  val pub_to_octets : pub -> string
  val pub_of_priv : priv -> pub
  val generate : ?g:g -> unit -> priv * pub
  val sign : key:priv -> string -> string
  val verify : key:pub -> string -> msg:string -> bool
end

(* New strings are written by the stubs before anything else sees them. *)
module Octets = struct
  type t = string
  type raw = string

  let raw buffer = buffer
  let offset _ = 0
  let length = String.length
  let create length = Bytes.unsafe_to_string (Bytes.create length)
  let halves length = (create length, create length)
  let byte buffer i = Char.code (String.get buffer i)
end

module Make_with (R : Face.Random with type buffer = string) = struct
  module F = Face.Make (Octets) (R)

  module type Implementation = module type of F.P256

  module Nist (C : Implementation) = struct
    module Dh = struct
      include C.Dh

      let secret_of_octets = secret_of
      let secret_to_octets = secret_to
    end

    module Dsa = struct
      include C.Dsa

      let priv_of_octets = C.priv_of
      let priv_to_octets = C.priv_to
      let pub_of_octets = C.pub_of
      let pub_to_octets = C.pub_to
      let sign ?mask:_ ~key ?k digest = sign ~key ?k digest

      module K_gen (H : Hash) = struct
        let hash =
          let empty = H.to_raw_string (H.digest_string "") in
          Face.hash_of_empty_digest (List.map Char.code (List.of_seq (String.to_seq empty)))

        let generate ~key digest = nonce ~hash ~key digest
      end

      module Primitive = C.Primitive
    end
  end

  module P224 = Nist (F.P224)
  module P256 = Nist (F.P256)
  module P384 = Nist (F.P384)
  module P521 = Nist (F.P521)

  module X25519 = struct
    include F.X25519

    let secret_of_octets = secret_of
    let secret_to_octets = secret_to
  end

  module Ed25519 = struct
    include F.Ed25519

    let priv_of_octets = priv_of
    let priv_to_octets = priv_to
    let pub_of_octets = pub_of
    let pub_to_octets = pub_to
  end
end

module Make (R : Random) = Make_with (struct
  include R

  type buffer = string

  let number ?g ~bits:_ length = generate ?g length
end)

type g = int -> string

let system length =
  let bytes = Bytes.create length in
  if Raw.random bytes length then bytes else failwith "cycloid: the system has no random bytes"

include Make_with (struct
  type nonrec g = g
  type buffer = string

  let generate ?g length =
    match g with Some g -> g length | None -> Bytes.unsafe_to_string (system length)

  (* A callback is asked as mirage-crypto-ec asks. The system's bytes are cut to size: of the numbers
     of 528 bits, one in 128 is small enough for P-521. *)
  let number ?g ~bits length =
    match g with
    | Some g -> g length
    | None ->
        let bytes = system length in
        let first = Char.code (Bytes.get bytes 0) land (0xff lsr ((8 * length) - bits)) in
        Bytes.set bytes 0 (Char.unsafe_chr first);
        Bytes.unsafe_to_string bytes
end)
