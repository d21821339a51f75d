(* mirage-crypto as a peer of Cycloid's benchmarks: one process does one operation, as often as it is told,
   and says how long that took. docs/runners.md describes the lines that come and go. *)

open Mirage_crypto_pk

external clock : unit -> (int[@untagged]) = "cycloid_clock_boxed" "cycloid_clock"
[@@noalloc]

(* What is asked for cannot be done with what mirage-crypto has. *)
exception Unsupported

(* An input was refused, such as a signature that is not valid. *)
exception Refused

(* One way to do an operation. What a run reads is loaded before the clock starts, and its result is
   written down after it has stopped. *)
type job = {
  label : string;
  calls : string;
  constant_time : bool;
  load : string -> unit;
  run : unit -> unit;
  result : unit -> string;
}

(* Flat objects of strings, whole numbers and truth values: all that the protocol needs of JSON. *)

let fail message = failwith ("not a line of the protocol: " ^ message)

let parse line =
  let at = ref 0 in
  let skip () = while !at < String.length line && line.[!at] = ' ' do incr at done in
  let peek () = skip (); if !at < String.length line then line.[!at] else fail "it ends early" in
  let expect c = if peek () <> c then fail (Printf.sprintf "%c is missing" c) else incr at in
  let text () =
    expect '"';
    match String.index_from_opt line !at '"' with
    | None -> fail "a string does not end"
    | Some finish ->
      let text = String.sub line !at (finish - !at) in
      if String.contains text '\\' then fail "an escape";
      at := finish + 1;
      text
  in
  let word () =
    let start = !at in
    let inside c = match c with '0' .. '9' | 'a' .. 'z' | '-' -> true | _ -> false in
    while !at < String.length line && inside line.[!at] do incr at done;
    if !at = start then fail "a value is missing" else String.sub line start (!at - start)
  in
  let rec members fields =
    let name = text () in
    expect ':';
    let value = if peek () = '"' then text () else word () in
    let fields = (name, value) :: fields in
    if peek () = ',' then (incr at; members fields) else (expect '}'; fields)
  in
  expect '{';
  if peek () = '}' then [] else members []

let bytes_of_hex text = Cstruct.to_string (Cstruct.of_hex text)

let hex_of_bytes bytes =
  String.concat "" (List.map (fun c -> Printf.sprintf "%02x" (Char.code c)) (List.of_seq (String.to_seq bytes)))

let get fields name = match List.assoc_opt name fields with Some value -> value | None -> raise Unsupported

let cs fields name = Cstruct.of_string (bytes_of_hex (get fields name))

let ok = function Ok value -> value | Error _ -> raise Refused

(* A job whose runs read what [parse] makes of the bytes, and give what [show] makes bytes of. *)
let job ?(label = "") ?(constant_time = true) ~calls ~parse ~show f =
  let input = ref None and output = ref None in
  {
    label;
    calls;
    constant_time;
    load = (fun bytes -> input := Some (parse (Cstruct.of_string bytes)));
    run = (fun () -> match !input with Some input -> output := Some (f input) | None -> raise Refused);
    result = (fun () -> match !output with Some output -> Cstruct.to_string (show output) | None -> "");
  }

(* Nothing to write: it went well, or [Refused] was raised. *)
let nothing () = Cstruct.empty

let same x = x

(* Numbers *)

let number = Z_extra.of_cstruct_be ?bits:None

let modexp fields way =
  let z name = number (cs fields name) in
  let exponent = z "exponent" and modulus = z "modulus" in
  let size = Cstruct.length (cs fields "modulus") in
  let job = job ~parse:number ~show:(Z_extra.to_cstruct_be ~size) in
  match way with
  | 0 -> job ~label:"constant-time" ~calls:"Z.powm_sec" (fun base -> Z.powm_sec base exponent modulus)
  | 1 ->
    job ~label:"variable-time" ~constant_time:false ~calls:"Z.powm" (fun base -> Z.powm base exponent modulus)
  | _ -> raise Unsupported

