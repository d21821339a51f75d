//! Basic reduction: the remainder of a division (Knuth, The Art of Computer Programming, volume 2,
//! section 4.3.1, algorithm D). Time depends on the values.

use super::{PlainResidues, plain_products};
use crate::machine::words::{self, LIMB_BITS, Limb, Words};

/// Residues modulo any number except 0 and 1, reduced by division.
pub(super) struct Basic<'a, W> {
    words: W,
    divisor: Divisor<'a>,
    /// 2n limbs for a product, and one for the normalising shift.
    dividend: &'a mut [Limb],
}

/// Returns the limbs of working memory for a modulus of `n` limbs.
pub(super) const fn work_limbs(n: usize) -> usize {
    n + 2 * n + 1
}

impl<'a, W: Words> Basic<'a, W> {
    /// Prepares a reduction. `modulus` has n limbs, the highest not 0; `work` has
    /// [`work_limbs`]`(n)`.
    pub(super) fn new(words: W, modulus: &[Limb], work: &'a mut [Limb]) -> Self {
        let (normalised, dividend) = work.split_at_mut(modulus.len());
        let divisor = Divisor::new(modulus, normalised);
        Self { words, divisor, dividend }
    }
}

plain_products!(Basic);

impl<W: Words> PlainResidues for Basic<'_, W> {
    fn reduce(&mut self, result: &mut [Limb]) {
        let n = result.len();
        self.dividend[2 * n] = 0;
        self.divisor.divide_vartime(self.words, self.dividend, |_, _| {});
        result.copy_from_slice(&self.dividend[..n]);
    }

    fn wide(&mut self) -> &mut [Limb] {
        let without_top = self.dividend.len() - 1;
        &mut self.dividend[..without_top]
    }
}

/// A divisor shifted left until its highest bit is set.
pub(super) struct Divisor<'a> {
    normalised: &'a [Limb],
    shift: u32,
    top: Reciprocal,
}

/// A limb whose highest bit is set, as a divisor, with its reciprocal: ⌊(2¹²⁸ − 1) / value⌋ − 2⁶⁴.
/// Processors of 32 bits divide 128 bits by 64 in thousands of instructions.
#[derive(Clone, Copy)]
struct Reciprocal {
    value: Limb,
    reciprocal: Limb,
}

impl Reciprocal {
    fn new(value: Limb) -> Self {
        // The quotient is from 2⁶⁴ to 2⁶⁵ − 1: its low limb is the difference.
        Self { value, reciprocal: (u128::MAX / u128::from(value)) as Limb }
    }

    /// Divides `high`·2⁶⁴ + `low` and returns quotient and rest; `high` is below the value (Möller
    /// and Granlund, Improved division by invariant integers, 2011, algorithm 4).
    fn divide_vartime(self, high: Limb, low: Limb) -> (Limb, Limb) {
        let Self { value, reciprocal } = self;
        // (2⁶⁴ + reciprocal)·high ≤ (2¹²⁸ − 1)·(value − 1) / value, so that the sum fits.
        let product = u128::from(reciprocal) * u128::from(high)
            + (u128::from(high) << LIMB_BITS | u128::from(low));
        let mut quotient = ((product >> LIMB_BITS) as Limb).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(value));
        if rest > product as Limb {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(value);
        }
        if rest >= value {
            quotient = quotient.wrapping_add(1);
            rest -= value;
        }
        (quotient, rest)
    }
}

impl<'a> Divisor<'a> {
    /// Prepares a divisor. Its highest limb is not 0; `normalised` has as many limbs.
    pub(super) fn new(divisor: &[Limb], normalised: &'a mut [Limb]) -> Self {
        let shift = divisor[divisor.len() - 1].leading_zeros();
        normalised.copy_from_slice(divisor);
        shift_left(normalised, shift);
        let top = Reciprocal::new(normalised[normalised.len() - 1]);
        Self { normalised, shift, top }
    }

