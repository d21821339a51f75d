(* The interface on Cstruct, with views into larger buffers: nothing outside of a view is read or
   written, and the results equal those on strings. *)

open Mirage_crypto_ec

let check name condition =
  if not condition then (
    prerr_endline ("failed: " ^ name);
    exit 1)

(* A view of the text in the middle of a larger buffer. *)
let view text =
  let buffer = Cstruct.of_string ("before" ^ text ^ "after") in
  Cstruct.sub buffer 6 (String.length text)

let ok name = function Ok value -> value | Error _ -> check name false; assert false

let () =
  Mirage_crypto_rng_unix.initialize ();
  let text = String.init 32 Char.chr and digest = String.make 32 'd' in
  let key = ok "key" (P256.Dsa.priv_of_cstruct (view text)) in
  let same = ok "key" (Cycloid_ec.P256.Dsa.priv_of_octets text |> Result.map_error ignore) in
  let r, s = P256.Dsa.sign ~key (view digest) in
  check "signature"
    (Cycloid_ec.P256.Dsa.sign ~key:same digest = (Cstruct.to_string r, Cstruct.to_string s));
  let pub = P256.Dsa.pub_of_priv key in
  let r = view (Cstruct.to_string r) and s = view (Cstruct.to_string s) in
  check "verifies" (P256.Dsa.verify ~key:pub (r, s) (view digest));
  let module K = P256.Dsa.K_gen (Mirage_crypto.Hash.SHA256) in
  let k = K.generate ~key (view digest) in
  let r', s' = P256.Dsa.sign ~key ~k (view digest) in
  check "k" (Cstruct.equal r r' && Cstruct.equal s s');
  let point = view (Cstruct.to_string (P256.Dsa.pub_to_cstruct pub)) in
  check "point" (Result.is_ok (P256.Dsa.pub_of_cstruct point));
  let secret, share = P521.Dh.gen_key () and other, other_share = P521.Dh.gen_key () in
  let a = ok "a" (P521.Dh.key_exchange secret (view (Cstruct.to_string other_share))) in
  check "agreement" (Cstruct.equal a (ok "b" (P521.Dh.key_exchange other share)));
  let secret, _ = ok "X25519" (X25519.secret_of_cs (view text)) in
  let _, share = X25519.gen_key () in
  check "X25519" (Result.is_ok (X25519.key_exchange secret (view (Cstruct.to_string share))));
  let key = ok "Ed25519" (Ed25519.priv_of_cstruct (view text)) in
  let signature = view (Cstruct.to_string (Ed25519.sign ~key (view digest))) in
  check "Ed25519" (Ed25519.verify ~key:(Ed25519.pub_of_priv key) signature ~msg:(view digest));
  check "generated" (P224.Dsa.byte_length = 28 && fst (P224.Dsa.generate ()) != fst (P224.Dsa.generate ()));
  print_endline "passed"
