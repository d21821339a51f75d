//! Eight numbers side by side: limbs of 52 bits, limb by limb, lane by lane.
//!
//! A number of n limbs in each of eight lanes is `[Lanes; n]`: element i holds limb i of all
//! eight. [`LaneWords`] is what a backend provides; every backend gives the same limbs. Time
//! depends on lengths only.

use core::fmt::Debug;

use super::words::Limb;

/// One limb of each of eight numbers, in the low 52 bits of eight 64-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Lanes(pub [Limb; LANES]);

/// How many numbers stand side by side.
pub const LANES: usize = 8;

/// Bits in a limb of a lane.
pub const LANE_LIMB_BITS: usize = 52;

/// Montgomery arithmetic on eight numbers at once: what a backend provides.
///
/// Residues are *almost* reduced: with R = 2^(52·n) ≥ 4·modulus, factors below 2·modulus give a
/// product below 2·modulus, since (4m² + R·m) / R ≤ 2m, so no product ends in a subtraction.
/// Limbs are below 2⁵² going in and coming out.
pub trait LaneWords: Copy + Debug + Send + Sync + 'static {
    /// The backend's name in the registry.
    const NAME: &'static str;

    /// `accumulator = accumulator · by / R mod modulus`, almost reduced.
    ///
    /// `accumulator`, `by` and `modulus` have n limbs, where n is some [`lane_limbs`]; `work` has
    /// [`montgomery_work`]`(n)`; `k0` holds −1 / modulus mod 2⁵² of each lane.
    fn montgomery_mul(
        self,
        accumulator: &mut [Lanes],
        by: &[Lanes],
        work: &mut [Lanes],
        modulus: &[Lanes],
        k0: &Lanes,
    );

    /// `accumulator = accumulator² / R mod modulus`, almost reduced; lengths as for
    /// [`montgomery_mul`](Self::montgomery_mul).
    fn montgomery_square(
        self,
        accumulator: &mut [Lanes],
        work: &mut [Lanes],
        modulus: &[Lanes],
        k0: &Lanes,
    );

    /// `out = table[index]` in each lane, reading the whole table: entries of `out.len()` limbs,
    /// one after the other. An index outside the table gives zero.
    fn lookup(self, out: &mut [Lanes], table: &[Lanes], index: &Lanes);
}
