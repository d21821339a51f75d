//! `cargo xtask packages`: builds the Debian packages of the lab, the HSM and the VPN with
//! `cargo-deb`. With `--install` it also installs them into a fresh Debian and uses them there,
//! without touching this system.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process::{Failure, Outcome, cargo, output, program, run as run_program, say, works};

/// A package: its crate, its program, and a crate whose program or library it also contains.
struct Package {
    name: &'static str,
    program: &'static str,
    other: Option<&'static str>,
}

const PACKAGES: [Package; 3] = [
    Package { name: "cycloid-cli", program: "cycloid", other: Some("cycloid-peers") },
    Package { name: "cycloid-hsm", program: "cycloid-hsm", other: Some("cycloid-pkcs11") },
    Package { name: "cycloid-vpn", program: "cycloid-vpn", other: None },
];

/// The manual and the completions, by program; the manifests name this directory.
const PAGES: &str = "target/pages";
const OUTPUT: &str = "target/debian";

/// The oldest Debian release that the packages support. They must be built on it, too: a program
/// needs the C library that it was built with, or a later one.
const SUITE: &str = "bookworm";

/// Uses the installed packages.
const CHECK: &str = "packaging/check.sh";

/// Checks, without building anything, that the packages' files exist and their scripts are shell.
pub(crate) fn check() -> Outcome {
    say("files of the Debian packages");
    for script in scripts(Path::new("packaging"))? {
        run_program(program("sh", "-n").arg(script))?;
    }
    let metadata = output(&mut cargo("metadata --no-deps --locked --format-version 1"))?;
    let missing = missing(&metadata)?;
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("missing files of Debian packages:\n  {}", missing.join("\n  ")))
        .hint("correct the assets in the manifest"))
}

/// Returns the shell scripts below a directory.
fn scripts(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut scripts = Vec::new();
    for path in files(directory)? {
        if path.is_dir() {
            scripts.extend(self::scripts(&path)?);
        } else if fs::read(&path).is_ok_and(|text| text.starts_with(b"#!/bin/sh\n")) {
            scripts.push(path);
        }
    }
    Ok(scripts)
}

/// Returns the assets that are neither built nor in the repository.
fn missing(metadata: &str) -> Result<Vec<String>, Failure> {
    let metadata: Value = serde_json::from_str(metadata)
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    let mut missing = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let assets = package["metadata"]["deb"]["assets"].as_array().into_iter().flatten();
        let sources = assets.filter_map(|asset| asset[0].as_str());
        for source in sources.filter(|source| !source.contains("target/")) {
            let path = manifest.with_file_name(source);
            let exists = match source.split_once('*') {
                Some((_, end)) => {
                    path.parent().and_then(|above| files(above).ok()).is_some_and(|files| {
                        files.iter().any(|file| file.to_string_lossy().ends_with(end))
                    })
                }
                None => path.exists(),
            };
            if !exists {
                missing.push(format!("{}: {source}", manifest.display()));
            }
        }
    }
    Ok(missing)
}

/// Builds the packages, and with `install` also tries them.
pub(crate) fn run(install: bool) -> Outcome {
    for (needed, hint) in [
        (Some("cargo-deb"), "run `cargo install cargo-deb --locked`"),
        (install.then_some("mmdebstrap"), "run `apt-get install mmdebstrap` as root"),
    ] {
        if let Some(needed) = needed
            && !works(&mut program(needed, "--version"))
        {
            return Err(Failure::new(format!("{needed} is not installed")).hint(hint));
        }
    }
    for directory in [PAGES, OUTPUT] {
        if Path::new(directory).exists() {
            fs::remove_dir_all(directory)
                .map_err(|error| Failure::new(format!("cannot empty {directory}: {error}")))?;
        }
    }
    PACKAGES.iter().try_for_each(build)?;
    let packages = files(Path::new(OUTPUT))?;
    say(format!("{} packages in {OUTPUT}", packages.len()));
    if install { try_out(&packages) } else { Ok(()) }
}

/// Builds a package. Each program is built alone, so that it has its own features only.
fn build(package: &Package) -> Outcome {
    let Package { name, program, other } = package;
    let mut write = cargo("run --release --locked --features cycloid-command/pages --package");
    run_program(write.args([name, "--", "write-pages"]).arg(format!("{PAGES}/{program}")))?;
    for name in [Some(*name), *other].into_iter().flatten() {
        run_program(cargo("build --release --locked --package").arg(name))?;
    }
    let mut deb = cargo("deb --quiet --no-build --strip --locked --output");
    deb.args([OUTPUT, "--package", name]);
    run_program(deb.args(["--maintainer", "The Cycloid authors"]))
}

/// Returns the paths in a directory, sorted.
fn files(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error| Failure::new(format!("cannot read {}: {error}", directory.display()));
    let entries = fs::read_dir(directory).map_err(cannot)?;
    let mut paths =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    paths.sort();
    Ok(paths)
}

/// Installs the packages into a fresh Debian, which mmdebstrap removes afterwards, and uses them.
fn try_out(packages: &[PathBuf]) -> Outcome {
    let files: Vec<String> = packages.iter().map(|path| path.display().to_string()).collect();
    let mut create = program("mmdebstrap", "--variant=apt --format=null");
    create.args([
        "--customize-hook=mkdir \"$1/packages\"",
        &format!("--customize-hook=copy-in {} {CHECK} /packages", files.join(" ")),
        "--chrooted-customize-hook=sh /packages/check.sh",
        SUITE,
    ]);
    run_program(&mut create)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_assets_are_found() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let metadata = |assets: &str| {
            format!(
                r#"{{"packages":[{{"manifest_path":"{manifest}"}},
                {{"manifest_path":"{manifest}","metadata":{{"deb":{{"assets":[{assets}]}}}}}}]}}"#
            )
        };
        let present = r#"["Cargo.toml","a","644"],["src/*.rs","a","644"],
            ["target/release/x","a","755"],["../../target/pages/x","a","644"]"#;
        assert!(missing(&metadata(present)).unwrap().is_empty());
        for absent in ["no.md", "src/*.md", "no/*.rs"] {
            let found = missing(&metadata(&format!(r#"["{absent}","a","644"]"#))).unwrap();
            assert_eq!(found, [format!("{manifest}: {absent}")]);
        }
        assert!(missing("").is_err());
    }
}
