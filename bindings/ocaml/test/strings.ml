(* The interface on strings: vectors of the standards, bad input, randomness from a callback,
   threads, and keys that are collected. *)

open Cycloid_ec

let tests = ref 0

let check name condition =
  incr tests;
  if not condition then (
    prerr_endline ("failed: " ^ name);
    exit 1)

let hex text =
  String.init
    (String.length text / 2)
    (fun i -> Char.chr (int_of_string ("0x" ^ String.sub text (2 * i) 2)))

(* Private keys compare and hash by their public keys, and are not marshalled. *)
let is_value name same other key =
  check (name ^ ": equal") (key = same && compare key same = 0);
  check (name ^ ": differs") (key <> other && compare key other = -compare other key);
  check (name ^ ": hash") (Hashtbl.hash key = Hashtbl.hash same && Hashtbl.hash key <> Hashtbl.hash other);
  check (name ^ ": marshal")
    (match Marshal.to_string key [] with
    | _ -> false
    | exception (Invalid_argument _ | Failure _) -> true)

let error expected = function Error e -> e = expected | Ok _ -> false

let raises_invalid f =
  match f () with _ -> false | exception Invalid_argument _ -> true

(* Not a hash function: it stands for one by its digest of nothing. *)
module Sha256 = struct
  type t = string

  let digest_string ?off:_ ?len:_ _ =
    hex "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  let to_raw_string t = t
end

module Unknown = struct
  include Sha256

  let digest_string ?off:_ ?len:_ _ = "unknown"
end

let seeded seed =
  let state = Random.State.make [| seed |] in
  fun length -> String.init length (fun _ -> Char.chr (Random.State.int state 256))

