//! mirage-crypto, in OCaml. Its runner is compiled on first use, with the system's compiler and
//! packages.

use std::path::Path;
use std::process::Command;

use super::compiled::{PROGRAM, program, run};
use super::{External, Runner};
use crate::peers::Library;
use crate::record::Missing;

/// The environment variable that names a program to use instead of the compiled runner.
const VARIABLE: &str = "CYCLOID_RUNNER_MIRAGE_CRYPTO";

const SOURCES: [(&str, &str); 2] = [
    ("clock.c", include_str!("../../../runners/mirage-crypto/clock.c")),
    ("runner.ml", include_str!("../../../runners/mirage-crypto/runner.ml")),
];

const PACKAGES: &str = "mirage-crypto-pk,mirage-crypto-ec,mirage-crypto-rng.unix";

const REMEDY: &str = "apt install libmirage-crypto-ocaml-dev ocaml-findlib ocaml-nox gcc";

/// Finds the runner, or compiles it.
pub(in super::super) fn find() -> Result<Box<dyn Library>, Missing> {
    External::find(VARIABLE, || {
        let missing = |reason: &str| Missing { reason: reason.into(), remedy: REMEDY.into() };
        let asked = ocamlfind(&["query", "-format", "%v", "mirage-crypto-ec"], Path::new("."));
        let version = asked.map_err(|_| missing("mirage-crypto for OCaml is not installed"))?;
        let version = version.trim().to_owned();
        let text = format!("let text = {version:?}\n");
        let [clock, runner] = SOURCES;
        let make = |folder: &Path| {
            let arguments = ["ocamlopt", "-package", PACKAGES, "-linkpkg", "clock.c", "version.ml"];
            ocamlfind(&[&arguments[..], &["runner.ml", "-o", PROGRAM]].concat(), folder).map(drop)
        };
        let files = [clock, runner, ("version.ml", &*text)];
        let program =
            program("mirage-crypto", &files, &version, make).map_err(|reason| missing(&reason))?;
        Ok((version, Runner::new(program)))
    })
}

fn ocamlfind(arguments: &[&str], directory: &Path) -> Result<String, String> {
    run(Command::new("ocamlfind").args(arguments).current_dir(directory))
}
