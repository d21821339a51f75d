//! Keys of RFC 8410 as DER and PEM: its examples, output, and refused inputs.

use crate::support::levels::hex;
use cycloid::scheme::ed25519::{self, Error, FormatError, SigningKey, VerifyingKey};
use cycloid::scheme::x25519::{self, PrivateKey};

/// RFC 8410, section 10.3: version 1, and version 2 with an attribute and the public key.
const PRIVATE: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
";
const WITH_ATTRIBUTES: &str = "-----BEGIN PRIVATE KEY-----
MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB
Z9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PRIVATE KEY-----
";
/// Section 10.1.
const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----
";
const SEED: &str = "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842";

fn format<T>(error: FormatError) -> Result<T, Error> {
    Err(Error::Format(error))
}

#[test]
fn examples_of_rfc_8410() {
    for pem in [PRIVATE, WITH_ATTRIBUTES] {
        let key = SigningKey::from_pem(pem).unwrap();
        assert_eq!(key.seed(), &hex(SEED));
        assert_eq!(VerifyingKey::from_pem(PUBLIC).unwrap(), *key.verifying_key());
        let mut output = [0; ed25519::PRIVATE_KEY_PEM_LENGTH];
        assert_eq!(key.to_pem(&mut output).unwrap(), PRIVATE);
        assert_eq!(key.verifying_key().to_pem(&mut output).unwrap(), PUBLIC);
    }
}

/// The form that ring wrote up to version 0.16, with the public key tagged explicitly. It is read;
/// the standard's form is written.
#[test]
fn files_of_old_versions_of_ring() {
    let text = include_str!("../data/ed25519/ring-0.16.pem");
    let key = SigningKey::from_pem(text).unwrap();
    assert_eq!(key.seed(), &hex(SEED));
    let mut output = [0; 200];
    let written = key.to_key_pair_der(&mut output).unwrap().to_vec();
    let explicit = [&[0x30, 0x53], &written[2..48], &[0xa1, 0x23, 3], &written[49..]].concat();
    assert_eq!(SigningKey::from_der(&explicit).unwrap().seed(), key.seed());
    // Similar forms are refused.
    for i in 0..explicit.len() {
        for bit in 0..8 {
            let mut changed = explicit.clone();
            changed[i] ^= 1 << bit;
            assert!(SigningKey::from_der(&changed).is_err(), "byte {i}, bit {bit}");
        }
        assert!(SigningKey::from_der(&explicit[..i]).is_err());
    }
    let mut other = explicit.clone();
    other[84] ^= 1;
    assert_eq!(SigningKey::from_der(&other).map(drop), format(FormatError::OtherPublicKey));
    // X25519 keys never had that form.
    let key = PrivateKey::from([4; 32]);
    let mut explicit = explicit;
    explicit[11] = 0x6e;
    explicit[16..48].copy_from_slice(&[4; 32]);
    explicit[53..].copy_from_slice(&key.public_key());
    assert_eq!(
        PrivateKey::from_der(&explicit).map(drop),
        Err(x25519::Error::Format(FormatError::Der))
    );
    assert_eq!(SigningKey::from_der(&explicit).map(drop), format(FormatError::Algorithm));
}

/// A public key and an encrypted key, where a private key is required.
#[test]
fn files_of_another_kind_have_their_own_errors() {
    let mut output = [0; 200];
    let signing = SigningKey::from_seed(&[4; 32]);
    let der = signing.verifying_key().to_der(&mut output).unwrap();
    assert_eq!(SigningKey::from_der(der).map(drop), format(FormatError::IsPublicKey));
    let der = x25519::public_key_to_der(&[9; 32], &mut output).unwrap();
    let refused = x25519::Error::Format(FormatError::IsPublicKey);
    assert_eq!(PrivateKey::from_der(der).map(drop), Err(refused));
    let pem = x25519::public_key_to_pem(&[9; 32], &mut output).unwrap();
    assert_eq!(PrivateKey::from_pem(pem).map(drop), Err(refused));
    // EncryptedPrivateKeyInfo begins with an algorithm as well.
    let encrypted = b"\x30\x0d\x30\x05\x06\x03\x2b\x65\x70\x04\x04\x01\x02\x03\x04";
    assert_eq!(SigningKey::from_der(encrypted).map(drop), format(FormatError::Encrypted));
    let refused = x25519::Error::Format(FormatError::Encrypted);
    assert_eq!(PrivateKey::from_der(encrypted).map(drop), Err(refused));
}

#[test]
fn written_keys_are_read_back() {
    let key = SigningKey::from_seed(&[4; 32]);
    let mut output = [0xee; 200];
    let der = key.to_der(&mut output).unwrap();
    assert_eq!(der.len(), ed25519::PRIVATE_KEY_DER_LENGTH);
    assert_eq!(SigningKey::from_der(der).unwrap().seed(), key.seed());
    let der = key.to_key_pair_der(&mut output).unwrap();
    assert_eq!(der.len(), ed25519::KEY_PAIR_DER_LENGTH);
    assert_eq!(SigningKey::from_der(der).unwrap().seed(), key.seed());
    let pem = key.to_key_pair_pem(&mut output).unwrap();
    assert_eq!(pem.len(), ed25519::KEY_PAIR_PEM_LENGTH);
    assert_eq!(SigningKey::from_pem(pem).unwrap().seed(), key.seed());
    let der = key.verifying_key().to_der(&mut output).unwrap();
    assert_eq!(der.len(), ed25519::PUBLIC_KEY_DER_LENGTH);
    assert_eq!(VerifyingKey::from_der(der).unwrap(), *key.verifying_key());

    let key = PrivateKey::from([4; 32]);
    let public = key.public_key();
    let der = key.to_der(&mut output).unwrap();
    assert_eq!(der.len(), x25519::PRIVATE_KEY_DER_LENGTH);
    assert_eq!(PrivateKey::from_der(der).unwrap().as_bytes(), &[4; 32]);
    let pem = key.to_pem(&mut output).unwrap();
    assert_eq!(pem.len(), x25519::PRIVATE_KEY_PEM_LENGTH);
    assert_eq!(PrivateKey::from_pem(pem).unwrap().as_bytes(), &[4; 32]);
    let der = x25519::public_key_to_der(&public, &mut output).unwrap();
    assert_eq!(der.len(), x25519::PUBLIC_KEY_DER_LENGTH);
    assert_eq!(x25519::public_key_from_der(der).unwrap(), public);
    let pem = x25519::public_key_to_pem(&public, &mut output).unwrap();
    assert_eq!(pem.len(), x25519::PUBLIC_KEY_PEM_LENGTH);
    assert_eq!(x25519::public_key_from_pem(pem).unwrap(), public);
}

