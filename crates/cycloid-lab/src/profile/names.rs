//! Names of code addresses: the function and the functions inlined there.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fs;
use std::ops::Range;
use std::path::Path;

use crate::tables::cut;

/// A cache of names by address.
pub(super) struct Names {
    known: HashMap<usize, Vec<String>>,
    /// Mapped files with their address ranges.
    files: Vec<(Range<usize>, String)>,
}

impl Names {
    /// Creates a cache for addresses in this process.
    pub(super) fn new() -> Self {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        Self { known: HashMap::new(), files: maps.lines().filter_map(mapping).collect() }
    }

    /// Returns the names at `address`: the innermost inlined function first, then the functions
    /// that contain it.
    pub(super) fn of(&mut self, address: usize) -> &[String] {
        let Self { known, files } = self;
        known.entry(address).or_insert_with(|| {
            let mut names = Vec::new();
            // The resolver expects a return address, which follows the address in question.
            backtrace::resolve(address.wrapping_add(1) as *mut c_void, |symbol| {
                let file = symbol.filename();
                names.extend(symbol.name().map(|name| qualified(&format!("{name:#}"), file)));
            });
            if names.is_empty() {
                let file = files.iter().find(|(range, _)| range.contains(&address));
                names
                    .push(file.map_or_else(|| "[unknown]".into(), |(_, file)| format!("[{file}]")));
            }
            without_library(names)
        })
    }
}

/// Parses the address range and file of a line of `/proc/self/maps`.
fn mapping(line: &str) -> Option<(Range<usize>, String)> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let file = words.nth(4)?.rsplit('/').next()?;
    Some((number(start)?..number(end)?, file.trim_matches(['[', ']']).into()))
}

/// Removes functions inlined from Rust's standard libraries: an iterator or a copy is work of its
/// user.
fn without_library(mut names: Vec<String>) -> Vec<String> {
    let last = names.len() - 1;
    let mut index = 0;
    names.retain(|name| {
        index += 1;
        index > last || !is_library(name)
    });
    names
}

/// Returns whether a name belongs to Rust's standard libraries.
pub(super) fn is_library(name: &str) -> bool {
    let path = name.trim_start_matches(['<', '&', '[', '*']).trim_start_matches("mut ");
    let first = path.split([':', ' ', '>', '<', ';', ']']).next().unwrap_or_default();
    matches!(
        first,
        "core"
            | "std"
            | "alloc"
            | "compiler_builtins"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
    )
}

/// Adds the module's path to a name. With line tables only, a function has just its last name, and
/// the module is derived from its file.
fn qualified(name: &str, file: Option<&Path>) -> String {
    let name = shortened(name);
    let has_path = name.starts_with('<') || without_generics(&name).contains("::");
    match file.and_then(module) {
        Some(module) if !has_path => format!("{module}::{name}"),
        _ => name,
    }
}

/// Returns the name up to its generic arguments.
pub(super) fn without_generics(name: &str) -> &str {
    match name.find('<') {
        None | Some(0) => name,
        Some(place) => name[..place].trim_end_matches("::"),
    }
}

/// Shortens the name to `width` characters if necessary: first without generic arguments, then
/// without its first modules, because the last ones are more specific.
pub(super) fn fitted(name: &str, width: usize) -> String {
    const LEFT_OUT: &str = "..";
    if name.chars().count() <= width {
        return name.into();
    }
    let short = without_generics(name);
    let mut rest = short;
    let mut start = "";
    while start.len() + rest.chars().count() > width {
        let Some((_, after)) = rest.split_once("::").filter(|(first, _)| !first.contains('<'))
        else {
            return cut(&format!("{start}{rest}"), width);
        };
        (start, rest) = (LEFT_OUT, after);
    }
    format!("{start}{rest}")
}

