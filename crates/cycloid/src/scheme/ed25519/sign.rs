//! The signing key and its signatures.

use core::fmt;

use rand_core::TryCryptoRng;

use super::hash::{Digest, Message, Preimage, reduced_digests};
use super::verify::{Made, verify_made};
use super::{Error, Variant, VerifyingKey};
use crate::machine::lanes::Backend;
use crate::machine::{ct, stack};
use crate::math::curve::edwards::{Base, Encode, EncodeBase, Scalar, each, one};
use crate::scheme::little_endian::{bytes, limbs};
use crate::scheme::{VerifyAfterSign, random, stack_use};

/// A signing key: the 32 bytes that RFC 8032 calls the private key, their expansion, and the public
/// key; wiped when dropped.
#[derive(Clone)]
pub struct SigningKey {
    seed: [u8; 32],
    scalar: Scalar,
    prefix: [u8; 32],
    verifying_key: VerifyingKey,
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.seed);
        ct::wipe_bytes(&mut self.prefix);
    }
}

/// Prints only the public key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ed25519::SigningKey({:?})", self.verifying_key)
    }
}

impl SigningKey {
    /// Generates a random key.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`] if the generator fails or returns the same eight bytes twice, as
    /// one that is stuck does.
    pub fn generate(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        stack::clean(stack_use::ED25519_SIGN, || {
            let mut seed = [0; 32];
            random::fill(rng, &mut seed)?;
            let key = Self::of_seed(&seed);
            ct::wipe_bytes(&mut seed);
            Ok(key)
        })
    }

    /// Creates a key from any 32 bytes (RFC 8032, section 5.1.5).
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        stack::clean(stack_use::ED25519_SIGN, || Self::of_seed(seed))
    }

    pub(super) fn of_seed(seed: &[u8; 32]) -> Self {
        let digest = Digest::of(seed);
        let [secret, prefix] = digest.halves();
        let mut number = limbs(secret);
        number[0] &= !7;
        number[3] = number[3] & (u64::MAX >> 1) | 1 << 62;
        // The base point has order L, so the number may be reduced.
        let scalar = Scalar::reduced(&number, &[0; 4]);
        ct::wipe(&mut number);
        let point = one::<Base>(&scalar);
        // It is the public key.
        ct::mark_public(&point);
        let encoding = one::<Encode>(&point);
        let verifying_key = VerifyingKey::of_point(&bytes(&encoding), &point);
        Self { seed: *seed, scalar, prefix: *prefix, verifying_key }
    }

    /// Flips a bit of the key in memory: of the seed, the number, the prefix, or the encoding and
    /// the point of the public key.
    #[cfg(test)]
    pub(in crate::scheme) fn flip(&mut self, bit: usize) {
        let limb = |limbs: &mut [u64], bit: usize| limbs[bit / 64] ^= 1 << (bit % 64);
        match (bit / 256, bit % 256) {
            (0, bit) => self.seed[bit / 8] ^= 1 << (bit % 8),
            (1, bit) => limb(self.scalar.limbs_mut(), bit),
            (2, bit) => self.prefix[bit / 8] ^= 1 << (bit % 8),
            _ => self.verifying_key.flip(bit - 3 * 256),
        }
    }

    /// Returns the 32 bytes that the key was made from.
    pub const fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// Returns the public key.
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying_key
    }

    /// Returns a wrapper that verifies each signature with the public key before releasing it.
    pub const fn verify_after_sign(&self) -> VerifyAfterSign<'_, Self, VerifyingKey> {
        VerifyAfterSign { key: self, public: &self.verifying_key }
    }

    /// Signs a message with Ed25519.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.sign_parts(&[message])
    }

    /// Signs a message in parts with Ed25519.
    pub(super) fn sign_parts(&self, parts: &[&[u8]]) -> [u8; 64] {
        let message = Message::new(Variant::Plain, parts).expect("every message can be signed");
        self.sign_message(message)
    }

    /// Signs a message and a context with Ed25519ctx. The context should not be empty.
    ///
    /// # Errors
    /// [`Error::ContextTooLong`].
    pub fn sign_context(&self, message: &[u8], context: &[u8]) -> Result<[u8; 64], Error> {
        self.sign_with(Variant::Context(context), message)
    }

    /// Signs a message given by its SHA-512 digest, with a context that may be empty, with
    /// Ed25519ph.
    ///
    /// # Errors
    /// [`Error::ContextTooLong`].
    pub fn sign_prehashed(&self, digest: &[u8; 64], context: &[u8]) -> Result<[u8; 64], Error> {
        self.sign_with(Variant::Prehashed(context), digest)
    }

    /// Signs with any variant.
    ///
    /// # Errors
    /// [`Error::ContextTooLong`]; [`Error::DigestLength`].
    pub fn sign_with(&self, variant: Variant<'_>, message: &[u8]) -> Result<[u8; 64], Error> {
        Ok(self.sign_message(Message::new(variant, &[message])?))
    }

    fn sign_message(&self, message: Message<'_>) -> [u8; 64] {
        let mut signature = [[0; 64]];
        stack::clean(stack_use::ED25519_SIGN, || {
            sign_all::<1>(None, &[Signing { key: self, message }], &mut signature);
        });
        signature[0]
    }
}

