(* The cost of the boundary: operations of Cycloid from OCaml and from Rust in turns, in
   microseconds of processor time. `boundary.exe LIBRARY [ROUNDS]`, where LIBRARY is
   libboundary.so of `cargo build --release -p cycloid-c --example boundary`. *)

module C = Cycloid_ec

external load : string -> unit = "boundary_ocaml_load"
external rust : int -> int -> string -> nativeint = "boundary_ocaml_new"
external run_rust : nativeint -> int -> Bytes.t -> unit = "boundary_ocaml_run" [@@noalloc]
external clock : unit -> int = "boundary_ocaml_clock" [@@noalloc]

let rounds = if Array.length Sys.argv > 2 then int_of_string Sys.argv.(2) else 400
let digest = String.make 28 'd'
let get = function Ok value -> value | Error _ -> failwith "unexpected"

let median values =
  Array.sort compare values;
  values.(Array.length values / 2)

(* [ocaml] returns what the operation in Rust writes; a new key is nothing to compare. *)
let row name curve operation key ocaml =
  let theirs = rust curve operation key in
  let output = Bytes.make 132 '\000' in
  let run_ocaml runs =
    for _ = 1 to runs do
      ignore (Sys.opaque_identity (ocaml ()))
    done
  in
  let time run runs =
    let start = clock () in
    run runs;
    float_of_int (clock () - start) /. 1000. /. float_of_int runs
  in
  let both = [| run_ocaml; (fun runs -> run_rust theirs runs output) |] in
  Array.iter (fun run -> run 20) both;
  let expected = ocaml () in
  if Bytes.sub_string output 0 (String.length expected) <> expected then
    failwith (name ^ ": the results differ");
  let runs = max 1 (int_of_float (400. /. time both.(1) 20)) in
  let times = Array.init 2 (fun _ -> Array.make rounds 0.) in
  for round = 0 to rounds - 1 do
    let first = round land 1 in
    times.(first).(round) <- time both.(first) runs;
    times.(1 - first).(round) <- time both.(1 - first) runs
  done;
  let least = Array.map (Array.fold_left min infinity) times in
  let differences = Array.map2 ( -. ) times.(0) times.(1) in
  let middle = Array.map median times in
  let difference = median differences in
  Printf.printf "%-16s %8.2f %8.2f %7.2f %6.1f%%   %8.2f %8.2f %7.2f %6.1f%%\n%!" name least.(0)
    least.(1)
    (least.(0) -. least.(1))
    (100. *. ((least.(0) /. least.(1)) -. 1.))
    middle.(0) middle.(1) difference
    (100. *. difference /. middle.(1))

module Curve (C : C.Dh_dsa with type g := C.g) = struct
  let run name number =
    let secret = String.make (C.Dsa.byte_length - 1) '\042' in
    let secret = "\000" ^ secret in
    let key = get (C.Dsa.priv_of_octets secret) in
    let pub = C.Dsa.pub_of_priv key in
    let signature = C.Dsa.sign ~key digest in
    let dh, share = get (C.Dh.secret_of_octets secret) in
    row (name ^ " sign") number 0 secret (fun () ->
        let r, _ = C.Dsa.sign ~key digest in
        r);
    row (name ^ " verify") number 1 secret (fun () ->
        if C.Dsa.verify ~key:pub signature digest then "\001" else "\000");
    row (name ^ " agree") number 2 secret (fun () -> get (C.Dh.key_exchange dh share));
    row (name ^ " generate") number 3 secret (fun () ->
        ignore (Sys.opaque_identity (C.Dsa.generate ()));
        "")
end

module P224 = Curve (C.P224)
module P256 = Curve (C.P256)
module P384 = Curve (C.P384)
module P521 = Curve (C.P521)

let () =
  load Sys.argv.(1);
  Printf.printf "%-16s %-33s  %s\n" "us" "fastest" "median";
  Printf.printf "%-16s %8s %8s %7s %7s   %8s %8s %7s %7s\n" "" "OCaml" "Rust" "more" "" "OCaml"
    "Rust" "more" "";
  P224.run "P-224" 1;
  P256.run "P-256" 2;
  P384.run "P-384" 3;
  P521.run "P-521" 4;
  let seed = String.make 32 '\042' in
  let key = get (C.Ed25519.priv_of_octets seed) in
  let pub = C.Ed25519.pub_of_priv key in
  let signature = C.Ed25519.sign ~key digest in
  row "Ed25519 sign" 5 0 seed (fun () -> C.Ed25519.sign ~key digest);
  row "Ed25519 verify" 5 1 seed (fun () ->
      if C.Ed25519.verify ~key:pub signature ~msg:digest then "\001" else "\000");
  row "Ed25519 generate" 5 3 seed (fun () ->
      ignore (Sys.opaque_identity (C.Ed25519.generate ()));
      "");
  let secret, share = get (C.X25519.secret_of_octets seed) in
  row "X25519 agree" 6 2 seed (fun () -> get (C.X25519.key_exchange secret share));
  row "X25519 generate" 6 3 seed (fun () ->
      ignore (Sys.opaque_identity (C.X25519.gen_key ()));
      "")
