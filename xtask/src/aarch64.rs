//! The library on an emulated AArch64: its kernels beside plain Rust, operations on both backends,
//! traces of operations with different secrets, and its tests at every level.

use std::path::Path;
use std::process::Stdio;

use crate::process::{Failure, cannot_run, output, program, run as run_command, say, shown, works};
use crate::test_programs::test_program;

const FOLDER: &str = "crates/cycloid-aarch64";
const TARGET: &str = "aarch64-unknown-linux-gnu";
const EMULATOR: &str = "qemu-aarch64";
const LINKER: &str = "aarch64-linux-gnu-gcc";

/// The folder for what is built, as the crate's configuration of cargo says.
const BUILT: &str = "target/aarch64";

/// The library's tests: of operations at every level, `aarch64` and `portable`, and those within it.
const TESTS: [&str; 2] = ["every_level", "library"];

/// Those that are left out: each takes between ten seconds and four minutes under the emulator, all
/// others together three. The program `kernels` compares every product of fields with plain Rust.
/// docs/aarch64.md shows how to run all.
const TOO_LONG: [&str; 22] = [
    "a_million_times",
    "curves_without_lanes",
    "published_vectors_alone_and_in_every_lane",
    "random_exponents_and_values",
    "wycheproof_ecdsa::p384",
    "wycheproof_ecdsa::p521",
    "math::curve::tests::multiples_on_p",
    "formulas_serve_curves_with_any_a",
    "equations_hold_or_not",
    "multiples_of_any_point",
    "tables_of_every_size_give_the_same_multiples",
    "bls12_base_against_integers",
    "bls12_scalar_against_integers",
    "p25519_against_integers",
    "p224_against_integers",
    "p256_against_integers",
    "p384_against_integers",
    "p521_against_integers",
    "damaged::every_byte_changed",
    "math::modular::tests::tiny_moduli",
    "every_small_inverse_and_product",
    "known_groups_are_those_of_the_standards",
];

/// Builds and runs the comparison, the traces and the tests, and returns a line for the summary.
/// Without the emulator, the linker or the target, the line says that nothing ran.
pub(crate) fn run() -> Result<String, Failure> {
    let libraries =
        output(&mut program("rustc", &format!("--print target-libdir --target {TARGET}")))?;
    let reason = if !works(&mut program(EMULATOR, "--version")) {
        "qemu-aarch64 is missing (apt-get install qemu-user)"
    } else if !works(&mut program(LINKER, "--version")) {
        "aarch64-linux-gnu-gcc is missing (apt-get install gcc-aarch64-linux-gnu \
         libc6-dev-arm64-cross)"
    } else if !Path::new(libraries.trim()).exists() {
        "the target is missing (rustup target add aarch64-unknown-linux-gnu)"
    } else {
        let tests = build()?;
        let compared = emulate(&["kernels"], None)?;
        let last = compared.lines().last().unwrap_or_default();
        let traced = trace()?;
        let mut passed = 0;
        for program in &tests {
            passed += test(program)?;
        }
        return Ok(format!(
            "AArch64: {last} with plain Rust; {traced} operations traced; \
             {passed} tests of the library"
        ));
    };
    say(format!("WARNING: the kernels for AArch64 are untested: {reason}"));
    Ok(format!("AArch64: NOT RUN: {reason}"))
}

/// Builds the programs, and returns the paths of the library's tests.
fn build() -> Result<Vec<String>, Failure> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut build = program(
        &cargo,
        "build --profile kernels --locked --bin kernels --bin traces \
         --message-format json-render-diagnostics",
    );
    build.args(TESTS.iter().flat_map(|name| ["--test", name]));
    // Its configuration, which names the target, is read in its folder only.
    build.current_dir(FOLDER).env_remove("CARGO_TARGET_DIR").stderr(Stdio::inherit());
    say(shown(&build));
    let built = build.output().map_err(|error| cannot_run(&build, &error))?;
    let messages = String::from_utf8_lossy(&built.stdout);
    let tests = messages.lines().filter_map(|line| test_program(line, Path::new("/")));
    let tests: Vec<_> = tests.collect();
    if !built.status.success() || tests.len() != TESTS.len() {
        return Err(
            Failure::new("the programs for AArch64 do not compile").hint("see the output above")
        );
    }
    Ok(tests)
}

/// Runs the library's tests under the emulator, and returns how many passed; fails if one does.
fn test(path: &str) -> Result<usize, Failure> {
    let mut emulator = program(EMULATOR, "-cpu max");
    emulator.arg(path);
    TOO_LONG.iter().for_each(|name| _ = emulator.args(["--skip", name]));
    say(shown(&emulator));
    let output = output(&mut emulator)?;
    let passed = output.lines().filter(|line| line.ends_with(" ... ok")).count();
    if passed == 0 {
        return Err(Failure::new(format!("no test ran in {path}")));
    }
    Ok(passed)
}

/// Runs a program with arguments under the emulator, with options of the plugin, and returns its
/// output; fails if it does.
fn emulate(arguments: &[&str], plugin: Option<&str>) -> Result<String, Failure> {
    let mut emulator = program(EMULATOR, "-cpu max");
    if let Some(options) = plugin {
        emulator.args(["-plugin", &format!("{BUILT}/instructions.so,{options}")]);
    }
    emulator.arg(format!("{BUILT}/{TARGET}/kernels/{}", arguments[0]));
    emulator.args(&arguments[1..]);
    say(shown(&emulator));
    output(&mut emulator)
}

/// Compares the traces of operations with three secrets each: executed blocks and addresses of
/// accesses to memory. Returns how many operations do not depend on them; fails if one does, or if
/// a planted leak is not found.
fn trace() -> Result<usize, Failure> {
    let (source, plugin) = (format!("{FOLDER}/plugin/instructions.c"), "instructions.so");
    let options = format!("-O2 -shared -fPIC -o {BUILT}/{plugin} {source}");
    run_command(&mut program("cc", &options))?;
    let file = format!("{BUILT}/trace");
    let mut independent = 0;
    for name in emulate(&["traces"], None)?.lines() {
        let mut traces = Vec::new();
        for secret in ["a", "b", "c"] {
            emulate(&["traces", name, secret], Some(&format!("trace={file}")))?;
            let trace = std::fs::read_to_string(&file);
            traces.push(trace.map_err(|error| Failure::new(format!("{file}: {error}")))?);
        }
        let equal = traces.iter().all(|trace| *trace == traces[0]);
        match (equal, name.starts_with("leak-")) {
            (true, false) => independent += 1,
            (false, true) => (),
            (false, false) => return Err(Failure::new(format!("{name} depends on its secret"))),
            (true, true) => return Err(Failure::new(format!("planted leak not found: {name}"))),
        }
    }
    Ok(independent)
}