(* RFC 6979, appendix A.2.5: P-256 with SHA-256, message "sample". *)
let rfc_6979 () =
  let key = hex "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721" in
  let digest = hex "AF2BDBE1AA9B6EC1E2ADE1D694F41FC71A831D0268E9891562113D8A62ADD1BF" in
  let k = hex "A6E3C57DD01ABE90086538398355DD4C3B17AA873382B0F24D6129493D8AAD60" in
  let r = hex "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716" in
  let s = hex "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8" in
  match P256.Dsa.priv_of_octets key with
  | Error _ -> check "the key is read" false
  | Ok priv ->
      let module K = P256.Dsa.K_gen (Sha256) in
      check "k" (K.generate ~key:priv digest = k);
      check "deterministic" (P256.Dsa.sign ~key:priv digest = (r, s));
      check "given k" (P256.Dsa.sign ~mask:`No ~key:priv ~k digest = (r, s));
      check "k of 0" (raises_invalid (fun () -> P256.Dsa.sign ~key:priv ~k:(String.make 32 '\000') digest));
      check "short k" (raises_invalid (fun () -> P256.Dsa.sign ~key:priv ~k:"k" digest));
      check "key" (P256.Dsa.priv_to_octets priv = key)

(* RFC 6979, appendix A.2.7: P-521 with SHA-512, message "sample". *)
let p521 () =
  (* A callback is asked until its number is small enough. *)
  let draws = ref 0 in
  let g length =
    incr draws;
    String.make length (if !draws < 3 then '\255' else '\001')
  in
  let key, _ = P521.Dsa.generate ~g () in
  check "P-521: draws" (!draws = 3 && P521.Dsa.priv_to_octets key = String.make 66 '\001');
  let key =
    hex
      "00FAD06DAA62BA3B25D2FB40133DA757205DE67F5BB0018FEE8C86E1B68C7E75CAA896EB32F1F47C70855836A6D16FCC1466F6D8FBEC67DB89EC0C08B0E996B83538"
  in
  let digest =
    hex
      "39A5E04AAFF7455D9850C605364F514C11324CE64016960D23D5DC57D3FFD8F49A739468AB8049BF18EEF820CDB1AD6C9015F838556BC7FAD4138B23FDF986C7"
  in
  let r =
    hex
      "00C328FAFCBD79DD77850370C46325D987CB525569FB63C5D3BC53950E6D4C5F174E25A1EE9017B5D450606ADD152B534931D7D4E8455CC91F9B15BF05EC36E377FA"
  in
  match P521.Dsa.priv_of_octets key with
  | Error _ -> check "the key is read" false
  | Ok priv ->
      let signature = P521.Dsa.sign ~key:priv digest in
      check "P-521" (fst signature = r);
      let pub = P521.Dsa.pub_of_priv priv in
      check "P-521 verifies" (P521.Dsa.verify ~key:pub signature digest);
      (* As long as the order: 521 bits in 66 bytes, of which the first has one. *)
      let long = "\001" ^ String.make 65 '\255' in
      let signature = P521.Dsa.sign ~key:priv long in
      check "521 bits" (P521.Dsa.verify ~key:pub signature long);
      check "another digest" (not (P521.Dsa.verify ~key:pub signature ("\001" ^ String.make 64 '\255' ^ "\254")));
      check "522 bits"
        (match P521.Dsa.sign ~key:priv ("\002" ^ String.make 65 '\000') with
        | _ -> false
        | exception Message_too_long -> true)

module On_curve (Name : sig val name : string end) (C : Dh_dsa with type g := g) = struct
  let check name condition = check (Name.name ^ ": " ^ name) condition

  let run () =
    let n = C.Dsa.byte_length in
    let digest = String.make 20 'd' in
    let key, pub = C.Dsa.generate () in
    let r, s = C.Dsa.sign ~key digest in
    check "lengths" (String.length r = n && String.length s = n);
    check "verifies" (C.Dsa.verify ~key:pub (r, s) digest);
    check "leading zeros" (C.Dsa.verify ~key:pub (r, s) (String.make 1 '\000' ^ digest));
    check "another digest" (not (C.Dsa.verify ~key:pub (r, s) (digest ^ "d")));
    check "long r" (not (C.Dsa.verify ~key:pub ("\000" ^ r, s) digest));
    check "no r" (not (C.Dsa.verify ~key:pub ("", s) digest));
    check "r of 0" (not (C.Dsa.verify ~key:pub (String.make n '\000', s) digest));
    check "s above the order" (not (C.Dsa.verify ~key:pub (r, String.make n '\255') digest));
    check "long digest" (not (C.Dsa.verify ~key:pub (r, s) (String.make (n + 1) '\000')));
    check "long digest, signed"
      (match C.Dsa.sign ~key (String.make (n + 1) '\000') with
      | _ -> false
      | exception Message_too_long -> true);

    (match (C.Dsa.priv_of_octets (C.Dsa.priv_to_octets key), C.Dsa.generate ()) with
    | Ok same, (other, _) -> is_value Name.name same other key
    | Error _, _ -> check "the key is read" false);

    (* Encodings. *)
    let point = C.Dsa.pub_to_octets pub and short = C.Dsa.pub_to_octets ~compress:true pub in
    check "point" (String.length point = 1 + (2 * n) && String.length short = 1 + n);
    let same bytes =
      match C.Dsa.pub_of_octets bytes with
      | Ok pub -> C.Dsa.pub_to_octets pub = point
      | Error _ -> false
    in
    check "read" (same point && same short);
    check "empty" (error `Invalid_format (C.Dsa.pub_of_octets ""));
    check "infinity" (error `At_infinity (C.Dsa.pub_of_octets "\000"));
    check "tag" (error `Invalid_format (C.Dsa.pub_of_octets ("\005" ^ String.sub point 1 (2 * n))));
    check "length" (error `Invalid_length (C.Dsa.pub_of_octets (point ^ "\000")));
    check "range" (error `Invalid_range (C.Dsa.pub_of_octets ("\004" ^ String.make (2 * n) '\255')));
    check "curve" (error `Not_on_curve (C.Dsa.pub_of_octets ("\004" ^ String.make (2 * n) '\001')));
    check "key of 0" (error `Invalid_range (C.Dsa.priv_of_octets (String.make n '\000')));
    check "key above the order" (error `Invalid_range (C.Dsa.priv_of_octets (String.make n '\255')));
    check "short key" (error `Invalid_length (C.Dsa.priv_of_octets (String.make (n - 1) '\001')));
    check "unknown hash"
      (raises_invalid (fun () -> let module K = C.Dsa.K_gen (Unknown) in K.generate ~key digest));

    (* Agreement. *)
    let a, share_a = C.Dh.gen_key () and b, share_b = C.Dh.gen_key ~compress:true () in
    let secret = C.Dh.key_exchange a share_b in
    check "agreement" (secret = C.Dh.key_exchange b share_a && Result.is_ok secret);
    check "peer" (error `Not_on_curve (C.Dh.key_exchange a ("\004" ^ String.make (2 * n) '\001')));
    check "long peer" (error `Invalid_format (C.Dh.key_exchange a (String.make 1000 '\255')));
    check "secret"
      (match C.Dh.secret_of_octets (C.Dh.secret_to_octets a) with
      | Ok (_, share) -> share = share_a
      | Error _ -> false);

    (* A generator gives the same key again. *)
    let one, _ = C.Dh.gen_key ~g:(seeded 1) () and again, _ = C.Dh.gen_key ~g:(seeded 1) () in
    check "callback" (C.Dh.secret_to_octets one = C.Dh.secret_to_octets again);

    (* Points. *)
    let open C.Dsa.Primitive in
    let encoded = C.Dsa.pub_to_octets in
    check "base" (encoded (scalar_mult key generator) = point);
    let two = String.make (n - 1) '\000' ^ "\002" in
    match C.Dsa.priv_of_octets two with
    | Error _ -> check "2" false
    | Ok two ->
        check "doubled" (encoded (add pub pub) = encoded (scalar_mult two pub));
        let negative = String.make 1 (if short.[0] = '\002' then '\003' else '\002') in
        (match C.Dsa.pub_of_octets (negative ^ String.sub short 1 n) with
        | Ok negative -> check "sum" (raises_invalid (fun () -> add pub negative))
        | Error _ -> check "negative" false)
