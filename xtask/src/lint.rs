//! `cargo xtask lint`: all checks that do not run the code.

use crate::process::{Outcome, cargo, program, run, say, works};
use crate::{dependencies, layers, links, packages, paths, public_values, tables, uncompiled};

/// The crates that serve only this project's checks and are never published.
const INTERNAL: [&str; 6] =
    ["cycloid-ct", "cycloid-fuzz", "cycloid-residue", "ifma-emulator", "taint-trace", "xtask"];

/// Runs all checks, the fastest first.
pub(crate) fn run_all() -> Outcome {
    run(&mut cargo("fmt --all --check"))?;
    layers::run()?;
    links::run()?;
    paths::run()?;
    uncompiled::run()?;
    tables::run(true)?;
    public_values::run(true)?;
    dependencies::run()?;
    packages::check()?;
    run(&mut cargo("clippy --workspace --all-targets --locked -- -D warnings"))?;
    // The library with no optional features.
    run(&mut cargo("clippy -p cycloid --no-default-features --locked -- -D warnings"))?;
    run(&mut cargo("fmt --check --manifest-path xtask/no-std/Cargo.toml"))?;
    run(cargo("doc --workspace --no-deps --locked").env("RUSTDOCFLAGS", "-Dwarnings"))?;
    package()?;
    deny()
}

/// Packages every crate that can be published, without compiling the packages.
fn package() -> Outcome {
    let mut package =
        cargo("package --workspace --no-verify --allow-dirty --locked --offline --quiet");
    for internal in INTERNAL {
        package.args(["--exclude", internal]);
    }
    run(&mut package)
}

/// Runs cargo-deny if it is installed. It also checks advisories, but takes minutes to build.
fn deny() -> Outcome {
    if works(&mut program("cargo-deny", "--version")) {
        return run(&mut cargo("deny check"));
    }
    say("`cargo deny check` did not run: cargo-deny is not installed. Licences, bans and sources \
         were checked above, but not advisories (install it with `cargo install cargo-deny`)");
    Ok(())
}
