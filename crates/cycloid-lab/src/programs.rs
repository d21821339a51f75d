//! The project's other programs that the lab measures or starts: the HSM's daemon, the VPN, the
//! PKCS #11 module, the OpenSSL provider, and the lab with every peer.
//!
//! An installed lab finds them next to itself or in PATH. A lab that `cargo run` started has cargo
//! build them first, so that it never measures an older build.

use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;

use crate::Failure;

/// The HSM's daemon and tool.
pub const HSM: &str = "cycloid-hsm";

/// The VPN's client, server and tools.
pub const VPN: &str = "cycloid-vpn";

/// The PKCS #11 module.
pub const MODULE: &str = "libcycloid_pkcs11.so";

/// The OpenSSL provider.
pub const PROVIDER: &str = "libcycloid_openssl.so";

/// The lab with every peer.
pub const PEERS: &str = "cycloid-peers";

/// The packages of the services and the modules.
const SERVICES: &[&str] = &[HSM, VPN, "cycloid-pkcs11", "cycloid-openssl"];

/// The packages that contain this program, which `cargo run` starts.
const OWN: [&str; 2] = ["cycloid-cli", PEERS];

/// Returns the path of this program, also after a build has replaced it.
///
/// # Errors
/// The system's error.
pub fn own() -> Result<PathBuf, Failure> {
    static OWN: OnceLock<Result<PathBuf, Failure>> = OnceLock::new();
    let read = || {
        env::current_exe().map_err(|error| {
            Failure::new(format!("cannot find this program's own path: {error}"), "see proc(5)")
        })
    };
    OWN.get_or_init(read).clone()
}

/// Returns whether `name` can be found or built.
///
/// # Errors
/// If it can be neither found nor built.
pub fn possible(name: &str) -> Result<(), Failure> {
    if profile(&own()?).is_some() { Ok(()) } else { find(name).map(drop) }
}

/// Returns the path of a program or of the module.
///
/// # Errors
/// If it is not found, or cannot be built.
pub fn find(name: &str) -> Result<PathBuf, Failure> {
    static BUILT: OnceLock<Result<(), Failure>> = OnceLock::new();
    let packages: &[&str] = if name == PEERS { &[PEERS] } else { SERVICES };
    if let Some(profile) = profile(&own()?) {
        let build = || run(&mut builder(profile, packages), packages);
        if name == PEERS { build() } else { BUILT.get_or_init(build).clone() }?;
    }
    installed(name).ok_or_else(|| {
        Failure::new(
            format!("{name} is neither next to this program nor in PATH"),
            format!("in the source tree: cargo build --release -p {}", packages.join(" -p ")),
        )
    })
}

/// Returns the command that builds all other programs, if `cargo run` started this one.
///
/// # Errors
/// The system's error.
pub fn builder_of_all() -> Result<Option<Command>, Failure> {
    let packages = [SERVICES, &[PEERS]].concat();
    Ok(profile(&own()?).map(|profile| builder(profile, &packages)))
}

/// Returns the path of a program that exists already, next to this one or in PATH.
pub fn installed(name: &str) -> Option<PathBuf> {
    let own = own().ok()?;
    let beside = own.parent().unwrap_or(Path::new(""));
    // Cargo puts libraries that only tests need into `deps`.
    let places = [beside.join(name), beside.join("deps").join(name)];
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = places.into_iter().chain(env::split_paths(&path).map(|path| path.join(name)));
    places.find(|path| path.is_file())
}

/// Returns cargo's profile if `cargo run` started this program from the source tree.
fn profile(own: &Path) -> Option<&'static str> {
    let is_run = env::var_os(PACKAGE).is_some_and(|name| OWN.iter().any(|own| name == *own));
    match own.parent()?.file_name()?.to_str()? {
        "release" if is_run => Some("release"),
        "debug" if is_run => Some("dev"),
        _ => None,
    }
}

/// The variable in which cargo names the package of the program that it runs.
const PACKAGE: &str = "CARGO_PKG_NAME";

/// Makes a command start a program of the lab that finds the other programs already built.
pub fn without_building(command: &mut Command) {
    command.env_remove(PACKAGE);
}

/// Runs a command that builds packages.
fn run(builder: &mut Command, packages: &[&str]) -> Result<(), Failure> {
    eprintln!("building {}", packages.join(", "));
    judge(builder.status())
}

/// Returns the error of a build that did not succeed.
///
/// # Errors
/// If cargo did not start, or the programs do not compile.
pub fn judge(ended: io::Result<ExitStatus>) -> Result<(), Failure> {
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::new("the programs do not compile", "see cargo's message above")),
        Err(error) => Err(Failure::new(format!("cannot run cargo: {error}"), "install cargo")),
    }
}

/// Returns the command that builds packages together with the lab's program, which is up to date:
/// the crates that they share then have the same features, and compile once.
fn builder(profile: &str, packages: &[&str]) -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--locked", "--profile", profile, "-p", "cycloid-cli"]);
    command.args(packages.iter().flat_map(|package| ["-p", package]));
    if !io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    command.current_dir(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    like_in_a_shell(&mut command);
    command.stdin(Stdio::null());
    command
}

/// Makes a command start cargo without the variables that `cargo run` sets.
pub(crate) fn like_in_a_shell(command: &mut Command) {
    for name in env::vars_os().map(|(name, _)| name).filter(|name| is_of_cargo_run(name)) {
        command.env_remove(name);
    }
}

/// Returns whether `cargo run` sets a variable for the program that it starts. Build scripts depend
/// on some of them: with `CARGO_MANIFEST_DIR`, cargo compiles ring and all that uses it again.
fn is_of_cargo_run(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b"CARGO_MANIFEST_") || name.starts_with(b"CARGO_PKG_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_reported_with_the_command_that_builds_it() {
        let failure = find("cycloid-no-such-program").unwrap_err();
        assert!(failure.message.starts_with("cycloid-no-such-program is neither"), "{failure}");
        let packages = "-p cycloid-hsm -p cycloid-vpn -p cycloid-pkcs11 -p cycloid-openssl";
        assert!(failure.hint.ends_with(&format!("cargo build --release {packages}")));
        let own = own().unwrap();
        let (name, folder) = (own.file_name().unwrap(), own.parent().unwrap());
        assert_eq!(find(name.to_str().unwrap()).unwrap(), folder.join(name));
    }

    #[test]
    fn the_builder_has_the_environment_of_a_shell() {
        // Cargo sets these for tests, too.
        let kept = |name: &str| {
            let command = builder("dev", SERVICES);
            let removed = command.get_envs().any(|(other, value)| other == name && value.is_none());
            env::var_os(name).is_some() && !removed
        };
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some());
        for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME"] {
            assert!(!kept(name), "{name}");
        }
        assert!(kept("PATH"));
    }

    #[test]
    fn only_cargo_run_builds() {
        // Cargo names this package, not the program's.
        assert_eq!(profile(Path::new("/target/release/cycloid")), None);
    }
}
