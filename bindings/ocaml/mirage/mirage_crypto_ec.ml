(* The module of mirage-crypto-ec since version 1. *)

type error = Cycloid_ec.error

let pp_error = Cycloid_ec.pp_error

exception Message_too_long = Cycloid_ec.Message_too_long

module type Dh = Cycloid_ec.Dh with type g := Mirage_crypto_rng.g
module type Dsa = Cycloid_ec.Dsa with type g := Mirage_crypto_rng.g
module type Dh_dsa = Cycloid_ec.Dh_dsa with type g := Mirage_crypto_rng.g

include Cycloid_ec.Make (struct
  type g = Mirage_crypto_rng.g

  let generate ?g length = Mirage_crypto_rng.generate ?g length
end)

(* K_gen takes what mirage-crypto-ec takes. *)
module _ = P256.Dsa.K_gen (Digestif.SHA256)
