//! Keys, certificates and passwords, from a file or an inline block.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use zeroize::Zeroizing;

/// The largest key or certificate file, in bytes.
const MAX_MATERIAL: u64 = 16 << 20;

/// Bytes that may be secret, by their source.
#[derive(Clone, PartialEq, Eq)]
pub enum Material {
    /// A file, relative to the process's working directory.
    File(PathBuf),
    /// A block in the configuration.
    Inline(Zeroizing<Vec<u8>>),
}

impl Material {
    /// Reads the bytes.
    ///
    /// # Errors
    /// I/O errors; a file larger than 16 MiB is [`io::ErrorKind::FileTooLarge`].
    pub fn read(&self) -> io::Result<Zeroizing<Vec<u8>>> {
        let path = match self {
            Self::Inline(bytes) => return Ok(bytes.clone()),
            Self::File(path) => path,
        };
        let file = File::open(path)?;
        let length = file.metadata()?.len().min(MAX_MATERIAL);
        // One extra byte, so that the read sees the end of the file without reallocating.
        let room = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)? + 1;
        let mut bytes = Zeroizing::new(Vec::with_capacity(room));
        file.take(MAX_MATERIAL + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_MATERIAL {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
    }

    /// Returns the path, if the source is a file.
    pub fn path(&self) -> Option<&std::path::Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Inline(_) => None,
        }
    }
}

/// Shows the source, never the secret.
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
