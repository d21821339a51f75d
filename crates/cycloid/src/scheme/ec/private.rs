//! Private keys: scalars.

use core::fmt;

use rand_core::TryCryptoRng;

use super::{Curve, Error, MAX_BYTES, PublicKey};
use crate::machine::lanes::{Backend, LANES};
use crate::machine::{ct, stack};
use crate::math::curve::{AffinePoint, Scalar, multiply_base, multiply_base_eight};
use crate::scheme::{random, stack_use};

/// With fewer keys than this, one by one is faster than eight side by side.
const WORTH_EIGHT: usize = 4;

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

    /// Generates a key in each place, like [`generate`](Self::generate), eight side by side.
    ///
    /// ```
    /// use cycloid::scheme::ec::{P256, PrivateKey};
    ///
    /// let mut keys: [Option<PrivateKey<P256>>; 8] = [const { None }; 8];
    /// PrivateKey::generate_each(&mut keys, &mut getrandom::SysRng)?;
    /// assert!(keys.iter().all(Option::is_some));
    /// # Ok::<(), cycloid::scheme::ec::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`generate`](Self::generate); every place is `None` then.
    pub fn generate_each(
        keys: &mut [Option<Self>],
        rng: &mut impl TryCryptoRng,
    ) -> Result<(), Error> {
        let generated = keys.chunks_mut(LANES).try_for_each(|keys| match C::lanes() {
            Some(backend) if keys.len() >= WORTH_EIGHT => {
                let bytes = stack_use::ecdsa_sign_batch::<C>();
                stack::clean(bytes, || Self::generate_up_to_eight(backend, keys, rng))
            }
            _ => keys.iter_mut().try_for_each(|key| {
                stack::try_keep(key, || Self::generate(rng))?;
                Ok(())
            }),
        });
        if generated.is_err() {
            keys.fill_with(|| None);
        }
        generated
    }

    fn generate_up_to_eight(
        backend: Backend,
        keys: &mut [Option<Self>],
        rng: &mut impl TryCryptoRng,
    ) -> Result<(), Error> {
        let mut scalars: [Scalar<C>; LANES] = core::array::from_fn(|_| Scalar::one());
        for scalar in &mut scalars[..keys.len()] {
            *scalar = random_scalar(rng)?;
        }
        let points = multiply_base_eight(backend, &scalars);
        for ((key, scalar), point) in keys.iter_mut().zip(scalars).zip(points) {
            let key_of_point = |point| Self::of(scalar, point);
            *key = Some(point.map(key_of_point).ok_or(Error::RandomGenerator)?);
        }
        Ok(())
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
        Some(Self::of(scalar, point))
    }

    fn of(scalar: Scalar<C>, point: AffinePoint<C>) -> Self {
        // It is sent to others.
        point.mark_public();
        Self { scalar, public: PublicKey::from_point(point) }
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
