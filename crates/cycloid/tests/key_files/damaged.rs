//! Damaged files: an error or the same key, never a panic.

use cycloid::key_file::{self, Error};

use crate::file;

/// One file of each format.
const FILES: [&str; 9] = [
    "openssl-p256.pem",
    "openssl-ed25519.der",
    "openssl-p256-sec1.der",
    "openssl-dh-pkcs3.pem",
    "openssl-p256.crt.der",
    "openssl-ed25519.pub.pem",
    "ssh-keygen-ed25519",
    "ssh-keygen-p256.pub",
    "p-384.jwk",
];

#[test]
fn truncated_and_flipped_files() {
    for name in FILES {
        let right = file(name);
        let read = |bytes: &[u8]| {
            let _ = key_file::read_private(bytes);
            let _ = key_file::read_public(bytes);
        };
        for at in 0..right.len() {
            read(&right[..at]);
            let mut wrong = right.clone();
            wrong[at] ^= 1 << (at % 8);
            read(&wrong);
            wrong[at] = 0xff;
            read(&wrong);
        }
    }
}

#[test]
fn damaged_encrypted_files() {
    // A passphrase cannot tell damage in the encrypted part from a wrong passphrase.
    for name in ["openssl-traditional-p256.pem", "ssh-keygen-aes256-cbc"] {
        let right = file(name);
        for at in (0..right.len()).step_by(7) {
            let mut wrong = right.clone();
            wrong[at] ^= 2;
            if let Ok(key) = key_file::read_private_with_passphrase(&wrong, b"cycloid") {
                let same = key_file::read_private_with_passphrase(&right, b"cycloid").unwrap();
                assert_eq!(key.public_key(), same.public_key(), "{name} at {at}");
            }
        }
    }
}

#[test]
fn costly_derivations_are_refused() {
    let change = |name: &str, from: &[u8], to: &[u8]| {
        use base64ct::{Base64, Encoding};
        let text = String::from_utf8(file(name)).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let body = lines[1..lines.len() - 1].concat();
        let mut der = Base64::decode_vec(&body).unwrap();
        let at = der.windows(from.len()).position(|window| window == from).unwrap();
        der[at..][..to.len()].copy_from_slice(to);
        let text =
            format!("{}\n{}\n{}\n", lines[0], Base64::encode_string(&der), lines[lines.len() - 1]);
        key_file::read_private_with_passphrase(text.as_bytes(), b"cycloid").unwrap_err()
    };
    // N = 1024 with r = 8; r = 8 becomes 127, and N stays, which is allowed but wrong.
    let scrypt = "openssl-encrypted-scrypt.pem";
    let parameters = [2, 2, 4, 0, 2, 1, 8, 2, 1, 1];
    assert_eq!(change(scrypt, &parameters, &[2, 2, 4, 0, 2, 1, 127, 2, 1, 1]), Error::Passphrase);
    assert_eq!(change(scrypt, &parameters, &[2, 2, 4, 0, 2, 1, 8, 2, 1, 17]), Error::Costly);
    // Two rounds of bcrypt, after a salt of sixteen bytes, become 2^31 + 2.
    let openssh = "ssh-keygen-ed25519-encrypted";
    let mut kdf = b"bcrypt\0\0\0\x18\0\0\0\x10".to_vec();
    let at = kdf.len() + 16;
    let text = String::from_utf8(file(openssh)).unwrap();
    let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    use base64ct::{Base64, Encoding};
    let mut der = Base64::decode_vec(&body).unwrap();
    let start = der.windows(kdf.len()).position(|window| window == kdf).unwrap();
    kdf.clear();
    der[start + at] = 0x80;
    let label = "OPENSSH PRIVATE KEY";
    let body = Base64::encode_string(&der);
    let text = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
    let outcome = key_file::read_private_with_passphrase(text.as_bytes(), b"cycloid");
    assert_eq!(outcome.unwrap_err(), Error::Costly);
}
