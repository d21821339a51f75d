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
}

impl<'a> Divisor<'a> {
    /// Prepares a divisor. Its highest limb is not 0; `normalised` has as many limbs.
    pub(super) fn new(divisor: &[Limb], normalised: &'a mut [Limb]) -> Self {
        let shift = divisor[divisor.len() - 1].leading_zeros();
        normalised.copy_from_slice(divisor);
        shift_left(normalised, shift);
        Self { normalised, shift }
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
        let top = self.normalised[n - 1];
        let second = if n > 1 { self.normalised[n - 2] } else { 0 };
        // D1. Normalise: the highest limb, 0 before, takes the bits shifted out.
        shift_left(dividend, self.shift);
        for j in (0..dividend.len() - n).rev() {
            // D3. Estimate the digit from the two highest limbs, then improve it with the third;
            // after that it is at most 1 too large.
            let window = &mut dividend[j..j + n + 1];
            let highest = u128::from(window[n]) << LIMB_BITS | u128::from(window[n - 1]);
            let mut estimate = highest / u128::from(top);
            let mut rest = highest % u128::from(top);
            let third = if n > 1 { window[n - 2] } else { 0 };
            while rest >> LIMB_BITS == 0
                && (estimate >> LIMB_BITS != 0
                    || estimate * u128::from(second) > (rest << LIMB_BITS | u128::from(third)))
            {
                estimate -= 1;
                rest += u128::from(top);
            }
            // D4. Multiply and subtract. D5, D6. If that is negative, add back.
            let mut digit = estimate as Limb;
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
