//! The rules, applied to a list of files.

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter};

use super::paths::named_paths;
use super::source::{Token, tokens};
use super::tree::File;

/// The library's sources, and the part of them that may contain `unsafe`.
const LIBRARY: &str = "crates/cycloid/src/";
const MACHINE: &str = "crates/cycloid/src/machine/";

/// The library's floors, lowest first; its public face, lib.rs, is above them all.
const FLOORS: [&str; 3] = ["machine", "math", "scheme"];

/// The document with the list of files that may contain `unsafe`, and the markers around the list.
const ARCHITECTURE: &str = "ARCHITECTURE.md";
const LIST_BEGIN: &str = "<!-- unsafe: begin -->";
const LIST_END: &str = "<!-- unsafe: end -->";

/// Names of backends that need one level of the processor, each with a `portable` twin.
const BACKENDS: [&str; 3] = ["adx", "avx512", "ifma"];

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken {
    path: String,
    line: usize,
    rule: String,
}

impl Display for Broken {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.rule)
    }
}

/// Returns all violations in `files`.
pub(super) fn check(files: &[File]) -> Vec<Broken> {
    let mut broken = Vec::new();
    let mut holders = BTreeSet::new();
    let (listed, list_error) = unsafe_list(files);
    broken.extend(list_error);
    let sources = files.iter().filter(|file| file.path.ends_with(".rs"));
    let sources: Vec<_> = sources.map(|file| (file, tokens(&file.text))).collect();
    let tests = test_modules(&sources);
    for (file, tokens) in &sources {
        let mut note = |line, rule: String| {
            broken.push(Broken { path: file.path.clone(), line, rule });
        };
        leftovers(tokens, &mut note);
        if let Some(line) = first(tokens, "unsafe") {
            holders.insert(file.path.as_str());
            if !file.path.starts_with(MACHINE)
                && !listed.iter().any(|(entry, _)| covers(entry, &file.path))
            {
                let rule = if file.path.starts_with(LIBRARY) {
                    format!("`unsafe` in the library outside {MACHINE}")
                } else {
                    format!("`unsafe` in a file that is not in the list of {ARCHITECTURE}")
                };
                note(line, rule);
            }
        }
        if let Some(module) = module_of(&file.path) {
            floors(&module, tokens, &mut note);
            let test = tests.iter().any(|test| module.starts_with(test));
            library_only(&module, tokens, test, &mut note);
        }
    }
    let held = |entry: &str| holders.iter().any(|path| covers(entry, path));
    for (entry, line) in listed.iter().filter(|(entry, _)| !held(entry)) {
        let rule = format!("`{entry}` is listed but contains no `unsafe`");
        broken.push(Broken { path: ARCHITECTURE.into(), line: *line, rule });
    }
    broken.extend(twins(files));
    for file in files {
        broken.extend(machine_paths(file));
    }
    broken
}

/// Returns whether a list entry covers this file: the file itself or its folder.
fn covers(entry: &str, path: &str) -> bool {
    entry == path || entry.ends_with('/') && path.starts_with(entry)
}

/// Returns the files, and folders ending in `/`, in ARCHITECTURE.md's list, with their lines: the
/// text between the first two backquotes of each line.
fn unsafe_list(files: &[File]) -> (Vec<(&str, usize)>, Option<Broken>) {
    let missing = |rule: &str| Broken { path: ARCHITECTURE.into(), line: 1, rule: rule.into() };
    let Some(file) = files.iter().find(|file| file.path == ARCHITECTURE) else {
        return (Vec::new(), Some(missing("the file with the list of `unsafe` is missing")));
    };
    let mut lines = file.text.lines().enumerate();
    if !lines.any(|(_, line)| line.trim() == LIST_BEGIN) {
        return (Vec::new(), Some(missing(&format!("no line `{LIST_BEGIN}`"))));
    }
    let mut listed = Vec::new();
    for (at, line) in lines {
        if line.trim() == LIST_END {
            return (listed, None);
        }
        if let Some(path) = line.split('`').nth(1) {
            listed.push((path, at + 1));
        }
    }
    (listed, Some(missing(&format!("no line `{LIST_END}`"))))
}

