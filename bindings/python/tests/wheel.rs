//! The Python package: a wheel of the library that cargo built with this test, installed into a
//! virtual environment, where pytest tests it next to `cryptography`.
//!
//! The tools and `cryptography` come from Python's package index, pinned by their hashes
//! (`requirements.txt`). The environment is kept for the next run. Without the index the test fails,
//! so it runs on request: `cargo xtask test` requests it if the index answers, and says so if not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
#[ignore = "downloads from Python's package index: `cargo xtask test` runs it"]
fn the_wheel_installs_and_passes_its_tests() {
    let python = environment();
    let folder = tempfile::tempdir().expect("a directory can be made");
    let wheel = wheel(&python, folder.path());
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let start = format!("cycloid-{}-cp311-abi3-", env!("CARGO_PKG_VERSION"));
    assert!(name.starts_with(&start), "the wheel is for the stable interface: {name}");
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    succeed(install.args(["--no-index", "--no-deps", "--force-reinstall"]).arg(&wheel));

    let mut pytest = Command::new(&python);
    pytest.args(["-m", "pytest", "-p", "no:cacheprovider", "--durations=5"]);
    pytest.arg(package().join("tests/python"));
    // Nothing is written to the sources, and nothing is imported from them.
    pytest.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(folder.path());
    let output = succeed(&mut pytest);
    println!("{output}");
    let end = output.lines().last().unwrap_or_default();
    assert!(end.contains(" passed") && !end.contains("skipped"), "every test runs: {end}");
}

/// Returns the interpreter of a virtual environment with what the tests need.
fn environment() -> PathBuf {
    let system = env::var("CYCLOID_PYTHON").unwrap_or_else(|_| "python3".into());
    let version = succeed(Command::new(&system).args(["-c", "import sys; print(sys.version)"]));
    let requirements = package().join("tests/requirements.txt");
    let pinned = fs::read_to_string(&requirements).expect("the requirements can be read");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let python = folder.join("bin/python");
    // The record of the environment's versions is written last, so it marks a complete one.
    let (record, contents) = (folder.join("made-of"), format!("{system}\n{version}\n{pinned}"));
    if fs::read_to_string(&record).is_ok_and(|made_of| made_of == contents) {
        return python;
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("an older environment can be removed");
    }
    succeed(Command::new(&system).args(["-m", "venv"]).arg(&folder));
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--require-hashes", "--only-binary", ":all:", "--requirement"]);
    succeed(install.arg(&requirements));
    fs::write(record, contents).expect("the environment can be recorded");
    python
}

/// Packs a wheel as maturin does, with its metadata, from the library that is already built.
fn wheel(python: &Path, folder: &Path) -> PathBuf {
    let root = folder.join("wheel");
    copy(&package().join("python"), &root);
    fs::copy(library(), root.join("cycloid/_cycloid.abi3.so")).expect("the library can be copied");
    let mut metadata = Command::new(python);
    metadata.args(["-m", "maturin", "pep517", "write-dist-info", "--metadata-directory"]);
    metadata.arg(&root).arg("--manifest-path").arg(package().join("Cargo.toml"));
    succeed(&mut metadata);
    let mut pack = Command::new(python);
    succeed(pack.args(["-m", "wheel", "pack", "--dest-dir"]).arg(folder).arg(&root));
    let made = fs::read_dir(folder).expect("the folder is there").flatten();
    let mut wheels = made.map(|entry| entry.path()).filter(|path| path.extension().is_some());
    wheels.next().expect("a wheel is made")
}

/// Returns the shared library, which is built with this test: next to it, or one folder higher.
fn library() -> PathBuf {
    let test = env::current_exe().expect("the test has a path");
    let name = format!("{}_cycloid{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join(&name));
    folders.find(|path| path.exists()).expect("the library is built with its test")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory can be made");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).expect("a file can be copied");
        }
    }
}

/// Runs a command, which must succeed, and returns its standard output.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}
