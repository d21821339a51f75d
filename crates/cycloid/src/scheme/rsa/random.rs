//! Random bytes for paddings, from a generator that may be stuck.

use rand_core::CryptoRng;

use super::Error;
use crate::machine::ct;

/// Bytes that a generator which is stuck repeats: it gives eight at a time, or fewer.
const PERIOD: usize = 8;

/// The fewest bytes of which a repetition means something: of a sound generator, they repeat once in
/// 2⁶⁴ times, and more of them more rarely.
const LEAST: usize = 2 * PERIOD;

/// Fills `bytes` with random ones.
///
/// # Errors
/// [`Error::RandomGenerator`] where these are [`LEAST`] or more, and the first eight again and again.
pub(super) fn fill(bytes: &mut [u8], rng: &mut impl CryptoRng) -> Result<(), Error> {
    rng.fill_bytes(bytes);
    if bytes.len() < LEAST {
        return Ok(());
    }
    let repeats = ct::equal_bytes(&bytes[PERIOD..], &bytes[..bytes.len() - PERIOD]);
    // That a draw is refused says nothing of one that is used.
    if repeats.reveal() { Err(Error::RandomGenerator) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
