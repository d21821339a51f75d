//! `cargo deny check`: licences, bans, sources and advisories of all dependencies, by deny.toml.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{
    Failure, Outcome, cargo, program, run as run_program, say, target_folder, works,
};
use crate::workspace::manifests;

/// The release of cargo-deny to install, and the SHA-256 of its archive for Linux on x86-64.
const VERSION: &str = "0.19.8";
const ARCHIVE: &str = "70e769ae3872e34d45132b17040859175e11401dc12dddb0303e0b8c7d088f3f";

/// Checks the dependencies of all workspaces; installs cargo-deny if it is missing.
///
/// The installation and the advisories need the network. Without it they are left out with a
/// warning, or are an error if they are `required`.
pub(crate) fn run(required: bool) -> Outcome {
    let deny = match installed() {
        Err(failure) if !required => {
            say("WARNING: the dependencies' licences, sources and advisories were not checked: \
                 cargo-deny cannot be installed");
            say(failure);
            return Ok(());
        }
        deny => deny?,
    };
    let check = |manifest: &str, arguments: &str| {
        let mut check = program(&deny.to_string_lossy(), "--all-features --log-level error");
        check.args(["--manifest-path", manifest]).args(arguments.split(' '));
        check
    };
    let manifests = manifests()?;
    for manifest in &manifests {
        run_program(&mut check(manifest, "check bans licenses sources"))?;
    }
    let fetched = run_program(&mut check(&manifests[0], "fetch db"));
    match fetched {
        Ok(()) => manifests
            .iter()
            .try_for_each(|manifest| run_program(&mut check(manifest, "check advisories"))),
        Err(_) if !required => {
            say("WARNING: the advisories of the dependencies were not checked: no advisory \
                 database (it comes from github.com)");
            Ok(())
        }
        Err(failure) => Err(failure.hint("the advisory database comes from github.com")),
    }
}

/// Returns the program: the one on the path, or the one in the target directory.
fn installed() -> Result<PathBuf, Failure> {
    if works(&mut program("cargo-deny", "--version")) {
        return Ok("cargo-deny".into());
    }
    let folder = format!("{}/tools/cargo-deny-{VERSION}", target_folder()?);
    let deny = Path::new(&folder).join("bin/cargo-deny");
    if !deny.exists() && !downloaded(&folder)? {
        say("compiling cargo-deny, which takes minutes: its release cannot be downloaded");
        // Compiled soon rather than to run fast.
        let install =
            format!("install cargo-deny --debug --locked --version {VERSION} --root {folder}");
        let mut install = cargo(&install);
        install.env("CARGO_PROFILE_DEV_DEBUG", "false");
        run_program(&mut install).map_err(|failure| {
            failure.hint(format!("put cargo-deny {VERSION} or later on the path"))
        })?;
    }
    Ok(deny)
}

/// Downloads the released program into `folder`/bin; returns false if that is not possible here.
fn downloaded(folder: &str) -> Result<bool, Failure> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Ok(false);
    }
    let name = format!("cargo-deny-{VERSION}-x86_64-unknown-linux-musl");
    let releases = "https://github.com/EmbarkStudios/cargo-deny/releases/download";
    let archive = format!("{folder}/{name}.tar.gz");
    let bin = format!("{folder}/bin");
    fs::create_dir_all(&bin)
        .map_err(|error| Failure::new(format!("cannot create {bin}: {error}")))?;
    let curl = "--fail --silent --show-error --location --connect-timeout 10 --max-time 300";
    let mut curl = program("curl", curl);
    curl.args(["--output", &archive, &format!("{releases}/{VERSION}/{name}.tar.gz")]);
    if run_program(&mut curl).is_err() {
        return Ok(false);
    }
    verify(&archive, ARCHIVE)?;
    let unpack =
        format!("--extract --gzip --strip-components 1 --directory {bin} --file {archive}");
    run_program(program("tar", &unpack).arg(format!("{name}/cargo-deny")))?;
    Ok(true)
}

/// Fails unless the file has this SHA-256.
fn verify(path: &str, expected: &str) -> Outcome {
    let sum = crate::process::output(program("sha256sum", "").arg(path))?;
    if sum.split(' ').next() == Some(expected) {
        return Ok(());
    }
    Err(Failure::new(format!("wrong checksum of {path}"))
        .hint("delete the file; if this happens again, do not use this release"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_expected_archive_is_accepted() {
        let path = std::env::temp_dir().join(format!("cycloid-deny-{}", std::process::id()));
        fs::write(&path, "abc").unwrap();
        // FIPS 180-4's example.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let (right, wrong) =
            (verify(&path.to_string_lossy(), abc), verify(&path.to_string_lossy(), ARCHIVE));
        fs::remove_file(&path).unwrap();
        assert!(right.is_ok() && wrong.is_err());
    }
}
