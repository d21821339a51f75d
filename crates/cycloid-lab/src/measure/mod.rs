//! Measuring: time by interleaved rounds, heap by counting, stack by painting.

pub mod clock;
pub mod heap;
pub mod random;
pub mod rounds;
pub mod stack;
pub mod statistics;

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

    /// What the last run computed: little-endian, of a length that all subjects of a table share.
    fn output(&self) -> Vec<u64>;

    /// Bytes of heap that what was prepared for it holds between runs, if that was counted: what
    /// the library that does it allocated, not what its caller did.
    fn heap_held(&self) -> Option<u64>;
}
