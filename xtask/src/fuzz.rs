//! `cargo xtask fuzz-smoke`: runs every fuzz target for a short time, on stable Rust.
//!
//! `cargo fuzz` needs a nightly compiler for the address sanitizer. Here the targets' own
//! comparisons check the library's code, so coverage instrumentation suffices, and stable Rust has
//! that. Only the workspace's crates are instrumented: their dependencies are those of the tests,
//! and compiled once.

use std::fs;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use crate::process::{Failure, cargo, program, run as run_program, say, shown, target_folder};

/// The default running time of each target.
pub(crate) const SMOKE_SECONDS: u32 = 10;

/// Compiles a crate with the coverage that guides libFuzzer.
const COMPILER: &str = "fuzz/instrumented-rustc";

/// Builds all targets and runs each for `seconds`, as many at a time as there are processors.
pub(crate) fn run(seconds: u32) -> Result<String, Failure> {
    let compiler = fs::canonicalize(COMPILER)
        .map_err(|error| Failure::new(format!("cannot find {COMPILER}: {error}")))?;
    let targets = targets()?;
    // With the whole workspace selected, dependencies have the features that they have for the
    // tests.
    let mut build = cargo("build --locked --workspace");
    build.args(targets.iter().flat_map(|target| ["--bin", target]));
    run_program(build.env("RUSTC_WORKSPACE_WRAPPER", compiler))?;
    let folder = target_folder()? + "/debug";
    let next = Mutex::new(targets.iter());
    let at_once = thread::available_parallelism().map_or(1, NonZero::get);
    let done = thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let target = next.lock().expect("no worker panics").next();
                let Some(target) = target else { return Ok(done) };
                done.push(format!("{target}: {}", fuzz(target, &folder, seconds)?));
            }
        };
        let workers: Vec<_> = (0..at_once).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("no worker panics"))
            .collect::<Result<Vec<Vec<String>>, Failure>>()
    })?;
    let mut done = done.concat();
    done.sort();
    Ok(format!("fuzz-smoke: {}", done.join("; ")))
}

/// Runs one target of `folder`, and returns libFuzzer's last line.
fn fuzz(target: &str, folder: &str, seconds: u32) -> Result<String, Failure> {
    let corpus = format!("fuzz/corpus/{target}");
    let artifacts = format!("fuzz/artifacts/{target}/");
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::new(format!("cannot make {folder}: {error}")))?;
    }
    let mut fuzzer = program(&format!("{folder}/{target}"), &corpus);
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
            eprintln!("{target}: {last}");
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
