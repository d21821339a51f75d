//! Traits of `core` and `zeroize` that programs expect of keys, signatures and shared secrets.
//!
//! Public values are hashed by their encoding, so equal values have equal hashes.

use core::hash::{Hash, Hasher};

use zeroize::ZeroizeOnDrop;

use super::{ec, ecdh, ecdsa, ed25519, nist, x25519};

impl<C: ec::Curve> Hash for ec::PublicKey<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_uncompressed().hash(state);
    }
}

impl<C: ec::Curve> Hash for ecdsa::Signature<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_fixed().hash(state);
    }
}

impl Hash for ed25519::VerifyingKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

/// Reads a compressed or uncompressed point (SEC 1); see [`from_sec1`](ec::PublicKey::from_sec1).
impl<C: ec::Curve> TryFrom<&[u8]> for ec::PublicKey<C> {
    type Error = ec::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
        Self::from_sec1(bytes)
    }
}

/// Copies the public key.
impl<C: ec::Curve> From<&ec::PrivateKey<C>> for ec::PublicKey<C> {
    fn from(key: &ec::PrivateKey<C>) -> Self {
        *key.public_key()
    }
}

/// Copies the public key.
impl From<&nist::PrivateKey> for nist::PublicKey {
    fn from(key: &nist::PrivateKey) -> Self {
        key.public_key()
    }
}

/// Decodes a public key; see [`new`](ed25519::VerifyingKey::new).
impl TryFrom<[u8; 32]> for ed25519::VerifyingKey {
    type Error = ed25519::Error;

    fn try_from(encoding: [u8; 32]) -> Result<Self, Self::Error> {
        Self::new(&encoding)
    }
}

/// Copies the public key.
impl From<&ed25519::SigningKey> for ed25519::VerifyingKey {
    fn from(key: &ed25519::SigningKey) -> Self {
        *key.verifying_key()
    }
}

impl AsRef<[u8]> for ed25519::VerifyingKey {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl AsRef<[u8]> for x25519::SharedSecret {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl<C: ec::Curve> ZeroizeOnDrop for ec::PrivateKey<C> {}
impl ZeroizeOnDrop for nist::PrivateKey {}
impl ZeroizeOnDrop for ed25519::SigningKey {}
impl ZeroizeOnDrop for x25519::PrivateKey {}
impl ZeroizeOnDrop for ecdh::SharedSecret {}
impl ZeroizeOnDrop for x25519::SharedSecret {}
/// Clones share the memory, which is wiped with the last of them.
#[cfg(feature = "alloc")]
impl ZeroizeOnDrop for super::rsa::KeyPair {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::scheme;

    #[test]
    fn equal_values_are_one_entry_of_a_set() {
        let keys = [1, 2, 1].map(|byte| nist::PrivateKey::P256(key(byte)));
        let public: HashSet<_> = keys.iter().map(nist::PublicKey::from).collect();
        assert_eq!(public.len(), 2);
        let signatures: HashSet<_> =
            keys.iter().map(|key| key.sign(scheme::Hash::Sha256, b"message")).collect();
        assert_eq!(signatures.len(), 2);
        let keys = [1, 2, 1].map(|byte| ed25519::SigningKey::from_seed(&[byte; 32]));
        let public: HashSet<_> = keys.iter().map(ed25519::VerifyingKey::from).collect();
        assert_eq!(public.len(), 2);
    }

    fn key(byte: u8) -> ec::PrivateKey<ec::P256> {
        ec::PrivateKey::from_bytes(&[byte; 32]).unwrap()
    }

    #[test]
    fn public_keys_from_bytes() {
        let key = key(3);
        let encoded = key.public_key().to_compressed();
        assert_eq!(ec::PublicKey::<ec::P256>::try_from(&encoded[..]), Ok((&key).into()));
        assert_eq!(ec::PublicKey::<ec::P256>::try_from(&[][..]), Err(ec::Error::PointFormat));
        let key = ed25519::SigningKey::from_seed(&[3; 32]);
        let encoded = *key.verifying_key().as_bytes();
        assert_eq!(ed25519::VerifyingKey::try_from(encoded), Ok((&key).into()));
        assert_eq!(ed25519::VerifyingKey::from(&key).as_ref(), encoded);
    }
}
