//! libcycloid, installed into a temporary folder by the script that installs it for users.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The package's folder.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// An installation.
pub(crate) struct Installed {
    pub(crate) folder: tempfile::TempDir,
}

impl Installed {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory can be made");
        let installed = Self { folder };
        installed.install(installed.folder.path());
        installed
    }

    /// Installs below a prefix, which may be relative to the folder.
    pub(crate) fn install(&self, prefix: &Path) {
        let mut install = Command::new(package().join("install.sh"));
        install.arg(archive()).arg(env!("CARGO_PKG_VERSION")).arg(prefix);
        succeed(install.current_dir(self.folder.path()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that finds the installation by pkg-config and when it runs.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env("PKG_CONFIG_PATH", self.path("lib/pkgconfig"))
            .env("LD_LIBRARY_PATH", self.path("lib"));
        command
    }
}

/// Returns the static library, which is built with the tests: next to them, or one folder higher.
fn archive() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let name = "libcycloid_c.a";
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    folders.find(|path| path.exists()).expect("the library is built with its tests")
}

/// Runs a command, which must succeed, and returns its standard output.
pub(crate) fn succeed(command: &mut Command) -> String {
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
