//! BLS signatures: loads a key, signs a message, and verifies the signature.

use std::hint::black_box;

use cycloid::bls12_381::signature::{MinPk, Scheme, SecretKey};
use cycloid::bls12_381::{Cycloid, Error};

fn main() -> Result<(), Error> {
    let key = SecretKey::<Cycloid, MinPk>::from_bytes(black_box(&[1; 32]))?;
    let message = black_box(b"message");
    let signature = key.sign(Scheme::Basic, message);
    key.public_key().verify(Scheme::Basic, message, black_box(&signature))
}
