//! The keys of an authority and its peers, by Cycloid.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use cycloid::scheme::{ec, ed25519, rsa};
use rustls::SignatureScheme;
use rustls::pki_types::{AlgorithmIdentifier, PrivatePkcs8KeyDer, alg_id};
use rustls::sign::SigningKey;
use x509_cert::der::pem::LineEnding;
use x509_cert::der::{Decode, SecretDocument};
use x509_cert::spki::SubjectPublicKeyInfoOwned;
use zeroize::Zeroizing;

use super::error::Error;
use super::random::{no_random, random};

const LABEL: &str = "PRIVATE KEY";
const RSA_BITS: usize = 2048;
const RSA_EXPONENT: u32 = 65537;

/// The signature schemes for certificates. A key has the first that it supports.
const SCHEMES: [(SignatureScheme, AlgorithmIdentifier); 3] = [
    (SignatureScheme::ECDSA_NISTP256_SHA256, alg_id::ECDSA_SHA256),
    (SignatureScheme::ED25519, alg_id::ED25519),
    (SignatureScheme::RSA_PKCS1_SHA256, alg_id::RSA_PKCS1_SHA256),
];

/// The kind of an authority's or peer's key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// ECDSA on P-256 with SHA-256.
    #[default]
    P256,
    /// Ed25519, for peers with OpenSSL 1.1.1 and later.
    Ed25519,
    /// RSA with 2048 bits and SHA-256, for old peers.
    Rsa2048,
}

/// A private key that signs certificates.
pub(super) struct Key {
    /// PKCS #8 in DER.
    der: SecretDocument,
    signing: Arc<dyn SigningKey>,
}

impl Key {
    /// Generates a key.
    pub(super) fn generate(kind: KeyKind) -> Result<Self, Error> {
        let mut seed = Zeroizing::new([0; 32]);
        random(&mut *seed).map_err(no_random)?;
        let mut rng = ChaCha20Rng::from_seed(*seed);
        let mut der = Zeroizing::new([0; rsa::private_key_der_length(RSA_BITS)]);
        let failed = |error: &dyn std::fmt::Display| {
            Error::new(format!("cannot generate the key: {error}"), "try again")
        };
        let der = match kind {
            KeyKind::P256 => ec::PrivateKey::<ec::P256>::generate(&mut rng)
                .and_then(|key| key.to_pkcs8_der(&mut *der))
                .map_err(|error| failed(&error))?,
            // Without the public key (RFC 8410, section 7): OpenSSL before 3.2 reads no other form.
            KeyKind::Ed25519 => ed25519::SigningKey::generate(&mut rng)
                .and_then(|key| key.to_der(&mut *der))
                .map_err(|error| failed(&error))?,
            KeyKind::Rsa2048 => {
                let memory = Zeroizing::new(vec![0; rsa::private_key_limbs(RSA_BITS)]);
                let mut scratch = vec![0; rsa::generate_scratch_limbs(RSA_BITS)];
                rsa::PrivateKey::generate(RSA_BITS, RSA_EXPONENT, memory, &mut rng, &mut scratch)
                    .and_then(|key| key.to_pkcs8_der(&mut *der))
                    .map_err(|error| failed(&error))?
            }
        };
        Self::read(der).ok_or_else(|| failed(&"it cannot be read back"))
    }

    /// Reads a key in PEM. Returns `None` if it is malformed or of another kind.
    pub(super) fn from_pem(pem: &str) -> Option<Self> {
        let (label, der) = SecretDocument::from_pem(pem).ok()?;
        if label != LABEL {
            return None;
        }
        Self::read(der.as_bytes())
    }

    fn read(der: &[u8]) -> Option<Self> {
        let signing = cycloid_rustls::any_supported_key(&PrivatePkcs8KeyDer::from(der).into());
        Some(Self { der: SecretDocument::try_from(der).ok()?, signing: signing.ok()? })
    }

    /// Returns the key as PKCS #8 in PEM.
    pub(super) fn to_pem(&self) -> Zeroizing<String> {
        self.der.to_pem(LABEL, LineEnding::LF).expect("a key of a few kilobytes")
    }

    pub(super) fn public_key(&self) -> Option<SubjectPublicKeyInfoOwned> {
        SubjectPublicKeyInfoOwned::from_der(&self.signing.public_key()?).ok()
    }

    /// Returns the contents of the AlgorithmIdentifier of the key's signatures, and a function that
    /// signs.
    pub(super) fn signer(&self) -> Option<(AlgorithmIdentifier, Box<dyn rustls::sign::Signer>)> {
        SCHEMES.iter().find_map(|(scheme, algorithm)| {
            Some((*algorithm, self.signing.choose_scheme(&[*scheme])?))
        })
    }
}
