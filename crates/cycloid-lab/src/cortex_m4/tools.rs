//! The tools that the emulation needs, and where the sources are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Failure;
use crate::programs;

/// The target of the compiler.
pub(super) const TARGET: &str = "thumbv7em-none-eabihf";

/// The emulator.
pub(super) const EMULATOR: &str = "qemu-system-arm";

/// The folder of the crate with the programs, below the root of the repository.
pub(super) const CRATE: &str = "crates/cycloid-m4";

/// The folder for what is built, below the root of the repository.
pub(super) const BUILT: &str = "target/cortex-m4";

/// A tool that is neither a part of Rust nor a library: its program and Debian's package.
const PROGRAMS: [(&str, &str); 3] =
    [(EMULATOR, "qemu-system-arm"), ("gcc", "gcc"), ("readelf", "binutils")];

/// The versions of the tools.
pub(super) struct Tools {
    /// The emulator's version.
    pub(super) emulator: String,
    /// `rustc --version`.
    pub(super) compiler: String,
}

/// Returns the root of the repository around the current directory.
///
/// # Errors
/// If there is none.
pub(super) fn source_folder() -> Result<PathBuf, Failure> {
    let here = env::current_dir().unwrap_or_default();
    let is_root = |folder: &&Path| folder.join(CRATE).join("Cargo.toml").is_file();
    here.ancestors().find(is_root).map(Path::to_path_buf).ok_or_else(|| {
        Failure::new(
            format!("no {CRATE} in this or a parent directory"),
            "run in a clone of the repository: cargo run --release -- bench modexp --target cortex-m4",
        )
    })
}

/// Checks that all tools exist.
///
/// # Errors
/// Names all that are missing, and the commands that install them.
pub(super) fn check(folder: &Path) -> Result<Tools, Failure> {
    let versions = PROGRAMS.map(|(program, _)| output(Command::new(program).arg("--version")));
    let missing = PROGRAMS.iter().zip(&versions).filter(|(_, version)| version.is_none());
    let missing: Vec<(&str, &str)> = missing.map(|(program, _)| *program).collect();
    let compiler = output(Command::new("rustc").arg("--version").current_dir(folder));
    let libraries = ["--print", "target-libdir", "--target", TARGET];
    let libraries = output(Command::new("rustc").args(libraries).current_dir(folder));
    let has_target = libraries.is_some_and(|path| Path::new(path.trim()).exists());
    if let Some(failure) = missing_tools(&missing, compiler.is_some(), has_target) {
        return Err(failure);
    }
    let first = versions[0].as_deref().unwrap_or_default();
    Ok(Tools {
        emulator: version(first).into(),
        compiler: compiler.unwrap_or_default().trim().into(),
    })
}

/// Returns the error for missing tools, each given with its package.
fn missing_tools(programs: &[(&str, &str)], rust: bool, target: bool) -> Option<Failure> {
    let mut names: Vec<String> = programs.iter().map(|(name, _)| (*name).into()).collect();
    let mut remedies = Vec::new();
    if !programs.is_empty() {
        let packages: Vec<&str> = programs.iter().map(|(_, package)| *package).collect();
        remedies.push(format!("apt-get install {}", packages.join(" ")));
    }
    if !rust {
        names.push("rustc".into());
        remedies.push("install Rust with rustup".into());
    }
    if !target {
        names.push(format!("the Rust target {TARGET}"));
        remedies.push(format!("rustup target add {TARGET}"));
    }
    (!names.is_empty()).then(|| {
        let verb = if names.len() == 1 { "is" } else { "are" };
        Failure::new(format!("{} {verb} missing", names.join(", ")), remedies.join(" && "))
    })
}

/// Returns the number after the word `version`, as in "QEMU emulator version 7.2.22 (Debian …)".
fn version(text: &str) -> &str {
    text.split_whitespace()
        .skip_while(|word| *word != "version")
        .nth(1)
        .unwrap_or("of unknown version")
}

/// Returns a command that runs cargo for the crate, whose configuration names the target, in the
/// environment of a shell.
pub(super) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder.join(CRATE)).stdin(Stdio::null());
    // The crate has a target directory and flags of its own.
    for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(name);
    }
    programs::like_in_a_shell(&mut command);
    command
}

/// Runs a compiler, whose messages go to standard error.
pub(super) fn compiled(mut command: Command, what: &str) -> Result<(), Failure> {
    let name = command.get_program().display().to_string();
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => {
            Err(Failure::new(format!("cannot compile {what}"), format!("see {name}'s message")))
        }
        Err(error) => Err(Failure::new(format!("cannot run {name}: {error}"), "install it")),
    }
}

/// Returns what a command prints on standard output; `None` if it fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_tools_are_named_with_the_commands_that_install_them() {
        assert!(missing_tools(&[], true, true).is_none());
        let one = missing_tools(&PROGRAMS[..1], true, true).unwrap();
        assert_eq!(one.message, "qemu-system-arm is missing");
        assert_eq!(one.hint, "apt-get install qemu-system-arm");
        let two = missing_tools(&PROGRAMS[1..2], true, false).unwrap();
        assert_eq!(two.message, "gcc, the Rust target thumbv7em-none-eabihf are missing");
        assert_eq!(two.hint, "apt-get install gcc && rustup target add thumbv7em-none-eabihf");
        assert!(missing_tools(&[], false, false).unwrap().hint.starts_with("install Rust"));
    }

    #[test]
    fn versions() {
        assert_eq!(version("QEMU emulator version 7.2.22 (Debian 1:7.2)"), "7.2.22");
        assert_eq!(version("none"), "of unknown version");
    }
}