/// Returns the module of a file of the library: `[]` for lib.rs.
fn module_of(path: &str) -> Option<Vec<String>> {
    let path = path.strip_prefix(LIBRARY)?.strip_suffix(".rs")?;
    let path = if path == "lib" { "" } else { path.strip_suffix("/mod").unwrap_or(path) };
    Some(path.split('/').filter(|part| !part.is_empty()).map(String::from).collect())
}

/// Returns the floor of a path, counted from 1; the face is above all.
fn floor(path: &[String]) -> usize {
    let name = path.first().map_or("", String::as_str);
    FLOORS.iter().position(|floor| *floor == name).unwrap_or(FLOORS.len()) + 1
}

fn floor_name(path: &[String]) -> &str {
    FLOORS.get(floor(path) - 1).unwrap_or(&"the crate's face")
}

fn floors(module: &[String], tokens: &[Token<'_>], note: &mut impl FnMut(usize, String)) {
    for named in named_paths(module, tokens) {
        if floor(&named.path) > floor(module) {
            let path = ["crate"].into_iter().chain(named.path.iter().map(String::as_str));
            let path = path.collect::<Vec<_>>().join("::");
            let (from, to) = (floor_name(module), floor_name(&named.path));
            note(named.line, format!("`{path}` goes up, from {from} to {to}"));
        }
    }
}

fn first(tokens: &[Token<'_>], text: &str) -> Option<usize> {
    tokens.iter().find(|token| token.text == text).map(|token| token.line)
}

/// Finds macros for unfinished code.
fn leftovers(tokens: &[Token<'_>], note: &mut impl FnMut(usize, String)) {
    for pair in tokens.windows(2) {
        if ["todo", "unimplemented", "dbg"].contains(&pair[0].text) && pair[1].text == "!" {
            note(pair[0].line, format!("`{}!` marks unfinished code", pair[0].text));
        }
    }
}

/// Checks rules for the library alone: no heap or std outside tests, no modules from other places,
/// no `allow` of `unsafe` above the first floor.
fn library_only(
    module: &[String],
    tokens: &[Token<'_>],
    test: bool,
    note: &mut impl FnMut(usize, String),
) {
    let in_test = test_spans(tokens);
    for (at, token) in tokens.iter().enumerate() {
        let text = |offset: usize| tokens.get(at + offset).map_or("", |token| token.text);
        let tested = test || in_test.iter().any(|span| span.contains(&at));
        if !tested && ["std", "alloc"].contains(&token.text) {
            let declared =
                at >= 2 && tokens[at - 2].text == "extern" && tokens[at - 1].text == "crate";
            let named = text(1) == "::" && (at == 0 || !is_path_end(tokens, at - 1));
            if declared || named {
                note(
                    token.line,
                    format!("`{}` outside tests: the library has no heap", token.text),
                );
            }
        }
        if token.text == "extern" && text(1) == "crate" && text(2) == "self" {
            note(token.line, "another name for the crate hides the direction of imports".into());
        }
        if token.text == "#" && text(1) == "[" && text(2) == "path" {
            note(token.line, "`#[path]` hides which floor a file is on".into());
        }
        if floor(module) > 1
            && ["allow", "expect"].contains(&token.text)
            && text(1) == "("
            && text(2) == "unsafe_code"
        {
            note(token.line, "`unsafe` is allowed on the first floor only".into());
        }
    }
}

/// Returns whether a name precedes the `::` at `at`, as in `a::std::b`.
fn is_path_end(tokens: &[Token<'_>], at: usize) -> bool {
    tokens[at].text == "::"
        && at > 0
        && tokens[at - 1].text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && !["use", "return", "in", "as", "mut", "dyn", "impl"].contains(&tokens[at - 1].text)
}

/// Returns the items under `#[cfg(test)]` or `#[cfg(all(test, …))]` as ranges of tokens.
fn test_spans(tokens: &[Token<'_>]) -> Vec<std::ops::Range<usize>> {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    let starts = |at: usize| {
        let rest = &texts[at..];
        rest.starts_with(&["#", "[", "cfg", "(", "test", ")", "]"])
            || rest.starts_with(&["#", "[", "cfg", "(", "all", "(", "test", ","])
    };
    let mut spans = Vec::new();
    let mut at = 0;
    while at < texts.len() {
        let start = at;
        at += 1;
        if !starts(start) {
            continue;
        }
        // Up to the `;` or the closing brace of the item, past other attributes and its signature.
        let mut depth = 0_usize;
        while at < texts.len() {
            match texts[at] {
                "{" | "[" | "(" => depth += 1,
                "}" | "]" | ")" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && texts[at] == "}" {
                        break;
                    }
                }
                ";" if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        spans.push(start..at + 1);
    }
    spans
}

/// Returns the library's modules that are declared under `#[cfg(test)]` and have their own file.
fn test_modules(sources: &[(&File, Vec<Token<'_>>)]) -> Vec<Vec<String>> {
    let mut modules = Vec::new();
    for (file, tokens) in sources {
        let Some(module) = module_of(&file.path) else {
            continue;
        };
        for span in test_spans(tokens) {
            let span = &tokens[span.start..span.end.min(tokens.len())];
            for three in span.windows(3) {
                if three[0].text == "mod" && three[2].text == ";" {
                    modules.push([module.clone(), vec![three[1].text.into()]].concat());
                }
            }
        }
    }
    modules
}

/// Checks that in the machine floor each backend has a portable twin and each portable one a fast
/// one; if both are folders, each file of the fast one must have a portable twin.
fn twins(files: &[File]) -> Vec<Broken> {
    // Every file and folder below the machine.
    let mut names = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.starts_with(MACHINE)) {
        let path = file.path.strip_suffix(".rs").unwrap_or(&file.path);
        let parts: Vec<&str> = path.split('/').collect();
        names.extend((1..=parts.len()).map(|n| parts[..n].join("/")));
    }
    let mut broken = Vec::new();
    let mut note = |path: &str, rule: String| {
        broken.push(Broken { path: path.into(), line: 1, rule });
    };
    for path in &names {
        let Some((folder, name)) = path.rsplit_once('/') else {
            continue;
        };
        let inside_backend = folder.split('/').any(|part| BACKENDS.contains(&part));
        if name == "portable" {
            let twin = |backend: &&str| names.contains(&format!("{folder}/{backend}"));
            if !BACKENDS.iter().any(twin) {
                note(path, "a portable backend without a fast twin".into());
            }
        } else if BACKENDS.contains(&name) && !inside_backend {
            let portable = format!("{folder}/portable");
            if !names.contains(&portable) {
                note(path, format!("no portable twin {portable}"));
            }
            let is_folder =
                |path: &str| names.iter().any(|name| name.starts_with(&format!("{path}/")));
            if is_folder(path) && is_folder(&portable) {
                let below = names.iter().filter_map(|name| name.strip_prefix(&format!("{path}/")));
                for file in below.filter(|file| !names.contains(&format!("{portable}/{file}"))) {
                    note(&format!("{path}/{file}"), format!("no portable twin {portable}/{file}"));
                }
            }
        }
    }
    broken
}

/// Finds paths that exist only on one machine.
fn machine_paths(file: &File) -> Vec<Broken> {
    // Assembled from parts, so that this file obeys the rule, too.
    let homes = ["work", "home", "root", "Users"].map(|home| format!("/{home}/"));
    let mut broken = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        for home in &homes {
            let found = line.match_indices(home.as_str()).any(|(start, _)| {
                // In an address or in a longer path it is an ordinary folder.
                !line[..start].ends_with(|c: char| c.is_alphanumeric() || ".-_~}$".contains(c))
            });
            if found {
                let rule = format!("`{home}…` exists only on one machine");
                broken.push(Broken { path: file.path.clone(), line: at + 1, rule });
            }
        }
    }
    broken
}
