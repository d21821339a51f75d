//! The rules, applied to the files and crates of the project.

use std::collections::{BTreeMap, BTreeSet};

use super::broken::Broken;
use super::cycles::cycles;
use super::modules::{Crate, Target};
use super::tree::{File, folder_of, resolved};
use super::words::{Word, words};
use crate::process::Failure;
use crate::workspace::{Dependency, Package};

/// The library, its sources, and the part of them that may contain `unsafe`.
const LIBRARY: &str = "crates/cycloid/src/";
const MACHINE: &str = "crates/cycloid/src/machine/";

/// The document with the lists of layers, of crates, and of files that may contain `unsafe`. Each
/// stands between the lines `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Names of backends that need one level of the processor, each with a `portable` twin.
const BACKENDS: [&str; 4] = ["aarch64", "adx", "avx512", "ifma"];

/// The folder of the backends of one architecture, next to their `portable` twins.
const X86_64: &str = "/x86_64/";

/// Returns all violations in `files`, the files of these packages.
pub(super) fn check(files: &[File], packages: &[Package]) -> Result<Vec<Broken>, Failure> {
    let mut broken = BTreeSet::new();
    let layers = list("layers", files, &mut broken);
    let roots = packages
        .iter()
        .flat_map(|package| package.roots.iter().map(move |root| (package.published, root)));
    for (published, root) in roots {
        let subject = Crate::read(root, files)?;
        broken.extend(cycles(&subject));
        if let Some((package, _)) = root.split_once("/src/").filter(|_| published) {
            broken.extend(outside_the_package(&subject, package));
        }
        for row in layers.iter().filter(|row| row.holds(0, root)) {
            broken.extend(upward_imports(&subject, &row.cells[1..]));
        }
        if root.starts_with(LIBRARY) {
            broken.extend(heap(&subject));
        }
    }
    let crates = list("crates", files, &mut broken);
    broken.extend(crate_dependencies(&crates, packages));
    let mut holders = BTreeMap::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let words = words(file)?;
        broken.extend(wrong_words(file, &words));
        if let Some(word) = words.iter().find(|word| word.text == "unsafe") {
            holders.insert(file.path.as_str(), word.line);
        }
    }
    let listed = list("unsafe", files, &mut broken);
    for (file, line) in holders.iter().filter(|(file, _)| !file.starts_with(MACHINE)) {
        if !listed.iter().any(|row| row.holds(0, file)) {
            let rule = if file.starts_with(LIBRARY) {
                format!("`unsafe` in the library outside {MACHINE}")
            } else {
                format!("`unsafe` in a file that is not in the list of {ARCHITECTURE}")
            };
            broken.insert(Broken { path: file.to_string(), line: *line, rule });
        }
    }
    for row in listed.iter().filter(|row| !holders.keys().any(|file| row.holds(0, file))) {
        broken.insert(
            row.broken(format!("`{}` is listed but contains no `unsafe`", row.cells[0][0])),
        );
    }
    broken.extend(twins(files));
    broken.extend(files.iter().flat_map(machine_paths));
    Ok(broken.into_iter().collect())
}

/// A row of a list in ARCHITECTURE.md: the words in backquotes of each cell.
struct Row<'a> {
    line: usize,
    cells: Vec<Vec<&'a str>>,
}

impl Row<'_> {
    /// Returns whether a cell names this file or a folder with it, which ends in `/`.
    fn holds(&self, cell: usize, path: &str) -> bool {
        let covers =
            |entry: &&str| *entry == path || entry.ends_with('/') && path.starts_with(*entry);
        self.cells.get(cell).is_some_and(|cell| cell.iter().any(covers))
    }

    fn broken(&self, rule: impl Into<String>) -> Broken {
        Broken { path: ARCHITECTURE.into(), line: self.line, rule: rule.into() }
    }
}

/// Returns the rows of a list in ARCHITECTURE.md that have words in backquotes.
fn list<'a>(name: &str, files: &'a [File], broken: &mut BTreeSet<Broken>) -> Vec<Row<'a>> {
    let text = files.iter().find(|file| file.path == ARCHITECTURE).map_or("", |file| &file.text);
    let mut lines = text.lines().enumerate();
    let mark = |end: &str| format!("<!-- {name}: {end} -->");
    let (begin, end) = (mark("begin"), mark("end"));
    let found = lines.any(|(_, line)| line == begin);
    let mut rows = Vec::new();
    for (at, line) in lines {
        if line == end {
            return rows;
        }
        let cells = line.trim_matches('|').split('|');
        let cells: Vec<Vec<&str>> =
            cells.map(|cell| cell.split('`').skip(1).step_by(2).collect()).collect();
        if !cells[0].is_empty() {
            rows.push(Row { line: at + 1, cells });
        }
    }
    let missing = if found { end } else { begin };
    let rule = format!("no line `{missing}`");
    broken.insert(Broken { path: ARCHITECTURE.into(), line: 1, rule });
    Vec::new()
}

