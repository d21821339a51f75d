//! The attributes that decide when an item is compiled, and from which file.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, MetaList, Token};

/// Returns whether the attributes restrict an item to tests: `cfg(test)` or `cfg(all(test, …))`.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    require(attributes, |condition| condition.path().is_ident("test"))
}

/// Returns whether the attributes restrict an item to a feature, likewise.
pub(super) fn needs_feature(attributes: &[Attribute], feature: &str) -> bool {
    require(attributes, |condition| match condition {
        Meta::NameValue(pair) if pair.path.is_ident("feature") => {
            text(&pair.value).as_deref() == Some(feature)
        }
        _ => false,
    })
}

/// Returns whether the attributes exclude an item from the stable interface: it needs the feature
/// `internals`, or is hidden from the documentation.
pub(crate) fn is_unstable(attributes: &[Attribute]) -> bool {
    let is_hidden = |attribute: &Attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("doc") => {
            nested(list).iter().any(|meta| meta.path().is_ident("hidden"))
        }
        _ => false,
    };
    needs_feature(attributes, "internals") || attributes.iter().any(is_hidden)
}

/// Returns whether a `cfg` among the attributes requires the condition.
fn require(attributes: &[Attribute], condition: impl Fn(&Meta) -> bool) -> bool {
    fn requires(meta: &Meta, condition: &dyn Fn(&Meta) -> bool) -> bool {
        match meta {
            Meta::List(list) if list.path.is_ident("all") || list.path.is_ident("cfg") => {
                nested(list).iter().any(|meta| requires(meta, condition))
            }
            meta => condition(meta),
        }
    }
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("cfg") && requires(&attribute.meta, &condition))
}

/// Returns the path in `#[path = "…"]` or `#[cfg_attr(…, path = "…")]`.
pub(super) fn other_file(attributes: &[Attribute]) -> Option<String> {
    fn path(meta: &Meta) -> Option<String> {
        match meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => text(&pair.value),
            Meta::List(list) if list.path.is_ident("cfg_attr") => {
                nested(list).iter().find_map(path)
            }
            _ => None,
        }
    }
    attributes.iter().find_map(|attribute| path(&attribute.meta))
}

/// Returns the text of a string literal.
fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn nested(list: &MetaList) -> Vec<Meta> {
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    list.parse_args_with(parser).map(|metas| metas.into_iter().collect()).unwrap_or_default()
}
