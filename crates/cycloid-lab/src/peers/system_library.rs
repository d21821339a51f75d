//! Loads libraries of the system, or of a folder.

use std::path::Path;

use crate::record::Missing;

/// Loads the first available library of `files`, for the life of the process.
pub(super) fn load_system_library(
    files: &[&str],
    package: &str,
) -> Result<&'static libloading::Library, Missing> {
    let load = |file: &&str| {
        // SAFETY: the initialisers of these libraries do nothing that is unsound in Rust.
        unsafe { libloading::Library::new(*file) }.ok()
    };
    match files.iter().find_map(load) {
        // Never unloaded, so that pointers to its functions stay valid.
        Some(library) => Ok(Box::leak(Box::new(library))),
        None => Err(Missing {
            reason: format!("no usable {}", files.join(" or ")),
            remedy: format!("apt install {package}"),
        }),
    }
}

/// Loads the library `file`, for the life of the process.
pub(super) fn load_named_library(file: &Path) -> Result<&'static libloading::Library, Missing> {
    // SAFETY: as in `load_system_library`; the user named this build of the same library.
    match unsafe { libloading::Library::new(file) } {
        Ok(library) => Ok(Box::leak(Box::new(library))),
        Err(error) => Err(Missing {
            reason: format!("cannot load {}: {error}", file.display()),
            remedy: "build it for this system".into(),
        }),
    }
}

/// Returns the error for a library that lacks a function.
pub(super) fn lacks(symbol: &str, package: &str) -> Missing {
    Missing {
        reason: format!("the installed library lacks {symbol}"),
        remedy: format!("apt install --reinstall {package}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_reported_with_its_package() {
        let missing = load_system_library(&["libnone.so.1", "libnone.so.2"], "libnone1")
            .expect_err("no such library");
        assert_eq!(missing.reason, "no usable libnone.so.1 or libnone.so.2");
        assert_eq!(missing.remedy, "apt install libnone1");
    }

    #[test]
    fn a_library_that_does_not_load_is_reported_with_its_path() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let missing = load_named_library(file.path()).expect_err("an empty file is no library");
        let path = file.path().display().to_string();
        assert!(missing.reason.contains(&path), "{}", missing.reason);
    }
}
