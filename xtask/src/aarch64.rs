//! The library on an emulated AArch64: its kernels beside plain Rust, and operations on both
//! backends.

use crate::process::{Failure, output, program, say, works};

const FOLDER: &str = "crates/cycloid-aarch64";
const TARGET: &str = "aarch64-unknown-linux-gnu";
const EMULATOR: &str = "qemu-aarch64";
const LINKER: &str = "aarch64-linux-gnu-gcc";

/// Builds and runs the comparison, and returns a line for the summary. Without the emulator, the
/// linker or the target, the line says that nothing ran.
///
/// The library's own tests on this target take ten times as long: they are for changes of the
/// kernels (docs/embedded.md).
pub(crate) fn run() -> Result<String, Failure> {
    let libraries =
        output(&mut program("rustc", &format!("--print target-libdir --target {TARGET}")))?;
    let reason = if !works(&mut program(EMULATOR, "--version")) {
        "qemu-aarch64 is missing (apt-get install qemu-user)"
    } else if !works(&mut program(LINKER, "--version")) {
        "aarch64-linux-gnu-gcc is missing (apt-get install gcc-aarch64-linux-gnu \
         libc6-dev-arm64-cross)"
    } else if !std::path::Path::new(libraries.trim()).exists() {
        "the target is missing (rustup target add aarch64-unknown-linux-gnu)"
    } else {
        let compared = compare()?;
        let last = compared.lines().last().unwrap_or_default();
        return Ok(format!("AArch64: {last} with plain Rust"));
    };
    say(format!("WARNING: the kernels for AArch64 are untested: {reason}"));
    Ok(format!("AArch64: NOT RUN: {reason}"))
}

/// Builds the program and runs it; fails if it does.
fn compare() -> Result<String, Failure> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut build = program(
        &cargo,
        &format!("build --profile kernels --locked --bin kernels --target {TARGET}"),
    );
    build.current_dir(FOLDER).env_remove("CARGO_TARGET_DIR");
    build.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER);
    crate::process::run(&mut build)?;
    let mut emulator = program(EMULATOR, "-cpu max -L /usr/aarch64-linux-gnu");
    emulator.arg(format!("{FOLDER}/target/{TARGET}/kernels/kernels"));
    say(crate::process::shown(&emulator));
    output(&mut emulator)
}