/// Checks that each crate depends on exactly those of the workspace that the list names: in its
/// second column, and for tests in its third.
fn crate_dependencies(rows: &[Row<'_>], packages: &[Package]) -> Vec<Broken> {
    let mut broken = Vec::new();
    for package in packages {
        let Some(row) = rows.iter().find(|row| row.cells[0].contains(&&*package.name)) else {
            let rule = format!("the list of crates lacks `{}`", package.name);
            broken.push(Broken { path: ARCHITECTURE.into(), line: 1, rule });
            continue;
        };
        let listed = |cell: usize, test: bool| {
            let names = row.cells.get(cell).into_iter().flatten();
            names.map(move |name| Dependency { name: name.to_string(), test })
        };
        let listed: BTreeSet<_> = listed(1, false).chain(listed(2, true)).collect();
        let actual: BTreeSet<_> = package.dependencies.iter().cloned().collect();
        for dependency in listed.symmetric_difference(&actual) {
            let verb = if listed.contains(dependency) { "does not use" } else { "may not use" };
            let tests = if dependency.test { " for tests" } else { "" };
            broken.push(row.broken(format!("{} {verb} {}{tests}", package.name, dependency.name)));
        }
    }
    broken
}

/// Checks that no module names one on a higher layer, nor another on its own. Unlisted modules are
/// above all layers; the root of the crate is on none. Tests outside the library are exempt.
fn upward_imports(subject: &Crate, layers: &[Vec<&str>]) -> Vec<Broken> {
    let layer = |module: &str| {
        let found = layers.iter().position(|layer| layer.contains(&module));
        found.unwrap_or(layers.len())
    };
    let mut broken = Vec::new();
    for (at, module) in subject.modules.iter().enumerate() {
        let Some(from) = module.path.first() else { continue };
        for named in subject.named(at) {
            let Some(Target::Module(to) | Target::Item(to)) = subject.resolve(at, &named.path)
            else {
                continue;
            };
            let Some(to) = subject.modules[to].path.first() else { continue };
            let exempt = named.test && !module.file.starts_with(LIBRARY);
            let is_down = layer(to) < layer(from) || layer(from) == layers.len();
            if to != from && !is_down && !exempt {
                let path = named.path.join("::");
                let rule = format!("`{path}` goes up or aside, from {from} to {to}");
                broken.push(Broken { path: module.file.clone(), line: named.line, rule });
            }
        }
    }
    broken
}

/// Checks that a crate has all its files in the folder of its package, because its published form
/// contains no others. Tests are exempt: nobody compiles those of a published crate.
fn outside_the_package(subject: &Crate, package: &str) -> Vec<Broken> {
    let is_outside = |path: &str| !path.starts_with(&format!("{package}/"));
    let mut broken = Vec::new();
    for (at, module) in subject.modules.iter().enumerate().filter(|(_, module)| !module.test) {
        let mut note = |path: &str, line: usize| {
            let rule = format!("`{path}` is not in the package, so it is not published");
            broken.push(Broken { path: module.file.clone(), line, rule });
        };
        if is_outside(&module.file) {
            note(&module.file, 1);
        }
        for included in subject.included(at) {
            if is_outside(&resolved(&format!("{}{}", folder_of(&module.file), included.path))) {
                note(&included.path, included.line);
            }
        }
    }
    broken
}

/// Checks that the library uses std in its tests only, and alloc there and with that feature.
fn heap(library: &Crate) -> Vec<Broken> {
    let mut broken = Vec::new();
    for (at, module) in library.modules.iter().enumerate() {
        for named in library.named(at).iter().filter(|named| !named.test) {
            let names: Vec<&str> = named.path.iter().map(String::as_str).collect();
            if let ["::", name @ ("std" | "alloc"), ..] | [name @ ("std" | "alloc"), _, ..] = *names
                && !(name == "alloc" && named.alloc)
            {
                let rule = format!("`{name}` outside tests: the library has no heap");
                broken.push(Broken { path: module.file.clone(), line: named.line, rule });
            }
        }
    }
    broken
}

/// Finds words that no file may contain, or no file of the library.
fn wrong_words(file: &File, words: &[Word]) -> Vec<Broken> {
    let in_library = file.path.starts_with(LIBRARY);
    let above_machine = in_library && !file.path.starts_with(MACHINE);
    let rule = |next: &[Word]| {
        let texts: Vec<&str> = next.iter().map(|word| word.text.as_str()).collect();
        match *texts {
            [name @ ("todo" | "unimplemented" | "dbg"), "!", ..] => {
                Some(format!("`{name}!` marks unfinished code"))
            }
            ["extern", "crate", "self"] if in_library => {
                Some("another name for the crate hides the direction of imports".into())
            }
            ["#", "path", "="] if in_library => {
                Some("`#[path]` hides which floor a file is on".into())
            }
            ["allow" | "expect", "unsafe_code", ..] if above_machine => {
                Some("`unsafe` is allowed on the first floor only".into())
            }
            _ => None,
        }
    };
    let found = (0..words.len()).filter_map(|at| {
        let next = &words[at..words.len().min(at + 3)];
        Some(Broken { path: file.path.clone(), line: words[at].line, rule: rule(next)? })
    });
    found.collect()
}

/// Checks that in the machine floor each backend has a portable twin and each portable one a fast
/// one; if both are folders, each file of the fast one must have a portable twin. A folder for an
/// architecture counts as its parent.
fn twins(files: &[File]) -> Vec<Broken> {
    // Every file and folder below the machine.
    let mut names = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.starts_with(MACHINE)) {
        let path = file.path.strip_suffix(".rs").unwrap_or(&file.path).replace(X86_64, "/");
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
