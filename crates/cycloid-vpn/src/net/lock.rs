//! Locks on files.

use std::fs::File;
use std::io;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// A lock on an open file. Drop unlocks explicitly: closing alone would keep the lock while a
/// forked child still has the file open.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Takes the lock. Returns `None` if another process has it.
    pub(super) fn take(file: File) -> io::Result<Option<Self>> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self(file))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the locked file.
    pub(super) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}
