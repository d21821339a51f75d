//! The lab: time, memory and allocations, beside the peers that a user would otherwise pick.
//!
//! - [`measure`]: interleaved rounds, statistics, heap counting, stack painting.
//! - [`peers`]: other libraries, compiled in or loaded at run time.
//! - [`suite`]: what can be measured; each suite makes tables.
//! - [`record`]: the one form of all results, as JSON and in memory.
//! - [`tables`]: a record as text for people.

pub mod environment;
mod failure;
pub mod measure;
pub mod peers;
pub mod record;
pub mod suite;
pub mod tables;

pub use failure::Failure;
