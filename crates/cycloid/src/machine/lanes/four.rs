//! Vector operations on four lanes, for kernels of one number.
//!
//! A vector of four lanes is half as wide as one of eight, and Intel's processors have three ports
//! for it instead of two: both that multiply are free of additions and permutations.

use super::super::words::Limb;
use super::portable::Portable;

/// The number of lanes.
pub(in super::super) const FOUR: usize = 4;

/// A word in each of four lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(32))]
pub(in super::super) struct Quad(pub(in super::super) [Limb; FOUR]);

/// Returns vectors with one number of N limbs in each lane.
pub(in super::super) const fn transposed<const N: usize>(numbers: &[[Limb; N]; FOUR]) -> [Quad; N] {
    let mut quads = [Quad([0; FOUR]); N];
    let mut j = 0;
    while j < N {
        let mut lane = 0;
        while lane < FOUR {
            quads[j].0[lane] = numbers[lane][j];
            lane += 1;
        }
        j += 1;
    }
    quads
}

/// Returns a vector of constants.
#[inline(always)]
pub(in super::super) fn quad<V: FourVectors>(v: V, lanes: [Limb; FOUR]) -> V::Word {
    v.load(&Quad(lanes))
}

/// Arithmetic on four lanes, modulo 2⁶⁴.
///
/// Implemented by a backend's token, which proves that the instructions may be executed. Every
/// function is inlined into a kernel compiled for them. A backend may execute them in source order,
/// so a kernel lists operations in the order in which their operands are ready.
pub(in super::super) trait FourVectors: Copy {
    /// Four integers modulo 2⁶⁴.
    type Word: Copy;

    /// Whether words are in registers, so that unrolling loops over them pays.
    const IN_REGISTERS: bool;

    fn load(self, from: &Quad) -> Self::Word;
    fn store(self, to: &mut Quad, word: Self::Word);

    /// Returns the same limb in every lane.
    fn splat(self, limb: Limb) -> Self::Word;

    fn add(self, a: Self::Word, b: Self::Word) -> Self::Word;

    fn sub(self, a: Self::Word, b: Self::Word) -> Self::Word;

    fn and(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns a·2^BITS.
    fn shift_left<const BITS: u32>(self, a: Self::Word) -> Self::Word;

    /// Returns ⌊a / 2^BITS⌋ of an unsigned integer.
    fn shift_right<const BITS: u32>(self, a: Self::Word) -> Self::Word;

    /// Returns a·2^count, with a count in each lane.
    fn shift_left_each(self, a: Self::Word, count: Self::Word) -> Self::Word;

    /// Returns all ones in every lane whose top bit is 1, zero in the others.
    fn top_bits(self, a: Self::Word) -> Self::Word;

    /// Returns the bits of a where those of `mask` are 1, the bits of b where they are 0.
    fn choose(self, mask: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Adds the low 52 bits of the product of the low 52 bits of a and b.
    fn mul_add_low(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Adds the bits from 52 on of the product of the low 52 bits of a and b.
    fn mul_add_high(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the lanes of a whose numbers are in `index`, below 4. Time does not depend on them.
    fn permute(self, a: Self::Word, index: Self::Word) -> Self::Word;

    /// Exchanges the lanes 0 and 1, and 2 and 3.
    fn swap_pairs(self, a: Self::Word) -> Self::Word;

    /// Returns the lanes 0, 0, 2 and 2 of a in the lanes whose bit in `LANES` is 1, those of
    /// `other` in the others.
    fn even<const LANES: u8>(self, other: Self::Word, a: Self::Word) -> Self::Word;

    /// Returns the lanes 1, 1, 3 and 3 of a in the lanes whose bit in `LANES` is 1, those of
    /// `other` in the others.
    fn odd<const LANES: u8>(self, other: Self::Word, a: Self::Word) -> Self::Word;

    /// Returns a + b in the lanes whose bit in `LANES` is 1, `other` in the others.
    fn add_some<const LANES: u8>(
        self,
        other: Self::Word,
        a: Self::Word,
        b: Self::Word,
    ) -> Self::Word;

    /// Returns a − b in the lanes whose bit in `LANES` is 1, `other` in the others.
    fn sub_some<const LANES: u8>(
        self,
        other: Self::Word,
        a: Self::Word,
        b: Self::Word,
    ) -> Self::Word;
}

impl FourVectors for Portable {
    type Word = [Limb; FOUR];

    const IN_REGISTERS: bool = false;

    #[inline(always)]
    fn load(self, from: &Quad) -> Self::Word {
        from.0
    }

    #[inline(always)]
    fn store(self, to: &mut Quad, word: Self::Word) {
        to.0 = word;
    }

    #[inline(always)]
    fn splat(self, limb: Limb) -> Self::Word {
        [limb; FOUR]
    }

    #[inline(always)]
    fn add(self, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| a[lane].wrapping_add(b[lane]))
    }

    #[inline(always)]
    fn sub(self, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| a[lane].wrapping_sub(b[lane]))
    }

    #[inline(always)]
    fn and(self, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| a[lane] & b[lane])
    }

    #[inline(always)]
    fn shift_left<const BITS: u32>(self, a: Self::Word) -> Self::Word {
        a.map(|word| word << BITS)
    }

    #[inline(always)]
    fn shift_right<const BITS: u32>(self, a: Self::Word) -> Self::Word {
        a.map(|word| word >> BITS)
    }

    #[inline(always)]
    fn shift_left_each(self, a: Self::Word, count: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| a[lane] << count[lane])
    }

