(** The module of mirage-crypto-ec before version 1, by libcycloid. Its documentation applies, with
    these differences: P-224 also reads compressed points, the point at infinity is
    [Error `At_infinity] where a public key is read, and [K_gen] takes SHA-1 and SHA-2 only.
    [Primitive] is that of later versions. *)

type error =
  [ `Invalid_range | `Invalid_format | `Invalid_length | `Not_on_curve | `At_infinity | `Low_order ]

val pp_error : Format.formatter -> error -> unit

exception Message_too_long

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

module P224 : Dh_dsa
module P256 : Dh_dsa
module P384 : Dh_dsa
module P521 : Dh_dsa
module X25519 : Dh

module Ed25519 : sig
  type priv
  type pub

  val priv_of_cstruct : Cstruct.t -> (priv, error) result
  val priv_to_cstruct : priv -> Cstruct.t
  val pub_of_cstruct : Cstruct.t -> (pub, error) result
  val pub_to_cstruct : pub -> Cstruct.t
  val pub_of_priv : priv -> pub
  val generate : ?g:Mirage_crypto_rng.g -> unit -> priv * pub
  val sign : key:priv -> Cstruct.t -> Cstruct.t
  val verify : key:pub -> Cstruct.t -> msg:Cstruct.t -> bool
end
