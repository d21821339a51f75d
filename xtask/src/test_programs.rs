//! The workspace's test programs: built together, so that nothing compiles twice, and run side by
//! side.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::parts::{self, Part};
use crate::process::{Failure, Outcome, cannot_run, cargo, say, shown, works};

/// The stack size of a thread with musl, unless a program requests more.
const SMALLEST_STACK: &str = "131072";

/// Features that are tested, and that no default program has.
pub(crate) const OPTIONAL: &str = "cycloid-vpn/pkcs11";

/// Waits for its peers, most of the time.
const TUNNELS: &str = "crates/cycloid-vpn/tests/tunnels/main.rs";

/// The number of threads of [`TUNNELS`].
const TUNNEL_THREADS: &str = "8";

/// Those of its tests that wait for a minute each. They run beside the others.
const SLOW_TUNNELS: &str = "a_one_time_password_is_enough";

/// Waits for the kernel, which makes and removes networks.
const CONFIGURATIONS: &str = "crates/cycloid-vpn/tests/configurations/main.rs";

/// The programs that use little of the processors.
const WAITING: [&str; 2] = [TUNNELS, CONFIGURATIONS];

/// The program that downloads from Python's package index.
const DOWNLOADING: &str = "bindings/python/tests/wheel.rs";

/// The other programs that run longest. They start first.
const LONGEST: [&str; 10] = [
    "crates/cycloid-cli/tests/emulated.rs",
    "crates/cycloid/tests/processor_level/main.rs",
    "crates/cycloid/tests/every_level/main.rs",
    "crates/cycloid/tests/decryption_timing.rs",
    "crates/cycloid/src/lib.rs",
    "crates/cycloid-hsm/src/lib.rs",
    "crates/cycloid-blst/tests/suite/main.rs",
    "crates/cycloid-cli/tests/everything.rs",
    "crates/cycloid-cli/tests/profile.rs",
    DOWNLOADING,
];

/// A compiled test program.
struct Program {
    package: String,
    /// Its main source file, relative to the workspace's root.
    source: String,
    executable: PathBuf,
    /// The directory of its package: its tests run there.
    folder: PathBuf,
}

/// One run of a program: all its tests, or a part of them.
struct Run<'p> {
    program: &'p Program,
    arguments: &'static [&'static str],
    stack: Option<&'static str>,
}

/// Builds all test programs and runs each, several at a time. Adds one line for each to `summary`.
///
/// # Errors
/// Names the programs that failed, after all have run.
pub(crate) fn run(summary: &mut Vec<String>) -> Outcome {
    let programs = build()?;
    let mut runs: Vec<_> = programs.iter().flat_map(runs).collect();
    if !index_answers() {
        for run in runs.iter_mut().filter(|run| run.program.source == DOWNLOADING) {
            run.arguments = &[];
            say(
                "WARNING: Python's package index does not answer, so the Python package is untested",
            );
            summary.push(format!("{DOWNLOADING}: NOT RUN: Python's package index does not answer"));
        }
    }
    let place = |run: &Run| LONGEST.iter().position(|source| *source == run.program.source);
    runs.sort_by_key(|run| place(run).unwrap_or(LONGEST.len()));
    let waits = |run: &&Run| WAITING.contains(&run.program.source.as_str());
    let (waiting, others): (Vec<_>, Vec<_>) = runs.iter().partition(waits);
    let parts = |runs: Vec<&Run>| runs.into_iter().map(Run::part).collect();
    let at_once = thread::available_parallelism().map_or(1, NonZero::get);
    parts::run_all(parts(waiting), parts(others), at_once, summary)
}

/// Builds all test programs in one graph.
fn build() -> Result<Vec<Program>, Failure> {
    let arguments = format!("test --workspace --features {OPTIONAL} --locked --no-run");
    let mut command = cargo(&format!("{arguments} --message-format json-render-diagnostics"));
    say(shown(&command));
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| cannot_run(&command, &error))?;
    if !output.status.success() {
        return Err(Failure::new("the test programs do not compile").hint("see the output above"));
    }
    let root = std::env::current_dir()
        .map_err(|error| Failure::new(format!("no current directory: {error}")))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let programs: Vec<_> = messages.lines().filter_map(|line| program(line, &root)).collect();
    if programs.is_empty() {
        return Err(Failure::new("cargo built no test program"));
    }
    Ok(programs)
}

/// Returns the test program that a message of cargo announces, if it announces one.
fn program(message: &str, root: &Path) -> Option<Program> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let source = Path::new(message["target"]["src_path"].as_str()?);
    let package = message["package_id"].as_str()?;
    Some(Program {
        package: package_name(package).into(),
        source: source.strip_prefix(root).unwrap_or(source).to_string_lossy().into_owned(),
        executable: message["executable"].as_str()?.into(),
        folder: folder.into(),
    })
}

