//! The public items of the library, listed in docs/api/cycloid.txt, so that no change of the
//! interface goes unnoticed.
//!
//! The list is made from the sources. It lacks items and impls that macros make, and conditions on
//! modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::spanned::Spanned;
use syn::{Attribute, ImplItem, Item, ItemImpl, TraitItem, Type, UseTree, Visibility};

use crate::layers::attributes::{is_test, is_unstable};
use crate::layers::modules::{Crate, Target};
use crate::layers::tree::{self, File};
use crate::process::{Failure, Outcome, say};

const LIST: &str = "docs/api/cycloid.txt";
const ROOT: &str = "crates/cycloid/src/lib.rs";
const HEAD: &str = "The public items of the crate `cycloid`, by module; `cargo xtask tables` writes \
                    this list.\nItems that macros make are not listed, nor are those that may change with any version.\n";

/// Writes the list, or with `check` compares it with the existing one.
pub(crate) fn run(check: bool) -> Outcome {
    say("public items of the library");
    let list = HEAD.to_string() + &listing(ROOT, &tree::read(Path::new("."))?)?;
    if !check {
        return fs::write(LIST, list)
            .map_err(|error| Failure::new(format!("cannot write {LIST}: {error}")));
    }
    if fs::read_to_string(LIST).unwrap_or_default() != list {
        return Err(Failure::new(format!("the public items differ from {LIST}"))
            .hint("run `cargo xtask tables`; note the change in CHANGELOG.md"));
    }
    eprintln!("{} lines, as listed", list.lines().count());
    Ok(())
}

/// Returns the public modules of a crate with their public items, sorted by name.
fn listing(root: &str, files: &[File]) -> Result<String, Failure> {
    let library = Crate::read(root, files)?;
    let texts = library.modules.iter().map(|module| {
        let file = files.iter().find(|file| file.path == module.file);
        file.map_or("", |file| file.text.as_str())
    });
    let mut api = Api { texts: texts.collect(), source: &library, impls: BTreeMap::new() };
    for (at, module) in library.modules.iter().enumerate().filter(|(_, module)| !module.test) {
        module.items.iter().for_each(|item| api.add_impl(at, item));
    }
    let mut text = String::new();
    let mut seen: BTreeMap<usize, String> = BTreeMap::new();
    let mut next = BTreeSet::from([("cycloid".to_string(), 0)]);
    while let Some((path, at)) = next.pop_first() {
        text += &format!("\n{path}\n");
        if let Some(first) = seen.get(&at) {
            text += &format!("  the same as {first}\n");
            continue;
        }
        let mut items = BTreeSet::new();
        for (name, target) in api.public(at) {
            match target {
                Public::Module(module) => drop(next.insert((format!("{path}::{name}"), module))),
                Public::Item(lines) => drop(items.insert((name, lines))),
            }
        }
        for line in items.into_iter().flat_map(|(_, lines)| lines) {
            text += &format!("  {line}\n");
        }
        seen.insert(at, path);
    }
    Ok(text)
}

struct Api<'a> {
    source: &'a Crate,
    /// The text of each module.
    texts: Vec<&'a str>,
    /// The impls of a type, by its module and name.
    impls: BTreeMap<(usize, String), BTreeSet<Vec<String>>>,
}

/// A public name: a module, or the lines about an item.
enum Public {
    Module(usize),
    Item(Vec<String>),
}

