//! Keys written and read through the traits of `pkcs8` and `spki`, which `openssl` reads too.

use cycloid::scheme::ec::{self, P521};
use cycloid::scheme::{ed25519, nist, rsa, x25519};
use pkcs8::{DecodePrivateKey, EncodePrivateKey};
use spki::{DecodePublicKey, EncodePublicKey};

use crate::support::Generator;
use crate::support::openssl::openssl;

/// Writes a private key, has `openssl` read it, and reads it again.
fn private<K: EncodePrivateKey + DecodePrivateKey>(key: &K) -> K {
    let document = EncodePrivateKey::to_pkcs8_der(key).unwrap();
    let same = openssl("pkey -inform DER -outform DER", document.as_bytes());
    assert!(!same.is_empty());
    assert!(<K as DecodePrivateKey>::from_pkcs8_der(&document.as_bytes()[1..]).is_err());
    <K as DecodePrivateKey>::from_pkcs8_der(document.as_bytes()).unwrap()
}

fn public<K: EncodePublicKey + DecodePublicKey + PartialEq + std::fmt::Debug>(key: &K) {
    let document = key.to_public_key_der().unwrap();
    let same = openssl("pkey -pubin -inform DER -pubout -outform DER", document.as_bytes());
    assert_eq!(same, document.as_bytes());
    assert_eq!(K::from_public_key_der(&same).as_ref(), Ok(key));
    assert!(K::from_public_key_der(&same[..same.len() - 1]).is_err());
}

#[test]
fn keys_survive_as_documents() {
    let mut rng = Generator::new(1);
    let key = ec::PrivateKey::<P521>::generate(&mut rng).unwrap();
    assert_eq!(private(&key).public_key(), key.public_key());
    public(key.public_key());
    for curve in nist::Curve::ALL {
        let key = nist::PrivateKey::generate(curve, &mut rng).unwrap();
        assert_eq!(private(&key).public_key(), key.public_key());
        public(&key.public_key());
    }
    let key = ed25519::SigningKey::generate(&mut rng).unwrap();
    assert_eq!(private(&key).seed(), key.seed());
    public(key.verifying_key());
    let key = x25519::PrivateKey::generate(&mut rng).unwrap();
    assert_eq!(private(&key).as_bytes(), key.as_bytes());
    let key: rsa::KeyPair = crate::rsa_key();
    assert_eq!(private(&key).public_key(), key.public_key());
    public(key.public_key());
}
