//! Key files of every format, as other programs write them.

#![cfg(all(feature = "alloc", feature = "encoding"))]

#[cfg(all(feature = "encryption", feature = "jwk", feature = "openssh"))]
mod corpus;
mod custom_groups;
#[cfg(all(feature = "encryption", feature = "jwk", feature = "openssh"))]
mod damaged;
#[cfg(all(feature = "encryption", feature = "openssh"))]
mod exchange;

use cycloid::key_file::{PrivateKey, PublicKey};
use cycloid::scheme::{ed25519, x25519};
use sha2::{Digest, Sha256};

/// Returns the contents of a file of the corpus.
fn file(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/key_files/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns SubjectPublicKeyInfo, for the kinds of keys that Cycloid writes.
fn spki(key: &PublicKey) -> Option<Vec<u8>> {
    let mut room = [0; 256];
    let written = match key {
        PublicKey::Rsa(key) => return Some(key.to_spki_der()),
        PublicKey::Nist(key) => key.to_spki_der(&mut room).unwrap(),
        PublicKey::Ed25519(key) => key.to_der(&mut room).unwrap(),
        PublicKey::X25519(key) => x25519::public_key_to_der(key, &mut room).unwrap(),
        _ => return None,
    };
    Some(written.to_vec())
}

/// Describes a key as the corpus does: its kind, and the start of the digest of its
/// SubjectPublicKeyInfo, or of its value.
fn described(key: &PublicKey) -> String {
    let kind = match key {
        PublicKey::Rsa(_) => "RSA",
        PublicKey::Nist(key) => key.curve().name(),
        PublicKey::Ed25519(_) => "Ed25519",
        PublicKey::X25519(_) => "X25519",
        PublicKey::LegacyRsa(key) => return format!("legacy RSA {}", key.bits()),
        PublicKey::Dh(key) => return format!("DH {}", key.group().name().unwrap()),
        PublicKey::CustomDh(key) => {
            return format!("custom DH {} {}", key.parameters().bits(), digest(key.value()));
        }
        other => panic!("{other:?}"),
    };
    format!("{kind} {}", digest(&spki(key).unwrap()))
}

/// Returns the start of a digest, in hexadecimal digits.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a private key as PKCS #8, for the kinds of keys that Cycloid writes.
fn pkcs8(key: &PrivateKey) -> Option<Vec<u8>> {
    let mut room = [0; 512];
    fn ed25519<'o>(key: &ed25519::SigningKey, room: &'o mut [u8]) -> &'o [u8] {
        key.to_der(room).unwrap()
    }
    let written = match key {
        PrivateKey::Rsa(key) => return Some(key.to_pkcs8_der().to_vec()),
        PrivateKey::Nist(key) => key.to_pkcs8_der(&mut room).unwrap(),
        PrivateKey::Ed25519(key) => ed25519(key, &mut room),
        PrivateKey::X25519(key) => key.to_der(&mut room).unwrap(),
        _ => return None,
    };
    Some(written.to_vec())
}
