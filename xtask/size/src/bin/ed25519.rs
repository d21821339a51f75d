//! Ed25519: loads a key, signs a message, and verifies the signature.

use std::hint::black_box;

use cycloid::scheme::ed25519::{Error, SigningKey};

const KEY: &str =
    include_str!("../../../../crates/cycloid/tests/data/key_files/certtool-ed25519.pem");

fn main() -> Result<(), Error> {
    let key = SigningKey::from_pem(black_box(KEY))?;
    let message = black_box(b"message");
    let signature = key.sign(message);
    key.verifying_key().verify(message, black_box(&signature))
}
