//! OpenVPN: a program of the system.

use std::process::Command;

use super::Library;
use crate::record::Missing;

struct OpenVpn {
    version: String,
}

impl Library for OpenVpn {
    fn version(&self) -> String {
        self.version.clone()
    }
}

/// Finds OpenVPN.
pub(super) fn find() -> Result<Box<dyn Library>, Missing> {
    let said = Command::new("openvpn").arg("--version").output().map_err(|error| Missing {
        reason: format!("no openvpn: {error}"),
        remedy: "apt install openvpn".into(),
    })?;
    // "OpenVPN 2.6.14 x86_64-pc-linux-gnu …"
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let version = text.split_whitespace().nth(1).unwrap_or("(unknown version)");
    Ok(Box::new(OpenVpn { version: version.into() }))
}
