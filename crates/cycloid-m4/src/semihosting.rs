//! Output, arguments and the end of the program, by requests to the debugger, here QEMU (Arm
//! Semihosting, version 3).

use core::arch::asm;

const WRITE0: usize = 0x04;
const GET_CMDLINE: usize = 0x15;
const EXIT: usize = 0x18;

/// `ADP_Stopped_ApplicationExit` and `ADP_Stopped_RunTimeErrorUnknown`.
const SUCCESS: usize = 0x20026;
const FAILURE: usize = 0x20023;

/// Makes a request.
///
/// # Safety
/// `argument` is as the request demands.
unsafe fn request(number: usize, argument: usize) -> usize {
    let mut result = number;
    // SAFETY: the caller guarantees the argument; the debugger changes r0, and memory that the
    // argument points to.
    unsafe { asm!("bkpt 0xab", inout("r0") result, in("r1") argument, options(nostack)) };
    result
}

/// Writes a text to the standard output of QEMU.
pub fn write(text: &str) {
    for part in text.as_bytes().chunks(255) {
        let mut terminated = [0; 256];
        terminated[..part.len()].copy_from_slice(part);
        // SAFETY: the request reads a text that ends with a zero byte.
        unsafe { request(WRITE0, terminated.as_ptr() as usize) };
    }
}

/// Writes a number in decimal digits.
pub fn write_number(number: u32) {
    let (mut digits, mut rest) = ([0; 10], number);
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    write(core::str::from_utf8(&digits[start..]).unwrap_or_default());
}

/// Returns the program's arguments: what follows the first `arg=` of QEMU's option
/// `-semihosting-config`, all of them separated by spaces.
pub fn arguments(memory: &mut [u8; 1024]) -> &str {
    let block = [memory.as_mut_ptr() as usize, memory.len()];
    // SAFETY: the request writes at most so many bytes to the memory, and the length to the block.
    let failed = unsafe { request(GET_CMDLINE, block.as_ptr() as usize) } != 0;
    // SAFETY: the debugger has written to the block.
    let length = unsafe { block.as_ptr().add(1).read_volatile() };
    if failed { "" } else { core::str::from_utf8(&memory[..length]).unwrap_or_default() }
}

/// Ends the program, and QEMU with status 0 or 1.
pub fn exit(success: bool) -> ! {
    let reason = if success { SUCCESS } else { FAILURE };
    loop {
        // SAFETY: the request takes a number.
        unsafe { request(EXIT, reason) };
    }
}
