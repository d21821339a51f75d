//! Writes results to stdout, and to files that are never left half-written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

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

/// A file to be written at the end of a long run. Whether it is writable is checked at the start,
/// as far as possible.
pub struct Destination {
    path: PathBuf,
}

impl Destination {
    /// Checks that the file at `path` is writable.
    ///
    /// # Errors
    /// [`Stop::Failed`] if it is not.
    pub fn new(path: &Path) -> Result<Self, Stop> {
        let existed = path.exists();
        let opened = OpenOptions::new().append(true).create(true).open(path);
        opened.map_err(|error| cannot_write(path, &error))?;
        if !existed {
            // No empty file stays behind if the run is stopped.
            let _ = fs::remove_file(path);
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Writes `text` to a temporary file next to the destination and renames it, so that the
    /// destination is never half-written.
    ///
    /// # Errors
    /// [`Stop::Failed`] if that fails; an existing file is unchanged then.
    pub fn write(&self, text: &str) -> Result<(), Stop> {
        let beside = {
            let mut name = self.path.clone().into_os_string();
            name.push(".part");
            PathBuf::from(name)
        };
        // A special file, such as /dev/stdout, is written into instead of replaced.
        let ordinary = self.path.metadata().map_or(true, |metadata| metadata.is_file());
        let written = if ordinary {
            File::create(&beside)
                .and_then(|mut file| {
                    file.write_all(text.as_bytes())?;
                    file.sync_all()
                })
                .and_then(|()| fs::rename(&beside, &self.path))
        } else {
            fs::write(&self.path, text)
        };
        written.map_err(|error| {
            let _ = fs::remove_file(&beside);
            cannot_write(&self.path, &error)
        })
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Stop {
    let hint = match error.kind() {
        ErrorKind::NotFound => "make the directory first, or name another file",
        _ => "name a file that you may write",
    };
    Stop::Failed(Failure::new(format!("cannot write {}: {error}", path.display()), hint))
}
