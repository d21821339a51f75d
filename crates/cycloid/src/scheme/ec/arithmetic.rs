//! Arithmetic in the group of a curve, for protocols beyond signatures and key agreement.
//!
//! A [`Point`] is on the curve or infinity, and a [`Scalar`] is from 0 to n − 1; no other value can
//! be constructed. Both may be secret, including infinity and zero. Time depends only on the curve
//! and on the number of terms in a sum. The exceptions are functions ending in `_vartime`,
//! comparisons, and conversions to bytes. Both types are wiped when dropped.
//!
//! ```
//! use cycloid::scheme::ec::P256;
//! use cycloid::scheme::ec::arithmetic::{Point, Scalar};
//!
//! let rng = &mut getrandom::SysRng;
//! // A commitment to `value` that hides it: value·G + blinding·H.
//! let h = &Scalar::random(rng)? * &Point::<P256>::generator();
//! let (value, blinding) = (Scalar::random(rng)?, Scalar::random(rng)?);
//! let commitment = &Point::generator_times(&value) + &(&blinding * &h);
//! let sent = commitment.to_public_key()?.to_compressed();
//! assert_eq!(Point::from_sec1(&sent)?, commitment);
//! let again = Point::sum_of_products(&[(&value, &Point::generator()), (&blinding, &h)]);
//! assert_eq!(again, commitment);
//! # Ok::<(), cycloid::scheme::ec::Error>(())
//! ```

use core::fmt;
use core::ops::{Add, Mul, Neg, Sub};

use rand_core::TryCryptoRng;

use super::private::random_scalar;
use super::{Curve, Error, PrivateKey, PublicKey};
use crate::machine::stack;
use crate::math::curve::{self, AffinePoint, AnyPoint};
use crate::scheme::stack_use;

/// An integer modulo the order n of the group.
#[derive(Clone)]
pub struct Scalar<C: Curve>(curve::Scalar<C>);

/// A point of the group.
#[derive(Clone)]
pub struct Point<C: Curve>(AnyPoint<C>);

impl<C: Curve> Scalar<C> {
    /// Returns 0.
    pub fn zero() -> Self {
        Self(curve::Scalar::zero())
    }

    /// Returns 1.
    pub fn one() -> Self {
        Self(curve::Scalar::one())
    }

    /// Draws a scalar uniformly from 0 to n − 1.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`], as for [`PrivateKey::generate`].
    pub fn random(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        stack::clean(stack_use::EC_SCALAR, || random_scalar(rng).map(Self))
    }

    /// Reads an integer from [`Curve::BYTES`] big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::ScalarRange`] for n or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        check_length::<C>(bytes)?;
        stack::clean(stack_use::EC_SCALAR, || {
            curve::Scalar::from_bytes(bytes).map(Self).ok_or(Error::ScalarRange)
        })
    }

    /// Returns the leftmost bits of a digest, as many as n has, modulo n. ECDSA derives its integer
    /// from a digest this way (FIPS 186-5, section 6.4.1, steps 1 and 2).
    pub fn from_digest(digest: &[u8]) -> Self {
        stack::clean(stack_use::EC_SCALAR, || Self(curve::Scalar::from_leftmost_bits(digest)))
    }

    /// Writes the integer as [`Curve::BYTES`] big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn to_bytes(&self, bytes: &mut [u8]) -> Result<(), Error> {
        check_length::<C>(bytes)?;
        stack::clean(stack_use::EC_SCALAR, || self.0.to_bytes(bytes));
        Ok(())
    }

    /// Returns the inverse of this scalar; 0 for 0.
    #[must_use]
    pub fn invert(&self) -> Self {
        stack::clean(stack_use::ec_point::<C>(), || Self(self.0.invert()))
    }
}

fn check_length<C: Curve>(bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() == C::BYTES {
        return Ok(());
    }
    Err(Error::Length { needed: C::BYTES, given: bytes.len() })
}

impl<C: Curve> From<&PrivateKey<C>> for Scalar<C> {
    fn from(key: &PrivateKey<C>) -> Self {
        stack::clean(stack_use::EC_SCALAR, || Self(key.scalar().clone()))
    }
}

impl<C: Curve> Point<C> {
    /// Returns the point at infinity, the neutral element.
    pub fn infinity() -> Self {
        Self(AnyPoint::infinity())
    }

    /// Returns the generator G.
    pub fn generator() -> Self {
        Self(AffinePoint::GENERATOR.into())
    }

