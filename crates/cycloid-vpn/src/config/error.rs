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
        Self { message: message.into(), hint: hint.into() }
    }

    pub(super) fn at(self, file: impl Into<PathBuf>, line: u32, text: impl Into<String>) -> Error {
        Error { file: file.into(), line, text: text.into(), message: self.message, hint: self.hint }
    }
}
