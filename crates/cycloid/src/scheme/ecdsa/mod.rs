//! ECDSA (FIPS 186-5, section 6) on the NIST curves, with deterministic or hedged nonces (RFC
//! 6979).
//!
//! - [`PrivateKey::sign`], [`PublicKey::verify`]: take a message and hash it.
//! - [`PrivateKey::sign_prehashed`], [`PublicKey::verify_prehashed`]: take a digest of any length,
//!   by any hash function, and use its leftmost bits, as many as the order has (FIPS 186-5, section
//!   6.4.1).
//! - [`PrivateKey::sign_hedged`]: mixes the caller's randomness into the nonce.
//! - [`PreparedPublicKey::verify`]: verifies many signatures by one key.
//! - [`PrivateKey::verify_after_sign`]: verifies each signature before it is released.
//! - [`run_batch`]: signs and verifies any number, eight side by side, or sixteen one after the
//!   other with shared costs.
//!
//! **Time** of signing depends on the curve, the hash function and the lengths, and on no secret
//! value. Time of verification depends on all its inputs.
//!
//! ```
//! use cycloid::scheme::Hash;
//! use cycloid::scheme::ec::{P256, PrivateKey};
//! use cycloid::scheme::ecdsa::Signature;
//!
//! let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
//! let sent = key.sign(Hash::Sha256, b"as agreed").to_der();
//! let signature = Signature::from_der(&sent)?;
//! key.public_key().verify(Hash::Sha256, b"as agreed", &signature)?;
//! # Ok::<(), cycloid::scheme::ec::Error>(())
//! ```

mod batch;
#[cfg(feature = "hazardous")]
mod hazardous;
mod nonce;
mod signature;
#[cfg(test)]
mod tests;
#[cfg(feature = "signature")]
mod traits;

#[cfg(test)]
pub(super) use batch::run_batch_with;
pub use batch::{Job, batch_size, run_batch};
#[cfg(feature = "hazardous")]
pub use hazardous::NonceGenerator;
pub use signature::{Signature, SignatureBytes};
#[cfg(feature = "signature")]
pub use traits::{DerSignature, SigningKey, VerifyingKey};

use super::ec::{Curve, Error, PreparedPublicKey, PrivateKey, PublicKey};
use super::hmac::Algorithm;
use super::{Hash, VerifyAfterSign, stack_use};
use crate::machine::stack;
use crate::math::curve::{
    AffinePoint, Scalar, has_x_prepared_vartime, has_x_vartime, multiply_base,
};
use nonce::Nonces;

/// ECDSA.
impl<C: Curve> PrivateKey<C> {
    // The functions with a hash function are inlined up to the program's call: `Hash::function`.

    /// Signs a message with the nonce of RFC 6979, section 3.2.
    #[inline(always)]
    pub fn sign(&self, hash: Hash, message: &[u8]) -> Signature<C> {
        self.sign_prehashed(hash, &hash.digest(&[message]))
    }

    /// Signs a digest of any length. `hash` is the hash function of the nonce's HMAC, usually the
    /// one that computed the digest.
    #[inline(always)]
    pub fn sign_prehashed(&self, hash: Hash, digest: &[u8]) -> Signature<C> {
        self.sign_hedged(hash, digest, &[])
    }

    /// Like [`sign_prehashed`](Self::sign_prehashed), with `random` mixed into the nonce (RFC 6979,
    /// section 3.6). Even bad randomness makes the nonce no worse than without it.
    #[inline(always)]
    pub fn sign_hedged(&self, hash: Hash, digest: &[u8], random: &[u8]) -> Signature<C> {
        self.sign_with(Algorithm::of(hash), digest, random)
    }

    fn sign_with(&self, algorithm: Algorithm, digest: &[u8], random: &[u8]) -> Signature<C> {
        stack::clean(stack_use::ecdsa_sign::<C>(), || {
            self.sign_in_frames(algorithm, digest, random)
        })
    }

    fn sign_in_frames(&self, algorithm: Algorithm, digest: &[u8], random: &[u8]) -> Signature<C> {
        let digest = Scalar::from_leftmost_bits(digest);
        let mut nonces = Nonces::new(algorithm, self.scalar(), &digest, random);
        sign_by(self.scalar(), &digest, || nonces.next())
    }

    /// Returns a wrapper that verifies each signature with the public key before releasing it.
    pub const fn verify_after_sign(&self) -> VerifyAfterSign<'_, Self, PublicKey<C>> {
        VerifyAfterSign { key: self, public: self.public_key() }
    }
}

/// Signs with the first nonce that yields a signature.
fn sign_by<C: Curve>(
    key: &Scalar<C>,
    digest: &Scalar<C>,
    mut next: impl FnMut() -> Scalar<C>,
) -> Signature<C> {
    loop {
        let nonce = next();
        let signature =
            multiply_base(&nonce).and_then(|point| signature(key, digest, &point, &nonce.invert()));
        if let Some(signature) = signature {
            return signature;
        }
    }
}

