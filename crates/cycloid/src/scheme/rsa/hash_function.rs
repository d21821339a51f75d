//! The hash functions of RSASSA-PSS and RSAES-OAEP: those of [`enum@Hash`], and any other.

use core::fmt;

use sha2::digest::Digest;
use sha2::digest::typenum::Unsigned;

use super::Hash;
use crate::scheme::hash::{DigestBytes, Function, MAX_DIGEST, MaskFunction};

/// Digests of fewer bytes are for verifying old signatures only, as by SHA-1 and MD5.
pub(super) const FEWEST: usize = 28;

/// A hash function of a padding, for functions that [`enum@Hash`] lacks.
///
/// ```
/// # use cycloid::scheme::rsa::{Error, HashFunction, KeyPair, Oaep, Pss};
/// # fn example(key: &KeyPair, rng: &mut impl rand_core::CryptoRng) -> Result<(), Error> {
/// use sha2::{Digest, Sha256};
///
/// // Any other function of the crate `digest` goes here.
/// let hash = HashFunction::of::<Sha256>();
/// let digest = Sha256::digest(b"any message");
/// let signature = key.sign_pss_with(Pss::of(hash), &digest, rng)?;
/// key.public_key().verify_pss_with(Pss::of(hash), &digest, &signature)?;
///
/// let ciphertext = key.public_key().encrypt_oaep(&Oaep::of(hash), b"a key", rng)?;
/// assert_eq!(*key.decrypt_oaep(&Oaep::of(hash), &ciphertext, rng)?, b"a key");
/// # Ok(())
/// # }
/// ```
///
/// OAEP hashes secrets. The library wipes digests; the function wipes its own state, which most
/// crates do with their feature `zeroize`.
#[derive(Clone, Copy)]
pub struct HashFunction(Kind);

/// The functions are those of the hash function, so that a program that names one hash function
/// does not contain the others.
#[derive(Clone, Copy)]
enum Kind {
    Known { hash: Hash, digest: Function, mask: Option<MaskFunction> },
    Other { length: usize, digest: Function },
}

impl HashFunction {
    /// Returns the function that the crate `digest` knows as `D`. A function with digests of more
    /// than 64 bytes, or of none, does not compile.
    pub const fn of<D: Digest>() -> Self {
        let length = const {
            assert!(D::OutputSize::USIZE > 0 && D::OutputSize::USIZE <= MAX_DIGEST);
            D::OutputSize::USIZE
        };
        Self(Kind::Other { length, digest: DigestBytes::new::<D> })
    }

    /// Returns the length of the digest, in bytes.
    pub const fn digest_length(self) -> usize {
        match self.0 {
            Kind::Known { hash, .. } => hash.digest_length(),
            Kind::Other { length, .. } => length,
        }
    }

    /// Returns the function if it is one of [`enum@Hash`], by which restrictions name functions.
    pub(super) const fn known(self) -> Option<Hash> {
        match self.0 {
            Kind::Known { hash, .. } => Some(hash),
            Kind::Other { .. } => None,
        }
    }

    /// Returns whether digests are too short for new signatures.
    pub(super) const fn is_retired(self) -> bool {
        match self.0 {
            Kind::Known { hash, .. } => hash.is_retired(),
            Kind::Other { length, .. } => length < FEWEST,
        }
    }

    /// Returns whether the function has an output of any length.
    pub(super) const fn is_extendable(self) -> bool {
        self.mask().is_some()
    }

    /// Returns the function that masks data if the function has an output of any length.
    pub(super) const fn mask(self) -> Option<MaskFunction> {
        match self.0 {
            Kind::Known { mask, .. } => mask,
            Kind::Other { .. } => None,
        }
    }

    /// Hashes the concatenation of the parts.
    pub(super) fn digest(self, parts: &[&[u8]]) -> DigestBytes {
        match self.0 {
            Kind::Known { digest, .. } | Kind::Other { digest, .. } => digest(parts),
        }
    }
}

impl From<Hash> for HashFunction {
    #[inline(always)]
    fn from(hash: Hash) -> Self {
        Self(Kind::Known { hash, digest: hash.function(), mask: hash.mask_function() })
    }
}

impl fmt::Debug for HashFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Known { hash, .. } => hash.fmt(f),
            Kind::Other { length, .. } => write!(f, "rsa::HashFunction({length} bytes)"),
        }
    }
}
