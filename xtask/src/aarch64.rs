//! The library on an emulated AArch64: its kernels beside plain Rust, operations on both backends,
//! and traces of operations with different secrets.

use crate::process::{Failure, Outcome, output, program, run as run_command, say, shown, works};

const FOLDER: &str = "crates/cycloid-aarch64";
const TARGET: &str = "aarch64-unknown-linux-gnu";
const EMULATOR: &str = "qemu-aarch64";
const LINKER: &str = "aarch64-linux-gnu-gcc";

/// The folder for what is built, as the crate's configuration of cargo says.
const BUILT: &str = "target/aarch64";

/// Builds and runs the comparison and the traces, and returns a line for the summary. Without the
/// emulator, the linker or the target, the line says that nothing ran.
///
/// The library's own tests also run on this target (docs/aarch64.md), but take minutes.
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
        build()?;
        let compared = emulate(&["kernels"], None)?;
        let last = compared.lines().last().unwrap_or_default();
        let traced = trace()?;
        return Ok(format!("AArch64: {last} with plain Rust; {traced} operations traced"));
    };
    say(format!("WARNING: the kernels for AArch64 are untested: {reason}"));
    Ok(format!("AArch64: NOT RUN: {reason}"))
}

/// Builds the programs.
fn build() -> Outcome {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let arguments = "build --profile kernels --locked --bin kernels --bin traces";
    // Its configuration, which names the target, is read in its folder only.
    let mut build = program(&cargo, arguments);
    run_command(build.current_dir(FOLDER).env_remove("CARGO_TARGET_DIR"))
}

/// Runs a program with arguments under the emulator, with options of the plugin, and returns its
/// output; fails if it does.
fn emulate(arguments: &[&str], plugin: Option<&str>) -> Result<String, Failure> {
    let mut emulator = program(EMULATOR, "-cpu max");
    if let Some(options) = plugin {
        emulator.args(["-plugin", &format!("{BUILT}/instructions.so,{options}")]);
    }
    emulator.arg(format!("{BUILT}/{TARGET}/kernels/{}", arguments[0]));
    emulator.args(&arguments[1..]);
    say(shown(&emulator));
    output(&mut emulator)
}

/// Compares the traces of operations with three secrets each: executed blocks and addresses of
/// accesses to memory. Returns how many operations do not depend on them; fails if one does, or if
/// a planted leak is not found.
fn trace() -> Result<usize, Failure> {
    let (source, plugin) = (format!("{FOLDER}/plugin/instructions.c"), "instructions.so");
    let options = format!("-O2 -shared -fPIC -o {BUILT}/{plugin} {source}");
    run_command(&mut program("cc", &options))?;
    let file = format!("{BUILT}/trace");
    let mut independent = 0;
    for name in emulate(&["traces"], None)?.lines() {
        let mut traces = Vec::new();
        for secret in ["a", "b", "c"] {
            emulate(&["traces", name, secret], Some(&format!("trace={file}")))?;
            let trace = std::fs::read_to_string(&file);
            traces.push(trace.map_err(|error| Failure::new(format!("{file}: {error}")))?);
        }
        let equal = traces.iter().all(|trace| *trace == traces[0]);
        match (equal, name.starts_with("leak-")) {
            (true, false) => independent += 1,
            (false, true) => (),
            (false, false) => return Err(Failure::new(format!("{name} depends on its secret"))),
            (true, true) => return Err(Failure::new(format!("planted leak not found: {name}"))),
        }
    }
    Ok(independent)
}
