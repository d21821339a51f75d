//! Loads libraries of the system.

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
}