/// Returns the path of the test program that a message of cargo announces, if it announces one.
pub(crate) fn test_program(message: &str, root: &Path) -> Option<String> {
    Some(program(message, root)?.executable.to_string_lossy().into_owned())
}

/// Returns the name in `path+file:///…/name#0.1.0` or `path+file:///…/folder#name@0.1.0`.
fn package_name(id: &str) -> &str {
    let (path, end) = id.rsplit_once('#').unwrap_or((id, ""));
    match end.split_once('@') {
        Some((name, _)) => name,
        None => path.rsplit('/').next().unwrap_or(path),
    }
}

/// Returns the runs that together run every test of a program once.
///
/// The library's tests run on threads with the stack size of the C library that has the smallest.
/// Operations on lists of BLS12-381 points need more stack with vectors (`scheme::stack_use`).
fn runs(program: &Program) -> Vec<Run<'_>> {
    if program.source == TUNNELS {
        let parts: [&[_]; 2] = [&[SLOW_TUNNELS], &["--skip", SLOW_TUNNELS]];
        return parts.map(|arguments| Run { program, arguments, stack: None }).into();
    }
    if program.package != "cycloid" {
        let arguments: &[_] = if program.source == DOWNLOADING { &["--ignored"] } else { &[] };
        return vec![Run { program, arguments, stack: None }];
    }
    vec![
        Run { program, arguments: &["--skip", "bls12_381"], stack: Some(SMALLEST_STACK) },
        Run { program, arguments: &["bls12_381"], stack: None },
    ]
}

/// Returns whether pip can download a package.
fn index_answers() -> bool {
    let folder = std::env::temp_dir().join(format!("cycloid-index-{}", std::process::id()));
    let download = "-m pip download --quiet --disable-pip-version-check --no-deps iniconfig --dest";
    let answers = works(crate::process::program("python3", download).arg(&folder));
    let _ = std::fs::remove_dir_all(folder);
    answers
}

impl Run<'_> {
    fn name(&self) -> String {
        let words = [self.program.source.as_str()];
        words.iter().chain(self.arguments).copied().collect::<Vec<_>>().join(" ")
    }

    fn part(&self) -> Part {
        let Program { package, executable, folder, source } = self.program;
        let mut command = Command::new(executable);
        command.args(self.arguments).current_dir(folder);
        // As cargo sets them.
        command.env("CARGO_PKG_NAME", package).env("CARGO_MANIFEST_DIR", folder);
        if let Some(stack) = self.stack {
            command.env("RUST_MIN_STACK", stack);
        }
        if source == TUNNELS {
            command.env("RUST_TEST_THREADS", TUNNEL_THREADS);
        }
        Part { name: self.name(), command, result: parts::tests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_are_read_from_both_forms() {
        assert_eq!(package_name("path+file:///x/crates/cycloid-vpn#0.1.0"), "cycloid-vpn");
        assert_eq!(package_name("path+file:///x/fuzz#cycloid-fuzz@0.1.0"), "cycloid-fuzz");
    }

    #[test]
    fn only_test_programs_are_taken_from_cargos_messages() {
        let message = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///x/a#0.1.0","manifest_path":"/x/a/Cargo.toml","target":{{"src_path":"/x/a/tests/b.rs"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = program(&message(true, r#""/t/b-1""#), Path::new("/x")).unwrap();
        assert_eq!((found.package.as_str(), found.source.as_str()), ("a", "a/tests/b.rs"));
        assert_eq!(found.executable, Path::new("/t/b-1"));
        assert_eq!(found.folder, Path::new("/x/a"));
        assert!(program(&message(false, r#""/t/b-1""#), Path::new("/x")).is_none());
        assert!(program(&message(true, "null"), Path::new("/x")).is_none());
        assert!(
            program(r#"{"reason":"build-finished","success":true}"#, Path::new("/x")).is_none()
        );
    }

    #[test]
    fn the_named_programs_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let named = LONGEST.iter().chain(&WAITING).chain([&DOWNLOADING]);
        assert!(named.clone().all(|source| root.join(source).is_file()), "{LONGEST:?}");
    }

    #[test]
    fn every_test_of_a_program_in_parts_runs_once() {
        let arguments = |package: &str, source: &str| {
            let (executable, folder) = (PathBuf::new(), PathBuf::new());
            let program =
                Program { package: package.into(), source: source.into(), executable, folder };
            runs(&program).iter().map(|run| run.arguments).collect::<Vec<_>>()
        };
        let library = arguments("cycloid", "crates/cycloid/src/lib.rs");
        assert_eq!(library, [&["--skip", "bls12_381"][..], &["bls12_381"]]);
        let tunnels = arguments("cycloid-vpn", TUNNELS);
        assert_eq!(tunnels, [&[SLOW_TUNNELS][..], &["--skip", SLOW_TUNNELS]]);
        assert_eq!(arguments("cycloid-vpn", CONFIGURATIONS), [&[] as &[&str]]);
    }
}
