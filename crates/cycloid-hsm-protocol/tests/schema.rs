//! The documents state the schema that the derives on the messages define.

use std::fmt::Write;

use cycloid_hsm_protocol::rpc::{VERSION, frame};
use syn::{Attribute, Expr, Field, Fields, GenericArgument, Item, Lit, Meta, PathArguments, Type};

const SOURCES: [&str; 3] = [
    include_str!("../src/rpc/message.rs"),
    include_str!("../src/mechanism/parameter.rs"),
    include_str!("../src/legacy.rs"),
];

const HEAD: &str = "\
; Generated from the messages in crates/cycloid-hsm-protocol. hsm-protocol.md describes frames and the
; order of messages. Arrays, maps and strings have a definite length. A reader skips elements after
; the last one that it knows.

u8 = uint .size 1
u16 = uint .size 2
u32 = uint .size 4
u64 = uint .size 8

; Attributes by number, in ascending order.
Template = {* u32 => bytes}
";

#[test]
fn the_schema_in_the_documents_is_that_of_the_messages() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hsm-protocol.cddl");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let schema = schema();
    if written != schema && std::env::var_os("CYCLOID_WRITE_DOCS").is_some() {
        std::fs::write(path, &schema).unwrap();
        return;
    }
    assert_eq!(written, schema, "rewrite it with CYCLOID_WRITE_DOCS=1");
}

#[test]
fn the_description_has_the_version_and_the_limit() {
    let text = include_str!("../../../docs/hsm-protocol.md");
    assert!(text.starts_with(&format!("# The protocol of the HSM's daemon, version {VERSION}\n")));
    assert!(text.contains(&format!("at most {} bytes after its length", frame::MAX_LENGTH)));
}

fn schema() -> String {
    let mut text = format!(
        "; The messages of the HSM's daemon, protocol version {VERSION}, in CDDL (RFC 8610).\n"
    );
    text.push_str(HEAD);
    for source in SOURCES {
        for item in syn::parse_file(source).unwrap().items {
            rule(&mut text, item);
        }
    }
    text
}

/// Writes the rule of a type that encodes itself, and nothing for other items.
fn rule(text: &mut String, item: Item) {
    match item {
        // A macro around an enum adds the names of its variants.
        Item::Macro(item) if item.mac.path.is_ident("named") => {
            rule(text, syn::parse2(item.mac.tokens).unwrap());
        }
        Item::Struct(item) if is_encoded(&item.attrs) => {
            text.push('\n');
            comment(text, "", &item.attrs);
            array(text, &item.ident.to_string(), None, &item.fields);
        }
        Item::Enum(item) if is_encoded(&item.attrs) => {
            text.push('\n');
            comment(text, "", &item.attrs);
            let flat = item.variants.iter().any(|variant| !variant.fields.is_empty());
            let (open, separator, close) = if flat { ("", " /", "") } else { (" &(", ",", "\n)") };
            write!(text, "{} ={open}", item.ident).unwrap();
            for (at, variant) in item.variants.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { separator });
                if flat {
                    write!(text, "\n  {}.{}", item.ident, variant.ident).unwrap();
                } else {
                    text.push('\n');
                    comment(text, "  ", &variant.attrs);
                    write!(text, "  {}: {}", variant.ident, number(&variant.attrs)).unwrap();
                }
            }
            writeln!(text, "{close}").unwrap();
            for variant in item.variants.iter().filter(|_| flat) {
                text.push('\n');
                comment(text, "", &variant.attrs);
                let name = format!("{}.{}", item.ident, variant.ident);
                array(text, &name, Some(number(&variant.attrs)), &variant.fields);
            }
        }
        _ => {}
    }
}

/// Writes the rule of an array: the number of a variant, and fields in the order of their numbers.
fn array(text: &mut String, name: &str, number_of_variant: Option<u64>, fields: &Fields) {
    let fields: Vec<&Field> = fields.iter().collect();
    for (at, field) in fields.iter().enumerate() {
        assert_eq!(number(&field.attrs), at as u64, "{name}: numbers without gaps, in order");
    }
    write!(text, "{name} = [").unwrap();
    if let Some(number) = number_of_variant {
        write!(text, "{number:#04x}").unwrap();
    }
    let documented = fields.iter().any(|field| docs(&field.attrs).next().is_some());
    for (at, field) in fields.iter().enumerate() {
        let first = at == 0 && number_of_variant.is_none();
        text.push_str(if first { "" } else { "," });
        if documented {
            text.push('\n');
            comment(text, "  ", &field.attrs);
            text.push_str("  ");
        } else if !first {
            text.push(' ');
        }
        // `None` is left out at the end, and is null before other fields.
        if fields[at..].iter().all(|field| optional(&field.ty).is_some()) {
            text.push_str("? ");
        }
        if let Some(ident) = &field.ident {
            write!(text, "{ident}: ").unwrap();
        }
        text.push_str(&kind(&field.ty));
    }
    text.push_str(if documented { "\n]\n" } else { "]\n" });
}

/// Returns the type in CDDL.
fn kind(of: &Type) -> String {
    if let Some(inner) = optional(of) {
        return format!("{} / null", kind(inner));
    }
    if let Some(inner) = inner(of, "Vec") {
        return format!("[* {}]", kind(inner));
    }
    let Type::Path(path) = of else { panic!("a type that messages do not have") };
    match path.path.require_ident().unwrap().to_string().as_str() {
        "String" => "text".into(),
        "Bytes" | "Secret" => "bytes".into(),
        other => other.into(),
    }
}

fn optional(of: &Type) -> Option<&Type> {
    inner(of, "Option")
}

fn inner<'a>(of: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = of else { return None };
    let segment = path.path.segments.first().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}

fn is_encoded(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|derive| {
        let mut found = false;
        derive
            .parse_nested_meta(|meta| {
                found |= meta.path.is_ident("Encode");
                Ok(())
            })
            .unwrap();
        found
    })
}

/// Returns the number of a variant or field, `#[n(…)]`.
fn number(attributes: &[Attribute]) -> u64 {
    let numbered = attributes.iter().find(|attribute| attribute.path().is_ident("n")).unwrap();
    numbered.parse_args::<syn::LitInt>().unwrap().base10_parse().unwrap()
}

fn comment(text: &mut String, indent: &str, attributes: &[Attribute]) {
    for line in docs(attributes) {
        writeln!(text, "{indent};{}", line.replace("[`", "`").replace("`]", "`")).unwrap();
    }
}

fn docs(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(line) => Some(line.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}
