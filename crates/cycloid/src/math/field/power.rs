//! Powers.

use super::Element;
use crate::machine::field::{Arithmetic, Prime};
use crate::machine::words::{self, LIMB_BITS, Limb};

/// Bits of a window of a public exponent, unless that is short.
const WINDOW: usize = 5;

/// The exponents up to this length have windows of one bit.
const SHORT_BITS: usize = 32;

/// Bits of a window of a secret exponent.
#[cfg(feature = "bls12-381")]
const SECRET_WINDOW: usize = 4;

impl<P: Prime, A: Arithmetic<P>> Element<P, A> {
    /// Returns this element to the power of a public exponent, little-endian, by sliding windows.
    /// Time depends on the exponent only.
    pub(crate) fn pow(&self, exponent: &[Limb]) -> Self {
        let bits = words::bit_length_vartime(exponent);
        let bit = |at: usize| exponent[at / LIMB_BITS] >> (at % LIMB_BITS) & 1;
        let window = if bits <= SHORT_BITS { 1 } else { WINDOW };
        // The odd powers.
        let mut powers = [*self; 1 << (WINDOW - 1)];
        if window > 1 {
            let square = self.square();
            for i in 1..powers.len() {
                powers[i] = powers[i - 1];
                powers[i].multiply_by(&square);
            }
        }
        let mut power = None;
        let mut at = bits;
        // The squarings that the next product waits for.
        let mut squarings = 0;
        while at > 0 {
            at -= 1;
            squarings += 1;
            if bit(at) == 0 {
                continue;
            }
            // The window ends at its lowest bit that is set.
            let end = (at + 1).saturating_sub(window);
            let low = (end..at).find(|low| bit(*low) == 1).unwrap_or(at);
            let digit = (low..=at).rev().fold(0, |digit, at| digit << 1 | bit(at) as usize);
            squarings += at - low;
            at = low;
            let factor = &powers[digit / 2];
            match &mut power {
                None => power = Some(*factor),
                Some(power) => {
                    power.square_by(squarings);
                    power.multiply_by(factor);
                }
            }
            squarings = 0;
        }
        let Some(mut power) = power else { return Self::one(self.arithmetic) };
        power.square_by(squarings);
        power
    }

    /// Returns this element to the power of a secret exponent, little-endian, by fixed windows.
    /// Time depends on its number of limbs only.
    #[cfg(feature = "bls12-381")]
    pub(crate) fn pow_secret(&self, exponent: &[Limb]) -> Self {
        let arithmetic = self.arithmetic;
        let mut powers = [Self::one(arithmetic).value; 1 << SECRET_WINDOW];
        for i in 1..powers.len() {
            powers[i] = powers[i - 1];
            arithmetic.mul_in_place(&mut powers[i], &self.value);
        }
        let mut power = Self::one(arithmetic);
        for limb in exponent.iter().rev() {
            for window in (0..LIMB_BITS / SECRET_WINDOW).rev() {
                let digit = limb >> (SECRET_WINDOW * window) & ((1 << SECRET_WINDOW) - 1);
                let mut factor = [A::ZERO];
                arithmetic.lookup(&mut factor, &powers, arithmetic.word(|_| digit));
                power.square_by(SECRET_WINDOW);
                arithmetic.mul_in_place(&mut power.value, &factor[0]);
            }
        }
        power
    }

    /// Multiplies this element by another.
    #[inline(always)]
    fn multiply_by(&mut self, factor: &Self) {
        self.arithmetic.mul_in_place(&mut self.value, &factor.value);
    }

    /// Squares this element `times` times.
    #[inline(always)]
    fn square_by(&mut self, times: usize) {
        self.arithmetic.square_times_in_place(&mut self.value, times);
    }
}
