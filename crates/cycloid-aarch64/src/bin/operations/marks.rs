//! Marks for the plugin, which counts the instructions between two: hints that a processor ignores.

use std::arch::asm;

/// Begins a counted region.
#[inline(always)]
pub fn begin() {
    // SAFETY: hints without a meaning are NOPs.
    unsafe { asm!("hint #100", options(nostack, preserves_flags)) }
}

/// Ends it.
#[inline(always)]
pub fn end() {
    // SAFETY: hints without a meaning are NOPs.
    unsafe { asm!("hint #101", options(nostack, preserves_flags)) }
}
