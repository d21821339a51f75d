//! `cargo xtask lint`: all checks that do not run the code.

use std::thread;

use crate::process::{Failure, Outcome, cargo, run, target_folder};
use crate::{
    api, c_header, deny, dependencies, layers, links, packages, paths, public_values, publish,
    tables, test_programs, uncompiled,
};

/// Runs all checks, the fastest first.
pub(crate) fn run_all() -> Outcome {
    run(&mut cargo("fmt --all --check"))?;
    // cargo-deny may have to be compiled, and the checks of the sources take one processor.
    side_by_side(sources, || deny::run(false))?;
    let everything = format!("--workspace --features {}", test_programs::OPTIONAL);
    run(&mut cargo(&format!("clippy {everything} --all-targets --locked -- -D warnings")))?;
    let mut doc = cargo(&format!("doc {everything} --no-deps --locked"));
    doc.env("RUSTDOCFLAGS", "-Dwarnings");
    side_by_side(|| run(&mut doc), library)?;
    publish::package()
}

/// Checks the sources, the documents and the packages, without a compiler.
fn sources() -> Outcome {
    layers::run()?;
    links::run()?;
    paths::run()?;
    uncompiled::run()?;
    tables::run(true)?;
    public_values::run(true)?;
    api::run(true)?;
    c_header::run(true)?;
    dependencies::run()?;
    packages::check()?;
    for program in ["no-std", "size"] {
        run(&mut cargo(&format!("fmt --check --manifest-path xtask/{program}/Cargo.toml")))?;
    }
    Ok(())
}

/// Checks the library as programs get it, without `internals`, and with no optional features. In a
/// folder of its own, because cargo locks the other one.
fn library() -> Outcome {
    let folder = target_folder()? + "/lint";
    for features in ["", "--no-default-features "] {
        let mut clippy = cargo(&format!("clippy -p cycloid {features}--locked -- -D warnings"));
        run(clippy.env("CARGO_TARGET_DIR", &folder))?;
    }
    Ok(())
}

/// Runs both functions, and returns an error if one of them fails.
fn side_by_side(one: impl FnOnce() -> Outcome, other: impl FnOnce() -> Outcome + Send) -> Outcome {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        let other = other.join().unwrap_or_else(|_| Err(Failure::new("a check panicked")));
        one.and(other)
    })
}
