//! Verification of RSA signatures: PKCS #1 v1.5, SHA-256, 2048 bits.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, PublicKey};
use cycloid_m4::semihosting;

const BITS: usize = 2048;

#[entry]
fn main() -> ! {
    let modulus = black_box([1; BITS / 8]);
    let memory = [0; rsa::public_key_limbs(BITS)];
    let mut scratch = [0; rsa::verify_scratch_limbs(BITS)];
    if let Ok(key) = PublicKey::new(&modulus, &[1, 0, 1], memory, &mut scratch) {
        let signature = black_box([2; BITS / 8]);
        let message = black_box([3; 32]);
        let _ = black_box(key.verify_pkcs1v15(Hash::Sha256, &message, &signature, &mut scratch));
    }
    semihosting::exit(true)
}
