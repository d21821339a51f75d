//! Randomness: the system's, or a callback's.

use core::convert::Infallible;
use core::ffi::{c_int, c_void};
use core::fmt;

use rand_core::{TryCryptoRng, TryRng};

use crate::error::{CYCLOID_ERROR_RANDOM, Failure, Outcome};
use crate::memory;

/// A source of randomness. Where a function takes a pointer to one, null stands for the system's:
/// without an operating system, for none, so that the function fails.
///
/// `fill` writes `length` random bytes to `bytes` and returns 0, or another number if it cannot.
/// It gets `state` with every call, is called on the calling thread only, and neither unwinds nor
/// jumps out. Functions that run on several threads at the same time call it at the same time.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RandomSource {
    /// Fills memory with random bytes.
    pub fill:
        Option<unsafe extern "C" fn(state: *mut c_void, bytes: *mut u8, length: usize) -> c_int>,
    /// Passed to `fill`.
    pub state: *mut c_void,
}

/// Where random bytes come from.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    System,
    Callback(RandomSource),
}

impl Source {
    /// Returns the source that a caller chose.
    ///
    /// # Safety
    /// Unless it is null or misaligned, the pointer is to a source whose callback keeps the contract
    /// of [`RandomSource`] for as long as this source is used.
    pub(crate) unsafe fn new(source: *const RandomSource) -> Outcome<Self> {
        if source.is_null() {
            return Ok(Self::System);
        }
        // SAFETY: the caller promises it.
        let source = unsafe { memory::reference(source) }?;
        if source.fill.is_none() {
            return Err(Failure(crate::error::CYCLOID_ERROR_NULL));
        }
        Ok(Self::Callback(*source))
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Failed> {
        match self {
            #[cfg(not(target_os = "none"))]
            Self::System => getrandom::SysRng.try_fill_bytes(bytes).map_err(|_| Failed),
            #[cfg(target_os = "none")]
            Self::System => Err(Failed),
            Self::Callback(RandomSource { fill: Some(fill), state }) => {
                // SAFETY: whoever made the source promises that the callback keeps its contract.
                match unsafe { fill(*state, bytes.as_mut_ptr(), bytes.len()) } {
                    0 => Ok(()),
                    _ => Err(Failed),
                }
            }
            Self::Callback(RandomSource { fill: None, .. }) => Err(Failed),
        }
    }
}

/// The source has no random bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the random generator failed")
    }
}

impl core::error::Error for Failed {}

impl TryRng for Source {
    type Error = Failed;

    fn try_next_u32(&mut self) -> Result<u32, Failed> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Failed> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Failed> {
        self.fill(bytes)
    }
}

impl TryCryptoRng for Source {}

/// A generator for operations that accept no failing one: it gives zeros after a failure, and
/// remembers it, so that no result of the operation is released.
pub(crate) struct Recording {
    source: Source,
    failed: bool,
}

impl Recording {
    pub(crate) const fn new(source: Source) -> Self {
        Self { source, failed: false }
    }

    /// Returns an error if the source failed since the last call.
    pub(crate) fn check(&mut self) -> Outcome {
        if core::mem::take(&mut self.failed) { Err(Failure(CYCLOID_ERROR_RANDOM)) } else { Ok(()) }
    }

    /// Releases an outcome unless the source failed.
    pub(crate) fn release<T, E: Into<Failure>>(&mut self, outcome: Result<T, E>) -> Outcome<T> {
        self.check()?;
        outcome.map_err(Into::into)
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
        if self.failed || self.source.fill(bytes).is_err() {
            self.failed = true;
            bytes.fill(0);
        }
        Ok(())
    }
}

impl TryCryptoRng for Recording {}
