//! Builds the programs for the processor and the plugin, and runs the programs under the emulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::output::{self, Run};
use super::plan::EMPTY;
use super::{BUILT, PROCESSOR};
use crate::Failure;
use crate::emulated::plan::Planned;
use crate::emulated::tools::{self, compiled};

/// The emulator.
pub(super) const EMULATOR: &str = "qemu-system-arm";

/// QEMU's machine.
pub(super) const MACHINE: &str = "mps2-an386";

/// The bytes that a program has for its arguments.
const ARGUMENTS: usize = 1024;

/// Builds the runner and the plugin, and returns the runner's path relative to the root of the
/// repository.
///
/// # Errors
/// If something does not compile.
pub(super) fn build_runner(folder: &Path) -> Result<PathBuf, Failure> {
    build(folder, &["runner"])?;
    let source = Path::new(PROCESSOR.folder).join("plugin/cycles.c");
    tools::build_plugin(folder, &source, &Path::new(BUILT).join("cycles.so"))?;
    Ok(program("runner"))
}

/// Returns the bytes of flash of each program that a row names, beyond those of an empty program.
///
/// # Errors
/// If a program does not compile.
pub(super) fn flash(
    folder: &Path,
    planned: &[Planned],
) -> Result<Vec<(&'static str, u64)>, Failure> {
    let mut names: Vec<&'static str> =
        planned.iter().flat_map(|table| &table.rows).filter_map(|row| row.flash).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    build(folder, &[&[EMPTY], &names[..]].concat())?;
    let empty = flash_of(folder, EMPTY)?;
    names
        .into_iter()
        .map(|name| Ok((name, flash_of(folder, name)?.saturating_sub(empty))))
        .collect()
}

fn flash_of(folder: &Path, name: &str) -> Result<u64, Failure> {
    let mut command = Command::new("readelf");
    command.arg("-SW").arg(program(name)).current_dir(folder).stdin(Stdio::null());
    let sections = command.output().ok().map(|output| output.stdout).unwrap_or_default();
    output::flash(&String::from_utf8_lossy(&sections)).ok_or_else(|| {
        Failure::new(format!("readelf finds no code in {name}"), "apt-get install binutils")
    })
}

/// Returns the path of a program, relative to the root of the repository.
fn program(name: &str) -> PathBuf {
    Path::new(BUILT).join(PROCESSOR.target).join("release").join(name)
}

fn build(folder: &Path, names: &[&str]) -> Result<(), Failure> {
    eprintln!("building {} for {}", names.join(", "), PROCESSOR.target);
    let mut command = tools::cargo(&PROCESSOR, folder);
    command.args(["build", "--release", "--locked", "--quiet"]);
    command.args(names.iter().flat_map(|name| ["--bin", name]));
    compiled(command, "the programs for Cortex-M4")
}

/// Runs operations of a program, in as few runs as its memory for arguments allows.
pub(super) fn emulate(folder: &Path, program: &Path, names: &[&str]) -> Result<Vec<Run>, Failure> {
    let mut runs = Vec::new();
    let mut rest = names;
    while !rest.is_empty() {
        let mut bytes = "program".len();
        let fits = |name: &&&str| {
            bytes += 1 + name.len();
            bytes < ARGUMENTS
        };
        let (now, later) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        runs.append(&mut emulate_once(folder, program, now)?);
        rest = later;
    }
    Ok(runs)
}

fn emulate_once(folder: &Path, program: &Path, names: &[&str]) -> Result<Vec<Run>, Failure> {
    // Another run may take place at the same time.
    let counts = Path::new(BUILT).join(format!("counts-{}.txt", std::process::id()));
    let mut arguments = String::from("enable=on,target=native,chardev=text,arg=program");
    names.iter().for_each(|name| arguments.extend([",arg=", name]));
    let mut command = Command::new(EMULATOR);
    command.args(["-M", MACHINE, "-cpu", "cortex-m4", "-nographic", "-monitor", "none"]);
    // Without a device, QEMU writes the program's text to standard error.
    command.args(["-serial", "none", "-chardev", "stdio,id=text"]);
    command.args(["-semihosting-config", &arguments, "-plugin"]);
    command.arg(format!("{BUILT}/cycles.so,out={}", counts.display()));
    command.arg("-kernel").arg(program).current_dir(folder).stdin(Stdio::null());
    let ended = command.output();
    let counted = fs::read_to_string(folder.join(&counts)).unwrap_or_default();
    // It is of no further use, and may not exist.
    let _ = fs::remove_file(folder.join(&counts));
    let ended = ended.map_err(|error| {
        let hint = "apt-get install qemu-system-arm";
        Failure::new(format!("cannot run {EMULATOR}: {error}"), hint)
    })?;
    let said = String::from_utf8_lossy(&ended.stdout);
    if !ended.status.success() {
        return Err(tools::failed("Cortex-M4", &ended));
    }
    output::runs(names, &said, &counted)
}
