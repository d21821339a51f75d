//! Builds the program of operations and the plugin, and runs the operations under the emulator.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::peers::Peer;
use super::{BUILT, PROCESSOR};
use crate::Failure;
use crate::emulated::plan::Planned;
use crate::emulated::tables::Run;
use crate::emulated::tools::{self, compiled};
use crate::record::{Count, Memory};

/// The emulator.
pub(super) const EMULATOR: &str = "qemu-aarch64";

/// QEMU's model of a processor: one with every instruction that it knows.
pub(super) const CPU: &str = "max";

/// Builds the program with the peers, and the plugin.
///
/// # Errors
/// If something does not compile.
pub(super) fn build(folder: &Path, peers: &[Peer]) -> Result<(), Failure> {
    let names: Vec<&str> = peers.iter().map(|peer| peer.name()).collect();
    let beside = if names.is_empty() { String::new() } else { format!(", {}", names.join(", ")) };
    eprintln!("building the operations{beside} for {}", PROCESSOR.target);
    let features: Vec<&str> = peers.iter().map(|peer| peer.argument()).collect();
    let mut command = tools::cargo(&PROCESSOR, folder);
    command.args(["build", "--release", "--locked", "--quiet", "--bin", "operations"]);
    command.args(["--features", &features.join(",")]);
    compiled(command, "the operations for AArch64")?;
    let source = Path::new(PROCESSOR.folder).join("plugin/instructions.c");
    tools::build_plugin(folder, &source, &Path::new(BUILT).join("instructions.so"))
}

/// Runs the operations of a library, which the program knows by `argument`, and returns their
/// counts.
///
/// # Errors
/// If one fails.
pub(super) fn run(
    folder: &Path,
    planned: &[Planned],
    (product, backend): (&'static str, Option<&'static str>),
    argument: &str,
) -> Result<Vec<Run>, Failure> {
    let operations: Vec<&str> =
        planned.iter().flat_map(|table| table.operations(product, backend)).collect();
    let with = backend.map_or(String::new(), |backend| format!(" on {backend}"));
    eprintln!("running {} operations of {product}{with} on the emulated AArch64", operations.len());
    let run = |operation: &str| {
        let instructions = count(folder, argument, operation)?;
        Ok(Run {
            product,
            backend,
            operation: operation.into(),
            instructions,
            cycles: None,
            memory: Memory::default(),
            nanoseconds: instructions.count,
        })
    };
    operations.into_iter().map(run).collect()
}

/// Returns the text of the crate's `Cargo.lock`.
pub(super) fn locked(folder: &Path) -> Result<String, Failure> {
    let path = folder.join(PROCESSOR.folder).join("Cargo.lock");
    fs::read_to_string(&path).map_err(|error| {
        Failure::new(format!("cannot read {}: {error}", path.display()), "run in a clean clone")
    })
}

fn count(folder: &Path, library: &str, operation: &str) -> Result<Count, Failure> {
    // Another run may take place at the same time.
    let counts = Path::new(BUILT).join(format!("counts-{}.txt", std::process::id()));
    let mut command = Command::new(EMULATOR);
    command.args(["-cpu", CPU, "-plugin"]);
    command.arg(format!("{BUILT}/instructions.so,out={}", counts.display()));
    command.arg(Path::new(BUILT).join(PROCESSOR.target).join("release/operations"));
    command.args([library, operation]).current_dir(folder).stdin(Stdio::null());
    // The library's backend is an argument.
    let ended = command.env_remove("CYCLOID_CPU").output();
    let counted = fs::read_to_string(folder.join(&counts)).unwrap_or_default();
    // It is of no further use, and may not exist.
    let _ = fs::remove_file(folder.join(&counts));
    let ended = ended.map_err(|error| {
        Failure::new(format!("cannot run {EMULATOR}: {error}"), "apt-get install qemu-user")
    })?;
    if !ended.status.success() {
        return Err(tools::failed("AArch64", &ended));
    }
    read(&counted).ok_or_else(|| {
        let message = format!("'{counted}' are no counts of {library}'s {operation}");
        Failure::new(message, "please report it")
    })
}

/// Combines the plugin's lines, `instructions code`, one for each run of the operation.
fn read(counted: &str) -> Option<Count> {
    let line = |line: &str| -> Option<(f64, u64)> {
        let (instructions, code) = line.split_once(' ')?;
        Some((instructions.parse::<u64>().ok()? as f64, code.parse().ok()?))
    };
    let lines = counted.lines().map(line).collect::<Option<Vec<(f64, u64)>>>()?;
    let counts = || lines.iter().map(|(instructions, _)| *instructions);
    Some(Count {
        count: counts().sum::<f64>() / lines.len() as f64,
        range: [counts().reduce(f64::min)?, counts().reduce(f64::max)?],
        runs: lines.len().try_into().ok()?,
        code_bytes: lines.iter().map(|(_, code)| *code).max()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_several_runs_are_combined() {
        let count = read("10 64\n14 128\n12 64\n").unwrap();
        assert_eq!((count.count, count.range, count.runs), (12.0, [10.0, 14.0], 3));
        assert_eq!(count.code_bytes, 128);
        for wrong in ["", "10\n", "10 64\n-1 64\n", "10 64 1\n", "1.5 64\n"] {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
