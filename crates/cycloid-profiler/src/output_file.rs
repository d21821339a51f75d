//! A file that is written at the end of a run and is never left half-written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// A writable file.
pub struct OutputFile {
    path: PathBuf,
}

impl OutputFile {
    /// Checks at the start of a run that `path` is writable, as far as possible.
    ///
    /// # Errors
    /// [`Error::Output`] if it is not.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let existed = path.exists();
        let opened = OpenOptions::new().append(true).create(true).open(path);
        opened.map_err(|error| Error::Output(path.into(), error))?;
        if !existed {
            // A run that is stopped leaves no empty file.
            let _ = fs::remove_file(path);
        }
        Ok(Self { path: path.into() })
    }

    /// Writes `text` to a new file next to the path and renames that file.
    ///
    /// # Errors
    /// [`Error::Output`] if that fails; an existing file is unchanged then.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        self.replace(text).map_err(|error| Error::Output(self.path.clone(), error))
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        // A special file, such as /dev/stdout, is written to and not replaced.
        if self.path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return fs::write(&self.path, text);
        }
        let (mut file, part) = self.part()?;
        let written = file.write_all(text.as_bytes()).and_then(|()| {
            file.sync_all()?;
            fs::rename(&part, &self.path)
        });
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// Makes a file of a name that nobody uses, next to the path.
    fn part(&self) -> io::Result<(File, PathBuf)> {
        let process = std::process::id();
        let mut number = 0;
        loop {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{process}-{number}.part"));
            match File::create_new(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                made => return made.map(|file| (file, name.into())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("samples");
        let file = OutputFile::new(&path).unwrap();
        assert!(!path.exists());
        // Files of others with such names stay.
        let other = format!("samples.{}-0.part", std::process::id());
        for name in ["samples.part", &other] {
            fs::write(directory.path().join(name), "another file").unwrap();
        }
        for text in ["first", "2nd"] {
            file.write(text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        for name in ["samples.part", &other] {
            assert_eq!(fs::read_to_string(directory.path().join(name)).unwrap(), "another file");
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_missing_directory_is_reported_at_the_start() {
        let directory = tempfile::tempdir().unwrap();
        let error = OutputFile::new(&directory.path().join("no/samples")).err().unwrap();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
        assert_eq!(error.hint(), "make the directory first, or name another file");
    }
}
