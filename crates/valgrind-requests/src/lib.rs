//! What a program that runs under valgrind may ask of it, in valgrind's own encoding of client
//! requests. On the processor itself they do nothing.

/// Whether this program runs under valgrind.
pub fn is_running() -> bool {
    request(0x1001, [0; 3]) != 0
}

/// Whether memcheck takes a bit of `memory` for undefined.
pub fn is_undefined<T>(memory: &[T]) -> bool {
    let mut bits = vec![0_u8; size_of_val(memory)];
    // Memcheck's request GET_VBITS: source, destination, length.
    let answer =
        request(0x4d43_0008, [memory.as_ptr() as usize, bits.as_mut_ptr() as usize, bits.len()]);
    answer == 1 && bits.iter().any(|bits| *bits != 0)
}

/// Requests to callgrind.
pub mod callgrind {
    use std::ffi::CStr;

    use super::request;

    /// Begins to watch instructions; until then, where it was started so, the program is only
    /// translated, which takes far less time.
    pub fn start() {
        request(0x4354_0004, [0; 3]);
    }

    /// Ends what [`start`] begins.
    pub fn stop() {
        request(0x4354_0005, [0; 3]);
    }

    /// Begins to count what is watched, or ends it.
    pub fn toggle_collecting() {
        request(0x4354_0002, [0; 3]);
    }

    /// Writes what was counted to a file that says `name`, and forgets it.
    pub fn dump(name: &CStr) {
        request(0x4354_0003, [name.as_ptr() as usize, 0, 0]);
    }
}

#[cfg(target_arch = "x86_64")]
fn request(code: usize, [a, b, c]: [usize; 3]) -> usize {
    let arguments = [code, a, b, c, 0, 0];
    let answer: usize;
    // SAFETY: the rotations of rdi add up to 128 bits, so every register keeps its value but rdx,
    // which is declared; what valgrind writes to, in one of these requests, is a buffer of that length.
    unsafe {
        core::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") 0_usize => answer,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(target_arch = "x86_64"))]
fn request(_code: usize, _arguments: [usize; 3]) -> usize {
    0
}
