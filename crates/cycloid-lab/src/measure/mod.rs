//! Measuring: time by interleaved rounds, heap by counting, stack by painting.

pub mod clock;
pub mod heap;
pub mod random;
pub mod rounds;
pub mod stack;
pub mod statistics;

use std::time::Duration;

/// Something that can be done again and again, and whose result can be looked at.
pub trait Operation {
    /// Does it once.
    ///
    /// # Errors
    /// What went wrong, in a few words.
    fn run(&mut self) -> Result<(), &'static str>;

    /// Makes anew what a run uses up, and says whether there is such a thing: then each run is
    /// timed alone, and this before it is not.
    ///
    /// # Errors
    /// What went wrong, in a few words.
    fn renew(&mut self) -> Result<bool, &'static str> {
        Ok(false)
    }

    /// Does it so often in a process of its own, which says how long that took; none where it is
    /// done here, by [`run`](Self::run).
    ///
    /// # Errors
    /// What went wrong, in a few words.
    fn elsewhere(&mut self, _runs: u32) -> Result<Option<Elsewhere>, &'static str> {
        Ok(None)
    }

    /// What the last run computed: little-endian, of a length that all subjects of a table share.
    fn output(&self) -> Vec<u64>;

    /// Bytes of heap that what was prepared for it holds between runs, if that was counted: what
    /// the library that does it allocated, not what its caller did.
    fn heap_held(&self) -> Option<u64>;
}

/// Runs in another process, as that tells of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// How long they took, all together.
    pub time: Duration,
    /// Bytes of heap that each asked for, on average, if that is counted.
    pub allocated: Option<u64>,
}
