//! The lengths of keys.

use crate::machine::words::LIMB_BITS;

/// The shortest modulus that a key may have, in bits: as many bytes as one of 2048 bits. Some
/// programs multiply primes of 1024 bits whatever the length of the product.
pub const MIN_BITS: usize = 2041;

/// The shortest modulus that is generated, in bits (FIPS 186-5, section 5.1).
pub(super) const MIN_GENERATED_BITS: usize = 2048;

/// The longest modulus that a key may have, in bits.
pub const MAX_BITS: usize = 16384;

/// The lengths of moduli that only verify old signatures, in bits. With the feature `hazardous`,
/// private keys may have them too.
pub(super) const MIN_LEGACY_BITS: usize = 1024;
pub(super) const MAX_LEGACY_BITS: usize = MIN_BITS - 1;

/// The shortest modulus of a public key with the feature `hazardous`, in bits.
#[cfg(feature = "hazardous")]
pub(super) const MIN_WEAK_PUBLIC_BITS: usize = 512;

/// Returns the limbs of a modulus of `bits` bits.
pub(super) const fn limbs(bits: usize) -> usize {
    bits.div_ceil(LIMB_BITS)
}

/// Returns the limbs of each prime of a modulus of `bits` bits.
pub(super) const fn prime_limbs(bits: usize) -> usize {
    bits.div_ceil(2).div_ceil(LIMB_BITS)
}
