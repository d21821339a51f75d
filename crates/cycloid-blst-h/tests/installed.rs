//! The installed libraries: their symbols are those of blst's headers, and a program in C has the
//! same output with both forms as with blst.

#[path = "support/installed.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use support::{Installed, package, succeed};

/// The functions of ocaml-bls12-381's `blst_extended.h`.
const EXTENDED: [&str; 7] = [
    "blst_fr_is_equal",
    "blst_fr_is_one",
    "blst_fr_is_zero",
    "blst_fr_set_to_one",
    "blst_fr_set_to_zero",
    "blst_p1s_mult_pippenger_cont",
    "blst_p2s_mult_pippenger_cont",
];

/// Returns the functions and constants that the headers declare.
fn declared(headers: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for header in ["blst.h", "blst_aux.h"] {
        let text = std::fs::read_to_string(headers.join(header)).expect("a header");
        // The operations that blst itself is compiled without.
        let (before, rest) = text.split_once("#ifdef BLST_FR_PENTAROOT").unwrap_or((&text, ""));
        let after = rest.split_once("#endif").map_or("", |(_, after)| after);
        for text in [before, after] {
            let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            for word in words {
                let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let function = name.starts_with("blst_") && word.ends_with('(');
                if function || (name.starts_with("BLS12_381_") && word.ends_with(';')) {
                    names.insert(name.to_owned());
                }
            }
        }
    }
    names
}

/// Returns the names that nm lists.
fn symbols(options: &[&str], library: &Path) -> BTreeSet<String> {
    let text = succeed(Command::new("nm").args(options).arg(library));
    text.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned).collect()
}

#[test]
fn both_libraries_export_what_the_headers_declare_and_octez_adds() {
    let installed = Installed::new();
    let mut declared = declared(&installed.path("include"));
    assert!(declared.len() > 200 && declared.contains("BLS12_381_NEG_G2"), "{declared:?}");
    declared.extend(EXTENDED.map(str::to_owned));
    let shared = symbols(&["-D", "--defined-only"], &installed.path("lib/libblst.so"));
    assert_eq!(shared, declared);
    let fixed = symbols(&["-g", "--defined-only"], &installed.path("lib/libblst.a"));
    assert_eq!(fixed, declared);
}

/// Compiles the program and returns its output.
fn output(installed: &Installed, name: &str, options: &[&str]) -> String {
    let program = installed.path(name);
    let mut compile = Command::new("cc");
    compile.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]);
    compile.arg("-I").arg(installed.path("include")).arg("-o").arg(&program);
    compile.arg(package().join("tests/c/program.c")).args(options);
    succeed(&mut compile);
    succeed(Command::new(program).env("LD_LIBRARY_PATH", installed.path("lib")))
}

#[test]
fn a_program_in_c_has_the_same_output_with_each_library() {
    let installed = Installed::new();
    let folder = installed.path("lib").to_str().expect("a path in UTF-8").to_owned();
    // blst itself, as its own script compiles it.
    let source = installed.blst.join("blst");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-fno-builtin", "-w", "-c", "-D__BLST_PORTABLE__"]);
    compile.arg(source.join("src/server.c")).arg(source.join("build/assembly.S"));
    succeed(compile.current_dir(installed.folder.path()));
    let objects = ["server.o", "assembly.o"].map(|name| installed.path(name));
    let objects = objects.each_ref().map(|path| path.to_str().expect("a path in UTF-8"));
    let expected = output(&installed, "with-blst", &objects);
    assert!(expected.lines().count() > 40, "{expected}");

    let shared = output(&installed, "shared", &["-L", &folder, "-lblst"]);
    assert_eq!(shared, expected);
    let archive = format!("{folder}/libblst.a");
    let fixed = output(&installed, "static", &[&archive, "-lpthread", "-ldl", "-lm"]);
    assert_eq!(fixed, expected);
    let checked = [&archive, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    assert_eq!(output(&installed, "sanitized", &checked), expected);
}

#[test]
fn pkg_config_finds_the_library() {
    let installed = Installed::new();
    let line = "cc program.c $(pkg-config --cflags --libs libblst) -o program && ./program";
    std::fs::copy(package().join("tests/c/program.c"), installed.path("program.c"))
        .expect("copied");
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(installed.folder.path());
    shell.env("PKG_CONFIG_PATH", installed.path("lib/pkgconfig"));
    let output = succeed(shell.env("LD_LIBRARY_PATH", installed.path("lib")));
    assert!(output.contains("verified 0\n") && output.contains("all 1\n"), "{output}");
}
