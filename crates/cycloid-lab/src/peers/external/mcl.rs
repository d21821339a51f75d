//! mcl, in C++, from a source that the user names.

use std::fs;
use std::path::Path;

use super::cpp::{Recipe, commit, link, object};
use crate::peers::{Library, Peer};
use crate::record::Missing;

const RECIPE: Recipe = Recipe {
    peer: Peer::Mcl,
    variable: "CYCLOID_RUNNER_MCL",
    runner: include_str!("../../../runners/mcl/runner.cpp"),
    needs: "apt install g++, and name the whole source of mcl",
    version,
    make,
};

/// The options of its own build.
const OPTIONS: [&str; 11] = [
    "-O3",
    "-fomit-frame-pointer",
    "-fno-stack-protector",
    "-fpic",
    "-DNDEBUG",
    "-DMCL_FP_BIT=384",
    "-DMCL_FR_BIT=256",
    "-DMCL_SIZEOF_UNIT=8",
    "-DMCL_USE_LLVM=1",
    "-DMCL_BINT_ASM=1",
    "-DMCL_MSM=1",
];

/// Finds the runner, or compiles it.
pub(in super::super) fn find() -> Result<Box<dyn Library>, Missing> {
    RECIPE.find()
}

fn version(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("include/mcl/op.hpp")).unwrap_or_default();
    let version = number(&text).unwrap_or_else(|| "(unknown version)".into());
    format!("{version}, {}", commit(folder))
}

/// Returns the version of the header: 0xABC is A.BC.
fn number(header: &str) -> Option<String> {
    let start = "static const int version = 0x";
    let digits = header.lines().find_map(|line| line.strip_prefix(start))?.split(';').next()?;
    let (major, minor) = digits.split_at_checked(digits.len().checked_sub(2)?)?;
    Some(format!("{major}.{minor}"))
}

fn make(own: &Path, folder: &Path) -> Result<(), String> {
    let include = [folder.join("include"), folder.join("src")];
    let mut objects = Vec::new();
    for (file, options) in [
        ("src/fp.cpp", &[][..]),
        ("src/msm_avx.cpp", &["-std=c++11", "-mavx512f", "-mavx512ifma"]),
        ("src/asm/bint-x64-amd64.S", &[]),
        ("src/asm/x86-64.S", &[]),
    ] {
        let options = [&OPTIONS[..], options].concat();
        objects.push(object(own, &folder.join(file), &options, &include)?);
    }
    link(own, &[&OPTIONS[..], &["-std=c++17"]].concat(), &include, &objects, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_header() {
        let text = "namespace mcl {\n\nstatic const int version = 0x306; /* 0xABC = A.BC */\n";
        assert_eq!(number(text).as_deref(), Some("3.06"));
        assert_eq!(number("int x;"), None);
        assert_eq!(number("static const int version = 0x3;"), None);
    }
}
