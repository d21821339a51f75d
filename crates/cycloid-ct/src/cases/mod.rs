//! The cases: every public operation that takes a secret.

mod bls12_381;
mod blst_h;
mod curve25519;
mod dh;
mod ec;
mod modular;
mod prime;
mod rsa;
mod rsa_decryption;

use cycloid::cpu::{self, Level};

use crate::check::Check;

/// Operations that are traced together.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    cost: Cost,
    pub(crate) run: fn(&mut Check),
}

/// The levels on which a case runs without `--all`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// On the lowest and the highest level.
    Short,
    /// On the highest level. The lowest takes several times as many instructions.
    Highest,
    /// On the levels with vectors, where eight operations run in parallel. Other levels run them
    /// one after the other, which separate cases cover.
    Batch,
    /// On no level.
    Long,
}

impl Case {
    /// Returns whether it runs on `level` without `--all`.
    pub(crate) fn runs_in_short(&self, level: Level) -> bool {
        match self.cost {
            Short => level == Level::Portable || level == cpu::detected_level(),
            Highest => level == cpu::detected_level(),
            Batch => level.includes(Level::Avx512),
            Long => false,
        }
    }
}

const fn case(name: &'static str, cost: Cost, run: fn(&mut Check)) -> Case {
    Case { name, cost, run }
}

use Cost::{Batch, Highest, Long, Short};

/// All cases.
pub(crate) static ALL: &[Case] = &[
    case("modular: strategies, 256 bits", Short, modular::strategies),
    case("modular: the default, 1024 bits", Short, modular::default_1024),
    case("modular: the default, up to 2112 bits", Long, modular::default_all),
    case("modular: inverse, gcd, product", Short, modular::others),
    case("modular: eight, 512 bits", Batch, modular::eight_512),
    case("modular: eight, 1024 bits", Long, modular::eight_1024),
    case("modular: eight of unequal lengths", Short, modular::eight_unequal),
    case("modular: fixed base", Long, modular::fixed_base),
    case("prime: a prime of 256 bits", Long, prime::prime_256),
    case("RSA: a key of 2048 bits", Long, rsa::generate),
    case("RSA: import from numbers, DER and PEM, export", Long, rsa::import),
    case("RSA: import with missing parts", Long, rsa::completed),
    case("RSA: signatures of 2048 bits", Long, rsa::sign),
    case("RSA: signatures with least memory", Long, rsa::sign_least),
    case("RSA: a key pair that owns its memory", Long, rsa::owned),
    case("RSA: signatures in a batch", Long, rsa::batch),
    case("RSA: a legacy key of 1024 bits", Long, rsa::legacy),
    case("RSA: encryption", Long, rsa_decryption::encrypt),
    case("RSA: OAEP decryption", Long, rsa_decryption::oaep),
    case("RSA: PKCS #1 v1.5 decryption", Long, rsa_decryption::pkcs1v15),
    case("DH: ffdhe2048", Long, dh::agree),
    case("DH: ffdhe2048 in a batch", Long, dh::batch),
    case("DH: generator's table", Long, dh::generator),
    case("P-224: keys", Long, ec::keys_224),
    case("P-224: signatures", Long, ec::sign_224),
    case("P-224: signatures that are verified", Long, ec::sign_verified_224),
    case("P-224: agreement", Long, ec::agree_224),
    case("P-224: arithmetic", Long, ec::arithmetic_224),
    case("P-224: batches", Long, ec::batches_224),
    case("P-256: keys", Short, ec::keys_256),
    case("P-256: signatures", Short, ec::sign_256),
    case("P-256: signatures that are verified", Long, ec::sign_verified_256),
    case("P-256: agreement", Short, ec::agree_256),
    case("P-256: arithmetic", Long, ec::arithmetic_256),
    case("P-256: batches", Batch, ec::batches_256),
    case("P-384: keys", Long, ec::keys_384),
    case("P-384: signatures", Long, ec::sign_384),
    case("P-384: signatures that are verified", Long, ec::sign_verified_384),
    case("P-384: agreement", Long, ec::agree_384),
    case("P-384: arithmetic", Long, ec::arithmetic_384),
    case("P-384: batches", Long, ec::batches_384),
    case("P-521: keys", Long, ec::keys_521),
    case("P-521: signatures", Long, ec::sign_521),
    case("P-521: signatures that are verified", Long, ec::sign_verified_521),
    case("P-521: agreement", Long, ec::agree_521),
    case("P-521: arithmetic", Long, ec::arithmetic_521),
    case("P-521: batches", Long, ec::batches_521),
    case("secp256k1: keys", Long, ec::keys_k1),
    case("secp256k1: signatures", Long, ec::sign_k1),
    case("secp256k1: agreement", Long, ec::agree_k1),
    case("brainpoolP256r1: signatures", Long, ec::sign_brainpool),
    case("Ed448: signatures", Long, curve25519::sign_ed448),
    case("Ed25519: keys", Short, curve25519::signing_keys),
    case("Ed25519: signatures", Short, curve25519::sign),
    case("Ed25519: signatures that are verified", Long, curve25519::sign_verified),
    case("Ed25519: batches", Batch, curve25519::sign_batch),
    case("X25519: keys and agreement", Short, curve25519::agree),
    case("X25519: batches", Batch, curve25519::agree_batch),
    case("curve25519: arithmetic", Long, curve25519::arithmetic),
    case("BLS12-381: scalars", Short, bls12_381::scalars),
    case("BLS12-381: scalars by traits", Long, bls12_381::scalars_by_traits),
    case("BLS12-381: multiples in G1", Short, bls12_381::multiples_g1),
    case("BLS12-381: multiples in G2", Long, bls12_381::multiples_g2),
    case("BLS12-381: many multiples in G1", Long, bls12_381::many_g1),
    case("BLS12-381: many multiples in G2", Long, bls12_381::many_g2),
    case("BLS12-381: keys", Long, bls12_381::keys),
    case("BLS12-381: signatures in G2", Highest, bls12_381::sign_small_keys),
    case("BLS12-381: signatures that are verified", Long, bls12_381::sign_verified),
    case("BLS12-381: signatures in G1", Long, bls12_381::sign_small_signatures),
    case("BLS12-381: shares", Long, bls12_381::shares),
    case("BLS12-381: pairing of secret points", Long, bls12_381::pairing),
    case("BLS12-381: powers in GT", Long, bls12_381::powers),
    case("BLS12-381: transform", Long, bls12_381::transform),
    case("BLS12-381: polynomials", Long, bls12_381::polynomials),
    case("BLS12-381: permutations", Highest, bls12_381::permutations),
    case("BLS12-381: many permutations", Batch, bls12_381::many_permutations),
    case("BLS12-381: base fields", Long, bls12_381::base_fields),
    case("blst.h: keys", Long, blst_h::keys),
    case("blst.h: scalars", Short, blst_h::scalars),
    case("blst.h: hexadecimal scalars", Short, blst_h::hexadecimal),
    case("blst.h: elements of Fr", Short, blst_h::elements),
    case("blst.h: public keys in G1", Long, blst_h::public_keys_g1),
    case("blst.h: public keys in G2", Long, blst_h::public_keys_g2),
    case("blst.h: products and signatures in G1", Highest, blst_h::sign_g1),
    case("blst.h: products and signatures in G2", Long, blst_h::sign_g2),
];
