//! Extracts the paths that a source names through `crate`, `self` and `super`, as absolute paths.

use super::source::Token;

/// A path from the root of the crate, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
}

/// Returns all paths in `tokens`, the source of `module`, that are relative to a position in the
/// crate.
///
/// A `{` in a path opens a group as in `use`; each member counts. Visibilities such as `pub(in
/// crate::math)` are not imports and are ignored.
pub(super) fn named_paths(module: &[String], tokens: &[Token<'_>]) -> Vec<Named> {
    let mut found = Vec::new();
    // Inline modules, with the depth of braces at which each ends.
    let mut current = module.to_vec();
    let mut closes: Vec<usize> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text {
            "{" => depth += 1,
            "}" => {
                depth -= 1.min(depth);
                if closes.last() == Some(&depth) {
                    closes.pop();
                    current.pop();
                }
            }
            "mod" if text(tokens, at + 2) == "{" => {
                current.push(text(tokens, at + 1).into());
                closes.push(depth);
                depth += 1;
                at += 2;
            }
            "pub" if text(tokens, at + 1) == "(" => {
                while at < tokens.len() && tokens[at].text != ")" {
                    at += 1;
                }
            }
            // A declaration, not a path.
            "extern" if text(tokens, at + 1) == "crate" => at += 2,
            "crate" | "super" => {
                at = path(tokens, at, &current, &current, &mut found);
                continue;
            }
            "self" if text(tokens, at + 1) == "::" => {
                at = path(tokens, at, &current, &current, &mut found);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn text<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text)
}

/// Parses the path that starts at `at` inside `base`, records it, and returns its end.
fn path(
    tokens: &[Token<'_>],
    mut at: usize,
    base: &[String],
    module: &[String],
    found: &mut Vec<Named>,
) -> usize {
    let mut path = base.to_vec();
    let line = tokens[at].line;
    loop {
        match text(tokens, at) {
            "crate" => path.clear(),
            "super" => {
                path.pop();
            }
            "self" => {}
            "{" => return group(tokens, at + 1, &path, module, found),
            // Imports everything in the path so far.
            "*" => {
                at += 1;
                break;
            }
            word if word.starts_with(|c: char| c.is_alphanumeric() || c == '_') => {
                path.push(word.into());
            }
            _ => break,
        }
        at += 1;
        if text(tokens, at) != "::" {
            break;
        }
        at += 1;
    }
    found.push(Named { path, line });
    at
}

/// Parses the members of a group, through its `}`.
fn group(
    tokens: &[Token<'_>],
    mut at: usize,
    base: &[String],
    module: &[String],
    found: &mut Vec<Named>,
) -> usize {
    while at < tokens.len() {
        match tokens[at].text {
            "}" => return at + 1,
            "," => at += 1,
            "as" => at += 2,
            _ => at = path(tokens, at, base, module, found).max(at + 1),
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::source::tokens;
    use super::*;

    fn paths(module: &str, source: &str) -> Vec<String> {
        let module: Vec<String> = module.split("::").map(String::from).collect();
        let named = named_paths(&module, &tokens(source));
        named.into_iter().map(|named| named.path.join("::")).collect()
    }

    #[test]
    fn absolute_and_relative() {
        assert_eq!(paths("machine::words", "use crate::math::x;"), ["math::x"]);
        assert_eq!(paths("machine::words", "use super::ct::Mask;"), ["machine::ct::Mask"]);
        assert_eq!(paths("machine::words", "fn f() { super::super::math::g() }"), ["math::g"]);
        assert_eq!(
            paths("machine::words", "use self::portable::P;"),
            ["machine::words::portable::P"]
        );
        assert_eq!(paths("machine", "use super::*;"), [""]);
        assert_eq!(paths("machine", "use crate as root; use super as up;"), ["", ""]);
        assert_eq!(paths("machine", "$crate::math::x!()"), ["math::x"]);
    }

    #[test]
    fn groups() {
        let source = "use crate::{machine::{ct as c, words::*}, math::{self, modular}};";
        let expected = ["machine::ct", "machine::words", "math", "math::modular"];
        assert_eq!(paths("math", source), expected);
        assert_eq!(
            paths("machine::words", "use super::{super::math, cpu};"),
            ["math", "machine::cpu"]
        );
    }

    #[test]
    fn modules_inside_the_file() {
        let source =
            "mod tests { use super::x; fn f() { if a {} } mod b { use super::y; } } use super::z;";
        assert_eq!(paths("math::m", source), ["math::m::x", "math::m::tests::y", "math::z"]);
    }

    #[test]
    fn visibilities_and_declarations_are_not_imports() {
        assert!(
            paths("math", "pub(crate) fn f(self) { self.g() } pub(super) struct S;").is_empty()
        );
        assert!(paths("math", "pub(in crate::math) fn f() {}").is_empty());
    }
}
