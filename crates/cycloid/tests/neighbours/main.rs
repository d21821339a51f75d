//! Small programs with the crates that people use keys with: certificates, tokens, SSH signatures.
//! Each output is checked by another program or against a standard's example.

#[path = "../support/mod.rs"]
mod support;

mod bls12_381_groups;
mod certificate;
mod documents;
mod hash_functions;
mod serialized;
mod ssh;
mod token;

/// Writes a file to the tests' own directory and returns its path.
fn temporary(name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = format!("{}/neighbours-{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, contents).unwrap();
    path
}

/// The RSA key of the tests.
fn rsa_key() -> cycloid::scheme::rsa::KeyPair {
    cycloid::scheme::rsa::KeyPair::from_pem(include_str!("../data/rsa/2048.pem")).unwrap()
}
