//! SoftHSM: a PKCS #11 module that computes in the process of its caller.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Library;
use crate::record::Missing;

/// Where distributions install the module.
const PLACES: [&str; 4] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
];

struct SoftHsm {
    module: PathBuf,
    version: String,
}

impl Library for SoftHsm {
    fn version(&self) -> String {
        self.version.clone()
    }

    fn pkcs11(&self) -> Option<&Path> {
        Some(&self.module)
    }
}

/// Finds the module.
pub(super) fn find() -> Result<Box<dyn Library>, Missing> {
    let module = PLACES.iter().map(PathBuf::from).find(|place| place.is_file());
    let module = module.ok_or_else(|| Missing {
        reason: "no libsofthsm2.so".into(),
        remedy: "apt install softhsm2".into(),
    })?;
    // Its tool has the same version; the module reports its own version only with a configuration.
    let version = Command::new("softhsm2-util").arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.map_or_else(|| "(unknown version)".into(), |text| text.trim().to_owned());
    Ok(Box::new(SoftHsm { module, version }))
}
