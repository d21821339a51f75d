//! Eight numbers side by side: limbs of 52 bits, limb by limb, lane by lane.
//!
//! A number of n limbs in each of eight lanes is `[Lanes; n]`: element i holds limb i of all eight.
//! [`LaneWords`] is the interface of a backend; every backend gives the same limbs, because all of
//! them instantiate the one algorithm in `kernel`. Time depends on lengths only.

mod convert;
pub(super) mod four;
pub(super) mod kernel;
mod linear;
pub mod portable;
pub mod sha;
#[cfg(test)]
pub(crate) mod tests;
pub(super) mod vector;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod x86_64;

use super::backends::{backends, enumeration, with_eight};
use super::cpu::Token;
use super::words::Limb;
pub use convert::{load, load_all, store};
pub use linear::{add, double_mod, equal, montgomery_k0, reduce_once};
pub use portable::Portable;

/// One limb of each of eight numbers, in the low 52 bits of eight 64-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Lanes(pub [Limb; LANES]);

impl Lanes {
    /// Zero in every lane.
    pub const ZERO: Self = Self([0; LANES]);
}

/// The number of lanes.
pub const LANES: usize = 8;

/// Bits in a limb of a lane.
pub const LANE_LIMB_BITS: usize = 52;

/// The low [`LANE_LIMB_BITS`] bits of a word.
pub(super) const LIMB_MASK: Limb = (1 << LANE_LIMB_BITS) - 1;

/// The maximum number of limbs that a kernel holds in registers at a time.
const MAX_BLOCK: usize = 20;

/// Returns the number of lane limbs of numbers modulo moduli of up to `bits` bits.
///
/// It is at least two bits wider than the modulus, so that R = 2^(52·n) ≥ 4·modulus, and rounded up
/// to the kernels' register blocks: 5, 10, 15, or a multiple of 15 or of 20.
pub const fn lane_limbs(bits: usize) -> usize {
    let n = (bits + 2).div_ceil(LANE_LIMB_BITS);
    if n <= 20 {
        return if n <= 5 { 5 } else { n.next_multiple_of(5) };
    }
    let (by_15, by_20) = (n.next_multiple_of(15), n.next_multiple_of(20));
    if by_15 < by_20 { by_15 } else { by_20 }
}

/// Returns the `Lanes` of working memory for Montgomery multiplication modulo numbers of `n` limbs.
///
/// It holds the 2n columns of a product, and a block of the modulus as factors.
pub const fn montgomery_work_lanes(n: usize) -> usize {
    2 * n + MAX_BLOCK
}

/// How a backend multiplies limbs. The number of operations from which on eight in parallel are
/// faster than one by one depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplication {
    /// Lane by lane, without vector instructions.
    OneByOne,
    /// By floating-point instructions, several for a product.
    FloatingPoint,
    /// By one instruction for each half of a product.
    Integer,
}

/// Montgomery arithmetic on eight numbers at once: the interface of a backend.
///
/// Residues are *almost* reduced: with R = 2^(52·n) ≥ 4·modulus, factors below 2·modulus give a
/// product below 2·modulus, since (4m² + R·m) / R ≤ 2m, so no product ends with a subtraction.
/// Limbs of inputs and outputs are below 2⁵².
pub trait LaneWords: Token {
    /// How the backend multiplies.
    const MULTIPLICATION: Multiplication;

    /// Computes `accumulator = accumulator · by / R mod modulus`, almost reduced.
    ///
    /// `accumulator`, `by` and `modulus` have n limbs, where n is a value of [`lane_limbs`]; `work`
    /// has [`montgomery_work_lanes`]`(n)`; `k0` holds −1 / modulus mod 2⁵² of each lane.
    fn montgomery_mul(
        self,
        accumulator: &mut [Lanes],
        by: &[Lanes],
        work: &mut [Lanes],
        modulus: &[Lanes],
        k0: &Lanes,
    );

    /// Computes `accumulator = accumulator² / R mod modulus`, almost reduced, `times` times; lengths
    /// as for [`montgomery_mul`](Self::montgomery_mul).
    fn montgomery_square(
        self,
        accumulator: &mut [Lanes],
        times: usize,
        work: &mut [Lanes],
        modulus: &[Lanes],
        k0: &Lanes,
    );

    /// Copies `out = table[index]` in each lane, reading the whole table: consecutive entries of
    /// `out.len()` limbs. An index outside the table gives zero.
    fn lookup(self, out: &mut [Lanes], table: &[Lanes], index: &Lanes);
}

backends!(eight, [enumeration](all()));

/// A task that runs on any backend.
pub trait Task {
    /// The result of the task.
    type Output;

    /// Runs the task on one backend.
    fn run<W: LaneWords>(self, lanes: W) -> Self::Output;
}

impl Backend {
    /// Returns the fastest backend with vector instructions that [`cpu::limit`](super::cpu::limit)
    /// allows.
    ///
    /// Returns `None` if only the portable one is available, because eight single operations are
    /// faster than that.
    ///
    /// Inlined, so that a program without such a backend contains no code for eight.
    #[inline]
    pub fn best() -> Option<Self> {
        if Self::HAS_OTHERS { Self::fastest() } else { None }
    }

    fn fastest() -> Option<Self> {
        Self::available().skip(1).last()
    }

    /// Returns how the backend multiplies.
    pub const fn multiplication(self) -> Multiplication {
        const fn of<W: LaneWords>(_: W) -> Multiplication {
            W::MULTIPLICATION
        }
        with_eight!(self, token => of(token))
    }
}
