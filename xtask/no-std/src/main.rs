//! An exponentiation in a program without std and without an allocator.
//!
//! The exit status is 0 if the result is correct. The C library is linked only for the entry point
//! and for `memcpy`.

#![no_std]
#![no_main]

use core::panic::PanicInfo;

use cycloid::modular::{self, Error, Exponent, Modulus};

#[link(name = "c")]
unsafe extern "C" {
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: abort has no preconditions.
    unsafe { abort() }
}

/// Referenced by the precompiled `core` for unwinding, which does not happen here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Computes 7^(p − 1) mod p, which is 1 for the prime p = 2⁶⁴ − 59 (Fermat).
fn power() -> Result<u64, Error> {
    let p = [u64::MAX - 58];
    let exponent = [u64::MAX - 59];
    let (mut result, mut r_squared) = ([0], [0]);
    let mut scratch = [0; modular::pow_scratch_limbs(1, 64)];
    let modulus = Modulus::prepare(&p, &mut r_squared, &mut scratch)?;
    modular::pow(&mut result, &[7], &Exponent::new(&exponent), &modulus, &mut scratch)?;
    Ok(result[0])
}

/// The entry point, called by the C library.
#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    i32::from(power() != Ok(1))
}
