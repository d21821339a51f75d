//! Upper bounds on the stack use of each public operation, in bytes, on every backend. A thread
//! must have this much stack left when it calls the operation, and the operation overwrites this
//! much when it ends.
//!
//! The bounds are measured on optimised code, with and without the compiler's own checks, plus a
//! margin for differences between compilers; `cargo xtask residue` compares them, and
//! `cargo xtask cortex-m4` those on Armv7E-M. The stack use of
//! the caller's random generator comes on top. No single operation uses more than 48 KiB and no
//! batch of eight more than 96 KiB, except for BLS12-381: with vectors, lists of multiples use up
//! to 120 KiB, lists of pairings 137 KiB, lists of verifications 168 KiB and lists of powers in GT
//! 248 KiB. Permutations use more for wider states.

use super::ec::Curve;
#[cfg(feature = "bls12-381")]
use crate::machine::lanes::Backend;

/// Selects the size for a curve from those of P-224, P-256, P-384 and P-521, in units of 256 bytes.
/// Other curves use less than the next of these, as they compute one key at a time.
const fn of_curve<C: Curve>(sizes: [usize; 4]) -> usize {
    256 * match C::BITS {
        0..=224 => sizes[0],
        225..=256 => sizes[1],
        257..=384 => sizes[2],
        _ => sizes[3],
    }
}

/// Selects the bound on Armv7E-M, or that on other processors.
const fn on(armv7em: usize, others: usize) -> usize {
    if cfg!(cycloid_armv7em) { armv7em } else { others }
}

/// Whether the arithmetic on curves has room for one number only, and kernels for P-256 and
/// curve25519, so that the bounds are those measured by `cargo xtask cortex-m4`.
const IS_NARROW: bool = cfg!(all(cycloid_armv7em, not(feature = "bls12-381")));

/// Whether single operations on BLS12-381 compute on vectors, where the processor has them.
const HAS_VECTORS: bool = cfg!(all(target_arch = "x86_64", feature = "avx512"));

/// Whether there are tables of the generators' multiples.
const HAS_TABLES: bool = cfg!(any(feature = "large-tables", feature = "small-tables"));

/// Selects the bound on P-256 if that is narrow, or that of all processors.
const fn on_p256<C: Curve>(narrow: usize, others: usize) -> usize {
    // The other curves of this length have no tables in any case.
    if IS_NARROW && C::BITS == 256 && !C::BASE_ONE[0].is_none() { narrow } else { others }
}

/// Keys on a curve: generation, reading and writing in every format.
pub const fn ec_key<C: Curve>() -> usize {
    on_p256::<C>(5632, of_curve::<C>([40, 40, 50, 62]))
}

/// Operators on scalars of a NIST curve.
pub const EC_SCALAR: usize = 1 << 10;

/// Arithmetic on points of a NIST curve, and inverses of scalars.
pub const fn ec_point<C: Curve>() -> usize {
    of_curve::<C>([40, 40, 56, 76])
}

/// One ECDSA signature.
pub const fn ecdsa_sign<C: Curve>() -> usize {
    on_p256::<C>(6144, of_curve::<C>([34, 34, 42, 52]))
}

/// Any number of ECDSA signatures, eight side by side or sixteen one after the other.
pub const fn ecdsa_sign_batch<C: Curve>() -> usize {
    of_curve::<C>([140, 140, 180, 224])
}

/// One ECDSA verification.
pub const fn ecdsa_verify<C: Curve>() -> usize {
    of_curve::<C>([32, 32, 40, 72])
}

/// Any number of ECDSA verifications, eight side by side.
pub const fn ecdsa_verify_batch<C: Curve>() -> usize {
    of_curve::<C>([180, 180, 276, 376])
}

/// One ECDH agreement.
pub const fn ecdh_agree<C: Curve>() -> usize {
    on_p256::<C>(5504, of_curve::<C>([36, 36, 52, 66]))
}

/// Any number of ECDH agreements, eight side by side.
pub const fn ecdh_batch<C: Curve>() -> usize {
    of_curve::<C>([176, 176, 272, 368])
}

/// Ed25519: one signature, and keys in every format.
pub const ED25519_SIGN: usize = if IS_NARROW && HAS_TABLES { 3200 } else { 7 << 10 };

/// Ed25519: one verification.
pub const ED25519_VERIFY: usize = on(14 << 10, 18 << 10);

/// Ed25519: any number of signatures, eight side by side.
pub const ED25519_SIGN_BATCH: usize = 32 << 10;

/// Ed25519: any number of verifications, eight side by side.
pub const ED25519_VERIFY_BATCH: usize = 72 << 10;

/// Ed448: one signature or verification, and keys.
pub const ED448: usize = 16 << 10;

/// X25519: agreement, and keys in every format.
pub const X25519: usize = if IS_NARROW { 3072 } else { on(5 << 10, 6 << 10) };

