//! The corpus: each file gives what its table says.

use cycloid::key_file::{self, PrivateKey};

use crate::{described, file, pkcs8};

#[test]
fn every_file_gives_what_the_table_says() {
    let table = String::from_utf8(file("expected.tsv")).unwrap();
    let mut wrong = Vec::new();
    for row in table.lines() {
        let fields: Vec<_> = row.split('\t').collect();
        let [name, role, passphrase, expected] = fields[..] else { panic!("{row}") };
        let bytes = file(name);
        let private = |passphrase| match passphrase {
            "-" => key_file::read_private(&bytes),
            passphrase => key_file::read_private_with_passphrase(&bytes, passphrase.as_bytes()),
        };
        let outcome = match role {
            "private" => private(passphrase).map(|key| {
                comes_back(&key);
                described(&key.public_key())
            }),
            _ => key_file::read_public(&bytes).map(|key| described(&key)),
        };
        let outcome = outcome.unwrap_or_else(|error| format!("error: {error}"));
        if outcome != expected {
            wrong.push(format!("{name} as {role}:\n  {outcome}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(table.lines().count() > 250);
}

/// Checks that a written key is read as the same key, and that nothing secret is printed.
fn comes_back(key: &PrivateKey) {
    let Some(written) = pkcs8(key) else { return };
    let again = key_file::read_private(&written).unwrap();
    assert_eq!(again.public_key(), key.public_key());
    assert_eq!(pkcs8(&again).unwrap(), written);
    assert!(format!("{key:?}").len() < 400, "{key:?}");
}

#[test]
fn a_passphrase_for_a_plain_file_is_not_needed() {
    for name in ["openssl-p256.pem", "ssh-keygen-ed25519", "p-256.jwk", "openssl-rsa.der"] {
        let plain = key_file::read_private(&file(name)).unwrap();
        let key = key_file::read_private_with_passphrase(&file(name), b"any").unwrap();
        assert_eq!(key.public_key(), plain.public_key());
    }
}
