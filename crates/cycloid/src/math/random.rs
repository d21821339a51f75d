//! Random bits for keys and other secrets, from a generator that may fail, be stuck or repeat
//! itself.
//!
//! Each draw must pass one test, the repetition count test of NIST SP 800-90B (section 4.4.1) with
//! samples of 64 bits: no sample occurs twice in one draw. A sound generator fails it once in 2⁵⁸
//! times for a draw of 64 bytes, more rarely for shorter ones, and once in 2⁵⁰ for the longest
//! (1024 bytes). The test detects generators that repeat zeros, ones, or the same byte, word or
//! block, and partly filled buffers. It does not detect repetition between draws or biased bits;
//! those are the generator's responsibility.

use rand_core::TryCryptoRng;

use crate::machine::ct::{self, Mask};
use crate::machine::words::Limb;

/// The generator failed, or returned values that a sound one does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error;

/// Converts this error to the variant `RandomGenerator` of another error.
macro_rules! cause {
    ($error:ty) => {
        impl From<$crate::math::random::Error> for $error {
            fn from(_: $crate::math::random::Error) -> Self {
                Self::RandomGenerator
            }
        }
    };
}

pub(crate) use cause;

/// Maximum number of draws of a search in which at least every second draw succeeds: with a sound
/// generator all of them fail once in 2¹²⁸ times.
pub(crate) const DRAWS: usize = 128;

/// Fills `bytes`, which are secret from then on.
///
/// # Errors
/// [`Error`]; `bytes` are zeros then.
pub(crate) fn fill(rng: &mut impl TryCryptoRng, bytes: &mut [u8]) -> Result<(), Error> {
    let filled = rng.try_fill_bytes(bytes);
    ct::mark_secret(bytes);
    let (samples, _) = bytes.as_chunks();
    // Refused bytes are not used, so the refusal may be public.
    if filled.is_err() || repeats(samples.len(), |i| Limb::from_le_bytes(samples[i])).reveal() {
        ct::wipe_bytes(bytes);
        return Err(Error);
    }
    Ok(())
}

/// Like [`fill`], for limbs.
///
/// # Errors
/// [`Error`]; `limbs` are zeros then.
pub(crate) fn fill_limbs(rng: &mut impl TryCryptoRng, limbs: &mut [Limb]) -> Result<(), Error> {
    let filled =
        limbs.iter_mut().try_for_each(|limb| rng.try_next_u64().map(|drawn| *limb = drawn));
    ct::mark_secret(limbs);
    // Refused limbs are not used, so the refusal may be public.
    if filled.is_err() || repeats(limbs.len(), |i| limbs[i]).reveal() {
        ct::wipe(limbs);
        return Err(Error);
    }
    Ok(())
}

/// Returns whether a sample occurs twice.
pub(crate) fn repeats(count: usize, sample: impl Fn(usize) -> Limb) -> Mask {
    let pairs = (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.fold(Mask::from_bit(0), |any, (i, j)| any | Mask::equal(sample(i), sample(j)))
}
