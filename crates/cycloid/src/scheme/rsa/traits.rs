//! Implementations of the traits of the crate `signature`.

use rand_core::CryptoRng;
use signature::hazmat::{PrehashSigner, PrehashVerifier};
use signature::{Keypair, MultipartSigner, MultipartVerifier, SignatureEncoding, Signer, Verifier};

use super::{Error, KeyPair, OwnedPublicKey, Signature, SignatureScheme};

/// Reads the bytes of a signature in the standard's form, as long as the modulus.
impl TryFrom<&[u8]> for Signature {
    type Error = signature::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, signature::Error> {
        Self::from_bytes(bytes).ok_or_else(signature::Error::new)
    }
}

impl SignatureEncoding for Signature {
    type Repr = Self;
}

/// A public key with its signature scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    key: OwnedPublicKey,
    scheme: SignatureScheme,
}

impl VerifyingKey {
    /// Creates a key for one scheme. If the RSA key does not permit it, no signature is valid.
    pub const fn new(key: OwnedPublicKey, scheme: SignatureScheme) -> Self {
        Self { key, scheme }
    }

    /// Returns the RSA key alone.
    pub const fn public_key(&self) -> &OwnedPublicKey {
        &self.key
    }
}

impl PrehashVerifier<Signature> for VerifyingKey {
    fn verify_prehash(&self, digest: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        let outcome = self.key.verify_prehashed(self.scheme, digest, signature);
        outcome.map_err(|_| signature::Error::new())
    }
}

impl MultipartVerifier<Signature> for VerifyingKey {
    fn multipart_verify(
        &self,
        message: &[&[u8]],
        signature: &Signature,
    ) -> Result<(), signature::Error> {
        self.verify_prehash(&self.scheme.hash().digest(message), signature)
    }
}

impl Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        self.multipart_verify(&[message], signature)
    }
}

/// A key pair with its signature scheme, and a function that returns a random generator for each
/// signature.
///
/// ```
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::rsa::{KeyPair, Signature, SignatureScheme, SigningKey};
/// use getrandom::SysRng;
/// use rand_core::UnwrapErr;
/// use signature::{Keypair, Signer, Verifier};
/// # let pem = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rsa/2048.pem"));
///
/// let key = KeyPair::from_pem(pem)?;
/// let key = SigningKey::new(key, SignatureScheme::pss(Hash::Sha256), || UnwrapErr(SysRng))?;
/// let signature: Signature = key.try_sign(b"message")?;
/// key.verifying_key().verify(b"message", &signature)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SigningKey<F> {
    key: KeyPair,
    scheme: SignatureScheme,
    generator: F,
}

impl<F> core::fmt::Debug for SigningKey<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsa::SigningKey({:?}, {:?})", self.key, self.scheme)
    }
}

impl<F: Fn() -> R, R: CryptoRng> SigningKey<F> {
    /// Creates a key for one scheme.
    ///
    /// # Errors
    /// [`Error::HashRetired`], [`Error::HashUnsuitable`], [`Error::Restricted`],
    /// [`Error::RestrictedPss`].
    pub fn new(key: KeyPair, scheme: SignatureScheme, generator: F) -> Result<Self, Error> {
        if scheme.hash().is_retired() {
            return Err(Error::HashRetired);
        }
        let restriction = key.public_key().restriction();
        match scheme {
            SignatureScheme::Pkcs1v15(hash) => {
                hash.check_suits_pkcs1v15()?;
                restriction.allows_all()?;
            }
            SignatureScheme::Pss(pss) => restriction.allows_pss(pss)?,
        }
        Ok(Self { key, scheme, generator })
    }
}

impl<F> SigningKey<F> {
    /// Returns the signature scheme.
    pub const fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

impl<F> Keypair for SigningKey<F> {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey::new(self.key.public_key().clone(), self.scheme)
    }
}

impl<F: Fn() -> R, R: CryptoRng> PrehashSigner<Signature> for SigningKey<F> {
    fn sign_prehash(&self, digest: &[u8]) -> Result<Signature, signature::Error> {
        let outcome = self.key.sign_prehashed(self.scheme, digest, &mut (self.generator)());
        outcome.map_err(|_| signature::Error::new())
    }
}

impl<F: Fn() -> R, R: CryptoRng> MultipartSigner<Signature> for SigningKey<F> {
    fn try_multipart_sign(&self, message: &[&[u8]]) -> Result<Signature, signature::Error> {
        self.sign_prehash(&self.scheme.hash().digest(message))
    }
}

impl<F: Fn() -> R, R: CryptoRng> Signer<Signature> for SigningKey<F> {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, signature::Error> {
        self.try_multipart_sign(&[message])
    }
}
