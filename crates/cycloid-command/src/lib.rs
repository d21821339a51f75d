//! The common parts of Cycloid's programs: errors with hints, exit codes, output, and questions at
//! the terminal.
//!
//! Data goes to stdout and messages to stderr. An error is a line that states the problem and a
//! line that states the remedy. The exit code is 0 for success, 2 for invalid arguments, and 1 for
//! any other failure; a program may have further codes ([`Stop::Exit`]).

#![forbid(unsafe_code)]

pub mod arguments;
mod failure;
pub mod output;
#[cfg(feature = "pages")]
mod pages;
pub mod processor;
mod stop;
pub mod terminal;

pub use failure::Failure;
pub use stop::{Stop, USAGE, run};
