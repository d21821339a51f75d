//! Vector operations that the kernels need: integers in eight lanes, and their 52-bit products.

use super::super::words::Limb;
use super::{LANES, Lanes};

/// Arithmetic on eight lanes.
///
/// Implemented by a backend's token, which proves that the instructions may be executed. Every
/// function is inlined into a kernel compiled for them.
pub(in super::super) trait Vectors: Copy {
    /// Eight integers modulo 2⁶⁴.
    type Word: Copy;

    /// Eight limbs below 2⁵² in the form that [`mul_add`](Self::mul_add) takes.
    type Factor: Copy;

    /// Whether words are in registers, so that unrolling loops over them pays.
    const IN_REGISTERS: bool;

    /// Whether a factor in memory differs from the limb.
    const CONVERTS: bool;

    /// The excess that one low half and one high half of a product add to a column.
    const EXCESS: (Limb, Limb);

    fn load(self, from: &Lanes) -> Self::Word;

    /// Loads words of any alignment.
    fn load_limbs(self, from: &[Limb; LANES]) -> Self::Word;

    /// Loads the lower lanes from words of any alignment, and the upper ones from others.
    fn load_halves(self, from: [&[Limb; LANES / 2]; 2]) -> Self::Word;

    fn store(self, to: &mut Lanes, word: Self::Word);
    fn load_factor(self, from: &Lanes) -> Self::Factor;
    fn store_factor(self, to: &mut Lanes, factor: Self::Factor);

    /// Returns the same limb in every lane.
    fn splat(self, limb: Limb) -> Self::Word;

    fn add(self, a: Self::Word, b: Self::Word) -> Self::Word;

    fn sub(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the bits above the low 52.
    fn high(self, a: Self::Word) -> Self::Word;

    /// Returns the low 52 bits.
    fn low(self, a: Self::Word) -> Self::Word;

    /// Returns the low 52 bits, as a factor.
    fn factor(self, a: Self::Word) -> Self::Factor;

    /// Returns the low 52 bits of a product, as a factor.
    fn mul_low(self, a: Self::Factor, b: Self::Factor) -> Self::Factor;

    /// Returns the low 52 bits of `(a + 1) · b`, as a factor; computed where it stands between the
    /// products of [`mul_add`](Self::mul_add).
    #[inline(always)]
    fn mul_next_low(self, a: Self::Word, b: Self::Factor) -> Self::Factor {
        self.mul_low(self.factor(self.add(a, self.splat(1))), b)
    }

    /// Adds the low 52 bits of a product to `low`, and the high 52 bits to `high`, with
    /// [`EXCESS`](Self::EXCESS).
    fn mul_add(
        self,
        low: Self::Word,
        high: Self::Word,
        a: Self::Factor,
        b: Self::Factor,
    ) -> (Self::Word, Self::Word);

    /// Adds the high 52 bits of a product to `high`, with [`EXCESS`](Self::EXCESS).
    fn mul_add_high(self, high: Self::Word, a: Self::Factor, b: Self::Factor) -> Self::Word;

    /// Returns all ones in the lanes where `a` and `b` are equal, zero in the others.
    fn equal(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns `a | (b & mask)`.
    fn or_masked(self, a: Self::Word, b: Self::Word, mask: Self::Word) -> Self::Word;

    /// Converts limbs below 2⁵² to a [`Factor`](Self::Factor).
    fn limb_factor(self, a: Self::Word) -> Self::Factor;

    /// Returns a·2^BITS.
    fn shift_left<const BITS: u32>(self, a: Self::Word) -> Self::Word;

    /// Returns ⌊a / 2^BITS⌋ of an unsigned integer.
    fn shift_right<const BITS: u32>(self, a: Self::Word) -> Self::Word;

    /// Returns ⌊a / 2^BITS⌋ of a signed integer.
    fn shift_right_signed<const BITS: u32>(self, a: Self::Word) -> Self::Word;

    /// Returns the bits that are in both.
    fn and(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the bits that are not in a.
    fn not(self, a: Self::Word) -> Self::Word;

    /// Returns a·b of signed integers from −2³¹ to 2³¹ − 1.
    fn mul_small(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns (t − less)·limb modulo 2⁶⁴ for t from 0 to 7 and a constant limb.
    fn multiple(self, limb: Limb, less: Limb, t: Self::Word) -> Self::Word;

    /// Returns a in the lanes whose bit is 1, b in the others.
    fn select(self, bits: u8, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns a bit for each lane: 1 where `a` and `b` are equal.
    fn equal_bits(self, a: Self::Word, b: Self::Word) -> u8;

    /// Returns `any` plus the bits in which `a` and `b` differ.
    fn or_difference(self, any: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Transposes: lane j of word i becomes lane i of word j.
    fn transpose(self, words: [Self::Word; LANES]) -> [Self::Word; LANES];

    /// Returns in each lane the lane of `first` (indices from 0 to 7) or `second` (from 8 to 15)
    /// that `order` says.
    fn permute_two(self, order: Self::Word, first: Self::Word, second: Self::Word) -> Self::Word;

    /// The same in the lanes whose bit is 1, zero in the others.
    fn permute_two_some(
        self,
        bits: u8,
        order: Self::Word,
        first: Self::Word,
        second: Self::Word,
    ) -> Self::Word;

    /// Returns a in the lanes whose bit is 1, zero in the others; the bits are public.
    fn only(self, bits: u8, a: Self::Word) -> Self::Word;

    /// Returns a + b in the lanes whose bit is 1, `other` in the others; the bits are public.
    fn add_some(self, bits: u8, other: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns a − b in the lanes whose bit is 1, `other` in the others; the bits are public.
    fn sub_some(self, bits: u8, other: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    /// Returns the lanes of a whose numbers are in `index`, below 8. Time does not depend on them.
    fn permute(self, a: Self::Word, index: Self::Word) -> Self::Word;

    /// Adds the low 52 bits of a product to `low`, with [`EXCESS`](Self::EXCESS).
    fn mul_add_low(self, low: Self::Word, a: Self::Factor, b: Self::Factor) -> Self::Word;

    /// Returns the bits of a where those of `mask` are 1, the bits of b where they are 0.
    fn choose(self, mask: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;
}
