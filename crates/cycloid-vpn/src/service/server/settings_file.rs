//! Finds the file of `client-config-dir` with a client's settings.
//!
//! OpenVPN 2.6 looks for the client's name, with `_` in place of `/`. Its manual page,
//! openvpn(8), "String Types and Remapping", has `_` in place of every character except ASCII
//! letters, digits, `_`, `-`, `.` and `@`. Files of both names work; the first one takes precedence.

use std::io;
use std::path::{Path, PathBuf};

/// Returns the file of a client's name, otherwise the file `DEFAULT`, if there is any.
///
/// # Errors
///
/// The name of a directory, or a file that may exist and cannot be accessed: without its settings
/// the client might get more than it may have.
pub(super) fn find(directory: &Path, name: &str) -> Result<Option<PathBuf>, String> {
    if matches!(name, "." | "..") {
        return Err(format!("no file of client-config-dir can have the name {name}"));
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || "_-.@".contains(c);
    let remapped = name.chars().map(|c| if legal(c) { c } else { '_' }).collect();
    for file in [name.replace('/', "_"), remapped, "DEFAULT".into()] {
        let path = directory.join(file);
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => return Ok(Some(path)),
            Ok(_) => {}
            Err(error) if is_absence(&error) => {}
            Err(error) => return Err(format!("client-config-dir {}: {error}", path.display())),
        }
    }
    Ok(None)
}

/// Returns whether an error says that a file does not exist; one with too long a name cannot.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_client_gets_the_file_of_its_name_or_of_the_remapped_name_or_the_default() {
        let directory = tempfile::tempdir().unwrap();
        let found = |name: &str| {
            let path = find(directory.path(), name).unwrap()?;
            assert_eq!(path.parent(), Some(directory.path()));
            Some(path.file_name().unwrap().to_str().unwrap().to_owned())
        };
        assert_eq!(found("John Doe"), None);
        for name in ["John_Doe", "José", "Jos_", ".hidden", "a_b", ".._gate.conf", "alice_phone"] {
            fs::write(directory.path().join(name), "disable\n").unwrap();
        }
        fs::create_dir(directory.path().join("sub")).unwrap();
        for (name, file) in [
            ("John Doe", "John_Doe"),
            ("alice+phone", "alice_phone"),
            ("José", "José"),
            ("Josä", "Jos_"),
            (".hidden", ".hidden"),
            ("a/b", "a_b"),
            ("../gate.conf", ".._gate.conf"),
        ] {
            assert_eq!(found(name).as_deref(), Some(file), "{name}");
        }
        fs::write(directory.path().join("John Doe"), "").unwrap();
        assert_eq!(found("John Doe").as_deref(), Some("John Doe"));
        let long = "x".repeat(300);
        for name in ["bob", "sub", "sub/../a_b", &long] {
            assert_eq!(found(name), None, "{name}");
        }
        fs::write(directory.path().join("DEFAULT"), "").unwrap();
        for name in ["bob", "sub", "sub/../a_b", &long] {
            assert_eq!(found(name).as_deref(), Some("DEFAULT"), "{name}");
        }
    }

    #[test]
    fn names_and_files_that_cannot_be_looked_up_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("DEFAULT"), "").unwrap();
        for name in [".", ".."] {
            assert!(find(directory.path(), name).is_err());
        }
        // Permissions do not stop root, so the directory is a file.
        assert!(find(&directory.path().join("DEFAULT"), "bob").is_err());
    }
}
