//! Shared code of the programs on the emulated Cortex-M4: output, exit, faults, and counts.
//!
//! The processor is QEMU's. Programs write text to QEMU's standard output by semihosting; the
//! plugin `cycles.so` counts between [`measure::count`]'s marks.

#![no_std]

pub mod keys;
pub mod measure;
#[cfg(feature = "small")]
mod memory;
pub mod random;
pub mod semihosting;
pub mod vectors;

/// Ends the program with a failure. The message is not formatted: that would cost flash.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    semihosting::write("panic\n");
    semihosting::exit(false)
}

/// Ends the program with a failure at a fault.
#[cortex_m_rt::exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    semihosting::write("fault\n");
    semihosting::exit(false)
}
