//! `cargo xtask ct`: traces every operation that takes a secret, step by step on this processor.
//!
//! The program `cycloid-ct` reports each branch, address and variable-time instruction that depends
//! on a secret. It must first find planted leaks.

use crate::process::{Failure, cargo, program, run as run_program, run_and_keep, target_folder};

const PROGRAM: &str = "cycloid-ct";

/// Builds the program, checks that it finds the planted leaks, and traces the short cases, or with
/// `--all` every case. Other options are passed to the program.
pub(crate) fn run(options: &[String]) -> Result<String, Failure> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err(Failure::new("the tracer supports only Linux on x86-64")
            .hint("run this on such a machine"));
    }
    // With the program of `cargo xtask residue`, so that the library compiles once for both.
    run_program(&mut cargo("build --release --locked -p cycloid-ct -p cycloid-residue"))?;
    let path = format!("{}/release/{PROGRAM}", target_folder()?);
    let keep = |line: &str| line.starts_with("planted") || line.starts_with("traced");
    let (mut lines, outcome) =
        run_and_keep(program(&path, "--plants").env("RUST_BACKTRACE", "0"), keep);
    outcome?;
    let (traced, outcome) = run_and_keep(program(&path, "").args(options), keep);
    outcome?;
    lines.extend(traced);
    Ok(format!("ct: {}", lines.join("; ")))
}