#[test]
fn buffers_that_are_too_small_stay_as_they_are() {
    let key = SigningKey::from_seed(&[4; 32]);
    let mut output = [0xee; 200];
    for (needed, write) in [
        (48, (|key, output| key.to_der(output).map(drop)) as fn(&SigningKey, &mut [u8]) -> _),
        (83, |key, output| key.to_key_pair_der(output).map(drop)),
        (ed25519::PRIVATE_KEY_PEM_LENGTH, |key, output| key.to_pem(output).map(drop)),
        (ed25519::KEY_PAIR_PEM_LENGTH, |key, output| key.to_key_pair_pem(output).map(drop)),
        (44, |key, output| key.verifying_key().to_der(output).map(drop)),
        (ed25519::PUBLIC_KEY_PEM_LENGTH, |key, output| {
            key.verifying_key().to_pem(output).map(drop)
        }),
    ] {
        for given in [0, needed - 1] {
            let error = FormatError::OutputTooSmall { needed, given };
            assert_eq!(write(&key, &mut output[..given]), format(error));
        }
        assert_eq!(output, [0xee; 200]);
    }
}

#[test]
fn invalid_keys_are_refused() {
    let key = SigningKey::from_seed(&[4; 32]);
    let mut output = [0; 100];
    let pair = key.to_key_pair_der(&mut output).unwrap().to_vec();
    let private = key.to_der(&mut output).unwrap().to_vec();
    let public = key.verifying_key().to_der(&mut output).unwrap().to_vec();
    // With any byte changed, the file is invalid or another key, and nothing panics.
    for (der, secret_from) in [(&pair, 16), (&private, 16)] {
        for i in 0..der.len() {
            for bit in 0..8 {
                let mut changed = der.clone();
                changed[i] ^= 1 << bit;
                let read = SigningKey::from_der(&changed);
                let is_secret = (secret_from..secret_from + 32).contains(&i);
                assert!(read.is_err() || is_secret && der.len() == private.len());
            }
            assert_eq!(SigningKey::from_der(&der[..i]).map(drop), format(FormatError::Der));
        }
        let longer = [&der[..], &[0]].concat();
        assert_eq!(SigningKey::from_der(&longer).map(drop), format(FormatError::Der));
    }
    for i in 0..12 {
        let mut changed = public.clone();
        changed[i] ^= 1;
        assert!(VerifyingKey::from_der(&changed).is_err());
        assert_eq!(VerifyingKey::from_der(&public[..i]), format(FormatError::Der));
    }
    // A public key that does not match the private key.
    let mut other = pair.clone();
    other[82] ^= 1;
    assert_eq!(SigningKey::from_der(&other).map(drop), format(FormatError::OtherPublicKey));
    // A key for another algorithm.
    let mut other = pair;
    other[11] = 0x6e;
    assert_eq!(SigningKey::from_der(&other).map(drop), format(FormatError::Algorithm));
    // An encoding that is not a point.
    let mut none = public.clone();
    none[12..].copy_from_slice(&[2; 32]);
    none[12..].fill(0);
    none[12] = 2;
    assert_eq!(VerifyingKey::from_der(&none), Err(Error::PublicKey));

    let x25519 = PrivateKey::from([4; 32]);
    let der = x25519.to_der(&mut output).unwrap();
    assert_eq!(SigningKey::from_der(der).map(drop), format(FormatError::Algorithm));
    assert!(PrivateKey::from_der(&private).is_err());
    assert!(x25519::public_key_from_der(&public).is_err());
}

#[test]
fn texts_that_hold_no_key() {
    let from_pem = |pem: &str| SigningKey::from_pem(pem).map(drop);
    assert_eq!(from_pem(""), format(FormatError::Pem));
    assert_eq!(from_pem(PUBLIC), format(FormatError::IsPublicKey));
    assert_eq!(VerifyingKey::from_pem(PRIVATE), format(FormatError::PemLabel));
    assert_eq!(from_pem(&PRIVATE.replace('M', "!")), format(FormatError::Pem));
    let encrypted = PRIVATE.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    assert_eq!(from_pem(&encrypted), format(FormatError::Encrypted));
    // More than a kilobyte.
    let long = PRIVATE.replace("MC4C", &"MC4C".repeat(1000));
    assert_eq!(from_pem(&long), format(FormatError::Pem));
    // Surrounding text, and another block before it.
    let among = format!("text\n{PUBLIC}more text\n{PRIVATE}");
    assert_eq!(from_pem(&among), Ok(()));
}
