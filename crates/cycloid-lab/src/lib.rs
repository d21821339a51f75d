//! The lab: time, memory and allocations, beside the peers that a user would otherwise pick.
//!
//! - [`compare`]: two sides of records, with verdicts that heed the noise.
//! - [`count`]: instructions of an operation, by callgrind.
//! - [`history`]: the course of the numbers in a file, and what is beyond the usual.
//! - [`interrupt`]: how a run is ended early.
//! - [`measure`]: interleaved rounds, statistics, heap counting, stack painting.
//! - [`page`]: records as one page for a browser.
//! - [`peers`]: other libraries, compiled in or loaded at run time.
//! - [`suite`]: what can be measured; each suite makes tables.
//! - [`profile`]: where the time goes, as flat profile, call graph and folded stacks.
//! - [`record`]: the one form of all results, as JSON and in memory.
//! - [`tables`]: a record as text for people.

pub mod compare;
pub mod count;
pub mod environment;
mod failure;
pub mod history;
pub mod interrupt;
pub mod measure;
pub mod page;
pub mod peers;
mod process;
pub mod profile;
pub mod record;
pub mod suite;
pub mod tables;

pub use failure::Failure;