    /// Computes `dividend = dividend mod divisor`. `dividend` is longer than the divisor, and its
    /// highest limb is 0. Calls `quotient` with each digit of the quotient, highest first, and its
    /// position.
    pub(super) fn divide_vartime<W: Words>(
        &self,
        words: W,
        dividend: &mut [Limb],
        mut quotient: impl FnMut(usize, Limb),
    ) {
        let n = self.normalised.len();
        let top = self.top.value;
        let second = if n > 1 { self.normalised[n - 2] } else { 0 };
        // D1. Normalise: the highest limb, 0 before, takes the bits shifted out.
        shift_left(dividend, self.shift);
        for j in (0..dividend.len() - n).rev() {
            // D3. Estimate the digit from the two highest limbs, then improve it with the third;
            // after that it is at most 1 too large. The highest limb is at most the divisor's: if it
            // is equal, the digit is at most 2⁶⁴ − 1, which leaves the next limb and the divisor's.
            let window = &mut dividend[j..j + n + 1];
            let (mut digit, mut rest) = if window[n] < top {
                let (digit, rest) = self.top.divide_vartime(window[n], window[n - 1]);
                (digit, u128::from(rest))
            } else {
                (Limb::MAX, u128::from(window[n - 1]) + u128::from(top))
            };
            let third = if n > 1 { window[n - 2] } else { 0 };
            while rest >> LIMB_BITS == 0
                && u128::from(digit) * u128::from(second) > (rest << LIMB_BITS | u128::from(third))
            {
                digit -= 1;
                rest += u128::from(top);
            }
            // D4. Multiply and subtract. D5, D6. If that is negative, add back.
            let (low, high) = window.split_at_mut(n);
            let borrow = words.sub_mul_limb(low, self.normalised, digit);
            let (remainder, negative) = high[0].overflowing_sub(borrow);
            high[0] = remainder;
            if negative {
                digit -= 1;
                let carry = words::add(low, self.normalised);
                high[0] = high[0].wrapping_add(carry);
            }
            quotient(j, digit);
        }
        // D8. Undo the shift.
        shift_right(&mut dividend[..n], self.shift);
    }
}

/// Computes `a = a · 2^shift`, `shift` < 64; drops the bits shifted out.
fn shift_left(a: &mut [Limb], shift: u32) {
    if shift == 0 {
        return;
    }
    let mut below = 0;
    for limb in a {
        let shifted = *limb << shift | below;
        below = *limb >> (Limb::BITS - shift);
        *limb = shifted;
    }
}

/// Computes `a = ⌊a / 2^shift⌋`, `shift` < 64.
fn shift_right(a: &mut [Limb], shift: u32) {
    if shift == 0 {
        return;
    }
    let mut above = 0;
    for limb in a.iter_mut().rev() {
        let shifted = *limb >> shift | above;
        above = *limb << (Limb::BITS - shift);
        *limb = shifted;
    }
}

#[cfg(test)]
mod tests {
    use super::{LIMB_BITS, Limb, Reciprocal};

    #[test]
    fn reciprocals_divide_like_the_processor() {
        const HALF: Limb = 1 << (LIMB_BITS - 1);
        let edges = |value: Limb| [0, 1, 2, HALF - 1, HALF, value / 2, value - 2, value - 1];
        for value in [HALF, HALF + 1, HALF | 0xffff_ffff, 0xc000_0000_0000_0001, !1, Limb::MAX] {
            let divisor = Reciprocal::new(value);
            let lows = edges(value).into_iter().chain([value, Limb::MAX - 1, Limb::MAX]);
            let numbers = lows.flat_map(|low| edges(value).map(|high| (high, low)));
            for (high, low) in numbers.filter(|(high, _)| *high < value) {
                let number = u128::from(high) << LIMB_BITS | u128::from(low);
                let (quotient, rest) = divisor.divide_vartime(high, low);
                let expected = (number / u128::from(value), number % u128::from(value));
                assert_eq!((quotient.into(), rest.into()), expected, "{number:x} / {value:x}");
            }
        }
    }
}
