(* Cycloid and mirage-crypto-ec 0.10 in turns: the fastest of many single runs of each, in
   microseconds, so that load on the machine disturbs both alike. *)

module C = Cycloid_ec
module M = Mirage_crypto_ec

let time run count =
  let start = Unix.gettimeofday () in
  for _ = 1 to count do
    ignore (Sys.opaque_identity (run ()))
  done;
  (Unix.gettimeofday () -. start) *. 1e6 /. float_of_int count

let row name ours theirs =
  let best = Array.make 2 infinity in
  for _ = 1 to 200 do
    Array.iteri (fun i run -> best.(i) <- min best.(i) (time run 1)) [| ours; theirs |]
  done;
  Printf.printf "%-16s %8.1f %10.1f %8.1fx\n%!" name best.(0) best.(1) (best.(1) /. best.(0))

let get = function Ok value -> value | Error _ -> failwith "unexpected"

module Curve (C : C.Dh_dsa with type g := C.g) (M : M.Dh_dsa) = struct
  let run name =
    let digest = String.make 28 'd' in
    let view = Cstruct.of_string digest in
    let key, pub = C.Dsa.generate () and key', pub' = M.Dsa.generate () in
    let signature = C.Dsa.sign ~key digest and signature' = M.Dsa.sign ~key:key' view in
    let secret, _ = C.Dh.gen_key () and secret', share' = M.Dh.gen_key () in
    let share = Cstruct.to_string share' in
    row (name ^ " sign") (fun () -> C.Dsa.sign ~key digest) (fun () ->
        let r, _ = M.Dsa.sign ~key:key' view in
        (Cstruct.to_string r, ""));
    row (name ^ " verify")
      (fun () -> C.Dsa.verify ~key:pub signature digest)
      (fun () -> M.Dsa.verify ~key:pub' signature' view);
    row (name ^ " agree")
      (fun () -> get (C.Dh.key_exchange secret share))
      (fun () -> Cstruct.to_string (get (M.Dh.key_exchange secret' share')))
end

module P224 = Curve (C.P224) (M.P224)
module P256 = Curve (C.P256) (M.P256)
module P384 = Curve (C.P384) (M.P384)
module P521 = Curve (C.P521) (M.P521)

let () =
  Mirage_crypto_rng_unix.initialize ();
  Printf.printf "%-16s %8s %10s\n" "us" "Cycloid" "mirage";
  P224.run "P-224";
  P256.run "P-256";
  P384.run "P-384";
  P521.run "P-521";
  let secret, _ = C.X25519.gen_key () and secret', share' = M.X25519.gen_key () in
  let share = Cstruct.to_string share' in
  row "X25519 agree"
    (fun () -> get (C.X25519.key_exchange secret share))
    (fun () -> Cstruct.to_string (get (M.X25519.key_exchange secret' share')));
  let key, pub = C.Ed25519.generate () and key', pub' = M.Ed25519.generate () in
  let msg = String.make 28 'm' in
  let view = Cstruct.of_string msg in
  row "Ed25519 sign"
    (fun () -> C.Ed25519.sign ~key msg)
    (fun () -> Cstruct.to_string (M.Ed25519.sign ~key:key' view));
  let signature = C.Ed25519.sign ~key msg and signature' = M.Ed25519.sign ~key:key' view in
  row "Ed25519 verify"
    (fun () -> C.Ed25519.verify ~key:pub signature ~msg)
    (fun () -> M.Ed25519.verify ~key:pub' signature' ~msg:view)
