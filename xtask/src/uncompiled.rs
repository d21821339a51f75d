//! Finds Rust files that no crate compiles, because they are checked by nothing.

use std::collections::BTreeSet;
use std::path::Path;

use crate::layers::modules::Crate;
use crate::layers::tree;
use crate::process::{Failure, Outcome, say};
use crate::workspace::{manifests, packages};

/// Follows the modules from every target and reports unreachable files.
pub(crate) fn run() -> Outcome {
    say("Rust files that no crate compiles");
    let files = tree::read(Path::new("."))?;
    let mut compiled = BTreeSet::new();
    for manifest in &manifests()? {
        for root in packages(manifest)?.into_iter().flat_map(|package| package.roots) {
            let modules = Crate::read(&root, &files)?.modules;
            compiled.extend(modules.into_iter().map(|module| module.file));
        }
    }
    let rust = files.iter().map(|file| file.path.as_str()).filter(|path| path.ends_with(".rs"));
    let stray: Vec<&str> = rust.filter(|path| !compiled.contains(*path)).collect();
    if stray.is_empty() {
        eprintln!("{} files are compiled", compiled.len());
        return Ok(());
    }
    Err(Failure::new(format!("files that no crate compiles:\n  {}", stray.join("\n  ")))
        .hint("delete them, or declare their module"))
}
