(** Elliptic curves by libcycloid, with the interface of mirage-crypto-ec.

    The functions and their errors are those of [Mirage_crypto_ec] in version 2, on strings; keys and
    signatures of one are keys and signatures of the other. Time does not depend on secrets, so
    [?mask] is accepted and not needed.

    [Cycloid_ec] itself draws from the system's generator, or from [?g], a function that returns as
    many random bytes as it is asked for. {!Make} takes any other source. The libraries
    [cycloid-ec.mirage] and [cycloid-ec.cstruct] have a module [Mirage_crypto_ec] that draws from
    [Mirage_crypto_rng]: with one of them in the place of [mirage-crypto-ec] in a [dune] file, a
    program needs no other change. *)

type error =
  [ `Invalid_range | `Invalid_format | `Invalid_length | `Not_on_curve | `At_infinity | `Low_order ]

val pp_error : Format.formatter -> error -> unit

exception Message_too_long
(** Raised by [sign] if a digest has more bits than the order of the curve. *)

(** A hash function for {!Dsa.K_gen}: SHA-1, SHA-2 or SHA-3. Each module of [Digestif] is one. *)
module type Hash = sig
  type t

  val digest_string : ?off:int -> ?len:int -> string -> t
  val to_raw_string : t -> string
end

(** A source of randomness: [generate ~g n] returns [n] bytes. [Mirage_crypto_rng] is one. *)
module type Random = sig
  type g

  val generate : ?g:g -> int -> string
end

(** Diffie-Hellman. *)
module type Dh = sig
  type g

  type secret
  (** Outside of OCaml's heap on the NIST curves, and wiped when it is collected. *)

  val secret_of_octets : ?compress:bool -> string -> (secret * string, error) result
  val secret_to_octets : secret -> string
  val gen_key : ?compress:bool -> ?g:g -> unit -> secret * string
  val key_exchange : secret -> string -> (string, error) result
end

(** ECDSA. *)
module type Dsa = sig
  type g

  type priv
  (** Outside of OCaml's heap, and wiped when it is collected. *)

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
  (** Deterministic by RFC 6979 unless [k] is given: with SHA-256 on P-224 and P-256, SHA-384 on
      P-384 and SHA-512 on P-521.

      @raise Invalid_argument if [k] is not in range.
      @raise Message_too_long if the digest has more bits than the order. *)

  val verify : key:pub -> string * string -> string -> bool

  (** @raise Invalid_argument when applied to another hash function than SHA-1, SHA-2 and SHA-3. *)
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
      (** @raise Invalid_argument if the sum is infinity. *)

      val scalar_mult : priv -> pub -> pub
    end
  end
end

(** Ed25519. *)
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

(** The curves, with randomness from [R]. *)
module Make (R : Random) : sig
  module P224 : Dh_dsa with type g := R.g
  module P256 : Dh_dsa with type g := R.g
  module P384 : Dh_dsa with type g := R.g
  module P521 : Dh_dsa with type g := R.g
  module X25519 : Dh with type g := R.g
  module Ed25519 : Ed25519 with type g := R.g
end

type g = int -> string
(** A function that returns as many random bytes as it is asked for. *)

module P224 : Dh_dsa with type g := g
module P256 : Dh_dsa with type g := g
module P384 : Dh_dsa with type g := g
module P521 : Dh_dsa with type g := g
module X25519 : Dh with type g := g
module Ed25519 : Ed25519 with type g := g

(**/**)

(** The implementation over any buffer, for the library's other interfaces. *)
module Face = Face
