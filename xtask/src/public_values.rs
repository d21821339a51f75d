//! Generates the list of values that become public, docs/public-values.md, from the comments above
//! each `mark_public` and `reveal` of the library.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::layers::tree::{self, File};
use crate::process::{Failure, Outcome, say};

const LIST: &str = "docs/public-values.md";

/// The sources to scan, without tests and the definitions themselves.
const SOURCES: &str = "crates/cycloid/src/";
const DEFINITIONS: [&str; 2] =
    ["crates/cycloid/src/machine/ct.rs", "crates/cycloid/src/machine/field/mask.rs"];

const CALLS: [&str; 3] = ["mark_public(", ".reveal()", ".reveal_any()"];

/// A place where a value becomes public.
struct Place {
    file: String,
    line: usize,
    code: String,
    reason: String,
}

/// Writes the list, or with `check` compares it with the existing one.
pub(crate) fn run(check: bool) -> Outcome {
    say("values that become public");
    let files = tree::read(Path::new("."))?;
    let places: Vec<Place> =
        files.iter().filter(|file| counts(&file.path)).flat_map(places).collect();
    let without: Vec<String> = places
        .iter()
        .filter(|place| place.reason.is_empty())
        .map(|place| format!("{}:{}: {}", place.file, place.line, place.code))
        .collect();
    if !without.is_empty() {
        return Err(Failure::new(format!("reasons are missing at\n  {}", without.join("\n  ")))
            .hint("write a comment above the line that explains why the value may be public"));
    }
    let list = list(&places);
    if !check {
        return fs::write(LIST, list)
            .map_err(|error| Failure::new(format!("cannot write {LIST}: {error}")));
    }
    if fs::read_to_string(LIST).unwrap_or_default() != list {
        return Err(Failure::new(format!("{LIST} is out of date")).hint("run `cargo xtask tables`"));
    }
    eprintln!("{} values, each with its reason", places.len());
    Ok(())
}

fn counts(path: &str) -> bool {
    path.starts_with(SOURCES)
        && path.ends_with(".rs")
        && !path.ends_with("tests.rs")
        && !path.contains("/tests/")
        && !DEFINITIONS.contains(&path)
}

fn places(file: &File) -> Vec<Place> {
    let lines: Vec<&str> = file.text.lines().collect();
    let tests =
        lines.iter().position(|line| line.starts_with("#[cfg(test)]")).unwrap_or(lines.len());
    let calls = |line: &str| {
        let code = line.split("//").next().unwrap_or("");
        CALLS.iter().any(|call| code.contains(call)) && !code.contains("fn ")
    };
    (0..tests)
        .filter(|at| calls(lines[*at]))
        .map(|at| Place {
            file: file.path.strip_prefix(SOURCES).unwrap_or(&file.path).into(),
            line: at + 1,
            code: lines[at].trim().into(),
            reason: reason(&lines, at),
        })
        .collect()
}

/// Returns the comment above a line: of its statement, of the line directly above in the same block
/// of calls, or of its function.
fn reason(lines: &[&str], at: usize) -> String {
    let text = |line: &str| {
        let line = line.trim();
        ["///", "//"]
            .iter()
            .find_map(|start| line.strip_prefix(start))
            .map(str::trim)
            .map(String::from)
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut above = at;
    while above > 0 {
        above -= 1;
        if let Some(last) = text(lines[above]) {
            let mut comment = vec![last];
            while above > 0 && text(lines[above - 1]).is_some_and(|text| !text.starts_with('#')) {
                above -= 1;
                comment.extend(text(lines[above]));
            }
            comment.reverse();
            return comment.join(" ").trim().into();
        }
        let line = lines[above].trim();
        let ends = line.is_empty() || line == "}" || line.ends_with("};");
        // The comment of an outer statement also covers inner ones.
        if ends && indent(lines[above]) <= indent(lines[at]) {
            return String::new();
        }
    }
    String::new()
}

fn list(places: &[Place]) -> String {
    let mut text = String::from(
        "# Values that become public\n\nEach place of the library where a value leaves its secret state, with the reason. \
         `cargo xtask tables` writes this list from the sources, `cargo xtask lint` compares it.\n\n\
         | where | what | why everyone may know it |\n|---|---|---|\n",
    );
    for Place { file, code, reason, .. } in places {
        let code = code.replace('|', "\\|");
        let reason = reason.replace('|', "\\|");
        let _ = writeln!(text, "| `{file}` | `{code}` | {reason} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        let file = File { path: format!("{SOURCES}a.rs"), text: text.into() };
        places(&file).into_iter().map(|place| (place.code, place.reason)).collect()
    }

    #[test]
    fn a_reason_is_the_comment_above() {
        let text = "fn f() {\n    // Everyone sees it.\n    ct::mark_public(&x);\n}\n\nfn g() {\n    ct::mark_public(&y);\n}\n";
        let found = found(text);
        assert_eq!(found[0], ("ct::mark_public(&x);".into(), "Everyone sees it.".into()));
        assert_eq!(found[1], ("ct::mark_public(&y);".into(), String::new()));
    }

    #[test]
    fn comments_of_functions_count_and_tests_do_not() {
        let text = "/// Whether it is zero,\n/// which is public.\nfn f() -> bool {\n    mask.reveal()\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() { mask.reveal() }\n}\n";
        assert_eq!(
            found(text),
            [("mask.reveal()".into(), "Whether it is zero, which is public.".into())]
        );
    }
}
