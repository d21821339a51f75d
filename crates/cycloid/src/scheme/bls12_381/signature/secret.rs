//! Secret keys, and what is computed with them.

use core::fmt;
use core::marker::PhantomData;
use core::slice;

use rand_core::TryCryptoRng;

use super::super::{Error, Fr, Projective};
use super::verify::core_verify;
use super::{PublicKey, Scheme, Signature, SignatureBackend, Variant, derivation};
use crate::machine::{ct, stack};
use crate::scheme::{VerifyAfterSign, stack_use};

/// A secret key: a scalar that is not 0. It is wiped when it is dropped.
pub struct SecretKey<B: SignatureBackend<V>, V: Variant> {
    scalar: Fr<B>,
    variant: PhantomData<V>,
}

impl<B: SignatureBackend<V>, V: Variant> SecretKey<B, V> {
    /// A new key, uniform.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`], as for [`Fr::random`].
    pub fn generate(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || Fr::random_nonzero(rng).map(Self::of))
    }

    /// KeyGen of the draft (section 2.3) with its own salt: a key out of 32 or more bytes that
    /// nobody can guess, and any information that tells keys apart.
    ///
    /// # Errors
    /// [`Error::KeyMaterialTooShort`].
    pub fn key_gen(key_material: &[u8], key_info: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || {
            derivation::key_gen(key_material, key_info, &derivation::first_salt()).map(Self::of)
        })
    }

    /// KeyGen of the draft with the salt as it is given, which the protocol chooses.
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

    /// The root of a tree of keys, out of a seed of 32 bytes or more (EIP-2333, derive_master_SK).
    ///
    /// # Errors
    /// [`Error::KeyMaterialTooShort`].
    pub fn derive_master(seed: &[u8]) -> Result<Self, Error> {
        Self::key_gen(seed, &[])
    }

    /// The child with this index in the tree of keys (EIP-2333, derive_child_SK).
    pub fn derive_child(&self, index: u32) -> Self {
        stack::clean(stack_use::BLS_KEY, || match derivation::derive_child(&self.scalar, index) {
            Ok(scalar) => Self::of(scalar),
            Err(_) => unreachable!("the key material is a digest"),
        })
    }

    /// The key at the end of a path from the root of a seed, `[12381, 3600, 0, 0]` for EIP-2334's
    /// `m/12381/3600/0/0`.
    ///
    /// # Errors
    /// [`Error::KeyMaterialTooShort`].
    pub fn derive_path(seed: &[u8], path: &[u32]) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || {
            let root = Self::derive_master(seed)?;
            Ok(path.iter().fold(root, |key, index| key.derive_child(*index)))
        })
    }

    /// The key with this scalar: 32 bytes, big-endian.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::NotCanonical`] for r and more; [`Error::ZeroKey`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::BLS_KEY, || Self::from_scalar(Fr::from_be_bytes(bytes)?))
    }

    /// The scalar as 32 bytes, big-endian.
    pub fn to_bytes(&self) -> [u8; 32] {
        stack::clean(stack_use::BLS_SCALAR, || self.scalar.to_be_bytes())
    }

    /// The key with this scalar.
    ///
    /// # Errors
    /// [`Error::ZeroKey`].
    pub fn from_scalar(scalar: Fr<B>) -> Result<Self, Error> {
        if scalar.is_zero() { Err(Error::ZeroKey) } else { Ok(Self::of(scalar)) }
    }

    /// The scalar.
    pub const fn scalar(&self) -> &Fr<B> {
        &self.scalar
    }

    /// The public key (SkToPk, section 2.4).
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

    /// Signs a message by a tag of one's own, which separates a protocol from all others (CoreSign,
    /// section 2.6).
    pub fn sign_with_tag(&self, message: &[u8], tag: &[u8]) -> Signature<B, V> {
        self.sign_with(&[], message, tag)
    }

    /// Proves that whoever has the public key has the secret one (PopProve, section 3.3.2).
    pub fn prove_possession(&self) -> Signature<B, V> {
        self.sign_with(&[], self.public_key().to_bytes().as_ref(), V::POSSESSION_TAG)
    }

    /// This key, verifying each signature with its public key before it is released. The public key
    /// is one that was stored: of a secret key that has changed in memory, one that is computed now
    /// would be wrong as well.
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
    /// What [`SecretKey::sign`] does. With message augmentation the public key that was given is
    /// signed, and none is computed.
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

    /// What [`SecretKey::sign_with_tag`] does.
    ///
    /// # Errors
    /// [`Error::Fault`].
    pub fn sign_with_tag(&self, message: &[u8], tag: &[u8]) -> Result<Signature<B, V>, Error> {
        self.sign_with(&[], message, tag)
    }

    /// What [`SecretKey::prove_possession`] does, of the public key that was given.
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

/// What was made of a secret, and may be known to everyone.
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
    /// Nothing of the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}
