//! Runners in C++ of libraries without a package: compiled on first use, with a source that the
//! user names.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::compiled::{Files, PROGRAM, program, run};
use super::{External, Runner};
use crate::peers::{Library, Peer, source};
use crate::record::Missing;

/// The lines of the protocol, which every runner in C++ includes.
pub(super) const PROTOCOL: (&str, &str) =
    ("protocol.hpp", include_str!("../../../runners/cpp/protocol.hpp"));

/// A peer with a runner in C++.
pub(super) struct Recipe {
    pub(super) peer: Peer,
    /// The environment variable that names a program to use instead of the compiled runner.
    pub(super) variable: &'static str,
    /// The runner's own file.
    pub(super) runner: &'static str,
    /// The hint for a user without the compiler or its libraries.
    pub(super) needs: &'static str,
    /// Returns the version of the library in a folder.
    pub(super) version: fn(&Path) -> String,
    /// Compiles the files in the first folder with the source in the second one.
    pub(super) make: fn(&Path, &Path) -> Result<(), String>,
}

impl Recipe {
    /// Finds the runner, or compiles it.
    pub(super) fn find(&self) -> Result<Box<dyn Library>, Missing> {
        External::find(self.variable, || {
            let folder = source::folder(self.peer).ok_or_else(|| Missing {
                reason: "its source is not given".into(),
                remedy: source::remedy(self.peer).into(),
            })?;
            let missing = |reason| Missing { reason, remedy: self.needs.into() };
            if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
                return Err(missing("its runner is for Linux on x86-64".into()));
            }
            let compiler = run(compiler().arg("--version")).map_err(missing)?;
            let compiler = compiler.lines().next().unwrap_or_default();
            let version = (self.version)(folder);
            // Another source, compiler or processor makes another program.
            let key = format!("{version} {compiler} {} {}", folder.display(), processor());
            let files: Files<'_> = &[PROTOCOL, ("runner.cpp", self.runner)];
            let make = |own: &Path| (self.make)(own, folder);
            let program = program(&self.peer.name().to_lowercase(), files, &key, make);
            Ok((format!("{version} ({compiler})"), Runner::new(program.map_err(missing)?)))
        })
    }
}

/// Returns the C++ compiler.
pub(super) fn compiler() -> Command {
    Command::new(env::var_os("CXX").unwrap_or_else(|| "c++".into()))
}

/// Compiles one file of a library into an object in the folder `own`, and returns its path.
pub(super) fn object(
    own: &Path,
    file: &Path,
    arguments: &[&str],
    include: &[PathBuf],
) -> Result<PathBuf, String> {
    let object = own.join(file.file_name().unwrap_or_default()).with_extension("o");
    let mut command = compiler();
    // GCC and Clang take the language from the file's name, whichever of their names is called.
    command.args(arguments).arg("-w").args(includes(include)).arg("-c").arg(file);
    run(command.arg("-o").arg(&object)).map(|_| object)
}

/// Compiles the runner in the folder `own`, and links it with objects and libraries.
pub(super) fn link(
    own: &Path,
    arguments: &[&str],
    include: &[PathBuf],
    objects: &[PathBuf],
    libraries: &[&str],
) -> Result<(), String> {
    let mut command = compiler();
    command.args(arguments).arg("-w").args(includes(include)).arg("-I").arg(own);
    command.arg(own.join("runner.cpp")).args(objects).args(libraries);
    run(command.arg("-o").arg(own.join(PROGRAM))).map(drop)
}

fn includes(folders: &[PathBuf]) -> impl Iterator<Item = std::ffi::OsString> {
    folders.iter().map(|folder| {
        let mut argument = std::ffi::OsString::from("-I");
        argument.push(folder);
        argument
    })
}

/// Returns the commit of a clone, or a description of another folder.
pub(super) fn commit(folder: &Path) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["describe", "--always", "--dirty", "--abbrev=8"]);
    let is_clone = folder.join(".git").exists();
    let commit = is_clone.then(|| run(&mut command).ok()).flatten();
    commit.map_or_else(|| "unknown commit".into(), |commit| format!("commit {}", commit.trim()))
}

/// Returns the processor's name, for programs that are compiled for it.
fn processor() -> String {
    crate::environment::current().cpu
}
