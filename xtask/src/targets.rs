//! `cargo xtask targets`: checks the crates for other targets, where warnings are errors, and with
//! the oldest supported compiler, whose lints are not those of today.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::process::{Failure, Outcome, output, program, run as run_program};
use crate::workspace::packages;

/// The targets, and what is checked for each. The services run on Linux only, and so does the program
/// with the lab's peers, which contains one.
const TARGETS: [(&str, &str); 5] = [
    ("aarch64-unknown-linux-gnu", LIBRARY),
    ("x86_64-pc-windows-msvc", WITH_STD),
    ("aarch64-apple-darwin", WITH_STD),
    ("wasm32-unknown-unknown", LIBRARY),
    ("thumbv7em-none-eabihf", LIBRARY),
];
const LIBRARY: &str = "--package cycloid --features cycloid/hazardous,cycloid/signature";
/// The library, its faces, its backends for BLS12-381, and the lab with its tables.
const WITH_STD: &str = "--package cycloid --package cycloid-blst --package cycloid-blst-h \
                        --package cycloid-c --package cycloid-cli --package cycloid-command \
                        --package cycloid-kzg --package cycloid-lab --package cycloid-openssl \
                        --package cycloid-profiler --package cycloid-python \
                        --package cycloid-report --package cycloid-rustls \
                        --features cycloid/hazardous,cycloid/rayon,cycloid/signature";

/// The folder for what is built.
const BUILT: &str = "target/targets";

/// Stands for compilers, assemblers and archivers of other systems: writes empty files. Nothing is
/// linked.
const NO_COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 0 ]; do
    case "$1" in
    [-/]out:*) : >"${1#?out:}" ;;
    [-/]Fo*) : >"${1#?Fo}" ;;
    -o) shift; : >"$1" ;;
    -o*) : >"${1#-o}" ;;
    *.a | *.lib) : >"$1" ;;
    esac
    shift
done
"#;

/// Installs missing targets and the oldest compiler, and checks.
pub(crate) fn run() -> Outcome {
    let installed = output(&mut program("rustup", "target list --installed"))?;
    let (folder, compiler) = no_compiler()?;
    let path = std::env::var("PATH").unwrap_or_default();
    for (target, crates) in TARGETS {
        if !installed.lines().any(|line| line == target) {
            run_program(program("rustup", "target add").arg(target))?;
        }
        let mut command = program("cargo", "check --target");
        for tool in ["CC", "CXX", "AR"] {
            command.env(format!("{tool}_{}", target.replace('-', "_")), &compiler);
        }
        // The assembler for Windows is found by its name. AWS-LC needs no CMake and no NASM.
        command.env("PATH", format!("{path}:{folder}"));
        command.env("AWS_LC_SYS_CMAKE_BUILDER", "0").env("AWS_LC_SYS_PREBUILT_NASM", "1");
        check(command.arg(target).env("RUSTFLAGS", "-Dwarnings"), crates)?;
    }
    let oldest = oldest_compiler()?;
    run_program(program("rustup", "toolchain install --profile minimal").arg(&oldest))?;
    check(program("rustup", "run").args([&oldest, "cargo", "check"]), "--workspace")
}

fn check(command: &mut Command, crates: &str) -> Outcome {
    command.args(crates.split_whitespace()).args(["--locked", "--target-dir", BUILT]);
    run_program(command)
}

/// Writes the program that stands for compilers, under the name of Windows' assembler. Returns its
/// folder and its path.
fn no_compiler() -> Result<(String, String), Failure> {
    let failed = |error| Failure::new(format!("cannot write to {BUILT}: {error}"));
    let folder = std::env::current_dir().map_err(failed)?.join(BUILT).join("tools");
    let path = folder.join("ml64.exe");
    fs::create_dir_all(&folder).map_err(failed)?;
    fs::write(&path, NO_COMPILER).map_err(failed)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    Ok((text(&folder), text(&path)))
}

/// Returns `rust-version` of the workspace.
fn oldest_compiler() -> Result<String, Failure> {
    let versions = packages("Cargo.toml")?.into_iter().filter_map(|package| package.rust_version);
    versions.max().ok_or_else(|| Failure::new("no rust-version in Cargo.toml"))
}
