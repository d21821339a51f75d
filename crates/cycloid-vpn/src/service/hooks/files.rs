//! Files for exchanging data with scripts. Their names are unguessable, only the owner can read
//! them, and drop removes them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Maximum number of bytes read from a script's file.
const MAX_SCRIPT_OUTPUT: u64 = 64 * 1024;

/// A file that is removed on drop.
#[derive(Debug)]
pub(super) struct Exchange {
    path: PathBuf,
}

impl Exchange {
    /// Creates a file with `contents`; its name begins with `name`.
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

    /// Returns the script's output. Empty if it is too large, not text, or no longer a regular
    /// file.
    pub(super) fn text(&self) -> String {
        let text = || -> io::Result<String> {
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
            let file: File = OpenOptions::new().read(true).custom_flags(flags).open(&self.path)?;
            let metadata = file.metadata()?;
            if !metadata.is_file() || metadata.len() > MAX_SCRIPT_OUTPUT {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let mut text = String::new();
            file.take(MAX_SCRIPT_OUTPUT).read_to_string(&mut text)?;
            Ok(text)
        };
        text().unwrap_or_default()
    }

    /// Returns the first character that the script wrote.
    pub(super) fn verdict(&self) -> Option<char> {
        self.text().chars().next()
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
