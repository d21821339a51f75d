//! The reasons why a process cannot be profiled.

use std::fmt::{self, Display, Formatter};
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// The reason why a process cannot be profiled.
#[derive(Debug)]
pub enum Error {
    /// Another sampler exists in this process.
    Busy,
    /// Stacks cannot be sampled on this system.
    Unsupported,
    /// The file for the samples cannot be written.
    Output(PathBuf, io::Error),
}

impl Error {
    /// Returns the remedy, in one line.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Busy => "wait until that profile ends",
            Self::Unsupported => "sampling needs Linux on x86-64 or AArch64",
            Self::Output(_, error) if error.kind() == ErrorKind::NotFound => {
                "make the directory first, or name another file"
            }
            Self::Output(..) => "name a file that you may write",
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the process is already being profiled"),
            Self::Unsupported => f.write_str("cannot sample stacks on this system"),
            Self::Output(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Output(_, error) => Some(error),
            Self::Busy | Self::Unsupported => None,
        }
    }
}
