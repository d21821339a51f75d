//! Names of code addresses: the function and the functions inlined there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use cycloid_profiler::MappedFile;

use super::symbols::{self, Frame};
use crate::tables::cut;

/// Names by address.
pub(super) struct Names {
    known: HashMap<u64, Vec<String>>,
}

impl Names {
    /// Resolves `addresses` from the mapped files. A file is searched below each of `roots` and
    /// then at its own path. It is used only if its size and time are those of the mapped file.
    pub(super) fn new(
        addresses: impl Iterator<Item = u64>,
        files: &[MappedFile],
        roots: &[PathBuf],
    ) -> Self {
        // A program has several mappings; its file is read only once.
        let mut by_file = BTreeMap::<&str, Vec<(u64, &MappedFile)>>::new();
        let mut known = HashMap::new();
        for address in addresses.collect::<BTreeSet<_>>() {
            let file = files.iter().find(|file| file.contains(address));
            let name = file.map_or_else(|| "[unknown]".into(), |file| in_brackets(&file.path));
            known.insert(address, vec![name]);
            if let Some(file) = file {
                by_file.entry(&file.path).or_default().push((address, file));
            }
        }
        for (path, addresses) in by_file {
            let Some(identity) = addresses[0].1.identity else { continue };
            let data = roots
                .iter()
                .map(|root| root.join(path.trim_start_matches('/')))
                .chain([path.into()])
                .find_map(|path| symbols::read(&path, identity));
            let Some(data) = data else { continue };
            let offsets = addresses
                .into_iter()
                .filter(|(_, file)| file.identity == Some(identity))
                .map(|(address, file)| (address, file.offset + (address - file.start)));
            symbols::resolve(&data, offsets, &mut |address, frames| {
                let names: Vec<_> = frames.into_iter().map(name).collect();
                if !names.is_empty() {
                    known.insert(address, without_library(names));
                }
            });
        }
        Self { known }
    }

    /// Returns the names at one of the resolved addresses: the innermost inlined function first,
    /// then the functions that contain it.
    pub(super) fn of(&self, address: u64) -> &[String] {
        &self.known[&address]
    }
}

fn name(Frame { symbol, source }: Frame) -> String {
    qualified(&format!("{:#}", rustc_demangle::demangle(&symbol)), source.as_deref().map(Path::new))
}

/// Returns the name of a file that stands for its functions.
fn in_brackets(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or_default();
    format!("[{}]", file.trim_matches(['[', ']']))
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
    use cycloid_profiler::{Identity, mapped_files};

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

    /// Returns an address within this test.
    fn here() -> u64 {
        here as fn() -> u64 as usize as u64 + 1
    }

    #[test]
    fn a_function_resolves_to_its_name_and_other_code_to_its_file() {
        let mut files = mapped_files();
        let name = |files: &[MappedFile], address: u64| {
            let names = Names::new([address].into_iter(), files, &[]);
            names.of(address).last().unwrap().clone()
        };
        let resolved = name(&files, here());
        assert!(resolved.ends_with("names::tests::here"), "{resolved}");
        assert_eq!(name(&files, 8), "[unknown]");
        let kernel = files.iter().find(|file| file.path == "[vdso]").unwrap().start;
        assert_eq!(name(&files, kernel), "[vdso]");

        // A file that has changed, or is gone, gives only its name.
        let program = files.iter().position(|file| file.contains(here())).unwrap();
        let path = files[program].path.clone();
        let unknown = in_brackets(&path);
        for changed in [
            Some(Identity { bytes: 1, ..files[program].identity.unwrap() }),
            Some(Identity { modified: 1, ..files[program].identity.unwrap() }),
            None,
        ] {
            let mut files = files.clone();
            files[program].identity = changed;
            assert_eq!(name(&files, here()), unknown);
        }
        files[program].path = format!("/absent{path}");
        assert_eq!(name(&files, here()), unknown);
        // Below another root, it is found again.
        let root = tempfile::tempdir().unwrap();
        let absent = root.path().join("absent");
        std::os::unix::fs::symlink("/", absent).unwrap();
        let roots = ["/no such root".into(), root.path().into()];
        let names = Names::new([here()].into_iter(), &files, &roots);
        assert_eq!(names.of(here()).last(), Some(&resolved));
    }

    /// Addresses in a shared library are resolved from its dynamic symbols.
    #[test]
    fn a_function_of_a_library_resolves_to_its_symbol() {
        let address = libc::qsort as *const () as usize as u64 + 1;
        let names = Names::new([address].into_iter(), &mapped_files(), &[]);
        assert!(names.of(address)[0].contains("qsort"), "{:?}", names.of(address));
    }
}
