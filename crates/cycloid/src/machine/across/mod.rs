//! One number across the lanes: digits of 51 bits, eight consecutive ones in a vector.
//!
//! A number of n digits is `[Lanes; v]`, v = [`vectors`]`(n)`: digit i is lane i mod 8 of element i
//! / 8, and digits beyond n are zero. A digit may be as large as 2⁵¹ + 2¹³, so a number has several
//! representations; [`store`] requires the unique one that [`reduce`] produces.
//!
//! **No limb waits for the preceding one.** Montgomery's product a·b / R is usually computed limb
//! by limb, in one long dependency chain: each limb of the quotient waits for the preceding row.
//! Here the quotient is computed as a whole: with T = a·b and m' = −1 / m mod R,
//!
//! - T mod R and T div R, two triangles of products of digits,
//! - q = (T mod R) · m' mod R, a triangle,
//! - (T + q·m) / R, which needs only the upper triangle of q·m, because the lower one is known to
//!   be −T mod R.
//!
//! This takes as many products as limb by limb, 2n², but three waits instead of n. For a *pair* of
//! numbers, the steps of both alternate, so that products of one fill the waits of the other.
//!
//! **51 bits, not 52,** although factors may have 52, so that digits need not be exact, and one
//! step handles all carries at once instead of a chain of carries.
//!
//! [`AcrossLanes`] is the interface of a backend. Every backend gives the same digits, because all
//! of them instantiate the steps in `triangle` and `square`, which `kernel` describes. Time depends
//! on lengths only.

mod convert;
mod kernel;
mod modulus;
mod montgomery;
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable;
mod square;
#[cfg(test)]
mod tests;
#[allow(
    clippy::absurd_extreme_comparisons,
    clippy::out_of_bounds_indexing,
    reason = "a step unrolled for each constant has branches that its constant excludes"
)]
mod triangle;
mod vector;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod x86_64;

use super::backends::with_vectors;
use super::lanes::{Backend, LANES, LaneWords, Lanes};
use super::words::Limb;
pub use convert::{load, reduce, store};
pub use modulus::{Modulus, modulus_lanes};

/// Bits in a digit, without redundancy.
pub const DIGIT_BITS: usize = 51;

/// The low [`DIGIT_BITS`] bits of a word.
const DIGIT_MASK: Limb = (1 << DIGIT_BITS) - 1;

/// The maximum number of digits for which no column overflows.
const MAX_DIGITS: usize = 1023;

/// Returns the number of digits of numbers modulo a modulus of up to `bits` bits: an odd number, at
/// least 3.
///
/// R = 2^(51·n) is at least eight times the modulus.
pub const fn digits(bits: usize) -> usize {
    let n = (bits + 3).div_ceil(DIGIT_BITS) | 1;
    if n < 3 { 3 } else { n }
}

/// Returns the `Lanes` in a number of `n` digits: at least one more digit than n fits.
pub const fn vectors(n: usize) -> usize {
    (n + 1).div_ceil(LANES)
}

/// Returns the digits that fit into a number of `n` digits, minus n.
const fn padding(n: usize) -> usize {
    LANES * vectors(n) - n
}

/// Returns the `Lanes` of working memory for Montgomery multiplication modulo a number of `n`
/// digits.
///
/// It holds the windows of one factor, the product, and the product's lower half and the other
/// factor or the quotient, both as factors.
pub const fn montgomery_work_lanes(n: usize) -> usize {
    LANES * (vectors(n) + 1) + 4 * vectors(n)
}

/// Montgomery arithmetic on one number: the interface of a backend.
///
/// Residues are *almost* reduced: factors below 2·modulus give a product below 2·modulus. With T <
/// 4m² and q < R + 2⁻³⁷R, T / R + q·m / R < m/2 + m + m/8, since R ≥ 8m.
///
/// `accumulator` and `by` have [`vectors`]`(n)` elements for a modulus of n digits, `work` has
/// [`montgomery_work_lanes`]`(n)`.
pub trait AcrossLanes: LaneWords {
    /// Prepares an odd modulus above 1 of exactly `bits` bits, in little-endian limbs.
    ///
    /// `memory` has [`modulus_lanes`]`(n)` and `work` [`montgomery_work_lanes`]`(n)` elements for n
    /// = [`digits`]`(bits)`. Time depends on `bits` only.
    fn prepare<'a>(
        self,
        modulus: &[Limb],
        bits: usize,
        memory: &'a mut [Lanes],
        work: &mut [Lanes],
    ) -> Modulus<'a, Self>;

    /// Computes `accumulator = accumulator · by / R mod modulus`, almost reduced.
    fn multiply(
        self,
        accumulator: &mut [Lanes],
        by: &[Lanes],
        work: &mut [Lanes],
        modulus: &Modulus<'_, Self>,
    );

    /// Computes `accumulator = accumulator² / R mod modulus`, almost reduced.
    fn square(self, accumulator: &mut [Lanes], work: &mut [Lanes], modulus: &Modulus<'_, Self>);

    /// Copies `out = table[index]`, reading the whole table: consecutive entries of `out.len()`
    /// elements. An index outside the table gives zero.
    fn select(self, out: &mut [Lanes], table: &[Lanes], index: usize);
}

/// A task that runs on any backend.
pub trait Task {
    /// The result of the task.
    type Output;

    /// Runs the task on one backend.
    fn run<A: AcrossLanes>(self, across: A) -> Self::Output;
}

/// Runs `task` on `backend`.
#[inline]
pub fn run<T: Task>(backend: Backend, task: T) -> T::Output {
    with_vectors!(backend, across => task.run(across))
}
