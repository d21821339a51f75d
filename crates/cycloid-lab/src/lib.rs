//! The lab: measures time, memory and allocations of this library and its peers.
//!
//! - [`compare`]: compares two sides of records, with verdicts that account for noise.
//! - [`count`]: counts the instructions of an operation with callgrind.
//! - [`history`]: records results over time and flags outliers.
//! - [`interrupt`]: ends a run early.
//! - [`measure`]: interleaved rounds, statistics, heap counting, stack painting.
//! - [`page`]: shows records as one HTML page.
//! - [`peers`]: other libraries, compiled in or loaded at run time.
//! - [`suite`]: the benchmark suites; each suite makes tables.
//! - [`profile`]: shows where time is spent, as flat profile, call graph and folded stacks.
//! - [`process`]: child processes that exchange JSON objects.
//! - [`programs`]: finds the project's other programs, or has cargo build them.
//! - [`record`]: the common format of all results, as JSON and in memory.
//! - [`tables`]: shows a record as text.

pub mod compare;
pub mod count;
pub mod environment;
pub mod history;
pub mod interrupt;
pub mod measure;
pub mod page;
pub mod peers;
pub mod process;
pub mod profile;
pub mod programs;
pub mod record;
pub mod suite;
pub mod tables;
pub mod versions;

pub use cycloid_command::Failure;

/// Adds the peers and the suites of another crate: those that take long to compile. Called once, at
/// the start of a program.
pub fn extend(find: peers::Find, suites: &'static [(&'static str, suite::Constructors)]) {
    peers::add(find);
    suite::descriptor::add(suites);
}