end

let curve25519 () =
  let a, share_a = X25519.gen_key () and b, share_b = X25519.gen_key () in
  let secret = X25519.key_exchange a share_b in
  check "X25519" (secret = X25519.key_exchange b share_a && Result.is_ok secret);
  (* RFC 7748, section 5.2. *)
  let scalar = hex "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4" in
  let point = hex "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c" in
  let expected = hex "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552" in
  (match X25519.secret_of_octets scalar with
  | Ok (scalar, _) -> check "vector" (X25519.key_exchange scalar point = Ok expected)
  | Error _ -> check "secret" false);
  check "low order" (error `Low_order (X25519.key_exchange a (String.make 32 '\000')));
  check "length" (error `Invalid_length (X25519.key_exchange a ""));
  check "key" (error `Invalid_length (X25519.secret_of_octets "short"));
  check "generator"
    (match X25519.gen_key ~g:(fun _ -> "short") () with
    | exception Failure _ -> true
    | _ -> false);
  (* RFC 8032, section 7.1, test 2. *)
  let seed = hex "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb" in
  let pub = hex "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c" in
  let signature =
    hex
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
  in
  match (Ed25519.priv_of_octets seed, Ed25519.pub_of_octets pub) with
  | Ok key, Ok read ->
      check "Ed25519" (Ed25519.sign ~key "\x72" = signature);
      check "public" (Ed25519.pub_to_octets (Ed25519.pub_of_priv key) = pub);
      check "seed" (Ed25519.priv_to_octets key = seed);
      (match Ed25519.priv_of_octets seed with
      | Ok same -> is_value "Ed25519" same (fst (Ed25519.generate ())) key
      | Error _ -> check "Ed25519" false);
      check "verifies" (Ed25519.verify ~key:read signature ~msg:"\x72");
      check "another" (not (Ed25519.verify ~key:read signature ~msg:"\x73"));
      check "short" (not (Ed25519.verify ~key:read "" ~msg:"\x72"));
      check "curve" (error `Not_on_curve (Ed25519.pub_of_octets ("\002" ^ String.make 31 '\000')));
      check "length" (error `Invalid_length (Ed25519.pub_of_octets "short"))
  | _ -> check "Ed25519" false

(* Threads share a key while others collect theirs; the lock is released within P-521. *)
let threads () =
  let key, pub = P521.Dsa.generate () in
  let digest = String.make 64 'd' in
  let work i =
    for _ = 1 to 20 do
      let signature = P521.Dsa.sign ~key digest in
      if not (P521.Dsa.verify ~key:pub signature digest) then exit 1;
      let other, share = P384.Dh.gen_key () in
      if Result.is_error (P384.Dh.key_exchange other share) then exit 1;
      if i = 0 then Gc.compact () else Gc.minor ()
    done
  in
  List.iter Thread.join (List.init 4 (Thread.create work));
  check "threads" true

module P224_test = On_curve (struct let name = "P-224" end) (P224)
module P256_test = On_curve (struct let name = "P-256" end) (P256)
module P384_test = On_curve (struct let name = "P-384" end) (P384)
module P521_test = On_curve (struct let name = "P-521" end) (P521)

let () =
  rfc_6979 ();
  p521 ();
  P224_test.run ();
  P256_test.run ();
  P384_test.run ();
  P521_test.run ();
  curve25519 ();
  threads ();
  Printf.printf "%d checks passed\n" !tests
