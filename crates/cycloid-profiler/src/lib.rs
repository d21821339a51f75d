//! A profiler for the process that it runs in, small enough for a daemon that holds keys.
//!
//! It records code addresses and the files that they belong to. It resolves no names and parses no
//! debug information: the lab does that later, in another process, from the same files.
//!
//! - [`clock`]: processor time of a thread and of a process.
//! - [`Sampler`]: samples the stacks of all threads.
//! - [`Recording`]: samples for some time and returns a [`RawProfile`].
//! - [`OutputFile`]: a file that is never left half-written.
//! - [`RawProfile`]: samples with mapped files, and their text format.
//! - [`request`]: requests the profile of a running service (Linux only).
//! - [`service`]: a service that profiles itself on request (Linux only).

pub mod clock;
mod error;
mod mapped_files;
mod output_file;
mod raw_profile;
mod recording;
#[cfg(target_os = "linux")]
mod request;
mod sampler;
#[cfg(target_os = "linux")]
pub mod service;

pub use error::Error;
pub use mapped_files::{Identity, MappedFile, mapped_files};
pub use output_file::OutputFile;
pub use raw_profile::{FIRST_LINE, Malformed, RawProfile, RawStack, TEXT_LIMIT};
pub use recording::Recording;
#[cfg(target_os = "linux")]
pub use request::{Refusal, request};
pub use sampler::{DEPTH, Sampler, Samples};

/// The default number of samples per second of processor time. It divides no round number, so that
/// periodic work is not always sampled at the same phase.
pub const HERTZ: u32 = 997;
