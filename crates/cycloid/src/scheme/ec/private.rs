//! Private keys: scalars.

use core::fmt;

use rand_core::CryptoRng;

use super::{Curve, Error, MAX_BYTES, PublicKey};
use crate::machine::ct;
use crate::math::curve::{Scalar, multiply_base};

/// A private key and its public key; wiped when it is dropped.
pub struct PrivateKey<C: Curve> {
    scalar: Scalar<C>,
    public: PublicKey<C>,
}

impl<C: Curve> PrivateKey<C> {
    /// A new key, uniform from 1 to n − 1 (FIPS 186-5, appendix A.2.2, by rejection).
    pub fn generate(rng: &mut impl CryptoRng) -> Self {
        loop {
            if let Some(key) = Self::from_scalar(random_scalar(rng)) {
                return key;
            }
        }
    }

    /// The key with this scalar: [`Curve::BYTES`] bytes, big-endian.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::PrivateKeyRange`] for 0, and for n and more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != C::BYTES {
            return Err(Error::Length { needed: C::BYTES, given: bytes.len() });
        }
        let scalar = Scalar::from_bytes(bytes).ok_or(Error::PrivateKeyRange)?;
        Self::from_scalar(scalar).ok_or(Error::PrivateKeyRange)
    }

    /// Writes the scalar: [`Curve::BYTES`] bytes, big-endian.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn to_bytes(&self, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.len() != C::BYTES {
            return Err(Error::Length { needed: C::BYTES, given: bytes.len() });
        }
        self.scalar.to_bytes(bytes);
        Ok(())
    }

    /// Its public key.
    pub const fn public_key(&self) -> &PublicKey<C> {
        &self.public
    }

    /// `None` for 0.
    fn from_scalar(scalar: Scalar<C>) -> Option<Self> {
        let point = multiply_base(&scalar)?;
        point.mark_public();
        let public = PublicKey::from_point(point);
        Some(Self { scalar, public })
    }

    pub(in super::super) const fn scalar(&self) -> &Scalar<C> {
        &self.scalar
    }
}

impl<C: Curve> fmt::Debug for PrivateKey<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ec::PrivateKey({:?})", self.public)
    }
}

/// A scalar, uniform from 0 to n − 1: random bits, as many as n has, until they are less than n.
/// How often that takes says nothing of the scalar.
pub(super) fn random_scalar<C: Curve>(rng: &mut impl CryptoRng) -> Scalar<C> {
    let mut bytes = [0; MAX_BYTES];
    let bytes = &mut bytes[..C::BYTES];
    loop {
        rng.fill_bytes(bytes);
        bytes[0] &= 0xff >> (8 * C::BYTES - C::BITS);
        ct::mark_secret(bytes);
        if let Some(scalar) = Scalar::from_bytes(bytes) {
            ct::wipe_bytes(bytes);
            return scalar;
        }
    }
}
