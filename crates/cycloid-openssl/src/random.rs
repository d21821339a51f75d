//! Random numbers, from the operating system. No state is kept, so a forked process repeats
//! nothing.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use zeroize::Zeroizing;

use crate::failure::{Error, Failure};

/// Returns random bytes, which are wiped on drop.
///
/// # Errors
/// If the system provides none.
pub(crate) fn bytes<const N: usize>() -> Result<Zeroizing<[u8; N]>, Error> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|error| Failure::Randomness.because(error))?;
    Ok(bytes)
}

/// Returns a generator seeded by the system. It cannot fail later, which Cycloid requires.
///
/// # Errors
/// If the system provides no seed.
pub(crate) fn generator() -> Result<ChaCha20Rng, Error> {
    Ok(ChaCha20Rng::from_seed(*bytes()?))
}
