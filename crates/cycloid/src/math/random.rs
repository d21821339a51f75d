//! Random bits for keys and other secrets, from a generator that may fail, be stuck or repeat itself.
//!
//! What is drawn passes one test, the repetition count test of NIST SP 800-90B (section 4.4.1) with
//! samples of 64 bits: no sample comes twice in one draw. A sound generator fails it once in 2⁵⁸
//! times for a draw of 64 bytes, more rarely for shorter ones, and once in 2⁵⁰ for the longest
//! (1024 bytes). It finds generators that give zeros, ones, or the same byte, word or block again
//! and again, and buffers that were filled in part. It does not find one that repeats itself from
//! draw to draw, nor one whose bits are merely bad: that is the generator's own business.

use rand_core::TryCryptoRng;

use crate::machine::ct::{self, Mask};
use crate::machine::words::Limb;

/// The generator failed, or gave what a sound one does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error;

/// Makes this the cause of another error.
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

/// How often a search draws in which every second draw succeeds, or more: with a sound generator all
/// of them fail once in 2¹²⁸ times.
pub(crate) const DRAWS: usize = 128;

/// Fills `bytes`, which are secret from here on.
///
/// # Errors
/// [`Error`]; `bytes` are zeros then.
pub(crate) fn fill(rng: &mut impl TryCryptoRng, bytes: &mut [u8]) -> Result<(), Error> {
    let filled = rng.try_fill_bytes(bytes);
    ct::mark_secret(bytes);
    let (samples, _) = bytes.as_chunks();
    // What is refused is not used, so it may be known that it was.
    if filled.is_err() || repeats(samples.len(), |i| Limb::from_le_bytes(samples[i])).reveal() {
        ct::wipe_bytes(bytes);
        return Err(Error);
    }
    Ok(())
}

/// [`fill`] for limbs.
///
/// # Errors
/// [`Error`]; `limbs` are zeros then.
pub(crate) fn fill_limbs(rng: &mut impl TryCryptoRng, limbs: &mut [Limb]) -> Result<(), Error> {
    let filled =
        limbs.iter_mut().try_for_each(|limb| rng.try_next_u64().map(|drawn| *limb = drawn));
    ct::mark_secret(limbs);
    // What is refused is not used, so it may be known that it was.
    if filled.is_err() || repeats(limbs.len(), |i| limbs[i]).reveal() {
        ct::wipe(limbs);
        return Err(Error);
    }
    Ok(())
}

/// Whether one of the samples comes twice.
pub(crate) fn repeats(count: usize, sample: impl Fn(usize) -> Limb) -> Mask {
    let pairs = (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.fold(Mask::from_bit(0), |any, (i, j)| any | Mask::equal(sample(i), sample(j)))
}