    #[inline(always)]
    fn top_bits(self, a: Self::Word) -> Self::Word {
        a.map(|word| (word >> 63).wrapping_neg())
    }

    #[inline(always)]
    fn choose(self, mask: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| (a[lane] & mask[lane]) | (b[lane] & !mask[lane]))
    }

    #[inline(always)]
    fn mul_add_low(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| {
            sum[lane].wrapping_add(product(a[lane], b[lane]) as Limb & super::LIMB_MASK)
        })
    }

    #[inline(always)]
    fn mul_add_high(self, sum: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| {
            sum[lane].wrapping_add((product(a[lane], b[lane]) >> super::LANE_LIMB_BITS) as Limb)
        })
    }

    #[inline(always)]
    fn permute(self, a: Self::Word, index: Self::Word) -> Self::Word {
        index.map(|index| a[index as usize])
    }

    #[inline(always)]
    fn swap_pairs(self, [a, b, c, d]: Self::Word) -> Self::Word {
        [b, a, d, c]
    }

    #[inline(always)]
    fn even<const LANES: u8>(self, other: Self::Word, [a, _, c, _]: Self::Word) -> Self::Word {
        some::<LANES>(other, [a, a, c, c])
    }

    #[inline(always)]
    fn odd<const LANES: u8>(self, other: Self::Word, [_, b, _, d]: Self::Word) -> Self::Word {
        some::<LANES>(other, [b, b, d, d])
    }

    #[inline(always)]
    fn add_some<const LANES: u8>(
        self,
        other: Self::Word,
        a: Self::Word,
        b: Self::Word,
    ) -> Self::Word {
        some::<LANES>(other, self.add(a, b))
    }

    #[inline(always)]
    fn sub_some<const LANES: u8>(
        self,
        other: Self::Word,
        a: Self::Word,
        b: Self::Word,
    ) -> Self::Word {
        some::<LANES>(other, self.sub(a, b))
    }
}

/// Returns the product of the low 52 bits of two words.
#[inline(always)]
fn product(a: Limb, b: Limb) -> u128 {
    u128::from(a & super::LIMB_MASK) * u128::from(b & super::LIMB_MASK)
}

/// Returns the lanes of a whose bit is 1, those of `other` in the others.
#[inline(always)]
fn some<const LANES: u8>(other: [Limb; FOUR], a: [Limb; FOUR]) -> [Limb; FOUR] {
    core::array::from_fn(|lane| if LANES >> lane & 1 == 1 { a[lane] } else { other[lane] })
}
