//! Compiles runners on first use, and keeps them.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::hex;

/// The name of the compiled program in its directory.
pub(super) const PROGRAM: &str = "runner";

/// The files of a runner: their names, and their texts.
pub(super) type Files<'a> = &'a [(&'a str, &'a str)];

/// Returns the program compiled from `files`. If it is not there yet, writes them into a directory
/// and calls `make`, which must leave [`PROGRAM`] there. `key` is whatever else determines the
/// program: the versions of a library and a compiler.
///
/// # Errors
/// The first line of the compiler's message.
pub(super) fn program(
    peer: &str,
    files: Files<'_>,
    key: &str,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let mut hash = Sha256::new();
    for text in files.iter().map(|(_, text)| *text).chain([key]) {
        hash.update(text);
    }
    let directory = folder().join(format!("{peer}-{}", &hex(&hash.finalize())[..16]));
    let program = directory.join(PROGRAM);
    if program.is_file() {
        return Ok(program);
    }
    if io::stderr().is_terminal() {
        eprintln!("building the runner of {peer}");
    }
    build(&directory, files, make).map(|()| program)
}

/// Compiles in a temporary directory, and moves the result into place when it is complete.
fn build(
    directory: &Path,
    files: Files<'_>,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let beside = directory.with_extension(std::process::id().to_string());
    let write = |(name, text): &(&str, &str)| {
        let path = beside.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    };
    let written = fs::create_dir_all(&beside).and_then(|()| files.iter().try_for_each(write));
    let made = written.map_err(|error| error.to_string()).and_then(|()| make(&beside));
    let moved =
        made.and_then(|()| fs::rename(&beside, directory).map_err(|error| error.to_string()));
    if moved.is_err() {
        let _ = fs::remove_dir_all(&beside);
    }
    // Another process may have been faster.
    if directory.join(PROGRAM).is_file() { Ok(()) } else { moved }
}

/// Returns the directory of compiled runners: cargo's target directory, or the user's cache.
fn folder() -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    let target = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let cache = || {
        let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
        cache.unwrap_or_else(env::temp_dir).join("cycloid")
    };
    target.map_or_else(cache, Path::to_path_buf).join("runners")
}

/// Runs a command, and returns what it prints.
///
/// # Errors
/// The system's error, or the command's first line of errors.
pub(super) fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("cannot compile the runner: {}", complaint(&output.stderr, &name))),
    }
}

/// Returns the line of a compiler's output that says what is wrong.
fn complaint(stderr: &[u8], name: &str) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().find(|line| line.contains("error")).or_else(|| text.lines().next());
    line.map_or_else(|| format!("{name} failed"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_built_once_for_the_same_files_and_key() {
        let files = [("a.txt", "a"), ("deeper/b.txt", "b")];
        let key = std::process::id().to_string();
        let make = |folder: &Path| {
            let read = |name| fs::read_to_string(folder.join(name)).unwrap();
            assert_eq!((read("a.txt"), read("deeper/b.txt")), ("a".into(), "b".into()));
            fs::write(folder.join(PROGRAM), "").map_err(|error| error.to_string())
        };
        let built = program("nothing", &files, &key, make).unwrap();
        assert!(built.is_file());
        let again = program("nothing", &files, &key, |_| panic!("it is there"));
        assert_eq!(again.unwrap(), built);
        fs::remove_dir_all(built.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_failed_build_leaves_nothing() {
        let files = [("a.txt", "a")];
        let key = format!("{} fails", std::process::id());
        let mut left = PathBuf::new();
        let failed = program("nothing", &files, &key, |folder| {
            left = folder.into();
            run(Command::new("sh").args(["-c", "echo note >&2; echo error: no >&2; exit 1"]))
                .map(drop)
        });
        assert_eq!(failed.unwrap_err(), "cannot compile the runner: error: no");
        assert!(!left.exists());
        assert!(run(&mut Command::new("/nonexistent")).unwrap_err().starts_with("/nonexistent: "));
    }
}
