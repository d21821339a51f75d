//! The modules of a crate, with the names that each defines and imports, and where its paths lead.

use std::collections::{BTreeMap, BTreeSet};

use syn::ext::IdentExt as _;
use syn::{Item, Visibility};

use super::attributes::{is_test, is_unstable, needs_feature, other_file};
use super::names::{Included, Named, Names};
use super::tree::{File, folder_of, resolved};
use crate::process::Failure;

/// A module: a file, or a block `mod name { … }` within one.
#[derive(Default)]
pub(crate) struct Module {
    /// The names from the root of the crate, whose own path is empty.
    pub(crate) path: Vec<String>,
    pub(crate) file: String,
    /// Whether its declaration says `pub`, and it is stable.
    pub(crate) public: bool,
    /// Whether the module is compiled only for tests.
    pub(crate) test: bool,
    /// Whether the module is compiled only with the feature `alloc`.
    alloc: bool,
    /// All items except modules.
    pub(crate) items: Vec<Item>,
    pub(crate) children: BTreeMap<String, usize>,
    parent: usize,
    names: Names,
}

/// A crate: its modules, the root first.
pub(crate) struct Crate {
    pub(crate) modules: Vec<Module>,
}

/// The target of a path: a module, or the module with the definition of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Module(usize),
    Item(usize),
}

/// Pairs of a module and a name whose imports are being followed, because imports may form a
/// circle.
type Seen = BTreeSet<(usize, String)>;

impl Crate {
    /// Reads the crate with the root file `root`, and the files of all its modules.
    ///
    /// Conditions are not evaluated: of two modules with one name, paths lead to the first.
    pub(crate) fn read(root: &str, files: &[File]) -> Result<Self, Failure> {
        let mut this = Self { modules: Vec::new() };
        let top = Module { file: root.into(), ..Module::default() };
        if let Some(file) = find(root, files) {
            this.add_file(top, folder_of(root), file, files)?;
        }
        Ok(this)
    }

    fn add_file(
        &mut self,
        mut module: Module,
        folder: &str,
        file: &File,
        files: &[File],
    ) -> Result<(), Failure> {
        let source = syn::parse_file(&file.text).map_err(|error| {
            let line = error.span().start().line;
            Failure::new(format!("{}:{line}: {error}", file.path))
        })?;
        module.test |= is_test(&source.attrs);
        module.alloc |= needs_feature(&source.attrs, "alloc");
        self.add(module, folder, source.items, files)
    }

    /// Adds a module whose files are in `folder`, and then its children.
    fn add(
        &mut self,
        mut module: Module,
        folder: &str,
        items: Vec<Item>,
        files: &[File],
    ) -> Result<(), Failure> {
        let at = self.modules.len();
        let (path, file) = (module.path.clone(), module.file.clone());
        let (test, alloc) = (module.test, module.alloc);
        module.names = Names::of(&items, test, alloc);
        let (parts, items) = items.into_iter().partition(|item| matches!(item, Item::Mod(_)));
        module.items = items;
        self.modules.push(module);
        let parts: Vec<Item> = parts;
        for part in parts {
            let Item::Mod(part) = part else { continue };
            let name = part.ident.unraw().to_string();
            let child = |file: String| Module {
                path: [path.as_slice(), std::slice::from_ref(&name)].concat(),
                file,
                parent: at,
                public: matches!(part.vis, Visibility::Public(_)) && !is_unstable(&part.attrs),
                test: test || is_test(&part.attrs),
                alloc: alloc || needs_feature(&part.attrs, "alloc"),
                ..Module::default()
            };
            let next = self.modules.len();
            let below = format!("{folder}{name}/");
            if let Some((_, items)) = part.content {
                self.add(child(file.clone()), &below, items, files)?;
            } else {
                let usual = [format!("{folder}{name}.rs"), format!("{below}mod.rs")];
                let usual = usual.into_iter().map(|source| (source, below.clone()));
                let other = other_file(&part.attrs).map(|place| {
                    let source = resolved(&format!("{}{place}", folder_of(&file)));
                    let folder = folder_of(&source).to_string();
                    (source, folder)
                });
                for (source, folder) in usual.chain(other) {
                    if let Some(file) = find(&source, files) {
                        self.add_file(child(source), &folder, file, files)?;
                    }
                }
            }
            if next < self.modules.len() {
                self.modules[at].children.entry(name).or_insert(next);
            }
        }
        Ok(())
    }

    /// Returns all paths in the source of a module.
    pub(super) fn named(&self, module: usize) -> &[Named] {
        &self.modules[module].names.named
    }

    /// Returns the paths of files, outside the folder of a module, that its macros name.
    pub(super) fn included(&self, module: usize) -> &[Included] {
        &self.modules[module].names.included
    }

    /// Follows a path in the source of `module` through all re-exports; none if it leaves the
    /// crate.
    ///
    /// A name without a visible definition, for example by a macro, belongs to the module before
    /// it.
    pub(crate) fn resolve(&self, module: usize, path: &[String]) -> Option<Target> {
        self.follow(module, path, &mut Seen::new())
    }

    fn follow(&self, from: usize, path: &[String], seen: &mut Seen) -> Option<Target> {
        let mut at = None;
        for name in path {
            let here = at.unwrap_or(from);
            let target = match name.as_str() {
                "crate" => Target::Module(0),
                "self" => Target::Module(here),
                "super" => Target::Module(self.modules[here].parent),
                name => match self.member(here, name, seen) {
                    Some(target) => target,
                    None => return at.map(Target::Item),
                },
            };
            match target {
                Target::Module(module) => at = Some(module),
                Target::Item(_) => return Some(target),
            }
        }
        at.map(Target::Module)
    }

    /// Returns what `name` means in the module `at`.
    fn member(&self, at: usize, name: &str, seen: &mut Seen) -> Option<Target> {
        let Module { children, names, .. } = &self.modules[at];
        if let Some(child) = children.get(name) {
            return Some(Target::Module(*child));
        }
        if names.defined.contains(name) {
            return Some(Target::Item(at));
        }
        if !seen.insert((at, name.into())) {
            return None;
        }
        if let Some(import) = names.imports.get(name) {
            return self.follow(at, import, seen);
        }
        names.globs.iter().find_map(|glob| match self.follow(at, glob, seen)? {
            Target::Module(module) if module != at => self.member(module, name, seen),
            _ => None,
        })
    }
}

fn find<'a>(path: &str, files: &'a [File]) -> Option<&'a File> {
    files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| &files[at])
}
