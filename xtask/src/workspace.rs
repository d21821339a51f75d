//! The packages of a workspace, as cargo describes them.

use std::{env, fs, io};

use serde_json::Value;

use crate::process::{Failure, cargo, output, target_folder};

/// A package of a workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// The root files of its targets, from the project's root.
    pub(crate) roots: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// Whether its manifest permits publication.
    pub(crate) published: bool,
    /// The oldest supported compiler.
    pub(crate) rust_version: Option<String>,
}

/// A dependency of a package on another package of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only tests have it.
    pub(crate) test: bool,
}

/// The runner of dalek, whose manifest has another name: the package of the lab contains it, and a
/// package leaves out folders with a `Cargo.toml`.
const DALEK: &str = "crates/cycloid-lab/runners/dalek";

/// Returns the manifests of all workspaces, the main one first.
pub(crate) fn manifests() -> Result<[String; 6], Failure> {
    Ok([
        "Cargo.toml".into(),
        "crates/cycloid-aarch64/Cargo.toml".into(),
        "crates/cycloid-m4/Cargo.toml".into(),
        "xtask/no-std/Cargo.toml".into(),
        "xtask/size/Cargo.toml".into(),
        dalek(&format!("{}/dalek", target_folder()?))
            .map_err(|error| Failure::new(format!("cannot copy the runner of dalek: {error}")))?,
    ])
}

/// Writes a manifest for the runner of dalek into a folder, and returns its path.
fn dalek(folder: &str) -> io::Result<String> {
    let from = env::current_dir()?.join(DALEK);
    let source = format!("path = \"{}\"", from.join("main.rs").display());
    let manifest = fs::read_to_string(from.join("manifest.toml"))?;
    let manifest = manifest.replace("path = \"main.rs\"", &source);
    let written = format!("{folder}/Cargo.toml");
    fs::create_dir_all(folder)?;
    fs::write(&written, manifest)?;
    fs::copy(from.join("Cargo.lock"), format!("{folder}/Cargo.lock"))?;
    Ok(written)
}

/// Returns the packages of the workspace with this manifest.
pub(crate) fn packages(manifest: &str) -> Result<Vec<Package>, Failure> {
    let mut command = cargo("metadata --no-deps --format-version 1 --manifest-path");
    let metadata: Value = serde_json::from_str(&output(command.arg(manifest))?)
        .map_err(|error| Failure::new(format!("cargo metadata of {manifest}: {error}")))?;
    let here = env::current_dir()
        .map_err(|error| Failure::new(format!("no current directory: {error}")))?;
    let inside = format!("{}/", here.display());
    let package = |package: &Value| {
        let name = text(&package["name"]);
        let roots = list(&package["targets"]).map(|target| text(&target["src_path"]));
        let dependencies = list(&package["dependencies"]);
        let dependencies = dependencies.filter(|dependency| dependency["path"].is_string());
        let dependencies = dependencies.map(|dependency| Dependency {
            name: text(&dependency["name"]),
            test: dependency["kind"] == "dev",
        });
        Package {
            roots: roots.map(|root| root.strip_prefix(&inside).unwrap_or(&root).into()).collect(),
            // An empty list of registries forbids publication.
            published: package["publish"].is_null(),
            rust_version: package["rust_version"].as_str().map(String::from),
            dependencies: dependencies.filter(|dependency| dependency.name != name).collect(),
            name,
        }
    };
    Ok(list(&metadata["packages"]).map(package).collect())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}
