//! The rules of the house that a compiler does not keep: floors, `unsafe`, heap, twins, leftovers.

mod paths;
mod rules;
mod source;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use std::path::Path;

use crate::process::{Failure, Outcome, say};

/// Checks the tree in the current directory.
pub(crate) fn run() -> Outcome {
    say("layers");
    let files = tree::read(Path::new("."))?;
    let broken = rules::check(&files);
    if broken.is_empty() {
        eprintln!("{} files keep the rules", files.len());
        return Ok(());
    }
    for broken in &broken {
        eprintln!("{broken}");
    }
    Err(Failure::new(format!("layers: {} places break the rules", broken.len()))
        .hint("ARCHITECTURE.md says why they are there"))
}
