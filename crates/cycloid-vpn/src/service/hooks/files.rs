//! Files between this process and a script: they have names that nobody can guess, are readable to
//! nobody else, and go with their owner.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The most that is read of what a script wrote, in bytes.
const MOST: u64 = 64 * 1024;

/// A file that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Exchange {
    path: PathBuf,
}

impl Exchange {
    /// Makes a file with `contents`; its name begins with `name`.
    pub(super) fn new(directory: &Path, name: &str, contents: &[&[u8]]) -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let path = directory.join(format!("{name}_{:032x}.tmp", u128::from_be_bytes(random)));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let exchange = Self { path };
        contents.iter().try_for_each(|part| file.write_all(part))?;
        Ok(exchange)
    }

    pub(super) fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// What the script wrote; nothing if that is too much, no text, or no file any more.
    pub(super) fn text(&self) -> String {
        let text = || -> io::Result<String> {
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
            let file: File = OpenOptions::new().read(true).custom_flags(flags).open(&self.path)?;
            let metadata = file.metadata()?;
            if !metadata.is_file() || metadata.len() > MOST {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut text = String::new();
            file.take(MOST).read_to_string(&mut text)?;
            Ok(text)
        };
        text().unwrap_or_default()
    }

    /// The first character that the script wrote.
    pub(super) fn verdict(&self) -> Option<char> {
        self.text().chars().next()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
