//! Ed448 signatures (RFC 8032, section 5.2), with a context or without, of messages or of prehashes
//! (Ed448ph); feature `sha3`.
//!
//! A signature is valid if S·B = R + k·A, R is encoded canonically, S is less than the order of B,
//! and A is not of small order. Signatures are made and verified one at a time, in plain Rust.
//!
//! All memory is on the stack. **Time** of signing depends only on the lengths of message and
//! context. Time of verification depends on all its inputs, which are public.
//!
//! ```
//! use cycloid::scheme::ed448::{SigningKey, VerifyingKey};
//!
//! let key = SigningKey::generate(&mut getrandom::SysRng)?;
//! let signature = key.sign(b"message", b"")?;
//!
//! let public = VerifyingKey::new(key.verifying_key().as_bytes())?;
//! public.verify(b"message", b"", &signature)?;
//! assert!(public.verify(b"massage", b"", &signature).is_err());
//! # Ok::<(), cycloid::scheme::ed448::Error>(())
//! ```

#[cfg(test)]
mod tests;

use core::fmt;

use rand_core::TryCryptoRng;
use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};

use super::{random, stack_use};
use crate::machine::{ct, stack};
use crate::math::curve::edwards448::{Point, Scalar, from_bytes, to_bytes};

/// Bytes of a private key, and of a public key.
pub const KEY_LENGTH: usize = 57;

/// Bytes of a signature.
pub const SIGNATURE_LENGTH: usize = 114;

/// Bytes of the digest that Ed448ph signs.
pub const PREHASH_LENGTH: usize = 64;

/// The longest context, in bytes.
pub const MAX_CONTEXT: usize = 255;

/// Why an Ed448 operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not encode a point, or one of small order.
    PublicKey,
    /// The signature is not valid for this message, context and key.
    Signature,
    /// The context has more than [`MAX_CONTEXT`] bytes.
    ContextTooLong,
    /// The random generator fails or repeats itself.
    RandomGenerator,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PublicKey => f.write_str("the public key is not a point of large order"),
            Self::Signature => f.write_str("the signature does not verify"),
            Self::ContextTooLong => {
                write!(f, "the context has more than {MAX_CONTEXT} bytes")
            }
            Self::RandomGenerator => f.write_str("the random generator fails or repeats itself"),
        }
    }
}

impl core::error::Error for Error {}

super::random::cause!(Error);

/// A signing key: the 57 bytes that RFC 8032 calls the private key, and the public key; wiped when
/// dropped.
#[derive(Clone)]
pub struct SigningKey {
    seed: [u8; KEY_LENGTH],
    verifying_key: VerifyingKey,
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.seed);
    }
}

/// Prints only the public key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ed448::SigningKey({:?})", self.verifying_key)
    }
}

/// A public key: a point of large order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey([u8; KEY_LENGTH]);

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ed448::VerifyingKey(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Returns the first bytes of SHAKE256 of the parts.
fn hash<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut hash = Shake256::default();
    parts.iter().for_each(|part| hash.update(part));
    let mut output = [0; N];
    hash.finalize_xof().read(&mut output);
    output
}

/// Returns the 64 bytes of SHAKE256 of a message, which Ed448ph signs in its place (section 5.2).
pub fn prehash(message: &[u8]) -> [u8; PREHASH_LENGTH] {
    hash(&[message])
}

/// Returns the start of dom4 (section 2): whether the message is a prehash, and the length of the
/// context, which follows.
fn domain(prehashed: bool, context: &[u8]) -> Result<[u8; 10], Error> {
    let length = u8::try_from(context.len()).map_err(|_| Error::ContextTooLong)?;
    let mut domain = *b"SigEd448\0\0";
    (domain[8], domain[9]) = (u8::from(prehashed), length);
    Ok(domain)
}

/// Returns the number s and the prefix of a key (section 5.2.5).
fn expanded(seed: &[u8; KEY_LENGTH]) -> (Scalar, [u8; KEY_LENGTH]) {
    let mut digest: [u8; 114] = hash(&[seed]);
    digest[0] &= 0xfc;
    digest[55] |= 0x80;
    // The last byte of the number is 0. The base point has order L, so the number may be reduced.
    let scalar = Scalar::new(&from_bytes(&digest[..56]));
    let mut prefix = [0; KEY_LENGTH];
    prefix.copy_from_slice(&digest[57..]);
    ct::wipe_bytes(&mut digest);
    (scalar, prefix)
}

impl SigningKey {
    /// Generates a random key.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`] if the generator fails or returns the same eight bytes twice, as
    /// one that is stuck does.
    pub fn generate(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        stack::clean(stack_use::ED448, || {
            let mut seed = [0; KEY_LENGTH];
            random::fill(rng, &mut seed)?;
            let key = Self::of_seed(&seed);
            ct::wipe_bytes(&mut seed);
            Ok(key)
        })
    }

    /// Creates a key from any 57 bytes (RFC 8032, section 5.2.5).
    pub fn from_seed(seed: &[u8; KEY_LENGTH]) -> Self {
        stack::clean(stack_use::ED448, || Self::of_seed(seed))
    }

