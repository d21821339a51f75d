//! What is wrong with a file, where, and what to do about it.

use std::fmt;
use std::path::PathBuf;

/// Why a configuration cannot be used.
///
/// No secret is in it: a block's contents never are, and of a line only what stands there in clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file as it was named, or as the one that includes it names it.
    pub file: PathBuf,
    /// The line, from 1; 0 if it is about the file as a whole.
    pub line: u32,
    /// The directive as it stands there; empty if it is about the file as a whole.
    pub text: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
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

/// What works otherwise than its author may think.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file, as in [`Error`].
    pub file: PathBuf,
    /// The line, as in [`Error`].
    pub line: u32,
    /// What it is, and what to do about it.
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

/// An [`Error`] that does not know yet where it is.
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
