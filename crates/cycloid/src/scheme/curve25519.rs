//! Points and scalars of edwards25519, for protocols that work in the group itself.
//!
//! The group has order 8·L; the base point has the prime order L. A protocol that accepts points
//! from outside must decide how to treat points of small order and points with a small-order
//! component. [`Point::is_small_order`] and [`Point::is_torsion_free`] test for them.
//!
//! Time depends on no value, except that it reveals whether an encoding is accepted. Functions
//! whose names end in `_vartime` take variable time.

use core::fmt;

use super::little_endian::{bytes, limbs};
use super::stack_use;
use crate::machine::{ct, stack};
use crate::math::curve::edwards::{
    self, Base, Combination, CombineVartime, Compare, Decode, Encode, Stored, is_canonical, one,
};

/// A point on the curve. No other value can be constructed.
#[derive(Clone, Copy)]
pub struct Point(Stored);

impl Point {
    /// The neutral element (0, 1).
    pub const NEUTRAL: Self = Self([0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);

    /// Returns the base point (RFC 8032, section 5.1).
    pub fn base() -> Self {
        Self::multiply_base(&Scalar::one())
    }

    /// Decodes a point (RFC 8032, section 5.1.3). Returns `None` if there is no such point or if
    /// the encoding is not canonical.
    pub fn from_bytes(encoding: &[u8; 32]) -> Option<Self> {
        let encoding = limbs(encoding);
        let decoded = one::<Decode>(&encoding);
        let (point, valid) = decoded.split_at(16);
        let is_valid = valid == [1] && is_canonical(&encoding);
        is_valid.then(|| Self(point.try_into().expect("a point has 16 limbs")))
    }

    /// Encodes the point (RFC 8032, section 5.1.2).
    pub fn to_bytes(&self) -> [u8; 32] {
        stack::clean(stack_use::CURVE25519_POINT, || bytes(&one::<Encode>(&self.0)))
    }

    /// Returns the sum of the points.
    pub fn add(&self, other: &Self) -> Self {
        stack::clean(stack_use::CURVE25519_POINT, || Self(one::<edwards::Sum>(&(self.0, other.0))))
    }

    /// Returns the negated point.
    pub fn negate(&self) -> Self {
        stack::clean(stack_use::CURVE25519_POINT, || Self(one::<edwards::Negate>(&self.0)))
    }

    /// Returns the point times a scalar.
    pub fn multiply(&self, scalar: &Scalar) -> Self {
        stack::clean(stack_use::CURVE25519_POINT, || {
            Self(one::<edwards::Multiply>(&(self.0, scalar.0.clone())))
        })
    }

    /// Returns the base point times a scalar.
    pub fn multiply_base(scalar: &Scalar) -> Self {
        stack::clean(stack_use::CURVE25519_POINT, || Self(one::<Base>(&scalar.0)))
    }

    /// Returns `scalar` times this point plus `base_scalar` times the base point. All inputs are
    /// public.
    pub fn multiply_add_base_vartime(&self, scalar: &Scalar, base_scalar: &Scalar) -> Self {
        Self(one::<CombineVartime>(&Combination {
            base_number: base_scalar.0.clone(),
            number: scalar.0.clone(),
            point: self.negate().0,
        }))
    }

    /// Returns whether the point's order is 1, 2, 4 or 8.
    pub fn is_small_order(&self) -> bool {
        self.compare(&Self::NEUTRAL)[1]
    }

    /// Returns whether the point is a multiple of the base point, that is, whether L times the
    /// point is neutral.
    pub fn is_torsion_free(&self) -> bool {
        // L itself is not a valid scalar, so this computes (L − 1)·P = −P.
        self.multiply(&Scalar(edwards::Scalar::ZERO).sub(&Scalar::one())) == self.negate()
    }

    fn compare(&self, other: &Self) -> [bool; 2] {
        let found = one::<Compare>(&(self.0, other.0));
        // The outcome of a comparison is public.
        ct::mark_public(&found);
        found.map(|found| found == 1)
    }
}

/// Compares the points in constant time; the result is public.
impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other)[0]
    }
}

impl Eq for Point {}

/// Prints nothing of the point, which may be secret.
impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("curve25519::Point")
    }
}

/// An integer modulo L, the order of the base point; wiped when dropped.
#[derive(Clone)]
pub struct Scalar(edwards::Scalar);

impl Scalar {
    /// Returns 1.
    fn one() -> Self {
        Self(edwards::Scalar::reduced(&[1, 0, 0, 0], &[0; 4]))
    }

    /// Reads 32 little-endian bytes. Returns `None` if the number is not less than L; whether it is
    /// becomes public.
    pub fn from_bytes(number: &[u8; 32]) -> Option<Self> {
        stack::clean(stack_use::CURVE25519_SCALAR, || {
            edwards::Scalar::canonical(&limbs(number)).map(Self)
        })
    }

    /// Reduces 64 little-endian bytes modulo L. Random bytes give a random scalar.
    pub fn from_wide_bytes(number: &[u8; 64]) -> Self {
        let (halves, _) = number.as_chunks();
        stack::clean(stack_use::CURVE25519_SCALAR, || {
            Self(edwards::Scalar::reduced(&limbs(&halves[0]), &limbs(&halves[1])))
        })
    }

    /// Returns the number, which is less than L, as little-endian bytes.
    pub fn to_bytes(&self) -> [u8; 32] {
        stack::clean(stack_use::CURVE25519_SCALAR, || bytes(self.0.limbs()))
    }

    /// Returns the sum.
    pub fn add(&self, other: &Self) -> Self {
        self.multiply_add(&Self::one(), other)
    }

    /// Returns the difference.
    pub fn sub(&self, other: &Self) -> Self {
        stack::clean(stack_use::CURVE25519_SCALAR, || self.add(&Self(other.0.negate())))
    }

    /// Returns the product.
    pub fn multiply(&self, other: &Self) -> Self {
        self.multiply_add(other, &Self(edwards::Scalar::ZERO))
    }

    /// Returns this number times `factor` plus `summand`.
    pub fn multiply_add(&self, factor: &Self, summand: &Self) -> Self {
        stack::clean(stack_use::CURVE25519_SCALAR, || {
            Self(self.0.multiply_add(&factor.0, &summand.0))
        })
    }

    /// Returns the inverse; 0 for 0.
    pub fn invert(&self) -> Self {
        stack::clean(stack_use::CURVE25519_SCALAR, || Self(self.0.invert()))
    }
}

/// Prints nothing of the number, which may be secret.
impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("curve25519::Scalar")
    }
}

#[cfg(test)]
mod tests;
