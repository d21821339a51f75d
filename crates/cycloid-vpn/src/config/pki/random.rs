//! Random numbers from the operating system.

use super::error::Error;

pub(super) fn no_random(error: getrandom::Error) -> Error {
    Error::new(format!("cannot get random numbers: {error}"), "see getrandom(2)")
}

pub(super) fn random(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    getrandom::fill(bytes)
}
