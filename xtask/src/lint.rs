//! `cargo xtask lint`: everything that can be said without running the code.

use crate::process::{Outcome, cargo, program, run, say};
use crate::{dependencies, layers, links, paths, reveals, strays, tables};

/// Runs all checks, in the order of how soon they fail.
pub(crate) fn run_all() -> Outcome {
    run(&mut cargo("fmt --all --check"))?;
    layers::run()?;
    links::run()?;
    paths::run()?;
    strays::run()?;
    tables::run(true)?;
    reveals::run(true)?;
    dependencies::run()?;
    run(&mut cargo("clippy --workspace --all-targets --locked -- -D warnings"))?;
    // The library with nothing but its core.
    run(&mut cargo("clippy -p cycloid --no-default-features --locked -- -D warnings"))?;
    for manifest in ["fuzz/Cargo.toml", "xtask/no-std/Cargo.toml"] {
        run(cargo("fmt --check").args(["--manifest-path", manifest]))?;
    }
    run(cargo("doc --workspace --no-deps --locked").env("RUSTDOCFLAGS", "-Dwarnings"))?;
    deny()
}

/// cargo-deny knows the advisories as well; it takes minutes to build, so it is used where it is.
fn deny() -> Outcome {
    if program("cargo-deny", "--version").output().is_ok_and(|output| output.status.success()) {
        return run(&mut cargo("deny check"));
    }
    say("`cargo deny check` did not run: cargo-deny is not installed. Licences, bans and sources \
         were checked above; advisories were not (`cargo install cargo-deny` brings it)");
    Ok(())
}
