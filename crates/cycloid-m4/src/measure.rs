//! Marks for the plugin, and the depth of the stack.

use core::arch::asm;

/// Bytes of stack that are painted below an operation.
const PAINTED: usize = 96 << 10;

/// The paint: a word that an operation hardly writes.
const PAINT: u32 = 0xc0de_57ac;

/// Runs an operation between the plugin's marks; returns its result and the bytes of stack that it
/// used, from this function's frame down to the lowest word that changed.
#[inline(never)]
pub fn count<T>(operation: impl FnOnce() -> T) -> (T, usize) {
    let top = paint();
    // SAFETY: a hint changes nothing.
    unsafe { asm!("dbg #1") };
    let result = operation();
    // SAFETY: as above.
    unsafe { asm!("dbg #2") };
    (result, used(top))
}

/// Bytes between the stack pointer while painting and the highest painted word, which hold the
/// frame of that function.
const MARGIN: usize = 64;

/// Paints the stack below the caller's frame and returns the address above the highest painted
/// word.
#[inline(never)]
fn paint() -> usize {
    let top = (stack_pointer() & !3) - MARGIN;
    for address in (top - PAINTED..top).step_by(4) {
        // SAFETY: this is unused stack: the memory has 4 MB, and interrupts are off.
        unsafe { (address as *mut u32).write_volatile(PAINT) };
    }
    top
}

/// Returns how far below `top` the paint is gone.
#[inline(never)]
fn used(top: usize) -> usize {
    let lowest = (top - PAINTED..top).step_by(4).find(|address| {
        // SAFETY: the words that `paint` has written.
        unsafe { (*address as *const u32).read_volatile() != PAINT }
    });
    lowest.map_or(0, |lowest| top + MARGIN - lowest)
}

#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack)) };
    pointer
}
