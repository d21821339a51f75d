//! Square roots.

use super::Element;
use crate::machine::field::{Arithmetic, Limbs, Masks, Prime};
use crate::machine::words::{self, LIMB_BITS, Limb};

impl<P: Prime, A: Arithmetic<P>> Element<P, A> {
    /// Returns a square root if this is a square, and some other element if it is not. Time depends
    /// on the prime only.
    pub(crate) fn square_root(&self) -> Self {
        if P::MODULUS.as_ref()[0] & 3 == 3 {
            // p ≡ 3 (mod 4): the power (p + 1) / 4 is (p − 3) / 4 and one more.
            return &self.pow(shifted_modulus::<P>(2).as_ref()) * self;
        }
        self.square_root_by_steps()
    }

    /// Computes the root by the constant-time Tonelli-Shanks algorithm (RFC 9380, appendix I.4),
    /// for p − 1 = 2^s·q.
    fn square_root_by_steps(&self) -> Self {
        let arithmetic = self.arithmetic();
        let one = Self::one(arithmetic);
        let mut p_minus_1 = P::MODULUS;
        words::sub(p_minus_1.as_mut(), &[1]);
        let s = trailing_zeros(p_minus_1.as_ref());
        // (q − 1) / 2, and q.
        let half_q = self.pow(shifted_modulus::<P>(s + 1).as_ref());
        let mut root = &half_q * self;
        let mut t = &half_q * &root;
        let mut c = non_residue::<P, A>(arithmetic).pow(shifted_modulus::<P>(s).as_ref());
        for i in (2..=s).rev() {
            let right = t.square_times(i - 2).equal(&one);
            root = Self::select(right, &root, &(&root * &c));
            c = c.square();
            t = Self::select(right, &t, &(&t * &c));
        }
        root
    }
}

/// Returns the least integer that is not a square modulo p.
fn non_residue<P: Prime, A: Arithmetic<P>>(arithmetic: A) -> Element<P, A> {
    let minus_one = -&Element::<P, A>::one(arithmetic);
    let mut integer = P::Words::ZERO;
    integer.as_mut()[0] = 2;
    loop {
        let candidate = Element::<P, A>::constant(arithmetic, &integer);
        // Euler's criterion, on public constants.
        let power = candidate.pow(shifted_modulus::<P>(1).as_ref());
        if power.equal(&minus_one).reveal_any() {
            return candidate;
        }
        integer.as_mut()[0] += 1;
    }
}

/// Returns ⌊p / 2^places⌋.
fn shifted_modulus<P: Prime>(places: usize) -> P::Words {
    let mut shifted = P::MODULUS;
    for _ in 0..places {
        let mut above = 0;
        for limb in shifted.as_mut().iter_mut().rev() {
            let low = *limb & 1;
            *limb = *limb >> 1 | above << (LIMB_BITS - 1);
            above = low;
        }
    }
    shifted
}

fn trailing_zeros(limbs: &[Limb]) -> usize {
    let place = limbs.iter().position(|limb| *limb != 0).unwrap_or(0);
    place * LIMB_BITS + limbs[place].trailing_zeros() as usize
}
