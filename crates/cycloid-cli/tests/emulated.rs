//! `cycloid bench --target cortex-m4` and `aarch64`: what they say without their tools, and their
//! records.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cycloid_lab::record::{Report, Summary};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

const CORTEX_M4: [&str; 4] = ["bench", "modexp", "--target", "cortex-m4"];
const AARCH64: [&str; 5] = ["bench", "ec", "--target", "aarch64", "--instructions"];

/// Cargo's settings with which the program for AArch64 compiles in a small part of the time. Its counts
/// are larger, and as exact.
const FAST_TO_COMPILE: [(&str, &str); 4] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
];

fn bench(command: &[&str], arguments: &[&str], folder: &Path, path: Option<&Path>) -> Output {
    let mut program = support::cycloid();
    program.args(command).args(arguments);
    if command == AARCH64 {
        program.envs(FAST_TO_COMPILE);
    }
    if let Some(path) = path {
        program.env("PATH", path);
    }
    program.current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn missing_tools_are_named_with_the_commands_that_install_them() {
    let empty = tempfile::tempdir().unwrap();
    for (command, missing, packages, target) in [
        (
            &CORTEX_M4[..],
            "qemu-system-arm, gcc, readelf",
            "qemu-system-arm gcc binutils",
            "thumbv7em-none-eabihf",
        ),
        (
            &AARCH64[..],
            "qemu-aarch64, gcc, aarch64-linux-gnu-gcc",
            "qemu-user gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
            "aarch64-unknown-linux-gnu",
        ),
    ] {
        let output = bench(command, &[], &root(), Some(empty.path()));
        assert_eq!(output.status.code(), Some(1));
        let text = stderr(&output);
        assert!(text.starts_with(&format!("error: {missing}, rustc, ")), "{text}");
        assert!(text.contains(&format!("hint: apt-get install {packages} && ")), "{text}");
        assert!(text.contains(&format!("rustup target add {target}")), "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn without_the_sources_it_says_where_to_run() {
    let empty = tempfile::tempdir().unwrap();
    for (command, folder) in [(&CORTEX_M4[..], "m4"), (&AARCH64[..], "aarch64")] {
        let output = bench(command, &[], empty.path(), None);
        assert_eq!(output.status.code(), Some(1));
        let text = stderr(&output);
        let error = format!("error: no crates/cycloid-{folder} in this or a parent");
        assert!(text.starts_with(&error), "{text}");
        assert!(text.contains("hint: run in a clone of the repository"), "{text}");
    }
}

/// Returns whether this machine has the tools, each started with `--version`, and the target; names
/// what it lacks.
fn has_tools(programs: &[&str], target: &str) -> bool {
    let output = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let libraries = output("rustc", &["--print", "target-libdir", "--target", target]);
    let has = programs.iter().all(|program| output(program, &["--version"]).is_some())
        && libraries.is_some_and(|path| Path::new(path.trim()).exists());
    if !has {
        eprintln!("not run: {} or the target {target} is missing", programs.join(", "));
    }
    has
}

/// Returns the records of two runs.
fn twice(command: &[&str], arguments: &[&str]) -> [Report; 2] {
    [(); 2].map(|()| {
        let output = bench(command, arguments, &root(), None);
        assert!(output.status.success(), "{}", stderr(&output));
        Report::from_json(std::str::from_utf8(&output.stdout).unwrap(), "stdout").unwrap()
    })
}

#[test]
fn two_runs_on_aarch64_count_the_same_and_stay_apart_from_the_host() {
    let tools = ["qemu-aarch64", "gcc", "aarch64-linux-gnu-gcc"];
    if !has_tools(&tools, "aarch64-unknown-linux-gnu") {
        return;
    }
    let [first, second] = twice(&AARCH64, &["--curve", "p256", "--peers", "none", "--json"]);
    assert_eq!(first.tables, second.tables);
    assert_eq!(first.tables.len(), 3);
    let host = root().join("docs/results/ec-zen-5.json");
    let host = std::fs::read_to_string(&host).unwrap();
    let host = Report::from_json(&host, "host").unwrap();
    for table in &first.tables {
        assert_eq!((table.summary, table.records.len()), (Summary::Emulated, 2));
        assert_eq!(table.parameters["target"], "aarch64");
        assert_eq!(table.missing, ["graviola", "AWS-LC"]);
        let [ours, portable] =
            [0, 1].map(|i| table.records[i].instructions.unwrap().emulated.unwrap());
        // The operation runs ten times; the assembly takes about half of the instructions.
        assert_eq!((ours.runs, ours.range), (10, [ours.count; 2]));
        assert!(ours.count > 5e4 && portable.count > 1.5 * ours.count, "{}", table.name);
        assert!(host.tables.iter().all(|other| !other.is_like(table)));
    }
    assert_eq!(first.environment.target, "aarch64-unknown-linux-gnu");
}

#[test]
fn two_runs_on_cortex_m4_count_the_same_and_stay_apart_from_the_host() {
    if !has_tools(&["qemu-system-arm"], "thumbv7em-none-eabihf") {
        return;
    }
    let arguments = ["--quick", "--strategy", "montgomery fast,montgomery fw", "--json"];
    let [first, second] = twice(&CORTEX_M4, &arguments);
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