    fn of_seed(seed: &[u8; KEY_LENGTH]) -> Self {
        let (scalar, mut prefix) = expanded(seed);
        ct::wipe_bytes(&mut prefix);
        let public = Point::base().multiply(&scalar.words()).encode();
        // It is sent to others.
        ct::mark_public(&public);
        Self { seed: *seed, verifying_key: VerifyingKey(public) }
    }

    /// Returns the 57 bytes that the key was made from.
    pub const fn seed(&self) -> &[u8; KEY_LENGTH] {
        &self.seed
    }

    /// Returns the public key.
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// Signs a message with a context, which is usually empty (section 5.2.6).
    ///
    /// # Errors
    /// [`Error::ContextTooLong`].
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<[u8; SIGNATURE_LENGTH], Error> {
        self.sign_in(domain(false, context)?, message, context)
    }

    /// Signs the [`prehash`] of a message with a context: Ed448ph.
    ///
    /// # Errors
    /// [`Error::ContextTooLong`].
    pub fn sign_prehashed(
        &self,
        digest: &[u8; PREHASH_LENGTH],
        context: &[u8],
    ) -> Result<[u8; SIGNATURE_LENGTH], Error> {
        self.sign_in(domain(true, context)?, digest, context)
    }

    fn sign_in(
        &self,
        domain: [u8; 10],
        message: &[u8],
        context: &[u8],
    ) -> Result<[u8; SIGNATURE_LENGTH], Error> {
        Ok(stack::clean(stack_use::ED448, || {
            let (secret, mut prefix) = expanded(&self.seed);
            let mut digest: [u8; 114] = hash(&[&domain, context, &prefix, message]);
            let nonce = Scalar::from_wide(&digest);
            ct::wipe_bytes(&mut prefix);
            ct::wipe_bytes(&mut digest);
            let point = Point::base().multiply(&nonce.words()).encode();
            // R and S are the signature.
            ct::mark_public(&point);
            let k = self.verifying_key.challenge(&domain, context, &point, message);
            let s = nonce.add_product(&k, &secret);
            let mut signature = [0; SIGNATURE_LENGTH];
            signature[..KEY_LENGTH].copy_from_slice(&point);
            signature[KEY_LENGTH..][..56].copy_from_slice(&to_bytes(&s.words()));
            ct::mark_public(&signature);
            signature
        }))
    }
}

impl VerifyingKey {
    /// Reads a public key (section 5.2.3).
    ///
    /// # Errors
    /// [`Error::PublicKey`].
    pub fn new(bytes: &[u8; KEY_LENGTH]) -> Result<Self, Error> {
        let point = Point::decode_vartime(bytes).ok_or(Error::PublicKey)?;
        if point.is_small_order_vartime() {
            return Err(Error::PublicKey);
        }
        Ok(Self(*bytes))
    }

    /// Returns the encoded point.
    pub const fn as_bytes(&self) -> &[u8; KEY_LENGTH] {
        &self.0
    }

    /// Verifies a signature of a message with a context (section 5.2.7).
    ///
    /// # Errors
    /// [`Error::ContextTooLong`], [`Error::Signature`].
    pub fn verify(
        &self,
        message: &[u8],
        context: &[u8],
        signature: &[u8; SIGNATURE_LENGTH],
    ) -> Result<(), Error> {
        self.verify_in(domain(false, context)?, message, context, signature)
    }

    /// Verifies a signature of the [`prehash`] of a message with a context: Ed448ph.
    ///
    /// # Errors
    /// [`Error::ContextTooLong`], [`Error::Signature`].
    pub fn verify_prehashed(
        &self,
        digest: &[u8; PREHASH_LENGTH],
        context: &[u8],
        signature: &[u8; SIGNATURE_LENGTH],
    ) -> Result<(), Error> {
        self.verify_in(domain(true, context)?, digest, context, signature)
    }

    fn verify_in(
        &self,
        domain: [u8; 10],
        message: &[u8],
        context: &[u8],
        signature: &[u8; SIGNATURE_LENGTH],
    ) -> Result<(), Error> {
        let (mut point, mut number) = ([0; KEY_LENGTH], [0; KEY_LENGTH]);
        point.copy_from_slice(&signature[..KEY_LENGTH]);
        number.copy_from_slice(&signature[KEY_LENGTH..]);
        let s = Scalar::decode_vartime(&number).ok_or(Error::Signature)?;
        let k = self.challenge(&domain, context, &point, message);
        let key = Point::decode_vartime(&self.0).ok_or(Error::PublicKey)?;
        // S·B − k·A is encoded canonically, so R must be, too.
        let of_base = Point::base().multiply(&s.words());
        let expected = of_base.add(&key.negate().multiply(&k.words()));
        if expected.encode() == point { Ok(()) } else { Err(Error::Signature) }
    }

    /// Returns k, the hash of the point R, the key and the message.
    fn challenge(
        &self,
        domain: &[u8],
        context: &[u8],
        point: &[u8; KEY_LENGTH],
        message: &[u8],
    ) -> Scalar {
        Scalar::from_wide(&hash(&[domain, context, point, &self.0, message]))
    }
}
