//! Keys that sign certificates and requests made with `rcgen`.

use std::fmt;

use cycloid::scheme::rsa::{self, KeyPair};
use cycloid::scheme::{FormatError, Hash, ec, ed25519, nist};
use rcgen::{
    PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PKCS_RSA_SHA256, PublicKeyData,
    SignatureAlgorithm,
};
use rustls::pki_types::PrivateKeyDer;

use crate::random;

/// A key for `rcgen`: ECDSA on P-256 with SHA-256 or on P-384 with SHA-384, Ed25519, or RSA PKCS #1
/// v1.5 with SHA-256. Each signature by ECDSA and Ed25519 is verified before its release; RSA
/// always checks its own.
///
/// ```
/// use cycloid_rustls::CertificateKey;
/// # use rustls::pki_types::PrivateKeyDer;
///
/// # fn example(der: &PrivateKeyDer<'_>) -> Result<(), Box<dyn std::error::Error>> {
/// let key = CertificateKey::from_der(der)?;
/// let certificate = rcgen::CertificateParams::new(["localhost".into()])?.self_signed(&key)?;
/// # Ok(())
/// # }
/// ```
pub struct CertificateKey {
    key: Key,
    /// The contents of the public key's bit string.
    public: Vec<u8>,
}

enum Key {
    P256(ec::PrivateKey<ec::P256>),
    P384(ec::PrivateKey<ec::P384>),
    Ed25519(Box<ed25519::SigningKey>),
    Rsa(KeyPair),
}

impl CertificateKey {
    /// Loads a key from PKCS #8, SEC 1 or PKCS #1.
    ///
    /// # Errors
    /// [`rustls::Error::General`] with a description of the reason.
    pub fn from_der(der: &PrivateKeyDer<'_>) -> Result<Self, rustls::Error> {
        let der = der.secret_der();
        let unusable = |error: &dyn fmt::Display| {
            rustls::Error::General(format!("the private key cannot sign certificates: {error}"))
        };
        match nist::PrivateKey::from_der(der) {
            Ok(key) => {
                let public = key.public_key().to_uncompressed().to_vec();
                let key = match key {
                    nist::PrivateKey::P256(key) => Key::P256(key),
                    nist::PrivateKey::P384(key) => Key::P384(key),
                    _ => return Err(unusable(&"rcgen has no such curve")),
                };
                return Ok(Self { key, public });
            }
            // The structure is that of another algorithm.
            Err(
                ec::Error::Format(FormatError::Algorithm) | ec::Error::Format(FormatError::Der),
            ) => {}
            Err(error) => return Err(unusable(&error)),
        }
        if let Ok(key) = ed25519::SigningKey::from_der(der) {
            let public = key.verifying_key().as_bytes().to_vec();
            return Ok(Self { key: Key::Ed25519(Box::new(key)), public });
        }
        let key = KeyPair::from_der(der).map_err(|error| unusable(&error))?;
        if key.public_key().restriction() != rsa::Restriction::None {
            return Err(unusable(&"it is for RSASSA-PSS alone"));
        }
        let mut room = vec![0; rsa::public_key_der_length(key.public_key().bits())];
        let public = key.public_key().as_key().to_pkcs1_der(&mut room);
        let public = public.map_err(|error| unusable(&error))?.to_vec();
        Ok(Self { key: Key::Rsa(key), public })
    }

    /// Signs a message; the reason of a failure as text.
    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let fault = |error: ec::Error| error.to_string();
        match &self.key {
            Key::P256(key) => {
                let signature = key.verify_after_sign().sign(Hash::Sha256, message);
                signature.map(|signature| signature.to_der().to_vec()).map_err(fault)
            }
            Key::P384(key) => {
                let signature = key.verify_after_sign().sign(Hash::Sha384, message);
                signature.map(|signature| signature.to_der().to_vec()).map_err(fault)
            }
            Key::Ed25519(key) => {
                let signature = key.verify_after_sign().sign(message);
                signature.map(|signature| signature.to_vec()).map_err(|error| error.to_string())
            }
            Key::Rsa(key) => {
                let mut rng = random::generator().map_err(|error| error.to_string())?;
                let scheme = rsa::SignatureScheme::Pkcs1v15(Hash::Sha256);
                let signature = key.sign(scheme, message, &mut rng);
                signature.map(|signature| signature.to_vec()).map_err(|error| error.to_string())
            }
        }
    }
}

impl fmt::Debug for CertificateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateKey")
            .field("algorithm", self.algorithm())
            .finish_non_exhaustive()
    }
}

impl PublicKeyData for CertificateKey {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        match self.key {
            Key::P256(_) => &PKCS_ECDSA_P256_SHA256,
            Key::P384(_) => &PKCS_ECDSA_P384_SHA384,
            Key::Ed25519(_) => &PKCS_ED25519,
            Key::Rsa(_) => &PKCS_RSA_SHA256,
        }
    }
}

impl rcgen::SigningKey for CertificateKey {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        self.signature(message).map_err(|_| rcgen::Error::RemoteKeyError)
    }
}
