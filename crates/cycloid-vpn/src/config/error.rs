//! Errors and warnings about a configuration file, with place and hint.

use std::fmt;
use std::path::PathBuf;

/// Why a configuration cannot be used.
///
/// Contains no secrets: never the contents of a block, and only the line's cleartext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file name as given by the caller or by the including file.
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
    /// The directive as written; empty for the file as a whole.
    pub text: String,
    /// The problem.
    pub message: String,
    /// The next step for the user.
    pub hint: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, &self.file, self.line)?;
        f.write_str(&self.message)?;
        if !self.text.is_empty() {
            write!(f, ": `{}`", self.text)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// A setting with a surprising effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file, as in [`Error`].
    pub file: PathBuf,
    /// The line, as in [`Error`].
    pub line: u32,
    /// The problem and the next step.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, &self.file, self.line)?;
        f.write_str(&self.message)
    }
}

fn write_place(f: &mut fmt::Formatter<'_>, file: &std::path::Path, line: u32) -> fmt::Result {
    match line {
        0 => write!(f, "{}: ", file.display()),
        line => write!(f, "{}:{line}: ", file.display()),
    }
}

/// An [`Error`] without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) hint: String,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: plain(message.into()), hint: hint.into() }
    }

    pub(super) fn at(self, file: impl Into<PathBuf>, line: u32, text: impl Into<String>) -> Error {
        Error { file: file.into(), line, text: text.into(), message: self.message, hint: self.hint }
    }
}

/// Returns a message without the number that the standard library adds to the system's text, as in
/// "No such file or directory (os error 2)".
pub(crate) fn plain(message: String) -> String {
    const BEGIN: &str = " (os error ";
    let Some(at) = message.find(BEGIN) else { return message };
    let rest = &message[at + BEGIN.len()..];
    match rest.split_once(')') {
        Some((number, behind)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{}{behind}", &message[..at])
        }
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn messages_have_no_numbers_of_system_errors() {
        let error = std::io::Error::from_raw_os_error(2);
        assert_eq!(plain(format!("a: {error}: b")), "a: No such file or directory: b");
        for same in ["", "a (os error", "a (os error x)", "(os error 2)"] {
            assert_eq!(plain(same.to_owned()), same);
        }
    }
}
