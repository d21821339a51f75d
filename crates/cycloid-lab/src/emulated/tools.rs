//! The tools that the emulation needs, and where the sources are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::Failure;
use crate::programs;

/// The compiler, emulator and folders of a processor's programs.
pub(super) struct Processor {
    /// A command that measures on it.
    pub(super) command: &'static str,
    /// The target of the compiler.
    pub(super) target: &'static str,
    /// The folder of the crate with the programs, below the root of the repository.
    pub(super) folder: &'static str,
    /// The tools that are neither a part of Rust nor a library: the emulator first, each with
    /// Debian's packages.
    pub(super) programs: &'static [(&'static str, &'static str)],
}

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
pub(super) fn source_folder(processor: &Processor) -> Result<PathBuf, Failure> {
    let here = env::current_dir().unwrap_or_default();
    let is_root = |folder: &&Path| folder.join(processor.folder).join("Cargo.toml").is_file();
    here.ancestors().find(is_root).map(Path::to_path_buf).ok_or_else(|| {
        Failure::new(
            format!("no {} in this or a parent directory", processor.folder),
            format!(
                "run in a clone of the repository: cargo run --release -- {}",
                processor.command
            ),
        )
    })
}

/// Checks that all tools exist.
///
/// # Errors
/// Names all that are missing, and the commands that install them.
pub(super) fn check(processor: &Processor, folder: &Path) -> Result<Tools, Failure> {
    let version_of = |program: &str| output(Command::new(program).arg("--version"));
    let versions: Vec<Option<String>> =
        processor.programs.iter().map(|(program, _)| version_of(program)).collect();
    let missing = processor.programs.iter().zip(&versions).filter(|(_, version)| version.is_none());
    let missing: Vec<(&str, &str)> = missing.map(|(program, _)| *program).collect();
    let compiler = output(Command::new("rustc").arg("--version").current_dir(folder));
    let libraries = ["--print", "target-libdir", "--target", processor.target];
    let libraries = output(Command::new("rustc").args(libraries).current_dir(folder));
    let has_target = libraries.is_some_and(|path| Path::new(path.trim()).exists());
    let target = (!has_target).then_some(processor.target);
    if let Some(failure) = missing_tools(&missing, compiler.is_some(), target) {
        return Err(failure);
    }
    let emulator = versions[0].as_deref().unwrap_or_default();
    Ok(Tools {
        emulator: version(emulator).into(),
        compiler: compiler.unwrap_or_default().trim().into(),
    })
}

/// Returns the error for missing tools, each given with its packages, and for a missing target.
fn missing_tools(programs: &[(&str, &str)], rust: bool, target: Option<&str>) -> Option<Failure> {
    let mut names: Vec<String> = programs.iter().map(|(name, _)| (*name).into()).collect();
    let mut remedies = Vec::new();
    if !programs.is_empty() {
        let packages: Vec<&str> = programs.iter().map(|(_, packages)| *packages).collect();
        remedies.push(format!("apt-get install {}", packages.join(" ")));
    }
    if !rust {
        names.push("rustc".into());
        remedies.push("install Rust with rustup".into());
    }
    if let Some(target) = target {
        names.push(format!("the Rust target {target}"));
        remedies.push(format!("rustup target add {target}"));
    }
    (!names.is_empty()).then(|| {
        let verb = if names.len() == 1 { "is" } else { "are" };
        Failure::new(format!("{} {verb} missing", names.join(", ")), remedies.join(" && "))
    })
}

/// Returns the number after the word `version`, as in "qemu-aarch64 version 7.2.22 (Debian …)".
fn version(text: &str) -> &str {
    text.split_whitespace()
        .skip_while(|word| *word != "version")
        .nth(1)
        .unwrap_or("of unknown version")
}

/// Returns a command that runs cargo in the folder of the crate, in the environment of a shell.
pub(super) fn cargo(processor: &Processor, folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder.join(processor.folder)).stdin(Stdio::null());
    // The crate has a target directory and flags of its own.
    for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(name);
    }
    programs::like_in_a_shell(&mut command);
    command
}

/// Compiles a plugin of the emulator. Both paths are relative to the root of the repository.
pub(super) fn build_plugin(folder: &Path, source: &Path, plugin: &Path) -> Result<(), Failure> {
    let mut command = Command::new("gcc");
    command.args(["-O2", "-shared", "-fPIC", "-o"]).arg(plugin).arg(source).current_dir(folder);
    compiled(command, "the plugin for QEMU")
}

/// Returns the error for a program that an emulator could not run to its end.
pub(super) fn failed(processor: &str, ended: &Output) -> Failure {
    let last = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).trim().lines().last().unwrap_or_default().to_owned()
    };
    let (out, error) = (last(&ended.stdout), last(&ended.stderr));
    let said = if error.is_empty() { out } else { error };
    Failure::new(
        format!("the program on the emulated {processor} failed: {said}"),
        "please report it",
    )
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
        let programs = [("qemu-z80", "qemu-user"), ("gcc", "gcc")];
        assert!(missing_tools(&[], true, None).is_none());
        let one = missing_tools(&programs[..1], true, None).unwrap();
        assert_eq!(one.message, "qemu-z80 is missing");
        assert_eq!(one.hint, "apt-get install qemu-user");
        let two = missing_tools(&programs[1..], true, Some("z80-none")).unwrap();
        assert_eq!(two.message, "gcc, the Rust target z80-none are missing");
        assert_eq!(two.hint, "apt-get install gcc && rustup target add z80-none");
        assert!(missing_tools(&[], false, None).unwrap().hint.starts_with("install Rust"));
    }

    #[test]
    fn versions() {
        assert_eq!(version("QEMU emulator version 7.2.22 (Debian 1:7.2)"), "7.2.22");
        assert_eq!(version("qemu-aarch64 version 7.2.22 (Debian 1:7.2)"), "7.2.22");
        assert_eq!(version("none"), "of unknown version");
    }
}
