//! Intel's crypto_mb, in C, from a source that the user names. Its runner is in C++.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::compiled::run;
use super::cpp::{Recipe, commit, link};
use crate::peers::{Library, Peer};
use crate::record::Missing;

const RECIPE: Recipe = Recipe {
    peer: Peer::CryptoMb,
    variable: "CYCLOID_RUNNER_CRYPTO_MB",
    runner: include_str!("../../../runners/crypto-mb/runner.cpp"),
    needs: "it needs IFMA and: apt install g++ cmake python3 libssl-dev",
    version,
    make,
};

/// Finds the runner, or compiles it.
pub(in super::super) fn find() -> Result<Box<dyn Library>, Missing> {
    if !super::has_ifma() {
        return Err(super::lacks_ifma());
    }
    RECIPE.find()
}

fn version(folder: &Path) -> String {
    let header = folder.join("include/crypto_mb/version.h");
    let text = fs::read_to_string(header).unwrap_or_default();
    let version = number(&text).unwrap_or_else(|| "(unknown version)".into());
    // The folder is a part of a clone.
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
    format!("{version}, {}", commit(root))
}

/// Returns the version of the header.
fn number(header: &str) -> Option<String> {
    let part = |name: &str| {
        let line = header
            .lines()
            .find_map(|line| line.trim().strip_prefix("#define ")?.strip_prefix(name));
        line?.split_whitespace().next().filter(|part| part.parse::<u32>().is_ok())
    };
    let [major, minor, patch] = ["MBX_VER_MAJOR", "MBX_VER_MINOR", "MBX_VER_PATCH"].map(part);
    Some(format!("{}.{}.{}", major?, minor?, patch?))
}

/// Builds the library as its documentation says, and the runner with it.
fn make(own: &Path, folder: &Path) -> Result<(), String> {
    let built = own.join("build");
    let mut command = Command::new("cmake");
    command.arg("-S").arg(folder).arg("-B").arg(&built);
    run(command.args(["-DCMAKE_BUILD_TYPE=Release", "-DARCH=intel64"]))?;
    let mut command = Command::new("cmake");
    run(command.arg("--build").arg(&built).args(["--target", "crypto_mb_s"]))?;
    let library = built.join("bin/libcrypto_mb.a");
    let options = ["-std=c++17", "-O2"];
    link(own, &options, &[folder.join("include")], &[library], &["-lcrypto"])?;
    // The rest is large, and of no more use.
    let _ = fs::remove_dir_all(built);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_header() {
        let text = "#define MBX_VER_MAJOR 1\n#define MBX_VER_MINOR 1\n  #define MBX_VER_PATCH  0\n";
        assert_eq!(number(text).as_deref(), Some("1.1.0"));
        assert_eq!(number("#define MBX_VER_MAJOR x"), None);
    }
}
