//! Signing and verification by RSA: PKCS #1 v1.5, SHA-256, 2048 bits, with blinding.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{self, Context, PrivateComponents, PrivateKey};
use cycloid_m4::random::Repeatable;
use cycloid_m4::semihosting;

const BITS: usize = 2048;

#[entry]
fn main() -> ! {
    let (long, half) = (black_box([1; BITS / 8]), black_box([3; BITS / 16]));
    let components = PrivateComponents {
        modulus: &long,
        public_exponent: &[1, 0, 1],
        private_exponent: &long,
        prime1: &half,
        prime2: &half,
        exponent1: &half,
        exponent2: &half,
        coefficient: &half,
        ..PrivateComponents::default()
    };
    let memory = [0; rsa::private_key_limbs(BITS)];
    let scratch = &mut [0; rsa::private_key_scratch_limbs(BITS)];
    if let Ok(key) = PrivateKey::new(&components, memory, scratch) {
        let message = black_box([3; 32]);
        let mut signature = [0; BITS / 8];
        let memory = &mut [0; rsa::context_limbs(BITS)];
        if let Ok(mut context) = Context::new(&key, Repeatable(1), memory) {
            let _ = black_box(context.sign_pkcs1v15(Hash::Sha256, &message, &mut signature));
        }
        let scratch = &mut [0; rsa::verify_scratch_limbs(BITS)];
        let verified = key.public().verify_pkcs1v15(Hash::Sha256, &message, &signature, scratch);
        let _ = black_box(verified);
    }
    semihosting::exit(true)
}