/// Returns the module of a Rust source file: `a/crate-name-0.1.0/src/b/c.rs` is `crate_name::b::c`.
fn module(file: &Path) -> Option<String> {
    let stem = file.to_str()?.strip_suffix(".rs")?;
    let parts: Vec<&str> = stem.split('/').collect();
    let source = parts.iter().rposition(|part| *part == "src").filter(|place| *place > 0)?;
    let package = parts[source - 1];
    let package = match package.rsplit_once('-') {
        Some((name, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => name,
        _ => package,
    };
    let mut modules = vec![package.replace('-', "_")];
    modules.extend(parts[source + 1..].iter().map(|part| (*part).to_owned()));
    if matches!(parts.last(), Some(&("lib" | "main" | "mod"))) {
        modules.pop();
    }
    Some(modules.join("::"))
}

/// Shortens each path between angle brackets to at most two segments, because modules there add
/// length but little information.
pub(super) fn shortened(name: &str) -> String {
    const KEPT: usize = 2;
    let mut text = String::new();
    let mut path = String::new();
    let mut depth = 0_usize;
    let flush = |path: &mut String, depth: usize, text: &mut String| {
        let (body, turbofish) = path.strip_suffix("::").map_or((&**path, ""), |body| (body, "::"));
        let segments: Vec<&str> = body.split("::").collect();
        if depth > 0 && segments.len() > KEPT && !segments[0].is_empty() {
            text.push_str(&segments[segments.len() - KEPT..].join("::"));
        } else {
            text.push_str(body);
        }
        text.push_str(turbofish);
        path.clear();
    };
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_alphanumeric() || "_:#{}".contains(letter) {
            path.push(letter);
        } else {
            flush(&mut path, depth, &mut text);
            match letter {
                '<' => depth += 1,
                '>' if before != '-' => depth = depth.saturating_sub(1),
                _ => {}
            }
            text.push(letter);
        }
        before = letter;
    }
    flush(&mut path, depth, &mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_angle_brackets_are_shortened() {
        for (name, short) in [
            ("cycloid::scheme::ecdsa::sign", "cycloid::scheme::ecdsa::sign"),
            (
                "<cycloid::math::field::p256::Element as cycloid::math::Field>::mul",
                "<p256::Element as math::Field>::mul",
            ),
            ("a::b::c::<d::e::f::G, 4>::h::i", "a::b::c::<f::G, 4>::h::i"),
            ("<a::b::C<d::e::F>>::g::{closure#0}", "<b::C<e::F>>::g::{closure#0}"),
            ("<fn(a::b::c::D) -> e::f::g::H as x::Y>::z", "<fn(c::D) -> g::H as x::Y>::z"),
            ("BN_mod_exp", "BN_mod_exp"),
        ] {
            assert_eq!(shortened(name), short);
        }
    }

    #[test]
    fn the_module_is_derived_from_the_file() {
        for (file, name, qualified_name) in [
            (
                "crates/cycloid/src/math/field/p256.rs",
                "mul<4>",
                "cycloid::math::field::p256::mul<4>",
            ),
            (
                "/x/src/index/crypto-bigint-0.7.10/src/modular/mod.rs",
                "pow",
                "crypto_bigint::modular::pow",
            ),
            ("/rustc/0123/library/core/src/num/mod.rs", "wrapping_mul", "core::num::wrapping_mul"),
            ("crates/cycloid-cli/src/main.rs", "main", "cycloid_cli::main"),
            ("crates/a/src/b.rs", "a::b::c", "a::b::c"),
            ("crates/a/src/b.rs", "<b::D as E>::c", "<b::D as E>::c"),
            ("crates/a/tests/b.rs", "c", "c"),
            ("bn/exp.c", "BN_mod_exp", "BN_mod_exp"),
        ] {
            assert_eq!(qualified(name, Some(Path::new(file))), qualified_name);
        }
        assert_eq!(without_generics("std::f<fn(), ()>"), "std::f");
        assert_eq!(without_generics("std::f::<u8>::g"), "std::f");
        assert_eq!(without_generics("<A as B>::c"), "<A as B>::c");
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        let name = "cycloid::math::modular::window::pow<portable::Portable>";
        for (width, fits) in [
            (55, name),
            (54, "cycloid::math::modular::window::pow"),
            (34, "..math::modular::window::pow"),
            (13, "..window::pow"),
            (5, "..pow"),
        ] {
            assert_eq!(fitted(name, width), fits, "{width}");
        }
        assert_eq!(fitted("<a::B as c::D>::e", 10), "<a::B a...");
    }

    #[test]
    fn inlined_library_functions_are_attributed_to_their_user() {
        let names = |names: &[&str]| names.iter().copied().map(String::from).collect::<Vec<_>>();
        let inlined =
            names(&["core::ptr::copy", "<u64>::wrapping_add", "a::limb", "alloc::f", "a::sum"]);
        assert_eq!(without_library(inlined), ["a::limb", "a::sum"]);
        let real = names(&["core::iter::next", "alloc::vec::Vec::push"]);
        assert_eq!(without_library(real), ["alloc::vec::Vec::push"]);
        assert!(
            is_library("<[core::cell::Cell]>::f")
                && !is_library("<corelib::A as core::ops::Add>::add")
        );
    }

    #[test]
    fn a_function_resolves_to_its_name_and_a_system_address_to_its_file() {
        let here =
            a_function_resolves_to_its_name_and_a_system_address_to_its_file as fn() as usize;
        let mut names = Names::new();
        let name = names.of(here + 1).last().unwrap().clone();
        assert!(name.contains("a_function_resolves"), "{name}");
        assert_eq!(names.of(8), ["[unknown]"]);
        let line = "7f00-7f10 r-xp 00000000 00:0 1   /usr/lib/libx.so.3";
        assert_eq!(mapping(line), Some((0x7f00..0x7f10, "libx.so.3".into())));
    }
}
