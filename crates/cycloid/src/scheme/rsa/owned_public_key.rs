//! A public key that owns its memory, for programs with a heap.

use alloc::boxed::Box;
#[cfg(feature = "encoding")]
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use rand_core::CryptoRng;

#[cfg(feature = "encoding")]
use super::encoding::{der_scratch_limbs, public_key_der_length, public_key_pem_length};
use super::public::{encrypt_scratch_limbs, public_key_limbs, verify_scratch_limbs};
use super::{
    DigestInfo, Error, Hash, HashFunction, MAX_BITS, Oaep, Pss, PublicKey, Restriction,
    SignatureScheme,
};
use crate::machine::words::Limb;

/// A checked and prepared public key of any length.
///
/// The scratch of an operation is on the stack: [`verify_scratch_limbs`] or
/// [`encrypt_scratch_limbs`] of 8192 bits. Longer keys take it from the heap.
#[derive(Clone)]
pub struct OwnedPublicKey(PublicKey<Box<[Limb]>>);

impl core::fmt::Debug for OwnedPublicKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// Two keys are equal if they verify the same signatures.
impl PartialEq for OwnedPublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.modulus_limbs() == other.0.modulus_limbs()
            && self.exponent() == other.exponent()
            && self.restriction() == other.restriction()
    }
}

impl Eq for OwnedPublicKey {}

impl OwnedPublicKey {
    /// Creates a key from modulus and exponent, both big-endian; leading zeros are allowed.
    ///
    /// # Errors
    /// As [`PublicKey::new`].
    pub fn from_components(modulus: &[u8], exponent: &[u8]) -> Result<Self, Error> {
        let mut scratch = vec![0; verify_scratch_limbs(MAX_BITS)];
        Self::of_any_length(|memory| PublicKey::new(modulus, exponent, memory, &mut scratch))
    }

