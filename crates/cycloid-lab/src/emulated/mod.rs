//! Suites on emulated processors: the programs of a crate are built for the processor and run under
//! QEMU, and a plugin counts. Each processor is a folder with its plan and its programs.
//!
//! A record of an emulated processor differs from one of the host in its environment and in the
//! groups of its tables, so nothing compares them.

pub mod aarch64;
pub mod cortex_m4;
mod plan;
mod tables;
mod tools;
