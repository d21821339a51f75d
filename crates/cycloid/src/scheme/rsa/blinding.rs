//! Blinding of the private operation: m·r^e is raised to d instead of m, so that nobody knows the
//! number computed with; the result is multiplied by 1/r (Kocher, Timing Attacks on Implementations
//! of Diffie-Hellman, RSA, DSS, and Other Systems, 1996, section 10).
//!
//! Both factors are squared after each use and redrawn after [`USES`] uses.

use rand_core::CryptoRng;

use super::{Error, limbs};
use crate::machine::words::{self, LIMB_BITS, Limb};
use crate::math::modular::{self, Modulus, montgomery_mul};
use crate::scheme::random;
use crate::scheme::rsa::public::PublicKey;

/// Number of private operations between two draws.
pub(super) const USES: Limb = 32;

/// Returns the limbs of memory for the blinding of a key of `bits` bits.
pub(super) const fn blinding_limbs(bits: usize) -> usize {
    1 + 2 * limbs(bits)
}

/// Returns the limbs of scratch for drawing a blinding: for inverting r, or for its power and for
/// raising it.
pub(super) const fn draw_scratch_limbs(bits: usize) -> usize {
    let n = limbs(bits);
    let raise = n + Modulus::scratch_limbs(n);
    let invert = modular::invert_scratch_limbs(n);
    if raise > invert { raise } else { invert }
}

/// The blinding of one key, in memory that starts as zeros.
pub(super) struct Blinding<'a> {
    pub(super) uses_left: &'a mut Limb,
    /// r^e mod n in Montgomery form, R = 2^(64·n).
    pub(super) factor: &'a mut [Limb],
    /// 1/r mod n, likewise.
    pub(super) inverse: &'a mut [Limb],
}

impl<'a> Blinding<'a> {
    /// Returns the blinding of a key of `bits` bits stored in [`blinding_limbs`].
    pub(super) fn of(memory: &'a mut [Limb], bits: usize) -> Result<Self, Error> {
        let memory = super::checked_memory(memory, blinding_limbs(bits))?;
        let (uses_left, factors) = memory.split_at_mut(1);
        let (factor, inverse) = factors.split_at_mut(limbs(bits));
        Ok(Self { uses_left: &mut uses_left[0], factor, inverse })
    }

    /// Draws r if the last one is used up. `invert` computes inverses like [`modular::invert`], and
    /// `scratch` has [`draw_scratch_limbs`] with that one.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`]; the next use draws again then.
    pub(super) fn renew(
        &mut self,
        key: &PublicKey<&[Limb]>,
        rng: &mut impl CryptoRng,
        scratch: &mut [Limb],
        invert: impl Fn(&mut [Limb], &[Limb], &[Limb], &mut [Limb]) -> Result<(), modular::Error>,
    ) -> Result<(), Error> {
        if *self.uses_left > 0 {
            return Ok(());
        }
        let modulus = key.modulus();
        let n = modulus.limbs().len();
        // r, until its power replaces it.
        let random = &mut *self.factor;
        let unused = (n * LIMB_BITS - key.bits()) as u32;
        let mut outcome = Err(modular::Error::NotInvertible);
        for _ in 0..random::DRAWS {
            random::fill_limbs(rng, random)?;
            random[n - 1] &= Limb::MAX >> unused;
            // Refused numbers are not used, so the refusal may be public.
            if !words::is_less(random, modulus.limbs()).reveal() {
                continue;
            }
            outcome = invert(self.inverse, random, modulus.limbs(), scratch);
            if outcome != Err(modular::Error::NotInvertible) {
                break;
            }
        }
        match outcome {
            // At least half of the numbers of this length are less than the modulus.
            Err(modular::Error::NotInvertible) => return Err(Error::RandomGenerator),
            outcome => outcome?,
        }
        let (power, scratch) = scratch.split_at_mut(n);
        key.raise(power, random, scratch);
        random.copy_from_slice(power);
        for factor in [&mut *self.factor, &mut *self.inverse] {
            montgomery_mul(factor, Some(modulus.r_squared()), &modulus, scratch);
        }
        *self.uses_left = USES;
        Ok(())
    }

    /// Prepares the next use: (r^e)² = (r²)^e, and (1/r)² = 1/r².
    pub(super) fn square(&mut self, modulus: &Modulus<'_>, scratch: &mut [Limb]) {
        for factor in [&mut *self.factor, &mut *self.inverse] {
            montgomery_mul(factor, None, modulus, scratch);
        }
        self.count();
    }

    /// Forces a new draw: an attacker who caused a fault may have learnt something about the
    /// blinding.
    pub(super) const fn discard(&mut self) {
        *self.uses_left = 0;
    }

    /// Counts a use; the factors have been squared.
    pub(super) const fn count(&mut self) {
        *self.uses_left -= 1;
    }
}

#[cfg(test)]
mod tests;
