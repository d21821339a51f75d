//! Signing and verification on P-256, from a private key and a public key as bytes.

#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use cycloid::scheme::Hash;
use cycloid::scheme::ec::{P256, PrivateKey, PublicKey};
use cycloid::scheme::ecdsa::Signature;
use cycloid_m4::semihosting;

#[entry]
fn main() -> ! {
    let message = black_box([3; 32]);
    if let Ok(key) = PrivateKey::<P256>::from_bytes(&black_box([1; 32])) {
        black_box(key.sign(Hash::Sha256, &message));
    }
    if let (Ok(key), Ok(signature)) = (
        PublicKey::<P256>::from_uncompressed(&black_box([4; 65])),
        Signature::from_fixed(&black_box([5; 64])),
    ) {
        let _ = black_box(key.verify(Hash::Sha256, &message, &signature));
    }
    semihosting::exit(true)
}
