//! Key pairs and agreement by X25519.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use cycloid::scheme::x25519::PrivateKey;
use cycloid_m4::semihosting;

#[entry]
fn main() -> ! {
    let key = PrivateKey::from(black_box([1; 32]));
    black_box(key.public_key());
    let _ = black_box(key.agree(&black_box([2; 32])));
    semihosting::exit(true)
}