impl Api<'_> {
    /// Returns the public names of a module, with what they mean.
    fn public(&self, at: usize) -> Vec<(String, Public)> {
        let module = &self.source.modules[at];
        let children =
            module.children.iter().filter(|(_, child)| self.source.modules[**child].public);
        let mut found: Vec<(String, Public)> =
            children.map(|(name, child)| (name.clone(), Public::Module(*child))).collect();
        for item in &module.items {
            if let Item::Use(import) = item
                && is_public(&import.vis)
                && !is_unstable(&import.attrs)
            {
                let condition = self.conditions(at, &import.attrs);
                self.imported(at, &import.tree, &[], &condition, &mut found);
            } else if let Some((name, lines)) = self.item(at, item) {
                found.push((name, Public::Item(lines)));
            }
        }
        found
    }

    /// Adds the names of a re-export.
    fn imported(
        &self,
        at: usize,
        tree: &UseTree,
        prefix: &[String],
        condition: &str,
        found: &mut Vec<(String, Public)>,
    ) {
        let joined = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        let (path, alias) = match tree {
            UseTree::Path(part) => {
                return self.imported(at, &part.tree, &joined(&part.ident), condition, found);
            }
            UseTree::Group(group) => {
                let each = group.items.iter();
                return each.for_each(|tree| self.imported(at, tree, prefix, condition, found));
            }
            UseTree::Glob(_) => {
                if let Some(Target::Module(module)) = self.source.resolve(at, prefix) {
                    found.extend(self.public(module));
                }
                return;
            }
            UseTree::Name(name) => (joined(&name.ident), name.ident.to_string()),
            UseTree::Rename(name) => (joined(&name.ident), name.rename.to_string()),
        };
        let lines = match self.source.resolve(at, &path) {
            Some(Target::Module(module)) => {
                return found.push((alias, Public::Module(module)));
            }
            Some(Target::Item(module)) => {
                let mut items = self.source.modules[module].items.iter();
                let item = items.find_map(|item| {
                    self.item(module, item).filter(|(name, _)| path.last() == Some(name))
                });
                item.map(|(_, lines)| lines)
            }
            None => None,
        };
        let mut lines = lines.unwrap_or_else(|| vec![format!("pub use {}", path.join("::"))]);
        lines[0].insert_str(0, condition);
        if path.last() != Some(&alias) {
            lines[0] += &format!(" (as {alias})");
        }
        found.push((alias, Public::Item(lines)));
    }

    /// Returns the name of a public item and the lines about it.
    fn item(&self, at: usize, item: &Item) -> Option<(String, Vec<String>)> {
        let mut parts = Vec::new();
        let (vis, attributes, ident, last) = match item {
            Item::Const(item) => (&item.vis, &item.attrs, &item.ident, end(&item.ty)),
            Item::Static(item) => (&item.vis, &item.attrs, &item.ident, end(&item.ty)),
            Item::Fn(item) => (&item.vis, &item.attrs, &item.sig.ident, end(&item.sig)),
            Item::Type(item) => (&item.vis, &item.attrs, &item.ident, end(item)),
            Item::Enum(item) => {
                let variants = item.variants.iter();
                parts.extend(variants.map(|part| self.text(at, start(&part.ident), end(part))));
                (&item.vis, &item.attrs, &item.ident, start(&item.brace_token.span.open()))
            }
            Item::Struct(item) => {
                let fields = item.fields.iter().filter(|field| is_public(&field.vis));
                parts.extend(fields.map(|part| self.text(at, start(&part.vis), end(&part.ty))));
                let last = if item.fields.is_empty() { end(item) } else { start(&item.fields) };
                (&item.vis, &item.attrs, &item.ident, last)
            }
            Item::Trait(item) => {
                parts.extend(item.items.iter().filter_map(|part| self.trait_item(at, part)));
                (&item.vis, &item.attrs, &item.ident, start(&item.brace_token.span.open()))
            }
            _ => return None,
        };
        if !is_public(vis) || is_unstable(attributes) {
            return None;
        }
        let mut lines = vec![self.conditions(at, attributes) + &self.text(at, start(vis), last)];
        let impls = self.impls.get(&(at, ident.to_string())).into_iter().flatten().flatten();
        lines.extend(parts.iter().chain(impls).map(|line| format!("  {line}")));
        Some((ident.to_string(), lines))
    }

    /// Returns an item of a trait, without its default, if it is stable.
    fn trait_item(&self, at: usize, item: &TraitItem) -> Option<String> {
        let (attributes, first, last) = match item {
            TraitItem::Const(item) => (&*item.attrs, start(&item.const_token), end(&item.ty)),
            TraitItem::Fn(item) => (&*item.attrs, start(&item.sig), end(&item.sig)),
            TraitItem::Type(item) => (&*item.attrs, start(&item.type_token), end(item)),
            item => (&[][..], start(item), end(item)),
        };
        let provided = matches!(item, TraitItem::Fn(item) if item.default.is_some());
        let provided = if provided { " { … }" } else { "" };
        let text = self.conditions(at, attributes) + &self.text(at, first, last) + provided;
        (!is_unstable(attributes)).then_some(text)
    }

    /// Records an impl for its type: a trait, or public methods and constants.
    fn add_impl(&mut self, at: usize, item: &Item) {
        let Item::Impl(ItemImpl { attrs, impl_token, trait_, self_ty, brace_token, items, .. }) =
            item
        else {
            return;
        };
        let Type::Path(path) = &**self_ty else { return };
        if is_test(attrs) {
            return;
        }
        let path: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let (Some(Target::Item(home)), Some(name)) = (self.source.resolve(at, &path), path.last())
        else {
            return;
        };
        let head = self.text(at, start(impl_token), start(&brace_token.span.open()));
        let mut lines = vec![self.conditions(at, attrs) + &head];
        for item in items {
            let (vis, attributes, last) = match item {
                ImplItem::Fn(item) => (&item.vis, &item.attrs, end(&item.sig)),
                ImplItem::Const(item) => (&item.vis, &item.attrs, end(&item.ty)),
                _ => continue,
            };
            if is_public(vis) && !is_unstable(attributes) {
                let text = self.text(at, start(vis), last);
                lines.push(format!("  {}{text}", self.conditions(at, attributes)));
            }
        }
        if trait_.is_some() || lines.len() > 1 {
            self.impls.entry((home, name.clone())).or_default().insert(lines);
        }
    }

    /// Returns the attributes that users of an item see.
    fn conditions(&self, at: usize, attributes: &[Attribute]) -> String {
        let names = ["cfg", "derive", "must_use", "non_exhaustive"];
        let wanted =
            |attribute: &&Attribute| names.iter().any(|name| attribute.path().is_ident(name));
        let texts = attributes.iter().filter(wanted);
        texts.map(|attribute| self.text(at, start(attribute), end(attribute)) + " ").collect()
    }

    /// Returns a part of a module's source in one line.
    fn text(&self, at: usize, start: usize, end: usize) -> String {
        let source = self.texts[at].get(start..end).unwrap_or_default();
        let lines = source.lines().map(|line| line.split("//").next().unwrap_or(line));
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        words
            .join(" ")
            .replace("( ", "(")
            .replace(", )", ")")
            .replace("< ", "<")
            .replace(", >", ">")
    }
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

