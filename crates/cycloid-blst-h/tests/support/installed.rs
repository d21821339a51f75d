//! libblst, installed into a temporary folder by the script that installs it for users.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The package's folder.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// An installation.
pub(crate) struct Installed {
    pub(crate) folder: tempfile::TempDir,
    /// The folder of the crate `blst`.
    pub(crate) blst: PathBuf,
}

impl Installed {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory can be made");
        let blst = blst();
        let mut install = Command::new(package().join("install.sh"));
        install.arg(archive()).arg(blst.join("blst/bindings")).arg(folder.path());
        succeed(&mut install);
        Self { folder, blst }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Returns the static library, which is built with the tests: the newest next to them, where its
/// name may have a hash, or one folder higher.
fn archive() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let folders = test.ancestors().skip(1).take(2);
    let files =
        folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    let archives = files.filter(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        name.starts_with("libcycloid_blst_h") && name.ends_with(".a")
    });
    let newest = archives.max_by_key(|file| file.metadata().and_then(|data| data.modified()).ok());
    newest.expect("the library is built with its tests").path()
}

/// Returns the folder of the crate `blst`, on which these tests depend.
fn blst() -> PathBuf {
    let mut metadata = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    metadata.args(["metadata", "--locked", "--format-version", "1"]).current_dir(package());
    let metadata: serde_json::Value =
        serde_json::from_str(&succeed(&mut metadata)).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a list");
    let package = packages.iter().find(|package| package["name"] == "blst").expect("a dependency");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a folder").into()
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
