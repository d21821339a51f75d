//! `cargo xtask install`: libcycloid, or a libblst on Cycloid's arithmetic, for programs in C and
//! other languages.

use std::path::PathBuf;

use crate::process::{Failure, Outcome, cargo, output, program, run, target_folder};

const USAGE: &str = "cargo xtask install [--blst] --prefix /usr/local";

/// Builds a library and installs it below a prefix.
pub(crate) fn run_with(arguments: &[String]) -> Outcome {
    let (blst, prefix) = parse(arguments)?;
    let prefix =
        std::path::absolute(prefix).map_err(|error| Failure::new(format!("{prefix}: {error}")))?;
    if blst { install_blst(&prefix) } else { install_cycloid(&prefix) }
}

/// Installs libblst.a, libblst.so, blst's headers and libblst.pc.
pub(crate) fn install_blst(prefix: &PathBuf) -> Outcome {
    run(&mut cargo("build -p cycloid-blst-h --release --locked"))?;
    let archive = format!("{}/release/libcycloid_blst_h.a", target_folder()?);
    let headers = package_folder("blst")?.join("blst/bindings");
    let mut install = program("crates/cycloid-blst-h/install.sh", "");
    run(install.arg(archive).arg(headers).arg(prefix))
}

fn install_cycloid(prefix: &PathBuf) -> Outcome {
    run(&mut cargo("build -p cycloid-c --release --locked"))?;
    let archive = format!("{}/release/libcycloid_c.a", target_folder()?);
    let mut install = program("crates/cycloid-c/install.sh", "");
    run(install.arg(archive).arg(env!("CARGO_PKG_VERSION")).arg(prefix))
}

/// Returns whether the library is libblst, and the prefix.
fn parse(arguments: &[String]) -> Result<(bool, &str), Failure> {
    let (mut blst, mut prefix) = (false, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--blst" => blst = true,
            "--prefix" => prefix = rest.next(),
            other => {
                return Err(Failure::new(format!("unexpected argument `{other}`")).hint(USAGE));
            }
        }
    }
    let prefix = prefix.ok_or_else(|| Failure::new("no prefix").hint(USAGE))?;
    Ok((blst, prefix))
}

/// Returns the folder of a package that the workspace depends on; cargo downloads it if needed.
pub(crate) fn package_folder(name: &str) -> Result<PathBuf, Failure> {
    let metadata = output(&mut cargo("metadata --locked --format-version 1"))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages.find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|path| PathBuf::from(path).parent().map(PathBuf::from));
    folder.ok_or_else(|| Failure::new(format!("the workspace does not depend on {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &str) -> Result<(bool, String), String> {
        let words: Vec<String> = words.split_whitespace().map(String::from).collect();
        let parsed = parse(&words).map(|(blst, prefix)| (blst, prefix.to_owned()));
        parsed.map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_prefix_is_needed_and_a_library_may_be_chosen() {
        assert_eq!(parsed("--prefix /p"), Ok((false, "/p".into())));
        assert_eq!(parsed("--blst --prefix /p"), Ok((true, "/p".into())));
        assert_eq!(parsed("--prefix /p --blst"), Ok((true, "/p".into())));
        for wrong in ["", "--blst", "--prefix", "/p", "--prefix /p --fast"] {
            assert!(parsed(wrong).unwrap_err().contains("hint: cargo xtask install"), "{wrong}");
        }
    }
}
