//! Runs every operation that takes a secret under the tracer, on every backend of this processor.
//!
//! Each case runs in several processes, with different secrets in each. A finding is a branch, an
//! address or a variable-time instruction that depends on a secret. In addition, all of these runs
//! must execute the same instructions at the same addresses. Results are compared with a model.
//!
//! `cargo xtask ct` builds and runs this program.

#![cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), allow(unused))]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod cases;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod check;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod child_process;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod planted_leaks;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod run;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[global_allocator]
static ALLOCATOR: taint_trace::Allocator = taint_trace::Allocator;

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    return match run::run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err((error, hint)) => {
            eprintln!("error: {error}\nhint: {hint}");
            ExitCode::FAILURE
        }
    };
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    {
        eprintln!(
            "error: the tracer supports only Linux on x86-64\nhint: run it on such a machine"
        );
        ExitCode::FAILURE
    }
}
