//! VROOM, in C++, from a source that the user names.

use std::path::Path;

use super::cpp::{Recipe, commit, link, object};
use crate::peers::{Library, Peer};
use crate::record::Missing;

const RECIPE: Recipe = Recipe {
    peer: Peer::Vroom,
    variable: "CYCLOID_RUNNER_VROOM",
    runner: include_str!("../../../runners/vroom/runner.cpp"),
    needs: "it needs IFMA, a compiler for C++20 and GMP: apt install g++ libgmp-dev",
    version: commit,
    make,
};

/// Finds the runner, or compiles it.
pub(in super::super) fn find() -> Result<Box<dyn Library>, Missing> {
    if !super::has_ifma() {
        return Err(super::lacks_ifma());
    }
    RECIPE.find()
}

fn make(own: &Path, folder: &Path) -> Result<(), String> {
    let blst = folder.join("blst");
    // As blst's own build does, for an inversion that VROOM leaves to it.
    let options = ["-x", "c", "-std=gnu99", "-O2", "-fno-builtin", "-fPIC", "-D__ADX__"];
    let assembly = ["-x", "assembler-with-cpp", "-fPIC", "-D__ADX__"];
    let include = [blst.clone()];
    let objects = [
        object(own, &blst.join("server_small.c"), &options, &include)?,
        object(own, &blst.join("assembly_small.S"), &assembly, &include)?,
    ];
    // VROOM reads bytes as words. Without the fourth option, GCC 12 compiles it to a program with
    // wrong results; VROOM's own test of pairings fails, too.
    let options =
        ["-std=c++2a", "-O3", "-march=native", "-fno-strict-aliasing", "-mavx512ifma", "-D__ADX__"];
    link(own, &options, &[folder.join("src")], &objects, &["-lgmpxx", "-lgmp"])
}
