//! mirage-crypto, in OCaml. Its runner is compiled on first use, with the system's compiler and
//! packages.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::{Runner, hex};
use crate::peers::Library;
use crate::record::Missing;

/// The environment variable that names a program to use instead of the compiled runner.
const VARIABLE: &str = "CYCLOID_RUNNER_MIRAGE_CRYPTO";

const SOURCES: [(&str, &str); 2] = [
    ("clock.c", include_str!("../../../../../runners/mirage-crypto/clock.c")),
    ("runner.ml", include_str!("../../../../../runners/mirage-crypto/runner.ml")),
];

const PACKAGES: &str = "mirage-crypto-pk,mirage-crypto-ec,mirage-crypto-rng.unix";

const REMEDY: &str = "apt install libmirage-crypto-ocaml-dev ocaml-findlib ocaml-nox gcc";

struct MirageCrypto {
    version: String,
    runner: Runner,
}

impl Library for MirageCrypto {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn runner(&self) -> Option<&Runner> {
        Some(&self.runner)
    }
}

/// Finds the runner, or compiles it.
pub(in super::super) fn find() -> Result<Box<dyn Library>, Missing> {
    let (version, program) = match env::var_os(VARIABLE) {
        Some(program) => (format!("set by {VARIABLE}"), program.into()),
        None => compiled()?,
    };
    Ok(Box::new(MirageCrypto { version, runner: Runner::new(program) }))
}

/// Returns the installed version, and a runner compiled from these sources for that version.
fn compiled() -> Result<(String, PathBuf), Missing> {
    let missing = |reason: &str| Missing { reason: reason.into(), remedy: REMEDY.into() };
    let asked = ocamlfind(&["query", "-format", "%v", "mirage-crypto-ec"], Path::new("."));
    let version = asked.map_err(|_| missing("mirage-crypto for OCaml is not installed"))?;
    let version = version.trim().to_owned();
    let mut hash = Sha256::new();
    for text in SOURCES.iter().map(|(_, text)| *text).chain([&*version]) {
        hash.update(text);
    }
    let directory = folder().join(format!("mirage-crypto-{}", &hex(&hash.finalize())[..16]));
    let program = directory.join("runner");
    if !program.is_file() {
        compile(&directory, &version).map_err(|reason| missing(&reason))?;
    }
    Ok((version, program))
}

/// Returns the directory of compiled runners: cargo's target directory, or the user's cache.
fn folder() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let cache = || {
        let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
        cache.unwrap_or_else(env::temp_dir).join("cycloid")
    };
    target.map_or_else(cache, Path::to_path_buf).join("runners")
}

/// Compiles in a temporary directory, and moves the result into place when it is complete.
fn compile(directory: &Path, version: &str) -> Result<(), String> {
    let beside = directory.with_extension(std::process::id().to_string());
    let write = |name: &str, text: &str| fs::write(beside.join(name), text);
    let written = fs::create_dir_all(&beside)
        .and_then(|()| SOURCES.iter().try_for_each(|(name, text)| write(name, text)))
        .and_then(|()| write("version.ml", &format!("let text = {version:?}\n")));
    let made = written.map_err(|error| error.to_string()).and_then(|()| {
        let arguments = ["ocamlopt", "-package", PACKAGES, "-linkpkg", "clock.c", "version.ml"];
        ocamlfind(&[&arguments[..], &["runner.ml", "-o", "runner"]].concat(), &beside)
    });
    let moved =
        made.and_then(|_| fs::rename(&beside, directory).map_err(|error| error.to_string()));
    if moved.is_err() {
        let _ = fs::remove_dir_all(&beside);
    }
    // Another process may have been faster.
    if directory.join("runner").is_file() { Ok(()) } else { moved }
}

fn ocamlfind(arguments: &[&str], directory: &Path) -> Result<String, String> {
    let output = Command::new("ocamlfind").args(arguments).current_dir(directory).output();
    let output = output.map_err(|error| format!("ocamlfind: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(format!("cannot compile the runner: {}", said.lines().next().unwrap_or_default()))
        }
    }
}
