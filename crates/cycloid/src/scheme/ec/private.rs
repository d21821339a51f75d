//! Private keys: scalars.

use core::fmt;

use rand_core::TryCryptoRng;

use super::{Curve, Error, MAX_BYTES, PublicKey};
use crate::machine::{ct, stack};
use crate::math::curve::{Scalar, multiply_base};
use crate::scheme::{random, stack_use};

/// A private key and its public key; wiped when dropped.
///
/// A move leaves an unwiped copy, and so does unwrapping a `Result`. [`stack::try_keep`] stores the
/// key where it stays.
pub struct PrivateKey<C: Curve> {
    scalar: Scalar<C>,
    public: PublicKey<C>,
}

impl<C: Curve> PrivateKey<C> {
    /// Generates a key, uniform from 1 to n − 1 (FIPS 186-5, appendix A.2.2, by rejection).
    ///
    /// # Errors
    /// [`Error::RandomGenerator`] if the generator fails, returns the same eight bytes twice, or
    /// gives no usable value in 128 draws.
    pub fn generate(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        // A sound generator draws 0 less often than it fails the other tests.
        stack::clean(stack_use::ec_key::<C>(), || {
            Self::from_scalar(random_scalar(rng)?).ok_or(Error::RandomGenerator)
        })
    }

    /// Reads a key from its scalar: [`Curve::BYTES`] big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::PrivateKeyRange`] for 0, and for n or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::ec_key::<C>(), || Self::read_bytes(bytes))
    }

    pub(super) fn read_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != C::BYTES {
            return Err(Error::Length { needed: C::BYTES, given: bytes.len() });
        }
        let scalar = Scalar::from_bytes(bytes).ok_or(Error::PrivateKeyRange)?;
        Self::from_scalar(scalar).ok_or(Error::PrivateKeyRange)
    }

    /// Writes the scalar as [`Curve::BYTES`] big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn to_bytes(&self, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.len() != C::BYTES {
            return Err(Error::Length { needed: C::BYTES, given: bytes.len() });
        }
        stack::clean(stack_use::EC_SCALAR, || self.scalar.to_bytes(bytes));
        Ok(())
    }

    /// Returns the public key.
    pub const fn public_key(&self) -> &PublicKey<C> {
        &self.public
    }

    /// Returns `None` for 0.
    fn from_scalar(scalar: Scalar<C>) -> Option<Self> {
        let point = multiply_base(&scalar)?;
        point.mark_public();
        let public = PublicKey::from_point(point);
        Some(Self { scalar, public })
    }

    /// Returns the key's memory: the scalar and the coordinates of the public key.
    #[cfg(test)]
    pub(in super::super) fn memory(&mut self) -> [&mut [crate::machine::words::Limb]; 3] {
        let [x, y] = self.public.point_mut().limbs_mut();
        [self.scalar.limbs_mut(), x, y]
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

/// Draws a scalar uniformly from 0 to n − 1: random bits, as many as n has, until they are less
/// than n. The number of draws reveals nothing about the scalar.
pub(super) fn random_scalar<C: Curve>(rng: &mut impl TryCryptoRng) -> Result<Scalar<C>, Error> {
    let mut bytes = [0; MAX_BYTES];
    let bytes = &mut bytes[..C::BYTES];
    let mut scalar = None;
    for _ in 0..random::DRAWS {
        random::fill(rng, bytes)?;
        bytes[0] &= 0xff >> (8 * C::BYTES - C::BITS);
        scalar = Scalar::from_bytes(bytes);
        if scalar.is_some() {
            break;
        }
    }
    ct::wipe_bytes(bytes);
    scalar.ok_or(Error::RandomGenerator)
}
