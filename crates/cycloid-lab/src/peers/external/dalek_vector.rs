//! The dalek crates, compiled for the processor at hand with their AVX-512 backend. Only this runner
//! is compiled so: dalek chooses that backend at compile time.

use std::path::Path;
use std::process::Command;

use super::compiled::{PROGRAM, program, run};
use super::{External, Runner};
use crate::peers::Library;
use crate::record::Missing;

/// The environment variable that names a program to use instead of the compiled runner.
const VARIABLE: &str = "CYCLOID_RUNNER_DALEK_VECTOR";

/// The runner. Its manifest has another name in the sources, because a package leaves out folders
/// with a `Cargo.toml`.
const SOURCES: [(&str, &str); 3] = [
    ("Cargo.toml", include_str!("../../../runners/dalek/manifest.toml")),
    ("Cargo.lock", include_str!("../../../runners/dalek/Cargo.lock")),
    ("main.rs", include_str!("../../../runners/dalek/main.rs")),
];

/// The compiler's options for dalek's AVX-512 backend, from dalek's documentation.
const FLAGS: &str = "-C target-cpu=native --cfg curve25519_dalek_backend=\"avx512\"";

/// Finds the runner, or compiles it.
pub(in super::super) fn find() -> Result<Box<dyn Library>, Missing> {
    External::find(VARIABLE, || {
        if !super::has_ifma() {
            return Err(super::lacks_ifma());
        }
        let missing = |reason: String| Missing {
            reason,
            remedy: "install Rust 1.89 or later (https://rustup.rs); cargo downloads the crates"
                .into(),
        };
        let rust = run(Command::new("rustc").arg("--version"));
        let rust = rust.map_err(|_| missing("there is no Rust compiler".into()))?;
        let key = format!("{} {}", rust.trim(), crate::environment::current().cpu);
        let made = program("dalek-vector", &SOURCES, &key, make).map_err(missing)?;
        let version = version().unwrap_or("(unknown version)");
        Ok((format!("curve25519 {version}, AVX-512"), Runner::new(made)))
    })
}

fn make(folder: &Path) -> Result<(), String> {
    let mut command = Command::new("cargo");
    // Of the surrounding build, which has other flags.
    for variable in ["CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command.args(["build", "--release", "--locked", "--quiet", "--target-dir", "build"]);
    run(command.env("RUSTFLAGS", FLAGS).current_dir(folder))?;
    let built = folder.join("build/release/runner");
    std::fs::rename(built, folder.join(PROGRAM)).map_err(|error| error.to_string())?;
    // The rest is large, and of no more use.
    let _ = std::fs::remove_dir_all(folder.join("build"));
    Ok(())
}

/// Returns the version of the crate with the curve.
fn version() -> Option<&'static str> {
    let (_, lock) = SOURCES[1];
    let (_, after) = lock.split_once("name = \"curve25519-dalek\"\nversion = \"")?;
    after.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_lock_file() {
        assert!(version().is_some_and(|version| version.starts_with("5.")), "{:?}", version());
    }
}
