//! `cargo xtask lint`: all checks that do not run the code.

use crate::process::{Outcome, cargo, run};
use crate::{
    api, c_header, deny, dependencies, layers, links, packages, paths, public_values, publish,
    tables, test_programs, uncompiled,
};

/// Runs all checks, the fastest first.
pub(crate) fn run_all() -> Outcome {
    run(&mut cargo("fmt --all --check"))?;
    layers::run()?;
    links::run()?;
    paths::run()?;
    uncompiled::run()?;
    tables::run(true)?;
    public_values::run(true)?;
    api::run(true)?;
    c_header::run(true)?;
    dependencies::run()?;
    deny::run(false)?;
    packages::check()?;
    let everything = format!("--workspace --features {}", test_programs::OPTIONAL);
    run(&mut cargo(&format!("clippy {everything} --all-targets --locked -- -D warnings")))?;
    // The library as programs get it, without `internals`, and with no optional features.
    for features in ["", "--no-default-features "] {
        run(&mut cargo(&format!("clippy -p cycloid {features}--locked -- -D warnings")))?;
    }
    for program in ["no-std", "size"] {
        run(&mut cargo(&format!("fmt --check --manifest-path xtask/{program}/Cargo.toml")))?;
    }
    run(cargo(&format!("doc {everything} --no-deps --locked")).env("RUSTDOCFLAGS", "-Dwarnings"))?;
    publish::package()
}
