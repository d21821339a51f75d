//! The names of one module: what it defines, what it imports, and every path in its source.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::visit::{self, Visit};
use syn::{
    Attribute, ImplItemFn, Item, ItemExternCrate, ItemUse, Macro, Meta, Path, UseTree, Visibility,
};

use super::attributes::{is_test, needs_feature};

/// The names of a module.
#[derive(Default)]
pub(super) struct Names {
    pub(super) named: Vec<Named>,
    pub(super) defined: BTreeSet<String>,
    pub(super) imports: BTreeMap<String, Vec<String>>,
    pub(super) globs: Vec<Vec<String>>,
    /// The paths in macros that start with `../`, without the tests' own.
    pub(super) included: Vec<Included>,
    /// Whether the visited part is compiled only for tests.
    test: bool,
    /// Whether the visited part is compiled only with the feature `alloc`.
    alloc: bool,
    /// Whether the visited part is a re-export or the body of a macro.
    for_others: bool,
}

/// A path as written, without generic arguments. A `::` before the first name counts as a name.
pub(super) struct Named {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// Whether the path is compiled only for tests.
    pub(super) test: bool,
    /// Whether the path is compiled only with the feature `alloc`.
    pub(super) alloc: bool,
    /// Whether the path is in a re-export or in the body of a macro: the users of these import it.
    pub(super) for_others: bool,
}

/// A path of a file, relative to that of the module.
pub(super) struct Included {
    pub(super) path: String,
    pub(super) line: usize,
}

impl Names {
    /// Returns the names of a module with these items; `test` if it is compiled only for tests,
    /// `alloc` if only with that feature. Modules among the items are not visited.
    pub(super) fn of(items: &[Item], test: bool, alloc: bool) -> Self {
        let mut names = Self { test, alloc, ..Self::default() };
        items.iter().for_each(|item| names.visit_item(item));
        names
    }

    fn name(&mut self, path: Vec<String>, at: Span) {
        let line = at.start().line;
        let Self { test, alloc, for_others, .. } = *self;
        self.named.push(Named { path, line, test, alloc, for_others });
    }

    /// Visits a part with these attributes.
    fn part(&mut self, attributes: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let outside = (self.test, self.alloc);
        self.test |= is_test(attributes);
        self.alloc |= needs_feature(attributes, "alloc");
        visit(self);
        (self.test, self.alloc) = outside;
    }

    /// Visits a part that counts for its users if `for_others`.
    fn part_for(&mut self, for_others: bool, visit: impl FnOnce(&mut Self)) {
        let outside = self.for_others;
        self.for_others |= for_others;
        visit(self);
        self.for_others = outside;
    }

    fn import(&mut self, tree: &UseTree, prefix: &[String]) {
        let joined = |ident: &Ident| match text(ident).as_str() {
            "self" if !prefix.is_empty() => prefix.to_vec(),
            name => [prefix, &[name.into()]].concat(),
        };
        let (path, at, alias) = match tree {
            UseTree::Path(part) => return self.import(&part.tree, &joined(&part.ident)),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.import(tree, prefix));
            }
            UseTree::Glob(glob) => {
                self.globs.push(prefix.to_vec());
                (prefix.to_vec(), glob.star_token.span, None)
            }
            UseTree::Name(name) => {
                let path = joined(&name.ident);
                (path.clone(), name.ident.span(), path.last().cloned())
            }
            UseTree::Rename(name) => {
                (joined(&name.ident), name.ident.span(), Some(text(&name.rename)))
            }
        };
        if let Some(alias) = alias {
            self.imports.insert(alias, path.clone());
        }
        self.name(path, at);
    }

    /// Finds paths among the tokens of a macro or an attribute.
    fn scan(&mut self, tokens: TokenStream) {
        let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
        // `$crate` is `crate`.
        tokens.retain(|token| !is(token, '$'));
        let mut rest = tokens.as_slice();
        while let [first, after @ ..] = rest {
            rest = after;
            match first {
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Literal(literal) if !self.test => {
                    let text = literal.to_string();
                    let path = text.trim_matches('"');
                    if path.starts_with("../") {
                        let line = literal.span().start().line;
                        self.included.push(Included { path: path.into(), line });
                    }
                }
                TokenTree::Ident(word) if word == "use" => {
                    let length = after.iter().position(|token| is(token, ';')).unwrap_or(0) + 1;
                    let (import, after) = after.split_at(length.min(after.len()));
                    let import = [first].into_iter().chain(import).cloned().collect();
                    if let Ok(import) = syn::parse2::<ItemUse>(import) {
                        self.visit_item_use(&import);
                        rest = after;
                    }
                }
                TokenTree::Ident(word) => {
                    let mut path = vec![text(word)];
                    while let [a, b, TokenTree::Ident(next), after @ ..] = rest
                        && is(a, ':')
                        && is(b, ':')
                    {
                        path.push(text(next));
                        rest = after;
                    }
                    self.name(path, word.span());
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name): (&[Attribute], _) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::ExternCrate(item) => (&item.attrs, None),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Impl(item) => (&item.attrs, None),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Union(item) => (&item.attrs, Some(&item.ident)),
            Item::Use(item) => (&item.attrs, None),
            Item::Mod(_) => return,
            _ => (&[], None),
        };
        self.defined.extend(name.map(text));
        self.part(attributes, |this| visit::visit_item(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.part(&item.attrs, |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let start = item.leading_colon.as_ref().map(|_| "::".to_string());
        let is_export = !matches!(item.vis, Visibility::Inherited);
        self.part_for(is_export, |this| this.import(&item.tree, start.as_slice()));
    }

    fn visit_item_extern_crate(&mut self, item: &'ast ItemExternCrate) {
        self.part(&item.attrs, |this| {
            this.name(vec!["::".into(), text(&item.ident)], item.ident.span());
        });
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let start = path.leading_colon.as_ref().map(|_| "::".to_string());
        let names = path.segments.iter().map(|segment| text(&segment.ident));
        self.name(start.into_iter().chain(names).collect(), path.segments[0].ident.span());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.visit_path(&item.path);
        let is_body = item.path.is_ident("macro_rules");
        self.part_for(is_body, |this| this.scan(item.tokens.clone()));
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.scan(list.tokens.clone());
        }
    }

    /// The path in `pub(in crate::math)` is not an import.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

fn text(ident: &Ident) -> String {
    ident.unraw().to_string()
}

fn is(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}