(* RSA *)

module Pss = Rsa.PSS (Mirage_crypto.Hash.SHA256)
module Oaep = Rsa.OAEP (Mirage_crypto.Hash.SHA256)

let rsa fields operation =
  let z name = number (cs fields name) in
  let private_key () =
    ok
      (Rsa.priv ~e:(z "public_exponent") ~d:(z "private_exponent") ~n:(z "modulus") ~p:(z "prime_p")
         ~q:(z "prime_q") ~dp:(z "exponent_p") ~dq:(z "exponent_q") ~q':(z "coefficient"))
  in
  let some = function Some value -> value | None -> raise Refused in
  let hash = `SHA256 in
  match operation with
  | "rsa-sign" ->
    let key = private_key () in
    job ~calls:"Rsa.PKCS1.sign" ~parse:same ~show:same (fun digest -> Rsa.PKCS1.sign ~hash ~key (`Digest digest))
  | "rsa-sign-pss" ->
    let key = private_key () in
    job ~calls:"Rsa.PSS.sign" ~parse:same ~show:same (fun digest -> Pss.sign ~slen:32 ~key (`Digest digest))
  | "rsa-verify" ->
    let key = ok (Rsa.pub ~e:(z "public_exponent") ~n:(z "modulus")) and digest = cs fields "digest" in
    job ~calls:"Rsa.PKCS1.verify" ~parse:same ~show:nothing (fun signature ->
        if not (Rsa.PKCS1.verify ~hashp:(( = ) hash) ~key ~signature (`Digest digest)) then raise Refused)
  | "rsa-decrypt-oaep" ->
    let key = private_key () in
    job ~calls:"Rsa.OAEP.decrypt" ~parse:same ~show:same (fun text -> some (Oaep.decrypt ~key text))
  | "rsa-decrypt" ->
    let key = private_key () in
    job ~calls:"Rsa.PKCS1.decrypt" ~parse:same ~show:same (fun text -> some (Rsa.PKCS1.decrypt ~key text))
  | "rsa-generate" ->
    let bits = int_of_string (get fields "bits") and key = ref None in
    job ~calls:"Rsa.generate" ~parse:same ~show:same (fun digest ->
        if Cstruct.length digest = 0 then (key := Some (Rsa.generate ~bits ()); digest)
        else
          let key = some !key in
          let modulus = Z_extra.to_cstruct_be ~size:(bits / 8) key.Rsa.n in
          Cstruct.append modulus (Rsa.PKCS1.sign ~hash ~key (`Digest digest)))
  | _ -> raise Unsupported

(* Curves *)

open Mirage_crypto_ec

let agreement (module Dh : Dh) name fields operation =
  match operation with
  | "agree" ->
    let secret, _ = ok (Dh.secret_of_cs (cs fields "private")) in
    job ~calls:(name ^ ".key_exchange") ~parse:same ~show:same (fun other -> ok (Dh.key_exchange secret other))
  | "generate" ->
    let key = ref None in
    job ~calls:(name ^ ".gen_key") ~parse:same ~show:same (fun other ->
        if Cstruct.length other = 0 then (key := Some (Dh.gen_key ()); other)
        else
          match !key with
          | Some (secret, public) -> Cstruct.append public (ok (Dh.key_exchange secret other))
          | None -> raise Refused)
  | _ -> raise Unsupported

(* A digest longer than the order counts as its first bytes: FIPS 186-5, section 6.4. *)
let nist ?(length = 64) (module C : Dh_dsa) name fields operation =
  let cut digest = Cstruct.sub digest 0 (min length (Cstruct.length digest)) in
  match operation with
  | "sign" ->
    let key = ok (C.Dsa.priv_of_cstruct (cs fields "private")) in
    job ~calls:(name ^ ".Dsa.sign") ~parse:same
      ~show:(fun (r, s) -> Cstruct.append r s)
      (fun digest -> C.Dsa.sign ~key (cut digest))
  | "verify" ->
    let key = ok (C.Dsa.pub_of_cstruct (cs fields "public")) and digest = cut (cs fields "digest") in
    let halves signature = Cstruct.split signature (Cstruct.length signature / 2) in
    job ~calls:(name ^ ".Dsa.verify") ~parse:halves ~show:nothing (fun signature ->
        if not (C.Dsa.verify ~key signature digest) then raise Refused)
  | _ -> agreement (module C.Dh) (name ^ ".Dh") fields operation

let ed25519 fields operation =
  let message = cs fields "message" in
  match operation with
  | "sign" ->
    let key = ok (Ed25519.priv_of_cstruct (cs fields "private")) in
    job ~calls:"Ed25519.sign" ~parse:same ~show:same (fun _ -> Ed25519.sign ~key message)
  | "verify" ->
    let key = ok (Ed25519.pub_of_cstruct (cs fields "public")) in
    job ~calls:"Ed25519.verify" ~parse:same ~show:nothing (fun signature ->
        if not (Ed25519.verify ~key signature ~msg:message) then raise Refused)
  | "generate" ->
    let made = ref None in
    job ~calls:"Ed25519.generate" ~parse:same ~show:same (fun other ->
        if Cstruct.length other = 0 then (made := Some (Ed25519.generate ()); other)
        else
          match !made with
          | Some (key, public) -> Cstruct.append (Ed25519.pub_to_cstruct public) (Ed25519.sign ~key message)
          | None -> raise Refused)
  | _ -> raise Unsupported

let curve fields operation =
  match get fields "curve" with
  | "P-224" -> nist ~length:28 (module P224) "P224" fields operation
  | "P-256" -> nist (module P256) "P256" fields operation
  | "P-384" -> nist (module P384) "P384" fields operation
  | "P-521" -> nist (module P521) "P521" fields operation
  | "Ed25519" -> ed25519 fields operation
  | "X25519" -> agreement (module X25519) "X25519" fields operation
  | _ -> raise Unsupported

let prepare fields =
  let operation = get fields "operation" and way = int_of_string (get fields "way") in
  match operation with
  | "modexp" -> modexp fields way
  | _ when way > 0 -> raise Unsupported
  | "sign" | "verify" | "agree" | "generate" -> curve fields operation
  | _ -> rsa fields operation

(* Lines *)

let say format = Printf.ksprintf (fun line -> print_string line; print_newline ()) format

let failed message = say {|{"failed":"%s"}|} (String.map (function '"' | '\\' | '\n' -> ' ' | c -> c) message)

let turn job fields =
  Option.iter (fun data -> job.load (bytes_of_hex data)) (List.assoc_opt "data" fields);
  let runs = int_of_string (get fields "runs") in
  let allocated = Gc.allocated_bytes () in
  let start = clock () in
  for _ = 1 to runs do job.run () done;
  let nanoseconds = clock () - start in
  let allocated = Gc.allocated_bytes () -. allocated in
  say {|{"nanoseconds":%d,"allocated_bytes":%.0f,"result":"%s"}|} nanoseconds allocated
    (hex_of_bytes (job.result ()))

let () =
  Mirage_crypto_rng_unix.initialize ();
  let fields = parse (read_line ()) in
  match prepare fields with
  | exception Unsupported -> say {|{"unsupported":"mirage-crypto has nothing for it"}|}
  | exception Refused -> failed "the key is refused"
  | job ->
    job.load (bytes_of_hex (get fields "data"));
    say {|{"library":"mirage-crypto","version":"%s","label":"%s","function":"%s","constant_time":%b}|}
      Version.text job.label job.calls job.constant_time;
    let rec turns () =
      match read_line () with
      | exception End_of_file -> ()
      | line ->
        (try turn job (parse line) with
         | Refused -> failed "refused"
         | error -> failed (Printexc.to_string error));
        turns ()
    in
    turns ()
