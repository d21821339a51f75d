//! The lab: measures time, memory and allocations of this library and its peers. Its results are
//! records, which `cycloid-report` shows.
//!
//! - [`count`]: counts the instructions of an operation with callgrind.
//! - [`emulated`]: some suites on an emulated Cortex-M4 or AArch64.
//! - [`interrupt`]: ends a run early.
//! - [`measure`]: interleaved rounds, statistics, heap counting, stack painting.
//! - [`peers`]: other libraries, compiled in or loaded at run time.
//! - [`suite`]: the benchmark suites; each suite makes tables.
//! - [`process`]: child processes that exchange JSON objects.
//! - [`programs`]: finds the project's other programs, or has cargo build them.
//! - [`record`]: the common format of all results, as JSON and in memory.

pub mod count;
pub mod emulated;
pub mod environment;
pub mod interrupt;
pub mod measure;
pub mod peers;
pub mod process;
pub mod programs;
pub mod record;
pub mod suite;
pub mod versions;

pub use cycloid_command::Failure;

/// Adds the peers and the suites of another crate: those that take long to compile. Called once, at
/// the start of a program.
pub fn extend(find: peers::Find, suites: &'static [(&'static str, suite::Constructors)]) {
    peers::add(find);
    suite::descriptor::add(suites);
}
