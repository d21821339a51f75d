(* The interface over any type of buffer and any source of randomness. *)

type error =
  [ `Invalid_range | `Invalid_format | `Invalid_length | `Not_on_curve | `At_infinity | `Low_order ]

let pp_error fmt error =
  Format.pp_print_string fmt
    (match error with
    | `Invalid_format -> "Cannot parse point: invalid format"
    | `Not_on_curve -> "Cannot parse point: point is not on curve"
    | `At_infinity -> "Cannot parse point: point is at infinity"
    | `Invalid_length -> "Cannot parse point: invalid length"
    | `Invalid_range -> "Cannot parse point: invalid range"
    | `Low_order -> "Cannot parse point: low order")

exception Message_too_long

(* Codes of libcycloid that the interface tells apart; the tests compare them with the header. *)
let error_length = 3
let error_range = 10
let error_encoding = 11
let error_not_on_curve = 12
let error_infinity = 13
let error_verification = 16
let error_small_order = 21
let error_too_long = 100

let unexpected name code = failwith (Printf.sprintf "cycloid: %s: error %d" name code)

module type Buffer = sig
  type t
  type raw

  val raw : t -> raw
  val offset : t -> int
  val length : t -> int
  val create : int -> t

  val halves : int -> t * t
  (** Two new buffers of this length. *)

  val byte : t -> int -> int
end

module type Random = sig
  type g
  type buffer

  val generate : ?g:g -> int -> buffer

  val number : ?g:g -> bits:int -> int -> buffer
  (** Random bytes for a number that must have [bits] bits at most: they may be those of
      [generate], whatever number that is. *)
end

(* Hash functions by the digest of nothing, and their numbers in libcycloid. *)
let hashes =
  [
    ("da39a3ee5e6b4b0d3255bfef95601890afd80709", 1);
    ("d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f", 2);
    ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 3);
    ( "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b",
      4 );
    ( "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
      5 );
    ("6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7", 8);
    ("a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a", 9);
    ( "0c63a75b845e4f7d01107d852e4c2485c51a50aaaa94fc61995e71bbee983a2ac3713831264adb47fb6bd1e058d5f004",
      10 );
    ( "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a615b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26",
      11 );
  ]

let hash_of_empty_digest digest =
  let hex = String.concat "" (List.map (Printf.sprintf "%02x") digest) in
  match List.assoc_opt hex hashes with
  | Some number -> number
  | None -> invalid_arg "cycloid: K_gen: neither SHA-1, SHA-2 nor SHA-3"

module type Curve = sig
  val number : int
  val byte_length : int
  val bit_length : int

  val hash : int
  (** Of nonces. *)

  val release_sign : bool
  val release_other : bool
  (** Whether operations take more than 100 us, so that the runtime lock is released. *)
end

