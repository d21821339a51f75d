//! Wiping by frames of the compiler's own making, for processors without a form in assembly.

use core::hint::black_box;

/// Bytes of one frame that is overwritten.
const FRAME: usize = 1024;

/// Overwrites at least `bytes` of the stack below this call. Registers are left to what follows.
#[inline(never)]
pub fn wipe(bytes: usize) {
    let mut frame = [0_u8; FRAME];
    black_box(&mut frame);
    if bytes > FRAME {
        wipe(bytes - FRAME);
    }
    // Keeps the frame until here, so that the call is made below it.
    black_box(&mut frame);
}
