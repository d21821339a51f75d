//! Odd moduli, and reduction by them.

use super::montgomery::Montgomery;
use super::{Checked, Error, Residues, checked_scratch, split_result};
use crate::machine::ct;
use crate::machine::words::{self, Backend, Limb, Words};

/// An odd modulus, prepared once for many exponentiations.
///
/// The value may be secret; its length in bits is public.
#[derive(Clone, Copy)]
pub struct Modulus<'a> {
    pub(super) modulus: Checked<'a>,
    pub(super) r_squared: &'a [Limb],
}

impl<'a> Modulus<'a> {
    /// Checks the modulus and computes R² mod modulus, R = 2^(64·n), into `r_squared`.
    ///
    /// `r_squared` has at least n limbs, as many as the modulus without leading zeros; `scratch`
    /// has at least [`Modulus::scratch_limbs`]`(n)` and is wiped. Constant-time except for the
    /// length in bits.
    ///
    /// # Errors
    /// [`Error::ModulusZero`], [`Error::ModulusEven`], [`Error::ModulusTooLong`],
    /// [`Error::ScratchTooSmall`]; [`Error::ResultTooShort`] for `r_squared`.
    pub fn prepare(
        modulus: &'a [Limb],
        r_squared: &'a mut [Limb],
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let modulus = Checked::new(modulus)?.odd()?;
        let n = modulus.limbs.len();
        let (r_squared, _) = split_result(r_squared, n)?;
        let scratch = checked_scratch(scratch, Self::scratch_limbs(n))?;
        Backend::best().run(Prepare { modulus, r_squared, scratch });
        ct::wipe(scratch);
        Ok(Self { modulus, r_squared })
    }

    /// Like [`prepare`](Self::prepare), for an odd modulus other than 1 that has exactly `bits` bits
    /// and no leading zero limbs. `scratch` is not wiped.
    ///
    /// # Errors
    /// [`Error::ScratchTooSmall`]; [`Error::ResultTooShort`] for `r_squared`.
    pub(crate) fn prepare_known(
        limbs: &[Limb],
        bits: usize,
        r_squared: &mut [Limb],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        let (r_squared, _) = split_result(r_squared, limbs.len())?;
        let scratch = checked_scratch(scratch, Self::scratch_limbs(limbs.len()))?;
        let modulus = Checked { limbs, bits };
        Backend::best().run(Prepare { modulus, r_squared, scratch });
        Ok(())
    }

    /// Restores a prepared modulus from the input and the output of [`prepare`](Self::prepare).
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare) for the modulus; `r_squared` is not checked.
    pub fn prepared(modulus: &'a [Limb], r_squared: &'a [Limb]) -> Result<Self, Error> {
        let modulus = Checked::new(modulus)?.odd()?;
        let (needed, given) = (modulus.limbs.len(), r_squared.len());
        let r_squared = r_squared.get(..needed).ok_or(Error::ResultTooShort { needed, given })?;
        Ok(Self { modulus, r_squared })
    }

    /// Creates a modulus known to be odd and to have exactly `bits` bits and no leading zero limbs,
    /// with R² modulo it.
    pub(crate) const fn from_known(limbs: &'a [Limb], bits: usize, r_squared: &'a [Limb]) -> Self {
        Self { modulus: Checked { limbs, bits }, r_squared }
    }

    /// Converts to a lane's modulus.
    pub(super) const fn lane(&self) -> Lane<'a> {
        Lane { modulus: self.modulus, r_squared: Some(self.r_squared) }
    }

    /// Converts from a lane's modulus; `r_squared` is R² mod modulus.
    pub(super) const fn from_lane(modulus: Checked<'a>, r_squared: &'a [Limb]) -> Self {
        Self { modulus, r_squared }
    }

    /// Returns the limbs of scratch of [`prepare`](Self::prepare) for a modulus of `n` limbs.
    pub const fn scratch_limbs(n: usize) -> usize {
        words::montgomery_work_limbs(n)
    }

    /// Returns the modulus without leading zero limbs.
    pub const fn limbs(&self) -> &'a [Limb] {
        self.modulus.limbs
    }

    /// Returns R² mod modulus, for [`prepared`](Self::prepared).
    pub const fn r_squared(&self) -> &'a [Limb] {
        self.r_squared
    }

    /// Returns the length in bits, which is public.
    pub const fn bits(&self) -> usize {
        self.modulus.bits
    }
}

/// Prints only the length, since the value may be secret.
impl core::fmt::Debug for Modulus<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Modulus({} bits)", self.modulus.bits)
    }
}

struct Prepare<'a> {
    modulus: Checked<'a>,
    r_squared: &'a mut [Limb],
    scratch: &'a mut [Limb],
}

impl words::Task for Prepare<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        if self.modulus.is_one() {
            self.r_squared.fill(0);
            return;
        }
        Montgomery::new(words, self.modulus.limbs, None, self.scratch).r_squared(self.r_squared);
    }
}

/// A lane's modulus, and its R² for 64-bit limbs if known.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a> {
    pub(super) modulus: Checked<'a>,
    pub(super) r_squared: Option<&'a [Limb]>,
}

/// Returns `base mod modulus`, for a base of any length, in constant time; `room` has at least five
/// times as many limbs as the modulus.
pub(super) fn reduced<'a>(base: &[Limb], modulus: &[Limb], room: &'a mut [Limb]) -> &'a [Limb] {
    struct Reduce<'a> {
        base: &'a [Limb],
        modulus: &'a [Limb],
        one: &'a mut [Limb],
        result: &'a mut [Limb],
        work: &'a mut [Limb],
    }
    impl words::Task for Reduce<'_> {
        type Output = ();

        fn run<W: Words>(self, words: W) {
            let mut residues = Montgomery::new(words, self.modulus, None, self.work);
            residues.enter(self.one, self.result, self.base);
            residues.leave(self.result);
        }
    }
    let n = modulus.len();
    let (result, rest) = room.split_at_mut(n);
    let (one, rest) = rest.split_at_mut(n);
    let work = &mut rest[..words::montgomery_work_limbs(n)];
    Backend::best().run(Reduce { base, modulus, one, result, work });
    result
}