/// X25519: any number of agreements and public keys, eight side by side.
pub const X25519_BATCH: usize = 15 << 10;

/// Scalars of edwards25519.
pub const CURVE25519_SCALAR: usize = 1 << 10;

/// Points of edwards25519.
pub const CURVE25519_POINT: usize = 12 << 10;

/// RSA: reading and writing keys in every format. If the key's memory is an array, four times its
/// size comes on top.
pub const RSA_KEY: usize = 8 << 10;

/// RSA: generating a key. If its memory is an array, four times its size comes on top.
pub const RSA_GENERATE: usize = 20 << 10;

/// RSA: a private operation.
pub const RSA_PRIVATE: usize = on(4 << 10, 12 << 10);

/// RSA: a signature by RSASSA-PKCS1-v1_5.
pub const RSA_SIGN_PKCS1V15: usize =
    on(if cfg!(feature = "small") { 1312 } else { 1088 }, RSA_PRIVATE);

/// RSA: any number of private operations.
pub const RSA_BATCH: usize = 20 << 10;

/// RSA: encryption and verification, one or many.
pub const RSA_PUBLIC: usize = 8 << 10;

/// Finite-field Diffie-Hellman: every operation on one number.
pub const DH: usize = 12 << 10;

/// Finite-field Diffie-Hellman: any number of operations, eight side by side.
pub const DH_BATCH: usize = 18 << 10;

/// BLS12-381: inverting, raising or reading a scalar. This and the following bounds are for the
/// library's own backend.
pub const BLS_SCALAR: usize = 2 << 10;

/// BLS12-381: reading and writing the bytes of a scalar.
pub const BLS_SCALAR_BYTES: usize = 512;

/// BLS12-381: a permutation of a state of `width` scalars, and hashing and compression with it.
pub const fn bls_permutation(width: usize) -> usize {
    (4 << 10) + width * 1024
}

/// BLS12-381: any number of permutations and compressions of states of `width` scalars, eight side
/// by side.
pub const fn bls_permutation_many(width: usize) -> usize {
    (20 << 10) + width * (4 << 10)
}

/// BLS12-381: one multiple of a point of either group.
pub const BLS_MULTIPLY: usize = 24 << 10;

/// BLS12-381: any number of multiples, eight side by side.
pub const BLS_MULTIPLY_MANY: usize = 120 << 10;

/// BLS12-381: generating, deriving, reading, writing and sharing keys.
pub const BLS_KEY: usize = 8 << 10;

/// BLS12-381: one signature.
pub const BLS_SIGN: usize = if HAS_VECTORS { 48 << 10 } else { 24 << 10 };

/// BLS12-381: a pairing or a product of pairings, computed one by one, and a power in GT.
pub const BLS_PAIRING: usize = if HAS_VECTORS { 52 << 10 } else { 40 << 10 };

/// BLS12-381: any number of pairings, eight side by side.
pub const BLS_PAIRING_MANY: usize = 137 << 10;

/// BLS12-381: a product of any number of powers in GT, eight side by side.
pub const BLS_POWERS_MANY: usize = 248 << 10;

/// BLS12-381: any number of verifications of signatures, eight side by side.
pub const BLS_VERIFY_MANY: usize = 168 << 10;

/// BLS12-381: one verification of a signature.
pub const BLS_VERIFY: usize = if HAS_VECTORS { 56 << 10 } else { 48 << 10 };

/// Returns the stack for `count` multiples on this processor. Fewer than three never go side by
/// side, and without vectors none do.
#[cfg(feature = "bls12-381")]
pub(crate) fn bls_multiples(count: usize) -> usize {
    if count < FEWEST || Backend::best().is_none() { BLS_MULTIPLY } else { BLS_MULTIPLY_MANY }
}

/// Returns the stack for permutations of `count` states of `width` scalars on this processor.
#[cfg(feature = "bls12-381")]
pub(crate) fn bls_permutations(width: usize, count: usize) -> usize {
    if count < FEWEST || Backend::best().is_none() {
        bls_permutation(width)
    } else {
        bls_permutation_many(width)
    }
}

/// Returns the stack for a product of `count` pairings.
#[cfg(feature = "bls12-381")]
pub(crate) const fn bls_pairings(count: usize) -> usize {
    if count < FEWEST { BLS_PAIRING } else { BLS_PAIRING_MANY }
}

/// Returns the stack for a product of `count` powers in GT on this processor.
#[cfg(feature = "bls12-381")]
pub(crate) fn bls_powers(count: usize) -> usize {
    if count < FEWEST || Backend::best().is_none() { BLS_PAIRING } else { BLS_POWERS_MANY }
}

/// The fewest BLS12-381 points or states that go side by side on any backend.
#[cfg(feature = "bls12-381")]
const FEWEST: usize = 3;
