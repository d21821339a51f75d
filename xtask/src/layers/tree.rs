//! Reads the project's files as text.

use std::fs;
use std::path::Path;

use crate::process::Failure;

/// A file by its path from the root, with `/` as separator.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Folders with generated files.
const MADE: [&str; 4] = ["target", "corpus", "artifacts", "node_modules"];

/// Returns all handwritten text files below `root`, in order of their paths.
///
/// Files that are not UTF-8 are not text and are skipped.
pub(crate) fn read(root: &Path) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    walk(root, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<File>) -> Result<(), Failure> {
    let unreadable = |error| Failure::new(format!("cannot read {}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().map_err(unreadable)?;
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            let hidden = name.starts_with('.') && ![".ci", ".cargo", ".github"].contains(&&*name);
            if !hidden && !MADE.contains(&&*name) {
                walk(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if kind.is_file()
            // In a linked work tree, `.git` is a file with a path.
            && name != ".git"
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            files.push(File { path, text });
        }
    }
    Ok(())
}

/// Returns the folder of a file, with its final `/`.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

/// Resolves the steps up in a path.
pub(crate) fn resolved(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
