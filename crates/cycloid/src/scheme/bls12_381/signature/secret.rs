//! Secret keys and their operations.

use core::fmt;
use core::marker::PhantomData;
use core::slice;

use rand_core::TryCryptoRng;

use super::super::{Error, Fr, Projective};
use super::verify::core_verify;
use super::{PublicKey, Scheme, Signature, SignatureBackend, Variant, derivation};
use crate::machine::{ct, stack};
use crate::scheme::{VerifyAfterSign, stack_use};

/// A secret key: a nonzero scalar. Wiped when dropped.
pub struct SecretKey<B: SignatureBackend<V>, V: Variant> {
    scalar: Fr<B>,
    variant: PhantomData<V>,
}

impl<B: SignatureBackend<V>, V: Variant> SecretKey<B, V> {
    /// Generates a uniform key.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`], as for [`Fr::random`].
    pub fn generate(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || Fr::random_nonzero(rng).map(Self::of))
    }

    /// Runs KeyGen of the draft (section 2.3) with its own salt: derives a key from at least 32
    /// unpredictable bytes and any information that distinguishes keys.
    ///
    /// # Errors
    /// [`Error::KeyMaterialTooShort`].
    pub fn key_gen(key_material: &[u8], key_info: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || {
            derivation::key_gen(key_material, key_info, &derivation::first_salt()).map(Self::of)
        })
    }

    /// Runs KeyGen of the draft with a given salt, chosen by the protocol.
    ///
    /// # Errors
    /// [`Error::KeyMaterialTooShort`].
    pub fn key_gen_with_salt(
        key_material: &[u8],
        key_info: &[u8],
        salt: &[u8],
    ) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || {
            derivation::key_gen(key_material, key_info, salt).map(Self::of)
        })
    }

    /// Derives the root of a key tree from a seed of at least 32 bytes (EIP-2333,
    /// derive_master_SK).
    ///
    /// # Errors
    /// [`Error::KeyMaterialTooShort`].
    pub fn derive_master(seed: &[u8]) -> Result<Self, Error> {
        Self::key_gen(seed, &[])
    }

    /// Derives the child with this index in the key tree (EIP-2333, derive_child_SK).
    pub fn derive_child(&self, index: u32) -> Self {
        stack::clean(stack_use::BLS_KEY, || match derivation::derive_child(&self.scalar, index) {
            Ok(scalar) => Self::of(scalar),
            Err(_) => unreachable!("the key material is a digest"),
        })
    }

    /// Derives the key at the end of a path from the root of a seed: `[12381, 3600, 0, 0]` for
    /// EIP-2334's `m/12381/3600/0/0`.
    ///
    /// # Errors
    /// [`Error::KeyMaterialTooShort`].
    pub fn derive_path(seed: &[u8], path: &[u32]) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || {
            let root = Self::derive_master(seed)?;
            Ok(path.iter().fold(root, |key, index| key.derive_child(*index)))
        })
    }

    /// Reads a key from its scalar, 32 big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::NotCanonical`] for r or more; [`Error::ZeroKey`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || Self::from_scalar(Fr::from_be_bytes(bytes)?))
    }

    /// Returns the scalar as 32 big-endian bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        stack::clean(stack_use::BLS_SCALAR, || self.scalar.to_be_bytes())
    }

    /// Creates a key from its scalar.
    ///
    /// # Errors
    /// [`Error::ZeroKey`].
    pub fn from_scalar(scalar: Fr<B>) -> Result<Self, Error> {
        if scalar.is_zero() { Err(Error::ZeroKey) } else { Ok(Self::of(scalar)) }
    }

    /// Returns the scalar.
    pub const fn scalar(&self) -> &Fr<B> {
        &self.scalar
    }

    /// Returns the public key (SkToPk, section 2.4).
    pub fn public_key(&self) -> PublicKey<B, V> {
        stack::clean(stack_use::BLS_MULTIPLY, || {
            PublicKey::of(published(Projective::multiply_generator(&self.scalar).to_affine()))
        })
    }

    /// Signs a message (sections 3.1, 3.2.1 and 3.3). With message augmentation the public key is
    /// computed first.
    pub fn sign(&self, scheme: Scheme, message: &[u8]) -> Signature<B, V> {
        match scheme {
            Scheme::MessageAugmentation => {
                self.sign_with(self.public_key().to_bytes().as_ref(), message, V::tag(scheme))
            }
            _ => self.sign_with(&[], message, V::tag(scheme)),
        }
    }

    /// Signs a message with a custom tag, which separates a protocol from all others (CoreSign,
    /// section 2.6).
    pub fn sign_with_tag(&self, message: &[u8], tag: &[u8]) -> Signature<B, V> {
        self.sign_with(&[], message, tag)
    }

    /// Proves that the owner of the public key has the secret key (PopProve, section 3.3.2).
    pub fn prove_possession(&self) -> Signature<B, V> {
        self.sign_with(&[], self.public_key().to_bytes().as_ref(), V::POSSESSION_TAG)
    }

    /// Returns a wrapper that verifies each signature with a public key before releasing it. The
    /// public key must be a stored one: if the secret key has changed in memory, a public key
    /// computed from it now would be wrong as well.
    pub const fn verify_after_sign<'a>(
        &'a self,
        public_key: &'a PublicKey<B, V>,
    ) -> VerifyAfterSign<'a, Self, PublicKey<B, V>> {
        VerifyAfterSign { key: self, public: public_key }
    }

    fn sign_with(&self, prefix: &[u8], message: &[u8], tag: &[u8]) -> Signature<B, V> {
        stack::clean(stack_use::BLS_SIGN, || {
            let hash = Projective::hash_parts_to_curve(&[prefix, message], tag);
            Signature::from_affine(published(hash.multiply(&self.scalar).to_affine()))
        })
    }

    pub(super) const fn of(scalar: Fr<B>) -> Self {
        Self { scalar, variant: PhantomData }
    }
}

