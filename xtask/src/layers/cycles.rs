//! Import cycles between the files of a crate.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::broken::Broken;
use super::modules::{Crate, Module, Target};

/// An import of a file by another: the line, and the path there.
type Import = (usize, String);

/// The files of a crate by their module, and the imports between them.
struct Graph<'a> {
    modules: BTreeMap<&'a str, &'a [String]>,
    imports: BTreeMap<&'a str, BTreeMap<&'a str, Import>>,
}

/// Returns the import cycles of a crate, each once. A module and its descendants may use each
/// other; so a cycle is an error only if none of its files contains the modules of all others.
///
/// Tests, re-exports and the bodies of macros are not imports; a path leads through re-exports to
/// the definition.
pub(super) fn cycles(subject: &Crate) -> Vec<Broken> {
    let graph = Graph::new(subject);
    let mut found = BTreeSet::new();
    let mut broken = Vec::new();
    for (from, imports) in &graph.imports {
        for to in imports.keys() {
            let Some(mut cycle) = graph.way(to, from) else { continue };
            cycle.push(to);
            if !found.insert(BTreeSet::from_iter(cycle.clone())) {
                continue;
            }
            let steps = cycle.windows(2).map(|pair| {
                let (line, path) = &graph.imports[pair[0]][pair[1]];
                format!("\n  {}:{line} names `{path}`, in {}", pair[0], pair[1])
            });
            broken.push(Broken {
                path: cycle[0].into(),
                line: graph.imports[cycle[0]][cycle[1]].0,
                rule: format!("import cycle:{}", steps.collect::<String>()),
            });
        }
    }
    broken
}

impl<'a> Graph<'a> {
    fn new(subject: &'a Crate) -> Self {
        let mut modules = BTreeMap::new();
        let mut imports: BTreeMap<&str, BTreeMap<&str, Import>> = BTreeMap::new();
        for (at, Module { file, path, .. }) in subject.modules.iter().enumerate() {
            // The first module of a file contains the file's others.
            modules.entry(file.as_str()).or_insert(path.as_slice());
            for named in subject.named(at).iter().filter(|named| !named.test && !named.for_others) {
                let target = subject.resolve(at, &named.path);
                let Some(Target::Module(to) | Target::Item(to)) = target else { continue };
                let to = &subject.modules[to];
                if to.file != *file && !to.test {
                    let import = (named.line, named.path.join("::"));
                    imports.entry(file).or_default().entry(&to.file).or_insert(import);
                }
            }
        }
        Self { modules, imports }
    }

    /// Returns the shortest chain of imports from one file to another through modules below the
    /// nearest module that contains both; none if one of them contains the other.
    fn way(&self, from: &'a str, to: &str) -> Option<Vec<&'a str>> {
        let both = self.modules[from].iter().zip(self.modules[to]);
        let depth = both.take_while(|(a, b)| a == b).count();
        let above = &self.modules[from][..depth];
        let below =
            |file: &str| self.modules[file].len() > depth && self.modules[file].starts_with(above);
        if !below(from) || !below(to) {
            return None;
        }
        let mut before = BTreeMap::from([(from, from)]);
        let mut next = VecDeque::from([from]);
        while let Some(file) = next.pop_front() {
            if file == to {
                let mut way = vec![file];
                while way[way.len() - 1] != from {
                    way.push(before[way[way.len() - 1]]);
                }
                way.reverse();
                return Some(way);
            }
            for &import in self.imports.get(file).into_iter().flat_map(BTreeMap::keys) {
                if below(import) && !before.contains_key(import) {
                    before.insert(import, file);
                    next.push_back(import);
                }
            }
        }
        None
    }
}
