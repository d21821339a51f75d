//! Checks project rules that the compiler does not enforce: layers, import cycles, `unsafe`, heap,
//! backend twins, unfinished code.

pub(crate) mod attributes;
mod broken;
mod cycles;
pub(crate) mod modules;
mod names;
mod rules;
#[cfg(test)]
mod tests;
pub(crate) mod tree;
mod words;

use std::path::Path;

use crate::process::{Failure, Outcome, say};
use crate::workspace;

/// Checks the tree in the current directory.
pub(crate) fn run() -> Outcome {
    say("layers");
    let files = tree::read(Path::new("."))?;
    let broken = rules::check(&files, &workspace::packages("Cargo.toml")?)?;
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