/// Ed25519.
impl VerifyAfterSign<'_, SigningKey, VerifyingKey> {
    /// Like [`SigningKey::sign`].
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], Error> {
        self.sign_with(Variant::Plain, message)
    }

    /// Like [`SigningKey::sign_context`].
    ///
    /// # Errors
    /// [`Error::Fault`], [`Error::ContextTooLong`].
    pub fn sign_context(&self, message: &[u8], context: &[u8]) -> Result<[u8; 64], Error> {
        self.sign_with(Variant::Context(context), message)
    }

    /// Like [`SigningKey::sign_prehashed`].
    ///
    /// # Errors
    /// [`Error::Fault`], [`Error::ContextTooLong`].
    pub fn sign_prehashed(&self, digest: &[u8; 64], context: &[u8]) -> Result<[u8; 64], Error> {
        self.sign_with(Variant::Prehashed(context), digest)
    }

    /// Like [`SigningKey::sign_with`].
    ///
    /// # Errors
    /// [`Error::Fault`], [`Error::ContextTooLong`], [`Error::DigestLength`].
    pub fn sign_with(&self, variant: Variant<'_>, message: &[u8]) -> Result<[u8; 64], Error> {
        let parts = [message];
        let message = Message::new(variant, &parts)?;
        let mut signature = self.key.sign_message(message);
        let made = Made { key: self.public, message, signature: &signature };
        let mut right = [false];
        verify_made::<1>(None, &[made], &mut right);
        if right == [true] {
            return Ok(signature);
        }
        ct::wipe_bytes(&mut signature);
        Err(Error::Fault)
    }
}

/// A message and its signing key.
#[derive(Clone, Copy)]
pub(super) struct Signing<'a> {
    pub(super) key: &'a SigningKey,
    pub(super) message: Message<'a>,
}

/// Makes all signatures (RFC 8032, section 5.1.6), at least one and at most `MOST`, one for each
/// input.
pub(super) fn sign_all<const MOST: usize>(
    backend: Option<Backend>,
    jobs: &[Signing<'_>],
    signatures: &mut [[u8; 64]],
) {
    // Known when compiling: a program that makes single signatures contains no code for eight.
    let backend = backend.filter(|_| MOST > 1);
    let count = jobs.len();
    let job = |i: usize| jobs.get(i).unwrap_or(&jobs[0]);

    // Step 2: r.
    let preimages: [_; MOST] = core::array::from_fn(|i| {
        let Signing { key, message } = job(i);
        Preimage { strings: [&key.prefix, &[]], message: *message }
    });
    let mut nonces = [Scalar::ZERO; MOST];
    reduced_digests(backend, &preimages[..count], &mut nonces[..count]);

    // Step 3: R.
    let mut points = [[0; 4]; MOST];
    each::<EncodeBase>(backend, &nonces.each_ref()[..count], &mut points[..count]);
    // R is half of the signature.
    ct::mark_public(points.as_flattened());
    let points = points.map(|point| bytes(&point));

    // Step 4: k.
    let preimages: [_; MOST] = core::array::from_fn(|i| {
        let Signing { key, message } = job(i);
        Preimage { strings: [&points[i], key.verifying_key.as_bytes()], message: *message }
    });
    let mut challenges = [Scalar::ZERO; MOST];
    reduced_digests(backend, &preimages[..count], &mut challenges[..count]);

    // Steps 5 and 6: S = r + k·s, and the signature.
    for (i, signature) in signatures.iter_mut().enumerate() {
        let number = challenges[i].multiply_add(&jobs[i].key.scalar, &nonces[i]);
        // S is the other half.
        ct::mark_public(number.limbs());
        signature[..32].copy_from_slice(&points[i]);
        signature[32..].copy_from_slice(&bytes(number.limbs()));
    }
}
