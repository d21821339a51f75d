//! Measures time by interleaved rounds, heap use by counting, and stack use by painting.

pub mod heap;
pub mod random;
pub mod rounds;
pub mod stack;
pub mod statistics;

use std::hint::black_box;
use std::time::Duration;

pub use cycloid_profiler::clock;

/// A repeatable operation with an observable result.
pub trait Operation {
    /// Performs the operation once.
    ///
    /// # Errors
    /// A short description of the problem.
    fn run(&mut self) -> Result<(), &'static str>;

    /// Restores state that a run consumes, and returns whether there is any. If so, each run is
    /// timed separately and this call is not timed.
    ///
    /// # Errors
    /// A short description of the problem.
    fn renew(&mut self) -> Result<bool, &'static str> {
        Ok(false)
    }

    /// Performs the operation `runs` times in a separate process that reports the time. Returns
    /// `None` if the operation runs in this process, by [`run`](Self::run).
    ///
    /// # Errors
    /// A short description of the problem.
    fn elsewhere(&mut self, _runs: u32) -> Result<Option<Elsewhere>, &'static str> {
        Ok(None)
    }

    /// Returns the result of the last run: little-endian, of the same length for all subjects of a
    /// table.
    fn output(&self) -> Vec<u64>;

    /// Returns the bytes of heap that the prepared state holds between runs, if counted. Only
    /// allocations of the library count, not those of its caller.
    fn heap_held(&self) -> Option<u64>;
}

/// The name of [`operations`], which marks the base of stacks.
pub const OPERATIONS: &str = concat!(module_path!(), "::operations");

/// Performs this number of runs; a profile shows their callees.
///
/// # Errors
/// The first error of a run.
#[inline(never)]
pub fn operations(operation: &mut dyn Operation, runs: u32) -> Result<(), &'static str> {
    for _ in 0..runs {
        operation.run()?;
    }
    // Prevents a tail call, which would remove this function from the stacks.
    black_box(());
    Ok(())
}

/// The report of runs in another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The total time of all runs.
    pub time: Duration,
    /// The mean bytes of heap that each run allocates, if counted.
    pub allocated: Option<u64>,
}
