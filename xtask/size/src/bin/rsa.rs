//! RSA-2048: loads a key, signs a message with RSASSA-PSS, and verifies the signature.

use std::hint::black_box;

use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{Error, KeyPair, SignatureScheme};
use getrandom::SysRng;
use rand_core::UnwrapErr;

const KEY: &str = include_str!("../../../../crates/cycloid/tests/data/rsa/2048.pem");

fn main() -> Result<(), Error> {
    let key = KeyPair::from_pem(black_box(KEY))?;
    let scheme = SignatureScheme::pss(Hash::Sha256);
    let message = black_box(b"message");
    let signature = key.sign(scheme, message, &mut UnwrapErr(SysRng))?;
    key.public_key().verify(scheme, message, black_box(&signature))
}
