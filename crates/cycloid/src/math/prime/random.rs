//! Random numbers for the searches here and in the schemes, from a generator that may be stuck.

use rand_core::CryptoRng;

use crate::machine::ct::Mask;
use crate::machine::words::Limb;
use crate::math::modular::Error;

/// How often a search is tried in which every second draw succeeds: with a sound generator all fail
/// once in 2¹²⁸ times.
pub(crate) const DRAWS: usize = 128;

/// Fills `limbs`, at least two, with random bits.
///
/// # Errors
/// [`Error::RandomGenerator`] where all limbs are equal, as those of a generator that is stuck; those
/// of a sound one are once in 2⁶⁴ times, and more rarely for more than two limbs.
pub(crate) fn fill(limbs: &mut [Limb], rng: &mut impl CryptoRng) -> Result<(), Error> {
    limbs.iter_mut().for_each(|limb| *limb = rng.next_u64());
    let differences = limbs.windows(2).fold(0, |any, pair| any | (pair[0] ^ pair[1]));
    // That a draw is refused says nothing of one that is used.
    if Mask::is_zero(differences).reveal() { Err(Error::RandomGenerator) } else { Ok(()) }
}
