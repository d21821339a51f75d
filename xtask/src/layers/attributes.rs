//! The attributes that decide when an item is compiled, and from which file.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaList, Token};

/// Returns whether the attributes restrict an item to tests: `cfg(test)` or `cfg(all(test, …))`.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    fn requires_test(condition: &Meta) -> bool {
        match condition {
            Meta::List(list) if list.path.is_ident("all") || list.path.is_ident("cfg") => {
                nested(list).iter().any(requires_test)
            }
            condition => condition.path().is_ident("test"),
        }
    }
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("cfg") && requires_test(&attribute.meta))
}

/// Returns the path in `#[path = "…"]` or `#[cfg_attr(…, path = "…")]`.
pub(super) fn other_file(attributes: &[Attribute]) -> Option<String> {
    fn path(meta: &Meta) -> Option<String> {
        match meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            Meta::List(list) if list.path.is_ident("cfg_attr") => {
                nested(list).iter().find_map(path)
            }
            _ => None,
        }
    }
    attributes.iter().find_map(|attribute| path(&attribute.meta))
}

fn nested(list: &MetaList) -> Vec<Meta> {
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    list.parse_args_with(parser).map(|metas| metas.into_iter().collect()).unwrap_or_default()
}
