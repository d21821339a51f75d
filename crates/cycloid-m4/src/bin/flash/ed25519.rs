//! Signing and verification by Ed25519.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use cycloid::scheme::ed25519::{SigningKey, VerifyingKey};
use cycloid_m4::semihosting;

#[entry]
fn main() -> ! {
    let message = black_box([3; 32]);
    let key = SigningKey::from_seed(&black_box([1; 32]));
    black_box(key.sign(&message));
    if let Ok(key) = VerifyingKey::new(&black_box([2; 32])) {
        let _ = black_box(key.verify(&message, &black_box([5; 64])));
    }
    semihosting::exit(true)
}
