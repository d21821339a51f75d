//! Checks that links in the documents to files of this repository lead to existing files.

use std::path::Path;

use crate::layers::tree;
use crate::process::{Failure, Outcome, say};

/// Checks all documents below the current directory.
pub(crate) fn run() -> Outcome {
    say("links in the documents");
    let files = tree::read(Path::new("."))?;
    let documents = files.iter().filter(|file| file.path.ends_with(".md"));
    let mut count = 0;
    let mut dead = Vec::new();
    for file in documents {
        let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
        for (line, target) in links(&file.text) {
            count += 1;
            if !folder.join(target).exists() {
                dead.push(format!("{}:{line}: {target}", file.path));
            }
        }
    }
    if dead.is_empty() {
        eprintln!("{count} links lead to files");
        return Ok(());
    }
    Err(Failure::new(format!("links to missing files:\n  {}", dead.join("\n  ")))
        .hint("paths are relative to the document"))
}

/// Returns the targets of `[text](target)` that are files, with their lines; ignores code.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every other part of the line is inside backquotes.
        for outside in line.split('`').step_by(2) {
            for after in outside.split("](").skip(1) {
                let target = after.split([')', ' ', '#']).next().unwrap_or("");
                if !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                    found.push((at + 1, target));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::links;

    #[test]
    fn only_files_count() {
        let text = "[a](b.md) [c](https://d) [e](#f)\n`[g](h)` [i](j.md#k \"l\")\n```\n[m](n)\n```\n[`o`](p)";
        assert_eq!(links(text), [(1, "b.md"), (2, "j.md"), (6, "p")]);
    }
}
