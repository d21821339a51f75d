//! Truth values for one number or for eight.

use core::ops::{BitAnd, BitOr, Not};

use super::super::ct::Mask;
use super::super::lanes::LANES;

/// A truth value for each of the numbers of an element.
pub trait Masks: Copy + Not<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self> {
    /// Returns false for all.
    fn none() -> Self;

    /// Returns the truth value of the number at `place`.
    fn at(self, place: usize) -> Mask;

    /// Declares the values public and returns whether any of them is true.
    fn reveal_any(self) -> bool;
}

impl Masks for Mask {
    #[inline(always)]
    fn none() -> Self {
        Self::from_bit(0)
    }

    #[inline(always)]
    fn at(self, _place: usize) -> Mask {
        self
    }

    #[inline(always)]
    fn reveal_any(self) -> bool {
        self.reveal()
    }
}

/// Eight truth values: bit i is that of lane i.
#[derive(Clone, Copy)]
pub struct EightMasks(u8);

impl EightMasks {
    /// Returns the values as bits.
    #[inline(always)]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Creates masks from bits.
    #[inline(always)]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Creates masks from a value for each lane.
    #[inline(always)]
    pub fn from_lanes(mut value: impl FnMut(usize) -> Mask) -> Self {
        Self((0..LANES).fold(0, |bits, lane| bits | (value(lane).value() as u8 & 1) << lane))
    }
}

impl Masks for EightMasks {
    #[inline(always)]
    fn none() -> Self {
        Self(0)
    }

    #[inline(always)]
    fn at(self, place: usize) -> Mask {
        Mask::from_bit(u64::from(self.0 >> place & 1))
    }

    #[inline(always)]
    fn reveal_any(self) -> bool {
        (!Mask::is_zero(u64::from(self.0))).reveal()
    }
}

impl Not for EightMasks {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl BitAnd for EightMasks {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for EightMasks {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