module Make (B : Buffer) (R : Random with type buffer = B.t) = struct
  module Nist (C : Curve) = struct
    let priv_of buffer =
      let key = Raw.ec_private () in
      let code =
        Raw.ec_private_of_bytes key C.number (B.raw buffer) (B.offset buffer) (B.length buffer)
      in
      if code = 0 then Ok key
      else if code = error_length then Error `Invalid_length
      else if code = error_range then Error `Invalid_range
      else unexpected "private key" code

    let priv_to key =
      let bytes = B.create C.byte_length in
      match Raw.ec_private_to_bytes key (B.raw bytes) (B.offset bytes) C.byte_length with
      | 0 -> bytes
      | code -> unexpected "private key" code

    (* Draws like mirage-crypto-ec, so a generator gives the same key. On P-521 that takes 128 draws
       of 528 bits, of which the first byte refuses all but the last, before a key is made. *)
    let largest_byte = 0xff lsr ((8 * C.byte_length) - C.bit_length)

    let rec generate ?g () =
      let drawn = R.number ?g ~bits:C.bit_length C.byte_length in
      if B.length drawn > 0 && B.byte drawn 0 > largest_byte then generate ?g ()
      else match priv_of drawn with Ok key -> key | Error _ -> generate ?g ()

    let error_of code buffer =
      if code = error_range then `Invalid_range
      else if code = error_not_on_curve then `Not_on_curve
      else if code = error_infinity then `At_infinity
      else if code = error_encoding then
        if B.length buffer > 0 && B.byte buffer 0 <= 4 && B.byte buffer 0 <> 1 then `Invalid_length
        else `Invalid_format
      else unexpected "point" code

    let pub_of buffer =
      let pub = Raw.ec_public () in
      match
        Raw.ec_public_of_sec1 pub C.number (B.raw buffer) (B.offset buffer) (B.length buffer)
      with
      | 0 -> Ok pub
      | code -> Error (error_of code buffer)

    let pub_to ?(compress = false) pub =
      let length = 1 + if compress then C.byte_length else 2 * C.byte_length in
      let bytes = B.create length in
      match Raw.ec_public_to_sec1 pub compress (B.raw bytes) (B.offset bytes) length with
      | 0 -> bytes
      | code -> unexpected "public key" code

    let pub_of_priv key =
      let pub = Raw.ec_public () in
      match Raw.ec_public_of_private key pub with 0 -> pub | code -> unexpected "public key" code

    module Dh = struct
      type secret = Raw.ec_private

      let share ?compress key = pub_to ?compress (pub_of_priv key)

      let secret_of ?compress buffer =
        match priv_of buffer with Ok key -> Ok (key, share ?compress key) | Error _ as e -> e

      let secret_to = priv_to

      let gen_key ?compress ?g () =
        let key = generate ?g () in
        (key, share ?compress key)

      let key_exchange key peer =
        let secret = B.create C.byte_length in
        let agree = if C.release_other then Raw.ecdh_release else Raw.ecdh in
        match
          agree key C.number (B.raw peer) (B.offset peer) (B.length peer) (B.raw secret)
            (B.offset secret)
        with
        | 0 -> Ok secret
        | code -> Error (error_of code peer)
    end

    module Dsa = struct
      type priv = Raw.ec_private
      type pub = Raw.ec_public

      let byte_length = C.byte_length
      let bit_length = C.bit_length
      let pub_of_priv = pub_of_priv

      let generate ?g () =
        let key = generate ?g () in
        (key, pub_of_priv key)

      let sign ~key ?k digest =
        let r, s = B.halves C.byte_length in
        let code =
          match k with
          | None ->
              let sign = if C.release_sign then Raw.ecdsa_sign_release else Raw.ecdsa_sign in
              sign key C.number C.hash (B.raw digest) (B.offset digest) (B.length digest) (B.raw r)
                (B.offset r) (B.raw s) (B.offset s) C.release_sign
          | Some k ->
              Raw.ecdsa_sign_with_nonce key C.number (B.raw k) (B.offset k) (B.length k)
                (B.raw digest) (B.offset digest) (B.length digest) (B.raw r) (B.offset r) (B.raw s)
                (B.offset s)
        in
        if code = 0 then (r, s)
        else if code = error_too_long then raise Message_too_long
        else if code = error_range || code = error_length then invalid_arg "k not in range"
        else unexpected "sign" code

      let verify ~key (r, s) digest =
        let verify = if C.release_other then Raw.ecdsa_verify_release else Raw.ecdsa_verify in
        let code =
          verify key C.number (B.raw r) (B.offset r) (B.length r) (B.raw s) (B.offset s)
            (B.length s) (B.raw digest) (B.offset digest) (B.length digest) C.release_other
        in
        if code = 0 then true
        else if code = error_verification || code = error_too_long then false
        else unexpected "verify" code

      let nonce ~hash ~key digest =
        let k = B.create C.byte_length in
        let code =
          Raw.ecdsa_nonce key C.number hash (B.raw digest) (B.offset digest) (B.length digest)
            (B.raw k) (B.offset k)
        in
        if code = 0 then k
        else if code = error_too_long then raise Message_too_long
        else unexpected "nonce" code
    end

    module Primitive = struct
      let generator =
        let pub = Raw.ec_public () in
        match Raw.ec_generator pub C.number with 0 -> pub | code -> unexpected "generator" code

      let point name code pub =
        if code = 0 then pub
        else if code = error_infinity then invalid_arg ("cycloid: " ^ name ^ ": point at infinity")
        else unexpected name code

      let add p q =
        let sum = Raw.ec_public () in
        point "add" (Raw.ec_add sum p q) sum

      let scalar_mult key p =
        let product = Raw.ec_public () in
        let multiply = if C.release_other then Raw.ec_multiply_release else Raw.ec_multiply in
        point "scalar_mult" (multiply product key p) product
    end
  end

  module P224 = Nist (struct
    let number = 1
    let byte_length = 28
    let bit_length = 224
    let hash = 3
    let release_sign = false
    let release_other = false
  end)

  module P256 = Nist (struct
    let number = 2
    let byte_length = 32
    let bit_length = 256
    let hash = 3
    let release_sign = false
    let release_other = false
  end)

  module P384 = Nist (struct
    let number = 3
    let byte_length = 48
    let bit_length = 384
    let hash = 4
    let release_sign = false
    let release_other = true
  end)

  module P521 = Nist (struct
    let number = 4
    let byte_length = 66
    let bit_length = 521
    let hash = 5
    let release_sign = true
    let release_other = true
  end)

  module X25519 = struct
    type secret = B.t

    let length = 32

    let share secret =
      let pub = B.create length in
      match Raw.x25519_public (B.raw secret) (B.offset secret) (B.raw pub) (B.offset pub) with
      | 0 -> pub
      | code -> unexpected "X25519" code

    let secret_of ?compress:_ secret =
      if B.length secret = length then Ok (secret, share secret) else Error `Invalid_length

    let secret_to secret = secret

    let gen_key ?compress:_ ?g () =
      match secret_of (R.generate ?g length) with
      | Ok pair -> pair
      | Error _ -> failwith "cycloid: X25519: the generator gave another length"

    let key_exchange secret peer =
      if B.length peer <> length then Error `Invalid_length
      else
        let shared = B.create length in
        let code =
          Raw.x25519_agree (B.raw secret) (B.offset secret) (B.raw peer) (B.offset peer)
            (B.raw shared) (B.offset shared)
        in
        if code = 0 then Ok shared
        else if code = error_small_order then Error `Low_order
        else unexpected "X25519" code
  end

  module Ed25519 = struct
    type priv = Raw.ed_private
    type pub = Raw.ed_public

    let length = 32

    let priv_of seed =
      if B.length seed <> length then Error `Invalid_length
      else
        let key = Raw.ed_private () in
        match Raw.ed_private_of_seed key (B.raw seed) (B.offset seed) with
        | 0 -> Ok key
        | code -> unexpected "Ed25519" code

    let priv_to key =
      let seed = B.create length in
      match Raw.ed_private_to_seed key (B.raw seed) (B.offset seed) with
      | 0 -> seed
      | code -> unexpected "Ed25519" code

    let pub_of bytes =
      if B.length bytes <> length then Error `Invalid_length
      else
        let pub = Raw.ed_public () in
        let code = Raw.ed_public_of_bytes pub (B.raw bytes) (B.offset bytes) in
        if code = 0 then Ok pub
        else if code = error_not_on_curve then Error `Not_on_curve
        else unexpected "Ed25519" code

    let pub_to pub =
      let bytes = B.create length in
      match Raw.ed_public_to_bytes pub (B.raw bytes) (B.offset bytes) with
      | 0 -> bytes
      | code -> unexpected "Ed25519" code

    let pub_of_priv key =
      let pub = Raw.ed_public () in
      match Raw.ed_public_of_private key pub with 0 -> pub | code -> unexpected "Ed25519" code

    let generate ?g () =
      match priv_of (R.generate ?g length) with
      | Ok key -> (key, pub_of_priv key)
      | Error _ -> failwith "cycloid: Ed25519: the generator gave another length"

    let sign ~key message =
      let signature = B.create (2 * length) in
      match
        Raw.ed_sign key (B.raw message) (B.offset message) (B.length message) (B.raw signature)
          (B.offset signature)
      with
      | 0 -> signature
      | code -> unexpected "Ed25519" code

    let verify ~key signature ~msg =
      B.length signature = 2 * length
      &&
      let code =
        Raw.ed_verify key (B.raw signature) (B.offset signature) (B.raw msg) (B.offset msg)
          (B.length msg)
      in
      if code = 0 then true
      else if code = error_verification then false
      else unexpected "Ed25519" code
  end
end
