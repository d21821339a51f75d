//! Finds paths in the project's files that lead out of the repository, where a clone has nothing.

use std::path::Path;

use crate::layers::tree::{self, File};
use crate::process::{Failure, Outcome, say};

/// Checks all text files below the current directory.
pub(crate) fn run() -> Outcome {
    say("paths that leave the repository");
    let files = tree::read(Path::new("."))?;
    let leaving: Vec<String> = files.iter().flat_map(|file| leaving(file, &files)).collect();
    if leaving.is_empty() {
        eprintln!("{} files stay inside", files.len());
        return Ok(());
    }
    Err(Failure::new(format!("paths that leave the repository:\n  {}", leaving.join("\n  ")))
        .hint("copy the file into the repository, with its source and licence"))
}

/// Returns the places in a file where a path has more steps up than there are folders above it.
fn leaving(file: &File, files: &[File]) -> Vec<String> {
    let own = file.path.matches('/').count();
    // A path that begins with a slash follows CARGO_MANIFEST_DIR or a similar variable.
    let manifest = manifest_depth(&file.path, files);
    let mut found = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        for (start, _) in line.match_indices("../") {
            let before = &line[..start];
            if before.ends_with("../") || before.ends_with('.') {
                continue;
            }
            let mut up = 0;
            let mut rest = &line[start..];
            while let Some(after) = rest.strip_prefix("../") {
                (up, rest) = (up + 1, after);
            }
            let depth = if before.ends_with("\"/") { manifest } else { own };
            if up > depth && rest.starts_with(|c: char| c.is_alphanumeric()) {
                found.push(format!("{}:{}: {}{rest}", file.path, at + 1, "../".repeat(up)));
            }
        }
    }
    found
}

/// Returns the depth of the folder with the nearest manifest above a file.
fn manifest_depth(path: &str, files: &[File]) -> usize {
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        folder = above;
        let manifest = format!("{folder}/Cargo.toml");
        if files.iter().any(|file| file.path == manifest) {
            return folder.matches('/').count() + 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: text.into() }
    }

    #[test]
    fn paths_that_leave_are_found() {
        let manifest = file("crates/a/Cargo.toml", "");
        let leaves = |path: &str, text: &str| {
            let subject = file(path, text);
            let manifest = file(&manifest.path, "");
            !leaving(&subject, &[manifest]).is_empty()
        };
        let up = "../";
        assert!(leaves("README.md", &format!("see {up}shared/data")));
        assert!(!leaves("docs/a.md", &format!("see {up}README.md")));
        assert!(leaves("docs/a.md", &format!("see {up}{up}shared")));
        // Relative to the folder of the manifest, and to the file's own.
        let from_manifest = |steps: usize| {
            format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{}data/x\")", up.repeat(steps))
        };
        assert!(leaves("crates/a/tests/deep/b.rs", &from_manifest(3)));
        assert!(!leaves("crates/a/tests/deep/b.rs", &from_manifest(2)));
        let from_file = |steps: usize| format!("include_str!(\"{}data/x\")", up.repeat(steps));
        assert!(leaves("crates/a/tests/deep/b.rs", &from_file(5)));
        assert!(!leaves("crates/a/tests/deep/b.rs", &from_file(4)));
    }
}
