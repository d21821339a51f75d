//! The limb: one digit of a number of several words.

/// One digit of a number, radix 2⁶⁴.
pub type Limb = u64;

/// Bits in a [`Limb`].
pub const LIMB_BITS: usize = 64;

/// Bytes in a [`Limb`].
pub const LIMB_BYTES: usize = 8;
