//! HMAC (FIPS 198-1) with the schemes' hash functions, chosen at run time. In place of SHAKE it
//! uses the function of SHA-3 with an output of the same length, since HMAC with SHAKE is not
//! approved.

pub(crate) mod eight;
#[cfg(all(any(test, all(target_arch = "x86_64", feature = "avx512")), not(feature = "small")))]
mod on_vectors;
#[cfg(any(test, feature = "small"))]
mod stateless;
#[cfg(not(feature = "small"))]
mod states;

#[cfg(feature = "small")]
pub(crate) use stateless::{Algorithm, Keyed};
#[cfg(not(feature = "small"))]
pub(crate) use states::{Algorithm, Keyed};

/// The longest block of a function for eight side by side, in bytes.
const MAX_BLOCK: usize = 128;
