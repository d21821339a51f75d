//! The exponent: limbs with a public length.

use super::Error;
use crate::machine::ct::{self, Mask};
use crate::machine::words::{self, LIMB_BITS, Limb};

/// An exponent whose value may be secret and whose length in bits is public.
///
/// The constant-time exponentiations take time proportional to the declared length, including
/// leading zeros. Those whose names end in `_vartime` (or `Vartime`) skip leading zeros.
#[derive(Clone, Copy)]
pub struct Exponent<'a> {
    limbs: &'a [Limb],
    bits: usize,
}

impl<'a> Exponent<'a> {
    /// Uses all bits of `limbs`, little-endian. No limbs mean 0.
    pub const fn new(limbs: &'a [Limb]) -> Self {
        Self { limbs, bits: limbs.len() * LIMB_BITS }
    }

    /// Declares an exponent to be less than 2^`bits`.
    ///
    /// # Errors
    /// [`Error::ExponentTooLong`] if it is not, which becomes public.
    pub fn with_bits(limbs: &'a [Limb], bits: usize) -> Result<Self, Error> {
        let whole = bits / LIMB_BITS;
        if whole >= limbs.len() {
            return Ok(Self::new(limbs));
        }
        let above =
            limbs[whole + 1..].iter().fold(limbs[whole] >> (bits % LIMB_BITS), |a, b| a | b);
        // Whether the exponent is as short as declared is the function's result; its length is
        // public.
        if !Mask::is_zero(above).reveal() {
            return Err(Error::ExponentTooLong);
        }
        Ok(Self { limbs: &limbs[..super::limbs_for(bits)], bits })
    }

    /// Returns the public length in bits.
    pub const fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the length in bits without leading zeros.
    pub(super) fn used_bits_vartime(&self) -> usize {
        words::bit_length_vartime(self.limbs)
    }

    /// Returns bit `position`, 0 above the declared length.
    pub(super) fn bit(&self, position: usize) -> Limb {
        self.limbs.get(position / LIMB_BITS).map_or(0, |limb| limb >> (position % LIMB_BITS) & 1)
    }

    /// Returns the `width` bits from `position` upwards, `width` ≤ 32; 0 above the declared length.
    pub(super) fn digit(&self, position: usize, width: usize) -> Limb {
        let limb = |i: usize| u128::from(self.limbs.get(i).copied().unwrap_or(0));
        let i = position / LIMB_BITS;
        let pair = limb(i + 1) << LIMB_BITS | limb(i);
        (pair >> (position % LIMB_BITS)) as Limb & ((1 << width) - 1)
    }
}

/// Prints only the length, since the value may be secret.
impl core::fmt::Debug for Exponent<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Exponent({} bits)", self.bits)
    }
}

/// Returns the length in bits of a secret number, in constant time; the length becomes public.
pub(super) fn bit_length(limbs: &[Limb]) -> usize {
    let mut length = 0;
    for (i, limb) in limbs.iter().enumerate() {
        // Sets every bit below the highest set one, so that the number of ones is the length.
        let below = [1, 2, 4, 8, 16, 32].into_iter().fold(*limb, |x, shift| x | x >> shift);
        let here = (i * LIMB_BITS) as Limb + Limb::from(below.count_ones());
        length = Mask::is_zero(*limb).select(length, here);
    }
    // The length of an exponent is public.
    ct::mark_public(core::slice::from_ref(&length));
    length as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_length_is_checked_and_cuts() {
        let limbs = [5, 0b1011, 0];
        assert_eq!(Exponent::new(&limbs).bits(), 192);
        assert_eq!(Exponent::with_bits(&limbs, 68).unwrap().bits(), 68);
        assert_eq!(Exponent::with_bits(&limbs, 500).unwrap().bits(), 192);
        assert_eq!(Exponent::with_bits(&limbs, 67).unwrap_err(), Error::ExponentTooLong);
        assert_eq!(Exponent::with_bits(&limbs, 64).unwrap_err(), Error::ExponentTooLong);
        assert_eq!(Exponent::with_bits(&limbs, 0).unwrap_err(), Error::ExponentTooLong);
        assert_eq!(Exponent::with_bits(&[], 0).unwrap().bits(), 0);
        assert_eq!(Exponent::with_bits(&[0, 0], 0).unwrap().bits(), 0);
    }

    #[test]
    fn digits_cross_limbs() {
        let limbs = [1 << 63 | 1, 0b101];
        let exponent = Exponent::new(&limbs);
        assert_eq!(exponent.digit(0, 5), 1);
        assert_eq!(exponent.digit(62, 4), 0b0110);
        assert_eq!(exponent.digit(63, 4), 0b1011);
        assert_eq!(exponent.digit(64, 3), 0b101);
        assert_eq!(exponent.digit(126, 6), 0);
        assert_eq!((exponent.bit(63), exponent.bit(65), exponent.bit(1000)), (1, 0, 0));
        assert_eq!(exponent.used_bits_vartime(), 67);
    }

    #[test]
    fn bit_length_agrees_with_the_obvious_one() {
        for shift in 0..192 {
            let mut limbs = [0; 3];
            limbs[shift / 64] = 1 << (shift % 64);
            assert_eq!(bit_length(&limbs), shift + 1);
            limbs[0] |= 1;
            assert_eq!(bit_length(&limbs), words::bit_length_vartime(&limbs));
        }
        assert_eq!(bit_length(&[0, 0]), 0);
        assert_eq!(bit_length(&[]), 0);
    }
}
