//! P-256: loads a key, signs a message, and verifies the signature.

use std::hint::black_box;

use cycloid::scheme::Hash;
use cycloid::scheme::ec::{Error, P256, PrivateKey};

const KEY: &str = include_str!("../../../../crates/cycloid/tests/data/rsa/p256.pem");

fn main() -> Result<(), Error> {
    let key = PrivateKey::<P256>::from_pem(black_box(KEY))?;
    let message = black_box(b"message");
    let signature = key.sign(Hash::Sha256, message);
    key.public_key().verify(Hash::Sha256, message, black_box(&signature))
}
