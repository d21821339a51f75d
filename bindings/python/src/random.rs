//! The system's random generator. It has no state in the process, so parent and child of a fork
//! draw different numbers.

use core::convert::Infallible;

use getrandom::SysRng;
use pyo3::PyErr;
use rand_core::{TryCryptoRng, TryRng};

use crate::error::{Raise, no_randomness};

/// The generator for operations that accept no failing one: it gives zeros after a failure, and
/// remembers it, so that no result of the operation is released.
#[derive(Default)]
pub(crate) struct Recording {
    failed: bool,
}

impl Recording {
    /// Returns whether the generator failed.
    pub(crate) const fn failed(&self) -> bool {
        self.failed
    }

    /// Releases an outcome unless the generator failed.
    pub(crate) fn release<T, E: Raise>(self, outcome: Result<T, E>) -> Result<T, PyErr> {
        if self.failed { Err(no_randomness()) } else { outcome.map_err(Raise::raise) }
    }
}

impl TryRng for Recording {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        if self.failed || SysRng.try_fill_bytes(bytes).is_err() {
            self.failed = true;
            bytes.fill(0);
        }
        Ok(())
    }
}

impl TryCryptoRng for Recording {}
