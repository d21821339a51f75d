//! Questions to valgrind, in its own encoding of client requests.

/// Whether this program runs under valgrind.
pub(crate) fn is_running() -> bool {
    request(0x1001, [0; 3]) != 0
}

/// Whether memcheck takes a bit of `memory` for undefined.
pub(crate) fn is_secret<T>(memory: &[T]) -> bool {
    let mut bits = vec![0_u8; size_of_val(memory)];
    // Memcheck's request GET_VBITS: source, destination, length.
    let answer =
        request(0x4d43_0008, [memory.as_ptr() as usize, bits.as_mut_ptr() as usize, bits.len()]);
    answer == 1 && bits.iter().any(|bits| *bits != 0)
}

#[cfg(target_arch = "x86_64")]
fn request(code: usize, [a, b, c]: [usize; 3]) -> usize {
    let arguments = [code, a, b, c, 0, 0];
    let answer: usize;
    // SAFETY: the rotations of rdi add up to 128 bits, so every register keeps its value but rdx,
    // which is declared; valgrind writes to the destination, which is a buffer of that length.
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
