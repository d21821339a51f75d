//! Checks of the packages for `cargo publish`.

use crate::process::{Failure, Outcome, cargo, run};
use crate::workspace::packages;

/// Packages every crate that can be published, without compiling the packages.
pub(crate) fn package() -> Outcome {
    on_published("package --no-verify --offline --quiet")
}

/// Packages and compiles every crate that can be published, in the order of their dependencies.
/// Uploads nothing.
pub(crate) fn check() -> Outcome {
    on_published("publish --dry-run")
}

/// Runs a command of cargo on the crates that can be published.
fn on_published(command: &str) -> Result<(), Failure> {
    let mut cargo = cargo(&format!("{command} --workspace --allow-dirty --locked"));
    for package in packages("Cargo.toml")?.iter().filter(|package| !package.published) {
        cargo.args(["--exclude", &package.name]);
    }
    run(&mut cargo)
}
