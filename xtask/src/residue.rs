//! `cargo xtask residue`: checks the memory residue and the stack use of every operation in release
//! code. The crate's test searches for residue of debug code.

use crate::process::{Failure, cargo, output, say};

/// Builds and runs the program, and returns its summary.
pub(crate) fn run() -> Result<String, Failure> {
    let mut search = cargo("run --release --locked --quiet -p cycloid-residue");
    say(crate::process::shown(&search));
    let summary = output(&mut search)?.trim().to_owned();
    say(&summary);
    Ok(summary)
}