fn start(part: &impl Spanned) -> usize {
    part.span().byte_range().start
}

fn end(part: &impl Spanned) -> usize {
    part.span().byte_range().end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unstable_items_are_not_listed() {
        let lib = "#[cfg(feature = \"internals\")] pub mod internals { pub fn a() {} }\n\
                   #[cfg(feature = \"internals\")] pub fn b() {}\n#[doc(hidden)] pub fn c() {}\n\
                   #[cfg(feature = \"alloc\")] pub fn d() {}\n\
                   pub trait T { fn e(); #[doc(hidden)] fn f(); }\n\
                   pub struct S; impl S { #[cfg(feature = \"internals\")] pub fn g() {} }";
        let files = [File { path: "lib.rs".into(), text: lib.into() }];
        let expected = "
cycloid
  pub struct S;
  pub trait T
    fn e()
  #[cfg(feature = \"alloc\")] pub fn d()
";
        assert_eq!(listing("lib.rs", &files).unwrap(), expected);
    }

    #[test]
    fn only_what_users_can_reach_is_listed() {
        let lib = "mod a;\npub mod b { pub use crate::a::f; }\npub use a::{S, E as Renamed};\n\
                   pub(crate) fn hidden() {}\npub use b as same;";
        let a = "/// Docs.\n#[derive(Clone)]\npub struct S { pub x: u8, y: u8 }\n\
                 impl S { pub fn get(&self,\n  n: usize, // a comment\n) -> u8 { 0 } fn no() {} }\n\
                 impl Copy for S {}\npub enum E { A, B(u8) }\npub fn f() {}\npub fn unreachable() {}\n\
                 #[cfg(test)] impl S { pub fn tested() {} }";
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let files = [file("a.rs", a), file("lib.rs", lib)];
        let expected = "
cycloid
  pub enum E (as Renamed)
    A
    B(u8)
  #[derive(Clone)] pub struct S
    pub x: u8
    impl Copy for S
    impl S
      pub fn get(&self, n: usize) -> u8

cycloid::b
  pub fn f()

cycloid::same
  the same as cycloid::b
";
        assert_eq!(listing("lib.rs", &files).unwrap(), expected);
    }
}
