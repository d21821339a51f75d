//! `cargo xtask residue`: checks the memory residue and the stack use of every operation in release
//! code. The crate's test searches for residue of debug code.

use crate::process::{
    Failure, cargo, output, program, run as run_program, say, shown, target_folder,
};

/// Builds and runs the program, and returns its summary.
pub(crate) fn run() -> Result<String, Failure> {
    // With the program of `cargo xtask ct`, so that the library compiles once for both.
    run_program(&mut cargo("build --release --locked -p cycloid-residue -p cycloid-ct"))?;
    let mut search = program(&format!("{}/release/cycloid-residue", target_folder()?), "");
    say(shown(&search));
    Ok(output(&mut search)?.trim().to_owned())
}