    /// Returns k·G, faster than multiplying [`generator`](Self::generator) by k.
    pub fn generator_times(scalar: &Scalar<C>) -> Self {
        stack::clean(stack_use::ec_point::<C>(), || Self(AnyPoint::base_multiple(&scalar.0)))
    }

    /// Returns the sum of the products of all terms.
    pub fn sum_of_products(terms: &[(&Scalar<C>, &Self)]) -> Self {
        stack::clean(stack_use::ec_point::<C>(), || {
            Self(AnyPoint::sum_of_products(terms.iter().map(|(k, point)| (&k.0, &point.0))))
        })
    }

    /// Returns u·G plus the sum of the products of all terms, for public scalars and points. Takes
    /// less time than the constant-time functions.
    pub fn sum_of_products_vartime(base: &Scalar<C>, terms: &[(&Scalar<C>, &Self)]) -> Self {
        let terms = terms.iter().map(|(scalar, point)| (&scalar.0, &point.0));
        Self(AnyPoint::sum_of_products_vartime(&base.0, terms))
    }

    /// Reads a point as [`PublicKey::from_sec1`] does. Also accepts infinity, encoded as a single 0
    /// byte (SEC 1, section 2.3.4).
    ///
    /// # Errors
    /// As [`PublicKey::from_sec1`].
    pub fn from_sec1(bytes: &[u8]) -> Result<Self, Error> {
        match PublicKey::from_sec1(bytes) {
            Err(Error::PointAtInfinity) => Ok(Self::infinity()),
            read => Ok(read?.into()),
        }
    }

    /// Converts the point to a public key, which has encodings.
    ///
    /// # Errors
    /// [`Error::PointAtInfinity`].
    pub fn to_public_key(&self) -> Result<PublicKey<C>, Error> {
        stack::clean(stack_use::ec_point::<C>(), || {
            self.0.to_affine().map(PublicKey::from_point).ok_or(Error::PointAtInfinity)
        })
    }
}

impl<C: Curve> From<PublicKey<C>> for Point<C> {
    fn from(key: PublicKey<C>) -> Self {
        Self((*key.point()).into())
    }
}

/// Compares in constant time; the result is public.
impl<C: Curve> PartialEq for Scalar<C> {
    fn eq(&self, other: &Self) -> bool {
        stack::clean(stack_use::EC_SCALAR, || self.0.equal(&other.0).reveal())
    }
}

impl<C: Curve> Eq for Scalar<C> {}

/// Compares in constant time; the result is public.
impl<C: Curve> PartialEq for Point<C> {
    fn eq(&self, other: &Self) -> bool {
        stack::clean(stack_use::ec_point::<C>(), || self.0.equal(&other.0).reveal())
    }
}

impl<C: Curve> Eq for Point<C> {}

impl<C: Curve> fmt::Debug for Scalar<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ec::Scalar({})", C::NAME)
    }
}

impl<C: Curve> fmt::Debug for Point<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ec::Point({})", C::NAME)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident ($left:ident, $right:ident) -> $output:ident $stack:expr, $compute:expr;)+) => {$(
        impl<C: Curve> $trait<&$right<C>> for &$left<C> {
            type Output = $output<C>;

            fn $method(self, other: &$right<C>) -> $output<C> {
                stack::clean($stack, || $output($compute(&self.0, &other.0)))
            }
        }
    )+};
}

operators! {
    Add add (Scalar, Scalar) -> Scalar stack_use::EC_SCALAR, curve::Scalar::add;
    Sub sub (Scalar, Scalar) -> Scalar stack_use::EC_SCALAR, |a: &curve::Scalar<C>, b: &curve::Scalar<C>| a.add(&b.negate());
    Mul mul (Scalar, Scalar) -> Scalar stack_use::EC_SCALAR, curve::Scalar::mul;
    Add add (Point, Point) -> Point stack_use::ec_point::<C>(), AnyPoint::add;
    Sub sub (Point, Point) -> Point stack_use::ec_point::<C>(), |a: &AnyPoint<C>, b: &AnyPoint<C>| a.add(&b.negate());
    Mul mul (Scalar, Point) -> Point stack_use::ec_point::<C>(), |k, point| AnyPoint::sum_of_products([(k, point)].into_iter());
}

impl<C: Curve> Neg for &Scalar<C> {
    type Output = Scalar<C>;

    fn neg(self) -> Scalar<C> {
        stack::clean(stack_use::EC_SCALAR, || Scalar(self.0.negate()))
    }
}

impl<C: Curve> Neg for &Point<C> {
    type Output = Point<C>;

    fn neg(self) -> Point<C> {
        stack::clean(stack_use::EC_SCALAR, || Point(self.0.negate()))
    }
}
