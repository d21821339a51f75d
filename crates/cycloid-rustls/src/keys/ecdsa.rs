//! ECDSA keys.

use std::fmt;
use std::sync::Arc;

use cycloid::scheme::ec::PrivateKey;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::sign::{Signer, SigningKey, public_key_to_spki};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};

use crate::curve::TlsCurve;
use crate::random;
use crate::verification::digest;

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
