//! Implementations of the traits of the crate `signature` for a curve chosen at run time.

use core::fmt;

use signature::hazmat::{PrehashSigner, PrehashVerifier};
use signature::{Keypair, MultipartSigner, MultipartVerifier, SignatureEncoding, Signer, Verifier};

use super::{Curve, Hash, PrivateKey, PublicKey, Signature};
use crate::scheme::ecdsa::SignatureBytes;

/// A signature as DER, which does not name its curve.
#[derive(Clone, Copy, Debug)]
pub struct DerSignature(SignatureBytes);

impl AsRef<[u8]> for DerSignature {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Checks the format; verification checks the numbers.
impl TryFrom<&[u8]> for DerSignature {
    type Error = signature::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, signature::Error> {
        // The longest curve admits the numbers of all others.
        let signature = Signature::from_der(Curve::P521, bytes);
        signature.map(Self::from).map_err(|_| signature::Error::new())
    }
}

impl From<Signature> for DerSignature {
    fn from(signature: Signature) -> Self {
        Self(signature.to_der())
    }
}

impl From<DerSignature> for SignatureBytes {
    fn from(signature: DerSignature) -> Self {
        signature.0
    }
}

impl SignatureEncoding for DerSignature {
    type Repr = SignatureBytes;
}

/// A public key and the hash function of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    key: PublicKey,
    hash: Hash,
}

impl VerifyingKey {
    /// Creates a key for messages hashed with `hash`.
    pub const fn new(key: PublicKey, hash: Hash) -> Self {
        Self { key, hash }
    }

    /// Returns the public key alone.
    pub const fn public_key(&self) -> &PublicKey {
        &self.key
    }
}

/// A private key and the hash function of its messages and nonces. Signatures equal those of
/// [`PrivateKey::sign`].
pub struct SigningKey {
    key: PrivateKey,
    hash: Hash,
}

impl SigningKey {
    /// Creates a key for messages hashed with `hash`.
    pub const fn new(key: PrivateKey, hash: Hash) -> Self {
        Self { key, hash }
    }

    /// Returns the private key alone.
    pub const fn private_key(&self) -> &PrivateKey {
        &self.key
    }

    /// Returns the hash function.
    pub const fn hash(&self) -> Hash {
        self.hash
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nist::SigningKey({:?})", self.verifying_key())
    }
}

impl Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey { key: self.key.public_key(), hash: self.hash }
    }
}

/// Accepts digests of any length.
impl PrehashSigner<DerSignature> for SigningKey {
    fn sign_prehash(&self, digest: &[u8]) -> Result<DerSignature, signature::Error> {
        Ok(self.key.sign_prehashed(self.hash, digest).into())
    }
}

impl MultipartSigner<DerSignature> for SigningKey {
    fn try_multipart_sign(&self, message: &[&[u8]]) -> Result<DerSignature, signature::Error> {
        self.sign_prehash(&self.hash.digest(message))
    }
}

impl Signer<DerSignature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<DerSignature, signature::Error> {
        self.try_multipart_sign(&[message])
    }
}

/// Accepts digests of any length.
impl PrehashVerifier<DerSignature> for VerifyingKey {
    fn verify_prehash(
        &self,
        digest: &[u8],
        signature: &DerSignature,
    ) -> Result<(), signature::Error> {
        let signature = Signature::from_der(self.key.curve(), &signature.0);
        let outcome = signature.and_then(|it| self.key.verify_prehashed(digest, &it));
        outcome.map_err(|_| signature::Error::new())
    }
}

impl MultipartVerifier<DerSignature> for VerifyingKey {
    fn multipart_verify(
        &self,
        message: &[&[u8]],
        signature: &DerSignature,
    ) -> Result<(), signature::Error> {
        self.verify_prehash(&self.hash.digest(message), signature)
    }
}

impl Verifier<DerSignature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &DerSignature) -> Result<(), signature::Error> {
        self.multipart_verify(&[message], signature)
    }
}
