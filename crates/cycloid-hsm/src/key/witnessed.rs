//! Private keys that contain their public key and compute with it, or that recompute it each time.
//! A fault in such a key may produce a signature that the key itself finds valid. So the public key
//! that verifies signatures before their release is kept in separate memory.

use std::ops::Deref;

use cycloid::bls12_381::{Cycloid, signature};
use cycloid::scheme::{ed448, ed25519};

/// A private key, and a separate copy of the public key that its signatures must verify with.
pub struct Witnessed<K, P> {
    key: K,
    public: P,
}

/// An Ed25519 key, which hashes its public key into every signature.
pub(crate) type EdwardsKey = Witnessed<ed25519::SigningKey, ed25519::VerifyingKey>;

/// An Ed448 key, likewise.
pub(crate) type Ed448Key = Witnessed<ed448::SigningKey, ed448::VerifyingKey>;

/// A key on BLS12-381, which does not contain its public key but computes it.
pub(crate) type BlsKey = Witnessed<
    signature::SecretKey<Cycloid, signature::MinPk>,
    signature::PublicKey<Cycloid, signature::MinPk>,
>;

impl<K, P> Witnessed<K, P> {
    /// Returns the public key to verify with, as it was when the key was prepared.
    pub(crate) const fn public(&self) -> &P {
        &self.public
    }
}

impl From<ed25519::SigningKey> for EdwardsKey {
    fn from(key: ed25519::SigningKey) -> Self {
        let public = *key.verifying_key();
        Self { key, public }
    }
}

impl From<ed448::SigningKey> for Ed448Key {
    fn from(key: ed448::SigningKey) -> Self {
        let public = *key.verifying_key();
        Self { key, public }
    }
}

impl From<signature::SecretKey<Cycloid, signature::MinPk>> for BlsKey {
    fn from(key: signature::SecretKey<Cycloid, signature::MinPk>) -> Self {
        let public = key.public_key();
        Self { key, public }
    }
}

impl<K, P> Deref for Witnessed<K, P> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.key
    }
}
