//! Points and scalars of edwards25519, for protocols that need the group itself.
//!
//! The group has order 8·L, and the base point the prime order L. A protocol that takes points from
//! outside must say what becomes of those that are of small order or have a part of small order:
//! [`Point::is_small_order`] and [`Point::is_torsion_free`] tell.
//!
//! Time depends on no value, but for whether an encoding is accepted, unless a name ends in
//! `_vartime`.

use core::fmt;

use super::little_endian::{bytes, limbs};
use super::stack_use;
use crate::machine::{ct, stack};
use crate::math::curve::edwards::{
    self, Base, Combination, CombineVartime, Compare, Decode, Encode, Stored, is_canonical, one,
};

/// A point of the curve; there is no other value.
#[derive(Clone, Copy)]
pub struct Point(Stored);

impl Point {
    /// The neutral point (0, 1).
    pub const NEUTRAL: Self = Self([0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);

    /// The base point (RFC 8032, section 5.1).
    pub fn base() -> Self {
        Self::multiply_base(&Scalar::one())
    }

    /// The point of an encoding (RFC 8032, section 5.1.3), if there is one and it is the one that
    /// the point is encoded as.
    pub fn from_bytes(encoding: &[u8; 32]) -> Option<Self> {
        let encoding = limbs(encoding);
        let decoded = one::<Decode>(&encoding);
        let (point, valid) = decoded.split_at(16);
        let is_valid = valid == [1] && is_canonical(&encoding);
        is_valid.then(|| Self(point.try_into().expect("a point has 16 limbs")))
    }

    /// The encoding (RFC 8032, section 5.1.2).
    pub fn to_bytes(&self) -> [u8; 32] {
        stack::clean(stack_use::CURVE25519_POINT, || bytes(&one::<Encode>(&self.0)))
    }

    /// The sum.
    pub fn add(&self, other: &Self) -> Self {
        stack::clean(stack_use::CURVE25519_POINT, || Self(one::<edwards::Sum>(&(self.0, other.0))))
    }

    /// The opposite point.
    pub fn negate(&self) -> Self {
        stack::clean(stack_use::CURVE25519_POINT, || Self(one::<edwards::Negate>(&self.0)))
    }

    /// The point times a scalar.
    pub fn multiply(&self, scalar: &Scalar) -> Self {
        stack::clean(stack_use::CURVE25519_POINT, || {
            Self(one::<edwards::Multiply>(&(self.0, scalar.0.clone())))
        })
    }

    /// The base point times a scalar.
    pub fn multiply_base(scalar: &Scalar) -> Self {
        stack::clean(stack_use::CURVE25519_POINT, || Self(one::<Base>(&scalar.0)))
    }

    /// This point times a scalar plus the base point times another; all of them public.
    pub fn multiply_add_base_vartime(&self, scalar: &Scalar, base_scalar: &Scalar) -> Self {
        Self(one::<CombineVartime>(&Combination {
            base_number: base_scalar.0.clone(),
            number: scalar.0.clone(),
            point: self.negate().0,
        }))
    }

    /// Whether the point's order is 1, 2, 4 or 8.
    pub fn is_small_order(&self) -> bool {
        self.compare(&Self::NEUTRAL)[1]
    }

    /// Whether the point is a multiple of the base point: L times the point is neutral.
    pub fn is_torsion_free(&self) -> bool {
        // L itself is no scalar.
        self.multiply(&Scalar(edwards::Scalar::ZERO).sub(&Scalar::one())) == self.negate()
    }

    fn compare(&self, other: &Self) -> [bool; 2] {
        let found = one::<Compare>(&(self.0, other.0));
        // The outcome of a comparison is public.
        ct::mark_public(&found);
        found.map(|found| found == 1)
    }
}

/// The same point, which becomes known.
impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other)[0]
    }
}

impl Eq for Point {}

/// Nothing of the point, which may be secret.
impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("curve25519::Point")
    }
}

/// A number modulo L, the order of the base point; wiped when dropped.
#[derive(Clone)]
pub struct Scalar(edwards::Scalar);

impl Scalar {
    /// 1.
    fn one() -> Self {
        Self(edwards::Scalar::reduced(&[1, 0, 0, 0], &[0; 4]))
    }

    /// The number of little-endian bytes if it is less than L, which becomes known.
    pub fn from_bytes(number: &[u8; 32]) -> Option<Self> {
        stack::clean(stack_use::CURVE25519_SCALAR, || {
            edwards::Scalar::canonical(&limbs(number)).map(Self)
        })
    }

    /// The number of little-endian bytes modulo L: of 64 random bytes, a random scalar.
    pub fn from_wide_bytes(number: &[u8; 64]) -> Self {
        let (halves, _) = number.as_chunks();
        stack::clean(stack_use::CURVE25519_SCALAR, || {
            Self(edwards::Scalar::reduced(&limbs(&halves[0]), &limbs(&halves[1])))
        })
    }

    /// Little-endian bytes of the number, which is less than L.
    pub fn to_bytes(&self) -> [u8; 32] {
        stack::clean(stack_use::CURVE25519_SCALAR, || bytes(self.0.limbs()))
    }

    /// The sum.
    pub fn add(&self, other: &Self) -> Self {
        self.multiply_add(&Self::one(), other)
    }

    /// The difference.
    pub fn sub(&self, other: &Self) -> Self {
        stack::clean(stack_use::CURVE25519_SCALAR, || self.add(&Self(other.0.negate())))
    }

    /// The product.
    pub fn multiply(&self, other: &Self) -> Self {
        self.multiply_add(other, &Self(edwards::Scalar::ZERO))
    }

    /// This number times `factor` plus `summand`.
    pub fn multiply_add(&self, factor: &Self, summand: &Self) -> Self {
        stack::clean(stack_use::CURVE25519_SCALAR, || {
            Self(self.0.multiply_add(&factor.0, &summand.0))
        })
    }

    /// 1 over this number, 0 over 0.
    pub fn invert(&self) -> Self {
        stack::clean(stack_use::CURVE25519_SCALAR, || Self(self.0.invert()))
    }
}

/// Nothing of the number, which may be secret.
impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("curve25519::Scalar")
    }
}

#[cfg(test)]
mod tests;
