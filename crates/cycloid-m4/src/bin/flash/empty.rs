//! Nothing: the size that every program has.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use cycloid_m4::semihosting;

#[entry]
fn main() -> ! {
    black_box(());
    semihosting::exit(true)
}
