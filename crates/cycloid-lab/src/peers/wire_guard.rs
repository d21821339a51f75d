//! wireguard-go: WireGuard in user space, a program of the system.

use std::process::Command;

use super::Library;
use crate::record::Missing;

/// The program's names, in its own build and in Debian's.
const NAMES: [&str; 2] = ["wireguard", "wireguard-go"];

struct WireGuard {
    version: String,
}

impl Library for WireGuard {
    fn version(&self) -> String {
        self.version.clone()
    }
}

/// Finds the program, and the tool that configures its keys.
pub(super) fn find() -> Result<Box<dyn Library>, Missing> {
    let missing =
        |reason: &str, remedy: &str| Missing { reason: reason.into(), remedy: remedy.into() };
    if said("wg").is_none() {
        return Err(missing("no wg", "apt install wireguard-tools"));
    }
    let program = program().and_then(said).ok_or_else(|| {
        missing("no wireguard-go", "go install golang.zx2c4.com/wireguard@latest")
    })?;
    // "wireguard-go v0.0.20250522"
    let version = program.split_whitespace().nth(1).unwrap_or("(unknown version)");
    Ok(Box::new(WireGuard { version: version.trim_start_matches('v').into() }))
}

/// Returns the name of the installed program.
pub fn program() -> Option<&'static str> {
    NAMES.into_iter().find(|name| said(name).is_some_and(|text| text.starts_with("wireguard-go ")))
}

fn said(program: &str) -> Option<String> {
    let said = Command::new(program).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&said.stdout).into_owned())
}
