//! Requests of a program to valgrind, in valgrind's encoding of client requests. Outside valgrind
//! they do nothing.

/// Returns whether this program runs under valgrind.
pub fn is_running() -> bool {
    request(0x1001, [0; 3]) != 0
}

/// Returns whether memcheck considers any bit of `memory` undefined.
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

    /// Starts watching instructions. Before this, if valgrind was started accordingly, the program
    /// is only translated, which is much faster.
    pub fn start() {
        request(0x4354_0004, [0; 3]);
    }

    /// Ends what [`start`] began.
    pub fn stop() {
        request(0x4354_0005, [0; 3]);
    }

    /// Turns the counting of watched instructions on or off.
    pub fn toggle_collecting() {
        request(0x4354_0002, [0; 3]);
    }

    /// Writes the counts to a file that contains `name`, and resets them.
    pub fn dump(name: &CStr) {
        request(0x4354_0003, [name.as_ptr() as usize, 0, 0]);
    }
}

#[cfg(target_arch = "x86_64")]
fn request(code: usize, [a, b, c]: [usize; 3]) -> usize {
    let arguments = [code, a, b, c, 0, 0];
    let answer: usize;
    // SAFETY: the rotations of rdi add up to 128 bits, so every register except the declared rdx
    // keeps its value. Valgrind writes only to the buffer of one of these requests, which has that
    // length.
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
