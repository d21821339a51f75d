//! 3⁵ on the library's limbs, in a program without std and without an allocator.
//!
//! It ends with 0 if the result is right. The C library is linked for the entry point and for
//! `memcpy`, nothing else.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use cycloid::machine::words::{Backend, Task, Words};

#[link(name = "c")]
unsafe extern "C" {
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: abort has no preconditions.
    unsafe { abort() }
}

struct FifthPower;

impl Task for FifthPower {
    type Output = u64;

    fn run<W: Words>(self, words: W) -> u64 {
        let mut square = [0; 2];
        words.square(&mut square, &[3]);
        let mut fourth = [0; 4];
        words.square(&mut fourth, &square);
        let mut fifth = [0; 5];
        words.mul(&mut fifth, &fourth, &[3]);
        fifth[0]
    }
}

/// The entry point that the C library calls.
#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    i32::from(Backend::best().run(FifthPower) != 243)
}
