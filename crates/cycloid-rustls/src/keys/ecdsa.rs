//! ECDSA keys: each curve with the hash function that TLS 1.3 assigns to it (RFC 8446, section
//! 4.2.3).

use std::fmt;
use std::sync::Arc;

use cycloid::scheme::Hash;
use cycloid::scheme::ec::{Curve, P256, P384, P521, PrivateKey};
use rustls::pki_types::{AlgorithmIdentifier, SubjectPublicKeyInfoDer, alg_id};
use rustls::sign::{Signer, SigningKey, public_key_to_spki};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};

use crate::random;
use crate::verification::digest;

/// A curve for signatures in TLS.
pub(super) trait TlsCurve: Curve {
    const SCHEME: SignatureScheme;
    const HASH: Hash;
    const ALGORITHM: AlgorithmIdentifier;
}

impl TlsCurve for P256 {
    const SCHEME: SignatureScheme = SignatureScheme::ECDSA_NISTP256_SHA256;
    const HASH: Hash = Hash::Sha256;
    const ALGORITHM: AlgorithmIdentifier = alg_id::ECDSA_P256;
}

impl TlsCurve for P384 {
    const SCHEME: SignatureScheme = SignatureScheme::ECDSA_NISTP384_SHA384;
    const HASH: Hash = Hash::Sha384;
    const ALGORITHM: AlgorithmIdentifier = alg_id::ECDSA_P384;
}

impl TlsCurve for P521 {
    const SCHEME: SignatureScheme = SignatureScheme::ECDSA_NISTP521_SHA512;
    const HASH: Hash = Hash::Sha512;
    const ALGORITHM: AlgorithmIdentifier = alg_id::ECDSA_P521;
}

/// A key, shared with the handshakes in progress.
pub(super) struct EcdsaKey<C: TlsCurve>(Arc<PrivateKey<C>>);

impl<C: TlsCurve> EcdsaKey<C> {
    pub(super) fn new(key: PrivateKey<C>) -> Self {
        Self(Arc::new(key))
    }
}

impl<C: TlsCurve> fmt::Debug for EcdsaKey<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cycloid ECDSA key on {}", C::NAME)
    }
}

impl<C: TlsCurve> SigningKey for EcdsaKey<C> {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let key = Self(Arc::clone(&self.0));
        offered.contains(&C::SCHEME).then(|| Box::new(key) as Box<dyn Signer>)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        let point = self.0.public_key().to_uncompressed();
        Some(public_key_to_spki(&C::ALGORITHM, &point[..]))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl<C: TlsCurve> Signer for EcdsaKey<C> {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        // The nonce is secure without randomness; randomness prevents an attacker from learning
        // anything by repeating a signature with induced faults.
        let random = random::bytes::<32>()?;
        let digest = digest(C::HASH, message);
        Ok(self.0.sign_hedged(C::HASH, digest.as_ref(), &*random).to_der().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        C::SCHEME
    }
}
