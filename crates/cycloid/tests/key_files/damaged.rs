//! Damaged files: an error or the same key, never a panic.

use base64ct::{Base64, Encoding};
use cycloid::key_file::{self, Error};

use crate::file;

/// One file of each format.
const FILES: [&str; 10] = [
    "openssl-p256.pem",
    "openssl-ed25519.der",
    "openssl-p256-sec1.der",
    "openssl-dh-pkcs3.pem",
    "openssl-dh-order.pub.pem",
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
fn damage_to_authenticated_files_is_found() {
    for name in ["ssh-keygen-aes256-gcm", "ssh-keygen-chacha20-poly1305"] {
        let (label, mut bytes) = decoded(name);
        let read = |bytes: &[u8]| {
            let text = encoded(&label, bytes);
            key_file::read_private_with_passphrase(text.as_bytes(), b"cycloid").map(|_| ())
        };
        assert_eq!(read(&bytes), Ok(()));
        // The tag, and the private part in front of it.
        for at in (bytes.len() - 100..bytes.len()).step_by(3) {
            bytes[at] ^= 1;
            assert_eq!(read(&bytes), Err(Error::Passphrase), "{name} at {at}");
            bytes[at] ^= 1;
        }
        let damaged = Err(Error::Malformed { what: "OpenSSH private key" });
        for missing in [1, 15, 16] {
            assert_eq!(read(&bytes[..bytes.len() - missing]), damaged, "{name}");
        }
        assert_eq!(read(&[&bytes[..], &[0]].concat()), damaged, "{name}");
    }
    // A tag where the cipher has none.
    for name in ["ssh-keygen-ed25519", "ssh-keygen-aes256-cbc"] {
        let (label, bytes) = decoded(name);
        let text = encoded(&label, &[&bytes[..], &[0; 16]].concat());
        let error = key_file::read_private_with_passphrase(text.as_bytes(), b"cycloid");
        assert_eq!(error.unwrap_err(), Error::Malformed { what: "OpenSSH private key" }, "{name}");
    }
}

/// Returns the label of a file in PEM and its bytes.
fn decoded(name: &str) -> (String, Vec<u8>) {
    let text = String::from_utf8(file(name)).unwrap();
    let label = text.lines().next().unwrap().trim_matches('-').replace("BEGIN ", "");
    let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    (label, Base64::decode_vec(&body).unwrap())
}

/// Returns a file in PEM, with the body in one line.
fn encoded(label: &str, bytes: &[u8]) -> String {
    let body = Base64::encode_string(bytes);
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

#[test]
fn costly_derivations_are_refused() {
    let change = |name: &str, from: &[u8], to: &[u8]| {
        let (label, mut der) = decoded(name);
        let at = der.windows(from.len()).position(|window| window == from).unwrap();
        der[at..][..to.len()].copy_from_slice(to);
        let text = encoded(&label, &der);
        key_file::read_private_with_passphrase(text.as_bytes(), b"cycloid").unwrap_err()
    };
    // N = 1024 with r = 8; r = 8 becomes 127, and N stays, which is allowed but wrong.
    let scrypt = "openssl-encrypted-scrypt.pem";
    let parameters = [2, 2, 4, 0, 2, 1, 8, 2, 1, 1];
    assert_eq!(change(scrypt, &parameters, &[2, 2, 4, 0, 2, 1, 127, 2, 1, 1]), Error::Passphrase);
    assert_eq!(change(scrypt, &parameters, &[2, 2, 4, 0, 2, 1, 8, 2, 1, 17]), Error::Costly);
    // Two rounds of bcrypt, after a salt of sixteen bytes, become 2^31 + 2.
    let (label, mut bytes) = decoded("ssh-keygen-ed25519-encrypted");
    let start = b"bcrypt\0\0\0\x18\0\0\0\x10";
    let at = bytes.windows(start.len()).position(|window| window == start).unwrap();
    bytes[at + start.len() + 16] = 0x80;
    let text = encoded(&label, &bytes);
    let outcome = key_file::read_private_with_passphrase(text.as_bytes(), b"cycloid");
    assert_eq!(outcome.unwrap_err(), Error::Costly);
}
