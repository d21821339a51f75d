//! Public keys that are too short for anything but verifying old signatures.

use alloc::vec;
use alloc::vec::Vec;

use super::length::{MAX_LEGACY_BITS, MIN_LEGACY_BITS};
use super::public::{PublicKey, public_key_limbs, verify_scratch_limbs};
use super::{Error, SignatureScheme};
use crate::machine::words::Limb;

/// A public key of 1024 to 2040 bits, which verifies signatures made long ago and does nothing
/// else. A modulus of 1024 bits can be factored by a well-funded party: its signatures prove
/// nothing about who made them today.
#[derive(Clone)]
pub struct LegacyPublicKey(PublicKey<Vec<Limb>>);

impl core::fmt::Debug for LegacyPublicKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "rsa::LegacyPublicKey({} bits, e = {})", self.bits(), self.exponent())
    }
}

impl PartialEq for LegacyPublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.modulus_limbs() == other.0.modulus_limbs()
            && self.exponent() == other.exponent()
            && self.0.restriction() == other.0.restriction()
    }
}

impl Eq for LegacyPublicKey {}

impl LegacyPublicKey {
    /// Creates a key from modulus and exponent, both big-endian; leading zeros are allowed.
    ///
    /// # Errors
    /// [`KeyError::LegacyLength`](crate::scheme::rsa::KeyError::LegacyLength); else as
    /// [`PublicKey::new`].
    pub fn from_components(modulus: &[u8], exponent: &[u8]) -> Result<Self, Error> {
        let memory = vec![0; public_key_limbs(MAX_LEGACY_BITS)];
        let mut scratch = vec![0; verify_scratch_limbs(MAX_LEGACY_BITS)];
        let shortest = MIN_LEGACY_BITS;
        PublicKey::legacy(shortest, modulus, exponent, memory, &mut scratch).map(Self)
    }

    /// Reads a key from DER: SubjectPublicKeyInfo or PKCS #1.
    ///
    /// # Errors
    /// As [`from_components`](Self::from_components) and [`PublicKey::from_der`].
    #[cfg(feature = "encoding")]
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let (modulus, exponent, restriction) = super::encoding::public_components(der)?;
        let Self(key) = Self::from_components(modulus, exponent)?;
        key.restricted(restriction).map(Self)
    }

    /// Returns the length of the modulus in bits.
    pub const fn bits(&self) -> usize {
        self.0.bits()
    }

    /// Returns the length of the modulus, and so of signatures, in bytes.
    pub const fn length(&self) -> usize {
        self.0.length()
    }

    /// Returns the public exponent.
    pub const fn exponent(&self) -> u64 {
        self.0.exponent()
    }

    /// Verifies a signature of a message. All values are public.
    ///
    /// # Errors
    /// As [`OwnedPublicKey::verify`](super::OwnedPublicKey::verify).
    pub fn verify(
        &self,
        scheme: SignatureScheme,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        self.verify_prehashed(scheme, &scheme.hash().digest(&[message]), signature)
    }

    /// Verifies a signature of a message given by its digest.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Error::DigestLength`].
    pub fn verify_prehashed(
        &self,
        scheme: SignatureScheme,
        digest: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        let mut scratch = [0; verify_scratch_limbs(MAX_LEGACY_BITS)];
        match scheme {
            SignatureScheme::Pkcs1v15(hash) => {
                self.0.verify_pkcs1v15_prehashed(hash, digest, signature, &mut scratch)
            }
            SignatureScheme::Pss(pss) => {
                self.0.verify_pss_with(pss, digest, signature, &mut scratch)
            }
        }
    }
}
