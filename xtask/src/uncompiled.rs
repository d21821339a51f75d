//! Finds Rust files that no crate compiles, because they are checked by nothing.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::layers::tree;
use crate::process::{Failure, Outcome, program, say};

/// The manifests of all workspaces.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "xtask/no-std/Cargo.toml"];

/// Follows the modules from every target and reports unreachable files.
pub(crate) fn run() -> Outcome {
    say("Rust files that no crate compiles");
    let mut compiled = BTreeSet::new();
    for manifest in MANIFESTS {
        for root in targets(manifest)? {
            follow(&root, true, &mut compiled);
        }
    }
    let files = tree::read(Path::new("."))?;
    let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
    let stray: Vec<&str> = rust
        .map(|file| file.path.as_str())
        .filter(|path| !compiled.contains(Path::new(path)))
        .collect();
    if stray.is_empty() {
        eprintln!("{} files are compiled", compiled.len());
        return Ok(());
    }
    Err(Failure::new(format!("no crate compiles:\n  {}", stray.join("\n  ")))
        .hint("delete them, or declare their module"))
}

/// Returns the roots of all targets of a manifest, relative to the current directory.
fn targets(manifest: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut command = program("cargo", "metadata --no-deps --format-version 1 --manifest-path");
    let output = command.arg(manifest).output();
    let output = output.map_err(|error| Failure::new(format!("cannot run cargo: {error}")))?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure::new(format!("cargo metadata of {manifest}: {error}")))?;
    let here = std::env::current_dir()
        .map_err(|error| Failure::new(format!("no current directory: {error}")))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let sources = packages
        .flat_map(|package| package["targets"].as_array().into_iter().flatten())
        .filter_map(|target| target["src_path"].as_str());
    Ok(sources
        .map(|path| Path::new(path).strip_prefix(&here).unwrap_or(Path::new(path)).into())
        .collect())
}

/// Adds a file and the files of the modules that it declares. Modules of a root or of a `mod.rs`
/// are next to it; modules of other files are in the folder of that name.
fn follow(path: &Path, root: bool, compiled: &mut BTreeSet<PathBuf>) {
    let Ok(text) = std::fs::read_to_string(path) else { return };
    if !compiled.insert(path.into()) {
        return;
    }
    let beside = path.parent().unwrap_or(Path::new(""));
    let own =
        if root || path.ends_with("mod.rs") { beside.into() } else { path.with_extension("") };
    for declaration in declarations(&text) {
        match declaration {
            Declaration::Module(name) => {
                follow(&own.join(format!("{name}.rs")), false, compiled);
                follow(&own.join(name).join("mod.rs"), false, compiled);
            }
            Declaration::Path(place) => follow(&resolved(&beside.join(place)), true, compiled),
        }
    }
}

enum Declaration<'a> {
    Module(&'a str),
    /// `#[path = "…"]` or `include!("…")`.
    Path(&'a str),
}

fn declarations(text: &str) -> Vec<Declaration<'_>> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim_start) {
        // The path follows any features in a condition.
        let last_quoted = || line.rsplit('"').nth(1).map(Declaration::Path);
        if line.starts_with("#[path =")
            || line.starts_with("#[cfg_attr(") && line.contains(", path = \"")
            || line.contains("include!(\"")
        {
            found.extend(last_quoted());
        } else if let Some((before, after)) = line.split_once("mod ")
            && (before.is_empty() || before.starts_with("pub"))
            && let Some(name) = after.strip_suffix(';')
        {
            found.push(Declaration::Module(name.strip_prefix("r#").unwrap_or(name)));
        }
    }
    found
}

/// Resolves the steps up in a path.
fn resolved(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_of_every_form_are_declarations() {
        let text = "mod a;\npub(crate) mod b;\n#[path = \"../c.rs\"]\nmod d {}\ninclude!(\"e.rs\");\n\
             #[cfg_attr(not(feature = \"f\"), path = \"g.rs\")]";
        let found: Vec<String> = declarations(text)
            .into_iter()
            .map(|declaration| match declaration {
                Declaration::Module(name) => format!("mod {name}"),
                Declaration::Path(path) => format!("path {path}"),
            })
            .collect();
        assert_eq!(found, ["mod a", "mod b", "path ../c.rs", "path e.rs", "path g.rs"]);
        assert_eq!(resolved(Path::new("a/b/../c.rs")), Path::new("a/c.rs"));
    }
}
