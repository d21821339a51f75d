//! `cycloid bench --target cortex-m4`: what it says without its tools, and its records.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cycloid_lab::record::{Report, Summary};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn bench(arguments: &[&str], folder: &Path, path: Option<&Path>) -> Output {
    let mut command = support::cycloid();
    command.args(["bench", "modexp", "--target", "cortex-m4"]).args(arguments);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn missing_tools_are_named_with_the_commands_that_install_them() {
    let empty = tempfile::tempdir().unwrap();
    let output = bench(&[], &root(), Some(empty.path()));
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.starts_with("error: qemu-system-arm, gcc, readelf, rustc, "), "{text}");
    let commands = "hint: apt-get install qemu-system-arm gcc binutils && ";
    assert!(text.contains(commands), "{text}");
    assert!(text.contains("rustup target add thumbv7em-none-eabihf"), "{text}");
    assert!(output.stdout.is_empty());
}

#[test]
fn without_the_sources_it_says_where_to_run() {
    let empty = tempfile::tempdir().unwrap();
    let output = bench(&[], empty.path(), None);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).starts_with("error: no crates/cycloid-m4 in this or a parent"));
    assert!(stderr(&output).contains("hint: run in a clone of the repository"));
}

/// Returns whether this machine has the emulator and the target; names what it lacks.
fn has_tools() -> bool {
    let runs = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|output| {
            output.status.success()
                && (arguments.len() == 1
                    || Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists())
        })
    };
    let target = ["--print", "target-libdir", "--target", "thumbv7em-none-eabihf"];
    let has = runs("qemu-system-arm", &["--version"]) && runs("rustc", &target);
    if !has {
        eprintln!("not run: qemu-system-arm or the target thumbv7em-none-eabihf is missing");
    }
    has
}

#[test]
fn two_runs_count_the_same_and_stay_apart_from_the_host() {
    if !has_tools() {
        return;
    }
    let arguments = ["--quick", "--strategy", "montgomery fast,montgomery fw", "--json"];
    let [first, second] = [(); 2].map(|()| {
        let output = bench(&arguments, &root(), None);
        assert!(output.status.success(), "{}", stderr(&output));
        Report::from_json(std::str::from_utf8(&output.stdout).unwrap(), "stdout").unwrap()
    });
    assert_eq!(first.tables, second.tables);
    let table = &first.tables[0];
    assert_eq!((table.summary, table.records.len()), (Summary::Emulated, 6 + 2));
    assert_eq!(table.parameters["target"], "cortex-m4");
    for record in &table.records {
        let count = record.instructions.unwrap().emulated.unwrap();
        let cycles = record.emulated.unwrap().cycles as f64;
        // At 180 MHz; a 2048-bit private operation has at least 9 million instructions.
        assert!((record.time.median_ns - cycles / 0.18).abs() < 1e-3);
        assert!(count.count > 9e6 && cycles > count.count, "{}", record.name());
    }
    assert_eq!(first.environment.target, "thumbv7em-none-eabihf");

    let host = root().join("docs/results/modexp-zen-5.json");
    let host = std::fs::read_to_string(&host).unwrap();
    let host = Report::from_json(&host, "host").unwrap();
    for other in &host.tables {
        assert!(!other.is_like(table));
    }
}
