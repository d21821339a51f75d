//! mirage-crypto, in OCaml: its runner is compiled when it is first needed, by the compiler and with the
//! packages that the system has.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::{Runner, hex};
use crate::peers::Library;
use crate::record::Missing;

/// Names a program that is used in place of the one that is compiled.
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

/// Looks for it.
pub(in super::super) fn find() -> Result<Box<dyn Library>, Missing> {
    let (version, program) = match env::var_os(VARIABLE) {
        Some(program) => (format!("as {VARIABLE} names it"), program.into()),
        None => compiled()?,
    };
    Ok(Box::new(MirageCrypto { version, runner: Runner::new(program) }))
}

/// The version, and a program that was made with it and from these sources.
fn compiled() -> Result<(String, PathBuf), Missing> {
    let missing = |reason: &str| Missing { reason: reason.into(), remedy: REMEDY.into() };
    let asked = ocamlfind(&["query", "-format", "%v", "mirage-crypto-ec"], Path::new("."));
    let version = asked.map_err(|_| missing("no mirage-crypto for OCaml"))?;
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

/// Where runners are kept: beside what cargo builds, or in the user's cache.
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

/// Compiles beside the place, and moves it there when it is whole.
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
            Err(format!("its runner does not compile: {}", said.lines().next().unwrap_or_default()))
        }
    }
}
