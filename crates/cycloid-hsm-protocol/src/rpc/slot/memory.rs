//! The memory of a slot: a sealed file without a name, which two processes map.
//!
//! The other process may write anything at any time. All fields are atomic integers, for which any
//! bytes are valid, and there are no references to anything else. The seals keep the file from
//! shrinking, so no access fails.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};

/// A value in a cache line of its own.
#[repr(C, align(64))]
pub(super) struct Line<T>(pub(super) T);

/// The fields of the memory. In a new slot all are zero: there is no request, and the daemon does
/// not look.
#[repr(C)]
pub(super) struct Contents {
    /// Whose turn it is; a futex.
    pub(super) state: Line<AtomicU32>,
    /// Whether the daemon looks at the slot; the daemon writes it.
    pub(super) watched: Line<AtomicU32>,
    /// Whether the client waits in the kernel; the client writes it.
    pub(super) asleep: Line<AtomicU32>,
    /// The length in bytes of the request or the answer.
    pub(super) length: Line<AtomicU32>,
    /// The request or the answer.
    pub(super) message: Line<[AtomicU64; super::WORDS]>,
}

/// The seals of the file: its size is fixed.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

const SIZE: usize = size_of::<Contents>();

/// A mapping of the file.
pub(super) struct Memory(NonNull<Contents>);

// SAFETY: nothing belongs to one thread, and all access is atomic.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Memory {
    /// Creates a file of zeros and maps it. The file is for the other process.
    ///
    /// # Errors
    /// The kernel's errors.
    pub(super) fn create() -> io::Result<(OwnedFd, Self)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = rustix::fs::memfd_create("cycloid-hsm", flags)?;
        rustix::fs::ftruncate(&file, SIZE as u64)?;
        rustix::fs::fcntl_add_seals(&file, SEALS)?;
        let memory = Self::map(&file)?;
        Ok((file, memory))
    }

    /// Maps a file that another process has created.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if it has not the right size, or could lose it; the kernel's
    /// errors.
    pub(super) fn map(file: &OwnedFd) -> io::Result<Self> {
        let sealed = rustix::fs::fcntl_get_seals(file)?.contains(SEALS);
        if !sealed || rustix::fs::fstat(file)?.st_size != SIZE as i64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address of the kernel's choice, replaces nothing.
        let mapped = unsafe {
            rustix::mm::mmap(null_mut(), SIZE, protection, MapFlags::SHARED, file.as_fd(), 0)
        };
        let address = NonNull::new(mapped?.cast()).expect("the kernel maps nothing at zero");
        Ok(Self(address))
    }

    pub(super) const fn contents(&self) -> &Contents {
        // SAFETY: `map` mapped as many bytes there, page-aligned, until `self` is dropped; any
        // bytes are valid, and other processes may change them because they are atomics.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `map` mapped it, and no reference outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.0.as_ptr().cast(), SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_keeps_its_size_and_a_file_that_could_lose_it_is_refused() {
        let (file, _memory) = Memory::create().unwrap();
        for size in [0, 1, 2 * SIZE as u64] {
            assert!(rustix::fs::ftruncate(&file, size).is_err());
        }
        assert!(Memory::map(&file).is_ok());
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let unsealed = rustix::fs::memfd_create("test", flags).unwrap();
        rustix::fs::ftruncate(&unsealed, SIZE as u64).unwrap();
        assert!(Memory::map(&unsealed).is_err());
        let short = rustix::fs::memfd_create("test", flags).unwrap();
        rustix::fs::ftruncate(&short, 100).unwrap();
        rustix::fs::fcntl_add_seals(&short, SEALS).unwrap();
        assert!(Memory::map(&short).is_err());
    }
}
