//! Tells a process from its forked children without a system call, for a check in every function.
//!
//! The number of the process is in a page that the kernel empties in a child (`MADV_WIPEONFORK`,
//! since Linux 4.14). Without such a page, the kernel is asked.

#![allow(unsafe_code)]

use std::process;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// The size of the mapping, which the kernel rounds up to a page.
const SIZE: usize = size_of::<AtomicU32>();

/// The page, once it is mapped. Nobody unmaps it.
static PAGE: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

/// Returns the number of the calling process.
pub(crate) fn current() -> u32 {
    // SAFETY: null, or a page of zeros or a number that `map` left there for good.
    let Some(number) = (unsafe { PAGE.load(Ordering::Acquire).as_ref() }) else {
        return process::id();
    };
    match number.load(Ordering::Relaxed) {
        // The first call in this process.
        0 => {
            let id = process::id();
            number.store(id, Ordering::Relaxed);
            id
        }
        id => id,
    }
}

/// Maps the page, unless it is there or the kernel has no such pages. A thread that does so at the
/// same time is not waited for: it could be one of the parent's.
pub(crate) fn map() {
    if !PAGE.load(Ordering::Acquire).is_null() {
        return;
    }
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a new mapping, at an address of the kernel's choice, replaces nothing.
    let Ok(page) = (unsafe { mmap_anonymous(null_mut(), SIZE, protection, flags) }) else {
        return;
    };
    // SAFETY: the page was mapped above, and the advice does not change what it contains now.
    let wiped = unsafe { madvise(page, SIZE, Advice::LinuxWipeOnFork) }.is_ok();
    let new = page.cast::<AtomicU32>();
    let (release, acquire) = (Ordering::AcqRel, Ordering::Acquire);
    if !wiped || PAGE.compare_exchange(null_mut(), new, release, acquire).is_err() {
        // SAFETY: the page was mapped above, and nobody else knows it.
        let _ = unsafe { munmap(page, SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_that_of_the_process_and_not_that_of_its_parent() {
        assert_eq!(current(), process::id());
        map();
        map();
        assert!(!PAGE.load(Ordering::Acquire).is_null());
        assert_eq!(current(), process::id());
        assert_eq!(current(), process::id());
        // SAFETY: the child calls functions that take no lock, and ends.
        match unsafe { libc::fork() } {
            0 => {
                let right = current() == process::id() && current() != parent();
                // SAFETY: it ends the child without running anything of the parent's.
                unsafe { libc::_exit(if right { 7 } else { 8 }) }
            }
            child => {
                let mut status = 0;
                // SAFETY: `status` is writable.
                assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
                assert!(libc::WIFEXITED(status));
                assert_eq!(libc::WEXITSTATUS(status), 7);
            }
        }
    }

    fn parent() -> u32 {
        std::os::unix::process::parent_id()
    }
}
