//! `cargo xtask residue`: what every operation leaves in memory, and how much stack it takes, of the
//! code that ships. The tests of the crate do the same with the compiler's checks.

use crate::process::{Failure, cargo, output, say};

/// Builds the program and runs it; gives its summary.
pub(crate) fn run() -> Result<String, Failure> {
    let mut search = cargo("run --release --locked --quiet -p cycloid-residue");
    say(crate::process::shown(&search));
    let summary = output(&mut search)?.trim().to_owned();
    say(&summary);
    Ok(summary)
}
