//! Random numbers, from the operating system.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use rustls::Error;
use rustls::crypto::{GetRandomFailed, SecureRandom};
use zeroize::Zeroizing;

/// What rustls draws from.
#[derive(Debug)]
pub(crate) struct System;

impl SecureRandom for System {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        getrandom::fill(bytes).map_err(|_| GetRandomFailed)
    }
}

/// Random bytes, to be wiped.
///
/// # Errors
/// The system gives none.
pub(crate) fn bytes<const N: usize>() -> Result<Zeroizing<[u8; N]>, Error> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|_| Error::FailedToGetRandomBytes)?;
    Ok(bytes)
}

/// A generator with a seed of the system's: it cannot fail later, which is what Cycloid asks for.
///
/// # Errors
/// The system gives no seed.
pub(crate) fn generator() -> Result<ChaCha20Rng, Error> {
    Ok(ChaCha20Rng::from_seed(*bytes()?))
}
