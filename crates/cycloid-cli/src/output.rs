//! Writing results: to stdout, and into files that are whole or not there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use cycloid_lab::Failure;

/// Why the program ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The arguments make no sense.
    Usage(Failure),
    /// Something else failed.
    Failed(Failure),
    /// What was asked for has been shown.
    Shown,
    /// What was compared has become slower, and that has been shown.
    Slower,
    /// Ctrl-C; what was finished by then has been shown.
    Interrupted,
    /// The reader of stdout has closed it, which is no failure.
    ReaderGone,
}

/// Writes `text` to stdout.
pub(crate) fn print(text: &str) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Stop::ReaderGone,
        _ => Stop::Failed(Failure::new(
            format!("cannot write to stdout: {error}"),
            "nothing is lost with --save FILE",
        )),
    })
}

/// A file that is to be written at the end of a long run, and that can be, as far as can be told
/// at its start.
pub(crate) struct Destination {
    path: PathBuf,
}

impl Destination {
    pub(crate) fn new(path: &Path) -> Result<Self, Stop> {
        let existed = path.exists();
        let opened = OpenOptions::new().append(true).create(true).open(path);
        opened.map_err(|error| cannot_write(path, &error))?;
        if !existed {
            // Nothing stays behind if the run is stopped.
            let _ = fs::remove_file(path);
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Puts `text` there: first beside it, then in its place, so that it is never half there.
    pub(crate) fn write(&self, text: &str) -> Result<(), Stop> {
        let beside = {
            let mut name = self.path.clone().into_os_string();
            name.push(".part");
            PathBuf::from(name)
        };
        // What is no ordinary file, such as /dev/stdout, is written into, not replaced.
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