/// BLS signatures.
impl<B: SignatureBackend<V>, V: Variant> VerifyAfterSign<'_, SecretKey<B, V>, PublicKey<B, V>> {
    /// Like [`SecretKey::sign`]. With message augmentation, the given public key is signed and none
    /// is computed.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn sign(&self, scheme: Scheme, message: &[u8]) -> Result<Signature<B, V>, Error> {
        let prefix = self.public.to_bytes();
        let prefix = match scheme {
            Scheme::MessageAugmentation => prefix.as_ref(),
            _ => &[],
        };
        self.sign_with(prefix, message, V::tag(scheme))
    }

    /// Like [`SecretKey::sign_with_tag`].
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn sign_with_tag(&self, message: &[u8], tag: &[u8]) -> Result<Signature<B, V>, Error> {
        self.sign_with(&[], message, tag)
    }

    /// Like [`SecretKey::prove_possession`], for the given public key.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn prove_possession(&self) -> Result<Signature<B, V>, Error> {
        self.sign_with(&[], self.public.to_bytes().as_ref(), V::POSSESSION_TAG)
    }

    fn sign_with(
        &self,
        prefix: &[u8],
        message: &[u8],
        tag: &[u8],
    ) -> Result<Signature<B, V>, Error> {
        let signature = self.key.sign_with(prefix, message, tag);
        match core_verify(self.public, &[prefix, message], tag, &signature) {
            Ok(()) => Ok(signature),
            Err(_) => Err(Error::Fault),
        }
    }
}

/// Declares a public key or a signature public: both are sent to others.
fn published<T>(value: T) -> T {
    ct::mark_public(slice::from_ref(&value));
    value
}

impl<B: SignatureBackend<V>, V: Variant> Clone for SecretKey<B, V> {
    fn clone(&self) -> Self {
        Self::of(self.scalar)
    }
}

impl<B: SignatureBackend<V>, V: Variant> Drop for SecretKey<B, V> {
    fn drop(&mut self) {
        self.scalar.wipe();
    }
}

impl<B: SignatureBackend<V>, V: Variant> fmt::Debug for SecretKey<B, V> {
    /// Prints nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}