/// ECDSA.
impl<C: Curve> VerifyAfterSign<'_, PrivateKey<C>, PublicKey<C>> {
    /// Like [`PrivateKey::sign`].
    ///
    /// # Errors
    /// [`Error::Fault`].
    #[inline(always)]
    pub fn sign(&self, hash: Hash, message: &[u8]) -> Result<Signature<C>, Error> {
        self.sign_prehashed(hash, &hash.digest(&[message]))
    }

    /// Like [`PrivateKey::sign_prehashed`].
    ///
    /// # Errors
    /// [`Error::Fault`].
    #[inline(always)]
    pub fn sign_prehashed(&self, hash: Hash, digest: &[u8]) -> Result<Signature<C>, Error> {
        self.sign_hedged(hash, digest, &[])
    }

    /// Like [`PrivateKey::sign_hedged`].
    ///
    /// # Errors
    /// [`Error::Fault`].
    #[inline(always)]
    pub fn sign_hedged(
        &self,
        hash: Hash,
        digest: &[u8],
        random: &[u8],
    ) -> Result<Signature<C>, Error> {
        self.sign_with(Algorithm::of(hash), digest, random)
    }

    fn sign_with(
        &self,
        algorithm: Algorithm,
        digest: &[u8],
        random: &[u8],
    ) -> Result<Signature<C>, Error> {
        let signature = self.key.sign_with(algorithm, digest, random);
        match self.public.verify_prehashed(digest, &signature) {
            Ok(()) => Ok(signature),
            Err(_) => Err(Error::Fault),
        }
    }
}

/// Computes r and s from the nonce's point and its inverse. Returns `None` if one of them is 0 and
/// another nonce must be taken, which becomes public (FIPS 186-5, section 6.4.1, steps 5 to 11).
fn signature<C: Curve>(
    key: &Scalar<C>,
    digest: &Scalar<C>,
    point: &AffinePoint<C>,
    nonce_inverse: &Scalar<C>,
) -> Option<Signature<C>> {
    let r = point.x_scalar();
    let s = digest.add(&r.mul(key)).mul(nonce_inverse);
    Signature::new(r, s)
}

/// ECDSA.
impl<C: Curve> PublicKey<C> {
    /// Verifies the signature of a message.
    ///
    /// # Errors
    /// [`Error::Verification`].
    #[inline(always)]
    pub fn verify(
        &self,
        hash: Hash,
        message: &[u8],
        signature: &Signature<C>,
    ) -> Result<(), Error> {
        self.verify_prehashed(&hash.digest(&[message]), signature)
    }

    /// Verifies the signature of a digest of any length (FIPS 186-5, section 6.4.2).
    ///
    /// # Errors
    /// [`Error::Verification`].
    pub fn verify_prehashed(&self, digest: &[u8], signature: &Signature<C>) -> Result<(), Error> {
        let s_inverse = signature.s().invert();
        let [u1, u2] = multipliers(digest, signature, &s_inverse);
        verified(has_x_vartime(&u1, &u2, self.point(), signature.r()))
    }
}

/// ECDSA.
impl<C: Curve, M: AsRef<[u64]>> PreparedPublicKey<C, M> {
    /// Like [`PublicKey::verify`].
    ///
    /// # Errors
    /// [`Error::Verification`]; [`Error::MemoryTooSmall`] if the memory has shrunk.
    #[inline(always)]
    pub fn verify(
        &self,
        hash: Hash,
        message: &[u8],
        signature: &Signature<C>,
    ) -> Result<(), Error> {
        self.verify_prehashed(&hash.digest(&[message]), signature)
    }

    /// Like [`PublicKey::verify_prehashed`].
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn verify_prehashed(&self, digest: &[u8], signature: &Signature<C>) -> Result<(), Error> {
        verify_prepared(self.multiples()?, digest, signature)
    }
}

fn verify_prepared<C: Curve>(
    multiples: &[u64],
    digest: &[u8],
    signature: &Signature<C>,
) -> Result<(), Error> {
    let s_inverse = signature.s().invert();
    let [u1, u2] = multipliers(digest, signature, &s_inverse);
    verified(has_x_prepared_vartime(&u1, &u2, multiples, signature.r()))
}

/// Returns e/s and r/s.
fn multipliers<C: Curve>(
    digest: &[u8],
    signature: &Signature<C>,
    s_inverse: &Scalar<C>,
) -> [Scalar<C>; 2] {
    let digest = Scalar::from_leftmost_bits(digest);
    [digest.mul(s_inverse), signature.r().mul(s_inverse)]
}

const fn verified(right: bool) -> Result<(), Error> {
    if right { Ok(()) } else { Err(Error::Verification) }
}
