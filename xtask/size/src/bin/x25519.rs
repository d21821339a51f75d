//! X25519: loads a key, computes its public key, and agrees on a secret.

use std::hint::black_box;

use cycloid::scheme::x25519::{Error, PrivateKey};

const KEY: &str =
    include_str!("../../../../crates/cycloid/tests/data/key_files/certtool-x25519.pem");

fn main() -> Result<(), Error> {
    let key = PrivateKey::from_pem(black_box(KEY))?;
    let public = key.public_key();
    black_box(key.agree(black_box(&public))?);
    Ok(())
}
