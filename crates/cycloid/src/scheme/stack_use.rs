//! The most stack that each public operation uses, in bytes, on every backend: what a thread must
//! have left when it calls one. It is also what the operation overwrites when it is done.
//!
//! Measured on code that is optimised, with or without the compiler's own checks, and some more, as
//! compilers differ; `cargo xtask residue` compares. What a random generator of the caller's uses
//! comes on top. No operation on one number uses more than 48 KiB, and none on eight more than
//! 96 KiB, but for BLS12-381: with vectors, lists of multiples take up to 126 KiB, and lists of
//! pairings 184 KiB.

use super::ec::Curve;
#[cfg(feature = "bls12-381")]
use crate::machine::lanes::Backend;

/// Of a curve: P-224, P-256, P-384, P-521, in units of 256 bytes.
const fn of_curve<C: Curve>(sizes: [usize; 4]) -> usize {
    256 * match C::BITS {
        224 => sizes[0],
        256 => sizes[1],
        384 => sizes[2],
        _ => sizes[3],
    }
}

/// Keys on a NIST curve: generation, reading and writing in every format.
pub const fn ec_key<C: Curve>() -> usize {
    of_curve::<C>([40, 40, 50, 62])
}

/// Operators on scalars of a NIST curve.
pub const EC_SCALAR: usize = 1 << 10;

/// Arithmetic on points of a NIST curve, and inverses of scalars.
pub const fn ec_point<C: Curve>() -> usize {
    of_curve::<C>([40, 40, 56, 76])
}

/// One ECDSA signature.
pub const fn ecdsa_sign<C: Curve>() -> usize {
    of_curve::<C>([34, 34, 42, 52])
}

/// Any number of ECDSA signatures, eight side by side.
pub const fn ecdsa_sign_batch<C: Curve>() -> usize {
    of_curve::<C>([132, 132, 172, 216])
}

/// One verification of an ECDSA signature.
pub const fn ecdsa_verify<C: Curve>() -> usize {
    of_curve::<C>([32, 32, 40, 48])
}

/// Any number of verifications of ECDSA signatures, eight side by side.
pub const fn ecdsa_verify_batch<C: Curve>() -> usize {
    of_curve::<C>([180, 180, 276, 376])
}

/// One agreement by ECDH.
pub const fn ecdh_agree<C: Curve>() -> usize {
    of_curve::<C>([36, 36, 52, 66])
}

/// Any number of agreements by ECDH, eight side by side.
pub const fn ecdh_batch<C: Curve>() -> usize {
    of_curve::<C>([176, 176, 272, 368])
}

/// Ed25519: a signature, and keys in every format.
pub const ED25519_SIGN: usize = 12 << 10;

/// Ed25519: one verification.
pub const ED25519_VERIFY: usize = 14 << 10;

/// Ed25519: any number of signatures, eight side by side.
pub const ED25519_SIGN_BATCH: usize = 32 << 10;

/// Ed25519: any number of verifications, eight side by side.
pub const ED25519_VERIFY_BATCH: usize = 72 << 10;

/// X25519: agreement, and keys in every format.
pub const X25519: usize = 7 << 10;

/// X25519: any number of agreements and public keys, eight side by side.
pub const X25519_BATCH: usize = 20 << 10;

/// Scalars of edwards25519.
pub const CURVE25519_SCALAR: usize = 1 << 10;

/// Points of edwards25519.
pub const CURVE25519_POINT: usize = 12 << 10;

/// RSA: keys read and written in every format, beside four times the size of the memory where that
/// is an array.
pub const RSA_KEY: usize = 8 << 10;

/// RSA: generating a key, likewise.
pub const RSA_GENERATE: usize = 20 << 10;

/// RSA: a private operation.
pub const RSA_PRIVATE: usize = 12 << 10;

/// RSA: any number of private operations.
pub const RSA_BATCH: usize = 20 << 10;

/// RSA: encryption and verification, one or many.
pub const RSA_PUBLIC: usize = 8 << 10;

/// Finite-field Diffie-Hellman: everything on one number.
pub const DH: usize = 12 << 10;

/// Finite-field Diffie-Hellman: any number of operations, eight side by side.
pub const DH_BATCH: usize = 18 << 10;

/// BLS12-381: a scalar inverted, raised or read, on the library's own backend, as all that follow.
pub const BLS_SCALAR: usize = 2 << 10;

/// BLS12-381: a multiple of a point of either group.
pub const BLS_MULTIPLY: usize = 24 << 10;

/// BLS12-381: any number of multiples, eight side by side.
pub const BLS_MULTIPLY_MANY: usize = 126 << 10;

/// BLS12-381: keys generated, derived, read, written and shared.
pub const BLS_KEY: usize = 8 << 10;

/// BLS12-381: a signature.
pub const BLS_SIGN: usize = 24 << 10;

/// BLS12-381: a pairing or a product of pairings, one after the other, and a power in GT.
pub const BLS_PAIRING: usize = 40 << 10;

/// BLS12-381: any number of pairings and verifications, eight side by side.
pub const BLS_PAIRING_MANY: usize = 184 << 10;

/// BLS12-381: verification of a signature.
pub const BLS_VERIFY: usize = 48 << 10;

/// What `count` multiples use here: fewer than three never go side by side, and without vectors none
/// do.
#[cfg(feature = "bls12-381")]
pub(crate) fn bls_multiples(count: usize) -> usize {
    if count < FEWEST || Backend::best().is_none() { BLS_MULTIPLY } else { BLS_MULTIPLY_MANY }
}

/// What the product of `count` pairings uses.
#[cfg(feature = "bls12-381")]
pub(crate) const fn bls_pairings(count: usize) -> usize {
    if count < FEWEST { BLS_PAIRING } else { BLS_PAIRING_MANY }
}

/// The fewest points of BLS12-381 that go side by side on any backend.
#[cfg(feature = "bls12-381")]
const FEWEST: usize = 3;
