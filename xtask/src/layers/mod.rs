//! Checks project rules that the compiler does not enforce: layers, `unsafe`, heap, backend twins,
//! unfinished code.

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
        .hint("see ARCHITECTURE.md for the reasons of the rules"))
}
