//! Integers and test values for the kernels' tests.

use num_bigint::BigUint;

use super::super::super::lanes::LANE_LIMB_BITS;
use super::super::super::words::Limb;

/// Returns the number that limbs of 52 bits represent.
pub(super) fn integer(limbs: &[Limb]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << LANE_LIMB_BITS) + *limb)
}

/// A deterministic source of words, most of them at a bound.
pub(super) struct Source(pub(super) u64);

impl Source {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 ^ self.0 >> 29
    }

    /// Returns a word from `from` to below `to`.
    pub(super) fn word(&mut self, from: u64, to: u64) -> u64 {
        match self.next() >> 20 & 7 {
            0 => from,
            1 => from + (to - from) / 2,
            2 => to - 2,
            3 | 4 => to - 1,
            _ => from + self.next() % (to - from),
        }
    }
}
