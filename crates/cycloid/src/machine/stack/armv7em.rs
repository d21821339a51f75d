//! Wiping on Armv7E-M.

use core::arch::naked_asm;

/// Overwrites `bytes` of the stack below this call, rounded up to eight, from the top down, and the
/// registers of integers that a function may change.
#[inline(always)]
pub fn wipe(bytes: usize) {
    // SAFETY: a function may write below its own frame and change these registers. An interrupt
    // saves what it needs there, and has ended when this continues.
    unsafe { wipe_pairs(bytes.div_ceil(8)) };
}

/// Overwrites pairs of words below the stack pointer.
///
/// # Safety
/// The stack has as many words left.
#[unsafe(naked)]
unsafe extern "C" fn wipe_pairs(pairs: usize) {
    naked_asm!(
        "mov r1, sp",
        "mov r2, #0",
        "mov r3, #0",
        "cbz r0, 23f",
        "22:",
        "strd r2, r3, [r1, #-8]!",
        "subs r0, #1",
        "bne 22b",
        "23:",
        "mov r1, #0",
        "mov r12, #0",
        "bx lr",
    )
}
