//! Writes results to stdout, and to files that are never left half-written.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use cycloid_profiler::OutputFile;

use crate::{Failure, Stop};

/// Writes `text` to stdout.
///
/// # Errors
/// [`Stop::Shown`] if the reader has closed stdout; [`Stop::Failed`] for other errors.
pub fn print(text: &str) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Stop::Shown,
        _ => Stop::Failed(Failure::new(
            format!("cannot write to stdout: {error}"),
            "check where stdout goes: the disk may be full",
        )),
    })
}

/// A file to be written at the end of a long run.
pub struct Destination(OutputFile);

impl Destination {
    /// Checks that the file at `path` is writable, as far as possible.
    ///
    /// # Errors
    /// [`Stop::Failed`] if it is not.
    pub fn new(path: &Path) -> Result<Self, Stop> {
        Ok(Self(OutputFile::new(path)?))
    }

    /// Replaces the file as a whole.
    ///
    /// # Errors
    /// [`Stop::Failed`] if that fails; an existing file is unchanged then.
    pub fn write(&self, text: &str) -> Result<(), Stop> {
        Ok(self.0.write(text)?)
    }
}
