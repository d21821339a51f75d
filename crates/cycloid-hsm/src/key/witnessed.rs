//! Private keys that compute with a public key which is part of them, or that compute it anew each time.
//! A fault in such a key may make a signature that the key itself finds right. So the public key by which
//! signatures are verified before they are released has memory of its own.

use std::ops::Deref;

use cycloid::bls12_381::{Cycloid, signature};
use cycloid::scheme::ed25519;

/// A private key, and apart from it the public key that its signatures must verify with.
pub struct Witnessed<K, P> {
    key: K,
    public: P,
}

/// A key of Ed25519, which hashes its public key into every signature.
pub(crate) type EdwardsKey = Witnessed<ed25519::SigningKey, ed25519::VerifyingKey>;

/// A key on BLS12-381, which has no public key but computes it.
pub(crate) type BlsKey = Witnessed<
    signature::SecretKey<Cycloid, signature::MinPk>,
    signature::PublicKey<Cycloid, signature::MinPk>,
>;

impl<K, P> Witnessed<K, P> {
    /// What to verify with, as it was when the key was made ready.
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
