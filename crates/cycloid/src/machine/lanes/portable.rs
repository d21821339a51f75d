//! Plain Rust: products of 52-bit limbs in 128 bits, one lane after the other.

use super::super::cpu::{Level, Token};
use super::super::ct::Mask;
use super::super::words::Limb;
use super::vector::Vectors;
use super::{LANE_LIMB_BITS, LANES, LIMB_MASK, LaneWords, Lanes, Multiplication, kernel};

/// The backend that runs on every processor: the reference for the others, not a fast one.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Token for Portable {
    const LEVEL: Level = Level::Portable;
}

kernel::lane_words!(Portable, OneByOne, by_small_block);

impl Vectors for Portable {
    type Word = [Limb; LANES];
    type Factor = [Limb; LANES];

    const IN_REGISTERS: bool = false;
    const CONVERTS: bool = false;
    const EXCESS: (Limb, Limb) = (0, 0);

    #[inline(always)]
    fn load(self, from: &Lanes) -> Self::Word {
        from.0
    }

    #[inline(always)]
    fn load_limbs(self, from: &[Limb; LANES]) -> Self::Word {
        *from
    }

    #[inline(always)]
    fn load_halves(self, [low, high]: [&[Limb; LANES / 2]; 2]) -> Self::Word {
        core::array::from_fn(
            |lane| if lane < LANES / 2 { low[lane] } else { high[lane - LANES / 2] },
        )
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

    // The kernels unroll for registers, which do not exist here: a call keeps the code small.
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
            core::array::from_fn(|lane| low[lane].wrapping_add(product(lane) as Limb & LIMB_MASK)),
            core::array::from_fn(|lane| {
                high[lane].wrapping_add((product(lane) >> LANE_LIMB_BITS) as Limb)
            }),
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

    #[inline(always)]
    fn limb_factor(self, a: Self::Word) -> Self::Factor {
        debug_assert!(a.iter().all(|a| *a <= LIMB_MASK));
        a
    }

    #[inline(always)]
    fn shift_left<const BITS: u32>(self, a: Self::Word) -> Self::Word {
        a.map(|a| a << BITS)
    }

    #[inline(always)]
    fn shift_right<const BITS: u32>(self, a: Self::Word) -> Self::Word {
        a.map(|a| a >> BITS)
    }

    #[inline(always)]
    fn shift_right_signed<const BITS: u32>(self, a: Self::Word) -> Self::Word {
        a.map(|a| (a.cast_signed() >> BITS).cast_unsigned())
    }

    #[inline(always)]
    fn and(self, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| a[lane] & b[lane])
    }

    #[inline(always)]
    fn not(self, a: Self::Word) -> Self::Word {
        a.map(|a| !a)
    }

    #[inline(always)]
    fn mul_small(self, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| a[lane].wrapping_mul(b[lane]))
    }

    #[inline(always)]
    fn multiple(self, limb: Limb, less: Limb, t: Self::Word) -> Self::Word {
        t.map(|t| t.wrapping_sub(less).wrapping_mul(limb))
    }

    #[inline(always)]
    fn select(self, bits: u8, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| lane_mask(bits, lane).select(a[lane], b[lane]))
    }

    #[inline(always)]
    fn equal_bits(self, a: Self::Word, b: Self::Word) -> u8 {
        let bit = |lane: usize| Mask::equal(a[lane], b[lane]).value() as u8 & 1;
        (0..LANES).fold(0, |bits, lane| bits | bit(lane) << lane)
    }

    #[inline(always)]
    fn or_difference(self, any: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| any[lane] | (a[lane] ^ b[lane]))
    }

    #[inline(always)]
    fn transpose(self, words: [Self::Word; LANES]) -> [Self::Word; LANES] {
        core::array::from_fn(|j| core::array::from_fn(|i| words[i][j]))
    }

    #[inline(always)]
    fn permute(self, a: Self::Word, index: Self::Word) -> Self::Word {
        index.map(|index| a[index as usize])
    }

    #[inline(always)]
    fn permute_two(self, order: Self::Word, first: Self::Word, second: Self::Word) -> Self::Word {
        let lanes = [first, second];
        order.map(|lane| lanes.as_flattened()[lane as usize])
    }

    #[inline(always)]
    fn permute_two_some(
        self,
        bits: u8,
        order: Self::Word,
        first: Self::Word,
        second: Self::Word,
    ) -> Self::Word {
        self.only(bits, self.permute_two(order, first, second))
    }

    #[inline(always)]
    fn only(self, bits: u8, a: Self::Word) -> Self::Word {
        self.select(bits, a, [0; LANES])
    }

    #[inline(always)]
    fn add_some(self, bits: u8, other: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word {
        self.select(bits, self.add(a, b), other)
    }

    #[inline(always)]
    fn sub_some(self, bits: u8, other: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word {
        self.select(bits, self.sub(a, b), other)
    }

    #[inline(always)]
    fn mul_add_low(self, low: Self::Word, a: Self::Factor, b: Self::Factor) -> Self::Word {
        self.add(low, self.mul_low(a, b))
    }

    #[inline(always)]
    fn choose(self, mask: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word {
        core::array::from_fn(|lane| (a[lane] & mask[lane]) | (b[lane] & !mask[lane]))
    }
}

/// Returns whether the bit of `lane` is 1.
#[inline(always)]
fn lane_mask(bits: u8, lane: usize) -> Mask {
    Mask::from_bit(Limb::from(bits >> lane & 1))
}
