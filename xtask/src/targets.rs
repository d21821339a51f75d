//! `cargo xtask targets`: checks the crates for other targets, and with the oldest supported
//! compiler. Warnings are errors.

use std::process::Command;

use crate::process::{Failure, Outcome, output, program, run as run_program};
use crate::workspace::packages;

/// The targets with crates that contain no C, which would need a C compiler for the target.
///
/// The services, the lab and, on Linux, the profiler contain C; `cargo xtask lint` checks them on
/// the host. The services run on Linux only.
const TARGETS: [(&str, &str); 5] = [
    ("aarch64-unknown-linux-gnu", LIBRARY),
    ("x86_64-pc-windows-msvc", WITH_STD),
    ("aarch64-apple-darwin", WITH_STD),
    ("wasm32-unknown-unknown", LIBRARY),
    ("thumbv7em-none-eabihf", LIBRARY),
];
const LIBRARY: &str = "--package cycloid --features cycloid/hazardous,cycloid/signature";
const WITH_STD: &str = "--package cycloid --package cycloid-command --package cycloid-profiler \
                        --features cycloid/hazardous,cycloid/rayon,cycloid/signature";

/// Installs missing targets and the oldest compiler, and checks.
pub(crate) fn run() -> Outcome {
    let installed = output(&mut program("rustup", "target list --installed"))?;
    for (target, crates) in TARGETS {
        if !installed.lines().any(|line| line == target) {
            run_program(program("rustup", "target add").arg(target))?;
        }
        check(program("cargo", "check --target").arg(target), crates)?;
    }
    let oldest = oldest_compiler()?;
    run_program(program("rustup", "toolchain install --profile minimal").arg(&oldest))?;
    check(program("rustup", "run").args([&oldest, "cargo", "check"]), "--workspace")
}

fn check(command: &mut Command, crates: &str) -> Outcome {
    command.args(crates.split_whitespace()).args(["--locked", "--target-dir", "target/targets"]);
    run_program(command.env("RUSTFLAGS", "-Dwarnings"))
}

/// Returns `rust-version` of the workspace.
fn oldest_compiler() -> Result<String, Failure> {
    let versions = packages("Cargo.toml")?.into_iter().filter_map(|package| package.rust_version);
    versions.max().ok_or_else(|| Failure::new("no rust-version in Cargo.toml"))
}
