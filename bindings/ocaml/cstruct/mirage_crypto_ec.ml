open Cycloid_ec

type error = Face.error

let pp_error = Face.pp_error

exception Message_too_long = Face.Message_too_long

module type Dh = sig
  type secret

  val secret_of_cs : ?compress:bool -> Cstruct.t -> (secret * Cstruct.t, error) result
  val gen_key : ?compress:bool -> ?g:Mirage_crypto_rng.g -> unit -> secret * Cstruct.t
  val key_exchange : secret -> Cstruct.t -> (Cstruct.t, error) result
end

module type Dsa = sig
  type priv
  type pub

  val byte_length : int
  val priv_of_cstruct : Cstruct.t -> (priv, error) result
  val priv_to_cstruct : priv -> Cstruct.t
  val pub_of_cstruct : Cstruct.t -> (pub, error) result
  val pub_to_cstruct : ?compress:bool -> pub -> Cstruct.t
  val pub_of_priv : priv -> pub
  val generate : ?g:Mirage_crypto_rng.g -> unit -> priv * pub
  val sign : key:priv -> ?k:Cstruct.t -> Cstruct.t -> Cstruct.t * Cstruct.t
  val verify : key:pub -> Cstruct.t * Cstruct.t -> Cstruct.t -> bool

  module K_gen (H : Mirage_crypto.Hash.S) : sig
    val generate : key:priv -> Cstruct.t -> Cstruct.t
  end
end

module type Dh_dsa = sig
  module Dh : Dh

  module Dsa : sig
    include Dsa

    module Primitive : sig
      val generator : pub
      val add : pub -> pub -> pub
      val scalar_mult : priv -> pub -> pub
    end
  end
end

module Buffer = struct
  type t = Cstruct.t
  type raw = Cstruct.buffer

  let raw (buffer : t) = buffer.Cstruct.buffer
  let offset (buffer : t) = buffer.Cstruct.off
  let length = Cstruct.length
  let create = Cstruct.create_unsafe
  let halves length = Cstruct.split (create (2 * length)) length
  let byte = Cstruct.get_uint8
end

module F =
  Face.Make
    (Buffer)
    (struct
      type g = Mirage_crypto_rng.g
      type buffer = Cstruct.t

      let generate ?g length = Mirage_crypto_rng.generate ?g length
      let number ?g ~bits:_ length = generate ?g length
    end)

module type Implementation = module type of F.P256

module Nist (C : Implementation) = struct
  module Dh = struct
    include C.Dh

    let secret_of_cs = secret_of
  end

  module Dsa = struct
    include C.Dsa

    let priv_of_cstruct = C.priv_of
    let priv_to_cstruct = C.priv_to
    let pub_of_cstruct = C.pub_of
    let pub_to_cstruct = C.pub_to

    module K_gen (H : Mirage_crypto.Hash.S) = struct
      let hash =
        let empty = Cstruct.to_string (H.digest Cstruct.empty) in
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

  let secret_of_cs = secret_of
end

module Ed25519 = struct
  include F.Ed25519

  let priv_of_cstruct = priv_of
  let priv_to_cstruct = priv_to
  let pub_of_cstruct = pub_of
  let pub_to_cstruct = pub_to
end
