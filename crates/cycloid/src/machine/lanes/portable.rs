//! Plain Rust: products of 52-bit limbs in 128 bits, one lane after the other.

use super::super::ct::Mask;
use super::super::words::Limb;
use super::vector::Vectors;
use super::{LANE_LIMB_BITS, LANES, LIMB_MASK, LaneWords, Lanes, kernel};

/// The backend that runs anywhere: the model of the others, not a fast one.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

kernel::lane_words!(Portable, "portable", by_small_block);

impl Vectors for Portable {
    type Word = [Limb; LANES];
    type Factor = [Limb; LANES];

    const CONVERTS: bool = false;
    const EXCESS: (Limb, Limb) = (0, 0);

    #[inline(always)]
    fn load(self, from: &Lanes) -> Self::Word {
        from.0
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes, word: Self::Word) {
        to.0 = word;
    }

    #[inline(always)]
    fn load_factor(self, from: &Lanes) -> Self::Factor {
        from.0
    }

    #[inline(always)]
    fn store_factor(self, to: &mut Lanes, factor: Self::Factor) {
        to.0 = factor;
    }

    #[inline(always)]
    fn splat(self, limb: Limb) -> Self::Word {
        [limb; LANES]
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
    fn high(self, a: Self::Word) -> Self::Word {
        a.map(|a| a >> LANE_LIMB_BITS)
    }

    #[inline(always)]
    fn low(self, a: Self::Word) -> Self::Word {
        a.map(|a| a & LIMB_MASK)
    }

    #[inline(always)]
    fn factor(self, a: Self::Word) -> Self::Factor {
        self.low(a)
    }

    #[inline(always)]
    fn mul_low(self, a: Self::Factor, b: Self::Factor) -> Self::Factor {
        core::array::from_fn(|lane| a[lane].wrapping_mul(b[lane]) & LIMB_MASK)
    }

    // The kernels unroll for registers, of which there are none here: a call keeps the code small.
    #[inline(never)]
    fn mul_add(
        self,
        low: Self::Word,
        high: Self::Word,
        a: Self::Factor,
        b: Self::Factor,
    ) -> (Self::Word, Self::Word) {
        let product = |lane| u128::from(a[lane]) * u128::from(b[lane]);
        (
            core::array::from_fn(|lane| low[lane] + (product(lane) as Limb & LIMB_MASK)),
            core::array::from_fn(|lane| high[lane] + (product(lane) >> LANE_LIMB_BITS) as Limb),
        )
    }

    #[inline(always)]
    fn mul_add_high(self, high: Self::Word, a: Self::Factor, b: Self::Factor) -> Self::Word {
        self.mul_add([0; LANES], high, a, b).1
    }

    #[inline(always)]
    fn equal(self, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| Mask::equal(a[lane], b[lane]).value())
    }

    #[inline(always)]
    fn or_masked(self, a: Self::Word, b: Self::Word, mask: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| a[lane] | (b[lane] & mask[lane]))
    }
}
