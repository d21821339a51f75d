//! What the kernels ask of a processor: integers in eight lanes, and their 52-bit products.

use super::super::words::Limb;
use super::Lanes;

/// Arithmetic on eight lanes.
///
/// Implemented by a backend's token, which proves that the instructions may be executed. Every
/// function is inlined into a kernel that is compiled for them.
pub(in super::super) trait Vectors: Copy {
    /// Eight integers modulo 2⁶⁴.
    type Word: Copy;

    /// Eight limbs below 2⁵² in the form in which [`mul_add`](Self::mul_add) takes them.
    type Factor: Copy;

    /// Whether a factor in memory is something other than the limb.
    const CONVERTS: bool;

    /// What one low half and one high half of a product add to a column beyond their value.
    const EXCESS: (Limb, Limb);

    fn load(self, from: &Lanes) -> Self::Word;
    fn store(self, to: &mut Lanes, word: Self::Word);
    fn load_factor(self, from: &Lanes) -> Self::Factor;
    fn store_factor(self, to: &mut Lanes, factor: Self::Factor);

    /// The same in every lane.
    fn splat(self, limb: Limb) -> Self::Word;

    fn add(self, a: Self::Word, b: Self::Word) -> Self::Word;

    fn sub(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// What lies above the low 52 bits.
    fn high(self, a: Self::Word) -> Self::Word;

    /// The low 52 bits.
    fn low(self, a: Self::Word) -> Self::Word;

    /// The low 52 bits, as a factor.
    fn factor(self, a: Self::Word) -> Self::Factor;

    /// The low 52 bits of a product, as a factor.
    fn mul_low(self, a: Self::Factor, b: Self::Factor) -> Self::Factor;

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

    /// All ones in the lanes where `a` and `b` are equal, zero in the others.
    fn equal(self, a: Self::Word, b: Self::Word) -> Self::Word;

    /// `a | (b & mask)`.
    fn or_masked(self, a: Self::Word, b: Self::Word, mask: Self::Word) -> Self::Word;
}
