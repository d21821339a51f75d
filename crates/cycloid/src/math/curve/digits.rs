//! Recoding of a secret scalar to odd digits.
//!
//! A scalar k from 1 to n − 1 is made odd (k or n − k, with the result negated) and written as t
//! odd digits of radix 2^w: k = Σ d_i·2^(w·i), |d_i| < 2^w, with t·w ≥ the bits of n (Joye and
//! Tunstall, Exponent recoding and regular exponentiation algorithms, 2009). Digit i depends only
//! on bits w·i + 1 to w·i + w of k: with b the number that they form, d_i = 2b + 1 − 2^w, where bit
//! w·t counts as set. So no digit is zero. Each has a sign, the highest bit of b, and an index into
//! the odd multiples 1, 3, … 2^w − 1.

use super::{Curve, Scalar};
use crate::machine::ct::{self, Mask};
use crate::machine::field::{Arithmetic, Masks};
#[cfg(test)]
use crate::machine::words;
use crate::machine::words::{LIMB_BITS, Limb};
use crate::math::field::MAX_WIDTH;

/// Returns the number of digits of `window` bits in a scalar of the curve.
pub(super) const fn digits<C: Curve>(window: usize) -> usize {
    C::BITS.div_ceil(window)
}

/// An odd scalar from 1 to n − 1, or the negation of one; wiped when dropped.
pub(super) struct OddScalar {
    limbs: [Limb; LIMBS],
    window: usize,
    /// Whether the scalar is n minus the value of the digits.
    pub(super) negated: Mask,
    /// Whether the scalar is 0; the digits then have the value 1.
    pub(super) zero: Mask,
}

/// Limbs of the longest scalar, plus one.
const LIMBS: usize = 10;

impl OddScalar {
    pub(super) fn new<C: Curve>(scalar: &Scalar<C>, window: usize) -> Self {
        let zero = scalar.is_zero();
        let scalar = Scalar::select(zero, &Scalar::one(), scalar);
        let negated = Mask::from_bit((scalar.words().as_ref()[0] & 1) ^ 1);
        let odd = Scalar::select(negated, &scalar.negate(), &scalar);
        let mut limbs = [0; LIMBS];
        limbs[..odd.words().as_ref().len()].copy_from_slice(odd.words().as_ref());
        let end = digits::<C>(window) * window;
        limbs[end / LIMB_BITS] |= 1 << (end % LIMB_BITS);
        Self { limbs, window, negated, zero }
    }

    /// Returns a placeholder for unused places.
    pub(super) fn unused() -> Self {
        Self { limbs: [0; LIMBS], window: 1, negated: Mask::none(), zero: Mask::none() }
    }

    /// Returns whether digit `place` is negative, and the index of its odd multiple.
    #[inline]
    pub(super) fn digit(&self, place: usize) -> (Mask, Limb) {
        let start = place * self.window + 1;
        let bits = self.bits_from(start / LIMB_BITS, start % LIMB_BITS);
        let (sign, index) = signed(bits, self.window);
        (Mask::from_bit(sign & 1), index)
    }

    /// Returns 64 bits from a bit of a limb on.
    #[inline(always)]
    fn bits_from(&self, limb: usize, bit: usize) -> Limb {
        // Shifting in two steps makes the shift by 64, for bit 0, give zero.
        let above = self.limbs.get(limb + 1).copied().unwrap_or(0) << 1 << (LIMB_BITS - 1 - bit);
        self.limbs[limb] >> bit | above
    }
}

impl Drop for OddScalar {
    fn drop(&mut self) {
        ct::wipe(&mut self.limbs);
    }
}

/// Returns the signs and the indices of digit `place` for all numbers, whose windows are equal.
#[inline]
pub(super) fn digit<C: Curve, A: Arithmetic<C::Field>>(
    arithmetic: A,
    scalars: &[OddScalar],
    place: usize,
) -> (A::Mask, A::Word) {
    let window = scalars[0].window;
    let start = place * window + 1;
    let (limb, bit) = (start / LIMB_BITS, start % LIMB_BITS);
    let mut bits = [0; MAX_WIDTH];
    for (bits, scalar) in bits.iter_mut().zip(scalars) {
        *bits = scalar.bits_from(limb, bit);
    }
    let digits = bits.map(|bits| signed(bits, window));
    (
        arithmetic.mask(|number| Mask::from_bit(digits[number].0 & 1)),
        arithmetic.word(|number| digits[number].1),
    )
}

/// Returns the sign of the digit in the low bits, all ones if it is negative, and its index.
#[inline(always)]
const fn signed(bits: Limb, window: usize) -> (Limb, Limb) {
    let half = window - 1;
    let sign = (bits >> half & 1).wrapping_sub(1);
    (sign, (bits ^ sign) & ((1 << half) - 1))
}

/// Returns the value of the digits, modulo 2^(64·limbs): for tests.
#[cfg(test)]
pub(super) fn value(scalar: &OddScalar, count: usize) -> [Limb; LIMBS] {
    let mut value = [0; LIMBS];
    for place in (0..count).rev() {
        for _ in 0..scalar.window {
            words::double(&mut value);
        }
        let (negative, index) = scalar.digit(place);
        let magnitude = [2 * index + 1];
        if negative.reveal() {
            words::sub(&mut value, &magnitude);
        } else {
            words::add(&mut value, &magnitude);
        }
    }
    value
}
