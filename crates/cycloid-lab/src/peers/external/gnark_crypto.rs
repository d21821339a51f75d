//! gnark-crypto, in Go. Its runner is compiled on first use; Go downloads the library.

use std::process::Command;

use super::compiled::{PROGRAM, program, run};
use super::{External, Runner};
use crate::peers::Library;
use crate::record::Missing;

/// The environment variable that names a program to use instead of the compiled runner.
const VARIABLE: &str = "CYCLOID_RUNNER_GNARK_CRYPTO";

macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../runners/gnark-crypto/", $name)))
    };
}

const MODULE: &str = file!("go.mod").1;

const SOURCES: [(&str, &str); 6] = [
    file!("go.mod"),
    file!("go.sum"),
    file!("main.go"),
    file!("operations.go"),
    file!("points.go"),
    file!("scalars.go"),
];

/// Finds the runner, or compiles it.
pub(in super::super) fn find() -> Result<Box<dyn Library>, Missing> {
    External::find(VARIABLE, || {
        let missing = |reason: String| Missing {
            reason,
            remedy: "install Go 1.26 or later (https://go.dev/dl); it downloads the library".into(),
        };
        let go = run(Command::new("go").args(["env", "GOVERSION"]));
        let go = go.map_err(|_| missing("there is no Go".into()))?;
        let version = format!("{} ({})", version(), go.trim());
        let make = |folder: &std::path::Path| {
            let arguments = ["build", "-mod=readonly", "-o", PROGRAM, "."];
            let mut command = Command::new("go");
            // A workspace or flags of the user's own would change the build.
            command.args(arguments).env("GOWORK", "off").env("CGO_ENABLED", "0");
            run(command.env_remove("GOFLAGS").current_dir(folder)).map(drop)
        };
        let program = program("gnark-crypto", &SOURCES, &version, make).map_err(missing)?;
        Ok((version, Runner::new(program)))
    })
}

/// Returns the library's version, which the module file requires.
fn version() -> &'static str {
    let line = MODULE
        .lines()
        .find_map(|line| line.trim().strip_prefix("github.com/consensys/gnark-crypto v"));
    line.unwrap_or("(unknown version)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_module_file() {
        assert!(version().starts_with("0."), "{}", version());
    }
}
