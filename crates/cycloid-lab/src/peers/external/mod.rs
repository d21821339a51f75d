//! Peers in other languages: programs that take commands on standard input, and report their times
//! on standard output. docs/runners.md specifies the protocol.
//!
//! Each row of a table has its own process. The process performs one operation, and waits between
//! its batches, so that it alternates with the rows of this process.

mod compiled;
mod cpp;
pub(super) mod crypto_mb;
pub(super) mod dalek_vector;
pub(super) mod gnark_crypto;
pub mod job;
pub(super) mod mcl;
pub(super) mod mirage_crypto;
pub mod runner;
pub(super) mod vroom;

use super::Library;
use crate::record::Missing;

pub(crate) use runner::hex;
pub use runner::{Job, Runner};

/// A peer with a runner, and no other implementation.
pub(super) struct External {
    version: String,
    runner: Runner,
}

impl External {
    /// Returns the program that the environment variable names, or else the peer that `compiled`
    /// returns with its version.
    fn find(
        variable: &str,
        compiled: impl FnOnce() -> Result<(String, Runner), Missing>,
    ) -> Result<Box<dyn Library>, Missing> {
        let (version, runner) = match std::env::var_os(variable) {
            Some(program) => (format!("set by {variable}"), Runner::new(program.into())),
            None => compiled()?,
        };
        Ok(Box::new(Self { version, runner }))
    }
}

impl Library for External {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn runner(&self) -> Option<&Runner> {
        Some(&self.runner)
    }
}

/// Returns whether the processor has AVX-512 with IFMA, which some peers are compiled for.
#[cfg(target_arch = "x86_64")]
fn has_ifma() -> bool {
    use std::arch::is_x86_feature_detected;
    is_x86_feature_detected!("avx512ifma") && is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
const fn has_ifma() -> bool {
    false
}

/// Returns why a peer that needs IFMA is missing.
fn lacks_ifma() -> Missing {
    Missing {
        reason: "this processor lacks IFMA".into(),
        remedy: "measure it on a processor with AVX-512 and IFMA".into(),
    }
}
