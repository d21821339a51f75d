//! Records the compiler and the versions of the compiled-in peers for the header of every result.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .arg("--version")
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "unknown rustc".into());
    set("CYCLOID_COMPILER", compiler.trim());
    set("CYCLOID_OPT_LEVEL", &env::var("OPT_LEVEL").unwrap_or_default());
    set("CYCLOID_TARGET", &env::var("TARGET").unwrap_or_default());

    let lock = lock_file();
    if let Some(path) = &lock {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let lock = lock.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    for package in [
        "ark-bls12-381",
        "ark-ff",
        "aws-lc-sys",
        "blst",
        "bls12_381",
        "c-kzg",
        "crypto-bigint",
        "curve25519-dalek",
        "ed25519-dalek",
        "graviola",
        "p224",
        "p256",
        "p384",
        "p521",
        "ring",
        "rsa",
        "rustls",
        "x25519-dalek",
    ] {
        let variable = format!("CYCLOID_VERSION_{}", package.to_uppercase().replace('-', "_"));
        set(&variable, version(&lock, package).unwrap_or("unknown"));
    }
}

fn set(variable: &str, value: &str) {
    println!("cargo::rustc-env={variable}={value}");
}

/// Finds the workspace's `Cargo.lock`: the nearest one in this directory or above.
fn lock_file() -> Option<PathBuf> {
    let crate_directory = env::var_os("CARGO_MANIFEST_DIR")?;
    Path::new(&crate_directory)
        .ancestors()
        .map(|directory| directory.join("Cargo.lock"))
        .find(|path| path.is_file())
}

/// Returns the version of `package` in the lock file.
fn version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split('"').next()
}
