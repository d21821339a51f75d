//! Wiping by compiler-generated frames, for processors without an assembly version.

use core::hint::black_box;

/// Bytes per overwritten frame.
const FRAME: usize = 1024;

/// Overwrites at least `bytes` of the stack below this call. Does not clear registers.
#[inline(never)]
pub fn wipe(bytes: usize) {
    let mut frame = [0_u8; FRAME];
    black_box(&mut frame);
    if bytes > FRAME {
        wipe(bytes - FRAME);
    }
    // Keeps the frame alive until here, so that the call runs below it.
    black_box(&mut frame);
}
