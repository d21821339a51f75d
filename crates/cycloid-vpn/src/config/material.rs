//! Keys, certificates and passwords: in a file of their own, or in a block of the configuration.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use zeroize::Zeroizing;

/// The largest file of keys or certificates, in bytes.
const MAX_MATERIAL: u64 = 16 << 20;

/// Bytes that are, or may be, a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Material {
    /// In a file, relative to the process's directory.
    File(PathBuf),
    /// In the configuration itself.
    Inline(Zeroizing<Vec<u8>>),
}

impl Material {
    /// The bytes, read at once.
    ///
    /// # Errors
    /// The file's; one of more than 16 MiB is [`io::ErrorKind::FileTooLarge`].
    pub fn read(&self) -> io::Result<Zeroizing<Vec<u8>>> {
        let path = match self {
            Self::Inline(bytes) => return Ok(bytes.clone()),
            Self::File(path) => path,
        };
        let file = File::open(path)?;
        let length = file.metadata()?.len().min(MAX_MATERIAL);
        // One byte more than it has, so that the end is seen without growing.
        let room = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)? + 1;
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        file.take(MAX_MATERIAL + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_MATERIAL {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    /// The file, if it is in one.
    pub fn path(&self) -> Option<&std::path::Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Inline(_) => None,
        }
    }
}

/// Says where it is, never what.
impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Inline(_) => f.write_str("Inline(…)"),
        }
    }
}

impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Inline(_) => f.write_str("the block in this file"),
        }
    }
}
