//! Runs a function step by step on the real processor and tracks its secrets byte by byte.
//!
//! The tracer decodes each instruction, checks that no branch, no address and no variable-time
//! instruction depends on a secret, and propagates the taint from sources to destinations: general,
//! vector and mask registers, flags and memory. Then the processor executes a copy of this one
//! instruction with the registers of the traced code. The code is the release code as shipped,
//! without instrumentation.
//!
//! A program allocates through [`Allocator`], marks memory with [`secret`], runs a function with
//! [`trace`], and reads the [`Report`]. The traced code declares its own outputs public with the
//! [`marker`] instructions, which are long no-ops. One thread traces at a time.
//!
//! Linux on x86-64 only; on other systems the crate is empty.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod addresses;
mod allocator;
mod arena;
mod classification;
mod code;
mod context;
mod copies;
mod engine;
mod finding;
mod flow;
mod instruction;
pub mod marker;
mod memory;
mod registers;
mod report;
mod rule;
mod rules;
mod taint;
mod trace;

pub use allocator::Allocator;
pub use finding::{Finding, Kind};
pub use report::{Place, Report};
pub use trace::{is_secret, public, secret, trace};
