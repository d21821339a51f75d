//! Work in a child process, so that the heap of this one does not depend on its secrets.

use std::ptr;
use std::slice;

/// Runs `work` in a process of its own, and returns its result of `length` bytes.
pub(crate) fn in_child_process(length: usize, work: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    // SAFETY: a fresh mapping, shared with the child; this process has only one thread, so the
    // child may call any function.
    unsafe {
        let (access, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        let shared = libc::mmap(ptr::null_mut(), length, access, flags, -1, 0);
        assert!(shared != libc::MAP_FAILED, "cannot allocate shared memory");
        let bytes = slice::from_raw_parts_mut(shared.cast::<u8>(), length);
        let process = libc::fork();
        assert!(process >= 0, "cannot fork");
        if process == 0 {
            bytes.copy_from_slice(&work());
            libc::_exit(0);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(process, &raw mut status, 0), process);
        assert_eq!(status, 0, "the other process failed");
        let result = bytes.to_vec();
        libc::munmap(shared, length);
        result
    }
}
