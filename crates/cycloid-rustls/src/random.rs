//! Random numbers, from the operating system.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use rustls::Error;
use rustls::crypto::{GetRandomFailed, SecureRandom};
use zeroize::Zeroizing;

/// The random source for rustls.
#[derive(Debug)]
pub(crate) struct System;

impl SecureRandom for System {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        getrandom::fill(bytes).map_err(|_| GetRandomFailed)
    }
}

/// Returns random bytes, which are wiped on drop.
///
/// # Errors
/// If the system provides none.
pub(crate) fn bytes<const N: usize>() -> Result<Zeroizing<[u8; N]>, Error> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|_| Error::FailedToGetRandomBytes)?;
    Ok(bytes)
}

/// Returns a generator seeded by the system. It cannot fail later, which Cycloid requires.
///
/// # Errors
/// If the system provides no seed.
pub(crate) fn generator() -> Result<ChaCha20Rng, Error> {
    Ok(ChaCha20Rng::from_seed(*bytes()?))
}
