//! `cargo xtask fuzz-smoke`: runs every fuzz target for a short time, on stable Rust.
//!
//! `cargo fuzz` needs a nightly compiler for the address sanitizer. Here the targets' own
//! comparisons check the library's code, so coverage instrumentation suffices, and stable Rust has
//! that.

use std::fs;

use crate::process::{Failure, cargo, output, program, run as run_program, say, shown};

/// The default running time of each target.
pub(crate) const SMOKE_SECONDS: u32 = 20;

/// The coverage that guides libFuzzer: counts of edges, and traced comparisons.
const INSTRUMENTATION: &str = "--cfg fuzzing -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1";

/// Builds all targets and runs each for `seconds`.
pub(crate) fn run(seconds: u32) -> Result<String, Failure> {
    let host = host()?;
    // With an explicit target, the flags apply to the fuzzed code and not to build scripts.
    let mut build = cargo(
        "build --release --locked --bins --manifest-path fuzz/Cargo.toml --target-dir target/fuzz",
    );
    run_program(build.args(["--target", &host]).env("RUSTFLAGS", INSTRUMENTATION))?;
    let targets = targets()?;
    let mut done = Vec::new();
    for target in &targets {
        done.push(format!("{target}: {}", fuzz(target, &host, seconds)?));
    }
    let summary = format!("fuzz-smoke: {}", done.join("; "));
    say(&summary);
    Ok(summary)
}

/// Runs one target, and returns libFuzzer's last line.
fn fuzz(target: &str, host: &str, seconds: u32) -> Result<String, Failure> {
    let corpus = format!("fuzz/corpus/{target}");
    let artifacts = format!("fuzz/artifacts/{target}/");
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::new(format!("cannot make {folder}: {error}")))?;
    }
    let mut fuzzer = program(&format!("target/fuzz/{host}/release/{target}"), &corpus);
    fuzzer.arg(format!("-max_total_time={seconds}"));
    fuzzer.arg(format!("-artifact_prefix={artifacts}"));
    fuzzer.args(["-timeout=300", "-rss_limit_mb=1024", "-max_len=2048"]);
    say(shown(&fuzzer));
    let output = fuzzer
        .output()
        .map_err(|error| Failure::new(format!("cannot run the fuzz target {target}: {error}")))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let last = log.lines().rev().find(|line| line.starts_with("Done "));
    match last {
        Some(last) if output.status.success() => {
            eprintln!("{last}");
            Ok(last.trim_start_matches("Done ").into())
        }
        _ => {
            // Lines with a number only report progress.
            for line in log.lines().filter(|line| !line.starts_with('#')) {
                eprintln!("{line}");
            }
            Err(Failure::new(format!("the fuzz target {target} found a defect"))
                .hint(format!("the input is in {artifacts}; pass it to the target as an argument")))
        }
    }
}

fn host() -> Result<String, Failure> {
    let version = output(&mut program("rustc", "--version --verbose"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(String::from).ok_or_else(|| Failure::new("rustc does not report its host"))
}

/// Returns the names of the targets, one file each.
fn targets() -> Result<Vec<String>, Failure> {
    let folder = "fuzz/fuzz_targets";
    let entries = fs::read_dir(folder)
        .map_err(|error| Failure::new(format!("cannot read {folder}: {error}")))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut targets: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".rs").map(String::from)).collect();
    targets.sort();
    if targets.is_empty() {
        return Err(Failure::new(format!("no fuzz targets in {folder}")));
    }
    Ok(targets)
}
