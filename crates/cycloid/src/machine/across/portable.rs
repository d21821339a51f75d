//! Plain Rust: the reference for the other backends, not a fast one.

use super::super::lanes::{LANES, Portable};
use super::super::words::Limb;
use super::vector::{DigitVectors, across_lanes};
use super::{DIGIT_BITS, DIGIT_MASK};

across_lanes!(Portable, []; 0: 1 2 3 4);

impl DigitVectors for Portable {
    #[inline(always)]
    fn digit(self, a: Self::Word) -> Self::Word {
        a.map(|a| a & DIGIT_MASK)
    }

    #[inline(always)]
    fn carry(self, a: Self::Word) -> Self::Word {
        a.map(|a| a >> DIGIT_BITS)
    }

    #[inline(always)]
    fn broadcast(self, from: &Limb) -> Self::Factor {
        [*from; LANES]
    }

    #[inline(always)]
    fn load_digits(self, from: &[Limb; LANES]) -> Self::Word {
        *from
    }

    #[inline(always)]
    fn join<const FROM: i32>(self, low: Self::Word, high: Self::Word) -> Self::Word {
        let from = FROM as usize;
        core::array::from_fn(|lane| match lane + from {
            lane if lane < LANES => low[lane],
            lane => high[lane - LANES],
        })
    }

    #[inline(always)]
    fn interleave(self, first: Self::Word, second: Self::Word) -> (Self::Word, Self::Word) {
        let lane = |lane: usize| [first, second][lane % 2][lane / 2];
        (core::array::from_fn(lane), core::array::from_fn(|upper| lane(LANES + upper)))
    }
}