    /// Reads a key from DER: SubjectPublicKeyInfo or PKCS #1.
    ///
    /// # Errors
    /// As [`PublicKey::from_der`].
    #[cfg(feature = "encoding")]
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let mut scratch = vec![0; der_scratch_limbs(MAX_BITS)];
        Self::of_any_length(|memory| PublicKey::from_der(der, memory, &mut scratch))
    }

    /// Reads the first public key in a PEM text, labelled `PUBLIC KEY` or `RSA PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`PublicKey::from_pem`].
    #[cfg(feature = "encoding")]
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        let pem = pem.as_ref();
        let decoded = pem.len().div_ceil(size_of::<Limb>());
        let mut scratch = vec![0; der_scratch_limbs(MAX_BITS) + decoded];
        Self::of_any_length(|memory| PublicKey::from_pem(pem, memory, &mut scratch))
    }

    /// Reads a key with memory for the longest one, and copies it to memory of its own length.
    fn of_any_length(
        read: impl FnOnce(Vec<Limb>) -> Result<PublicKey<Vec<Limb>>, Error>,
    ) -> Result<Self, Error> {
        Ok(Self::copy_of(&read(vec![0; public_key_limbs(MAX_BITS)])?))
    }

    /// Copies a key to memory of its own.
    pub fn copy_of<M: AsRef<[Limb]>>(key: &PublicKey<M>) -> Self {
        let memory = [key.modulus_limbs(), key.r_squared()].concat().into_boxed_slice();
        let (bits, exponent, restriction) = (key.bits(), key.exponent(), key.restriction());
        Self(PublicKey::from_prepared(memory, bits, exponent, restriction))
    }

    /// Returns the key, for operations on the caller's memory and for batches.
    pub const fn as_key(&self) -> &PublicKey<Box<[Limb]>> {
        &self.0
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

    /// Returns the uses that the key is restricted to.
    pub const fn restriction(&self) -> Restriction {
        self.0.restriction()
    }

    // The functions with a scheme are inlined up to the program's call: `Hash::function`.

    /// Verifies a signature of a message. All values are public.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid; [`Error::HashUnsuitable`], [`Error::Restricted`],
    /// [`Error::RestrictedPss`].
    #[inline(always)]
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
    #[inline(always)]
    pub fn verify_prehashed(
        &self,
        scheme: SignatureScheme,
        digest: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        match scheme {
            SignatureScheme::Pkcs1v15(hash) => self.verify_pkcs1v15(hash, digest, signature),
            SignatureScheme::Pss(pss) => self.verify_pss(pss.general(), digest, signature),
        }
    }

    fn verify_pkcs1v15(&self, hash: Hash, digest: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.with_scratch(|scratch| {
            self.0.verify_pkcs1v15_prehashed(hash, digest, signature, scratch)
        })
    }

    fn verify_pss(
        &self,
        pss: Pss<HashFunction>,
        digest: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        self.with_scratch(|scratch| self.0.verify_pss_with(pss, digest, signature, scratch))
    }

    /// Verifies an RSASSA-PKCS1-v1_5 signature of a digest by any hash function.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid; [`Error::Restricted`].
    pub fn verify_digest_info(&self, info: &DigestInfo, signature: &[u8]) -> Result<(), Error> {
        self.with_scratch(|scratch| self.0.verify_digest_info(info, signature, scratch))
    }

    /// Verifies an RSASSA-PSS signature of a message given by its digest, with hash functions of
    /// any kind.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid; [`Error::DigestLength`], [`Error::RestrictedPss`].
    pub fn verify_pss_with(
        &self,
        pss: Pss<impl Into<HashFunction>>,
        digest: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        self.verify_pss(pss.general(), digest, signature)
    }

    /// Passes scratch for any operation to a closure.
    fn with_scratch<T>(&self, operation: impl FnOnce(&mut [Limb]) -> T) -> T {
        const ON_STACK: usize = verify_scratch_limbs(8192);
        const { assert!(encrypt_scratch_limbs(8192) == ON_STACK) };
        let needed = verify_scratch_limbs(self.bits());
        if needed <= ON_STACK {
            operation(&mut [0; ON_STACK])
        } else {
            operation(&mut vec![0; needed])
        }
    }

    /// Encrypts with RSAES-OAEP (RFC 8017, section 7.1.1).
    ///
    /// # Errors
    /// [`Error::HashUnsuitable`], [`Error::MessageTooLong`], [`Error::Restricted`].
    pub fn encrypt_oaep(
        &self,
        oaep: &Oaep<'_, impl Into<HashFunction> + Copy>,
        message: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, Error> {
        let mut ciphertext = vec![0; self.length()];
        self.with_scratch(|scratch| {
            self.0.encrypt_oaep(oaep, message, rng, &mut ciphertext, scratch)
        })?;
        Ok(ciphertext)
    }

    /// Encrypts with RSAES-PKCS1-v1_5 (RFC 8017, section 7.2.1), for protocols that require it.
    ///
    /// # Errors
    /// [`Error::MessageTooLong`], [`Error::Restricted`], [`Error::RandomGenerator`].
    pub fn encrypt_pkcs1v15(
        &self,
        message: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, Error> {
        let mut ciphertext = vec![0; self.length()];
        self.with_scratch(|scratch| {
            self.0.encrypt_pkcs1v15(message, rng, &mut ciphertext, scratch)
        })?;
        Ok(ciphertext)
    }

    /// Writes the key as SubjectPublicKeyInfo in DER.
    #[cfg(feature = "encoding")]
    pub fn to_spki_der(&self) -> Vec<u8> {
        let mut output = vec![0; public_key_der_length(self.bits())];
        let length = self.0.to_spki_der(&mut output).expect(LONG_ENOUGH).len();
        output.truncate(length);
        output
    }

    /// Writes the key as SubjectPublicKeyInfo in PEM.
    #[cfg(feature = "encoding")]
    pub fn to_spki_pem(&self) -> String {
        let mut output = vec![0; public_key_pem_length(self.bits())];
        self.0.to_spki_pem(&mut output).expect(LONG_ENOUGH).into()
    }
}

#[cfg(feature = "encoding")]
const LONG_ENOUGH: &str = "the output has the maximum length";
