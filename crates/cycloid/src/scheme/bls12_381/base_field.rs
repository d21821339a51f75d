//! The fields of the coordinates, on the library's own arithmetic with every backend.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use rand_core::TryCryptoRng;

use super::backend::{First, Group, Second};
use super::encoding::is_canonical;
use super::error::array;
use super::hash::HashedField;
use super::own::curve::Curve;
use super::own::field::{Operation, compute_first, compute_second, map_first, map_second};
use super::target::random_integer;
use super::{Cycloid, Error};
use crate::machine::ct::Mask;
use crate::machine::words;
use crate::math::bls12_381::{Words, constants};

/// An element of the field Fp of integers modulo p.
///
/// Time depends on no value, except in functions ending in `_vartime`; the results of comparisons
/// and whether a root exists are public, and so are decoded and random elements.
#[derive(Clone, Copy)]
pub struct Fp(Words);

/// An element of the field Fp2 = Fp\[u\]/(u² + 1); time as for [`Fp`].
#[derive(Clone, Copy)]
pub struct Fp2([Words; 2]);

impl Fp {
    /// Bytes of an encoding.
    pub const BYTES: usize = 48;

    /// 0.
    pub const ZERO: Self = Self([0; 6]);

    /// 1.
    pub const ONE: Self = Self(constants::ONE);

    /// Decodes 48 big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::NotCanonical`] for p or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bytes: &[u8; 48] = array(bytes)?;
        if is_canonical(bytes) { Ok(Self::below_p(bytes)) } else { Err(Error::NotCanonical) }
    }

    /// Reduces big-endian bytes, of any number, modulo p.
    pub fn from_bytes_wide(bytes: &[u8]) -> Self {
        // Horner's rule over pieces of 47 bytes, each below p.
        let mut shift = [0; 48];
        shift[0] = 1;
        let shift = Self::below_p(&shift);
        let mut sum = Self::ZERO;
        for piece in bytes.rchunks(47).rev() {
            let mut padded = [0; 48];
            padded[48 - piece.len()..].copy_from_slice(piece);
            sum = sum * shift + Self::below_p(&padded);
        }
        sum
    }

    /// Encodes the element as 48 big-endian bytes.
    pub fn to_bytes(&self) -> [u8; 48] {
        let mut bytes = [0; 48];
        words::to_be_bytes(&mut bytes, &self.compute(Operation::Store).0);
        bytes
    }

    /// Draws a uniform element, which is public.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`] if the generator fails, returns the same eight bytes twice, or
    /// gives no usable value in 128 draws.
    pub fn random(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        let mut bytes = [0; 48];
        random_integer(&mut bytes, rng)?;
        Ok(Self::below_p(&bytes))
    }

    /// Returns the coordinates of the point of the curve to which RFC 9380 maps the element; `None`
    /// for infinity.
    pub(super) fn map_to_curve(&self) -> Option<([u8; 48], [u8; 48])> {
        let point = map_first(&self.0);
        let finite = !<Cycloid as Group<First>>::affine_is_identity(&point);
        finite.then(|| <Cycloid as Group<First>>::coordinates(&point))
    }

    fn below_p(bytes: &[u8; 48]) -> Self {
        let mut integer = [0; 6];
        words::from_be_bytes(&mut integer, bytes);
        Self(integer).compute(Operation::Load)
    }

    fn compute(&self, operation: Operation) -> Self {
        Self(compute_first(operation, &self.0))
    }
}

impl Fp2 {
    /// Bytes of an encoding.
    pub const BYTES: usize = 96;

    /// 0.
    pub const ZERO: Self = Self([[0; 6]; 2]);

    /// 1.
    pub const ONE: Self = Self([constants::ONE, [0; 6]]);

    /// Returns c₀ + c₁·u.
    pub const fn new(c0: &Fp, c1: &Fp) -> Self {
        Self([c0.0, c1.0])
    }

    /// Returns the coefficients of 1 and of u.
    pub const fn coefficients(&self) -> [Fp; 2] {
        [Fp(self.0[0]), Fp(self.0[1])]
    }

    /// Decodes 96 bytes: two big-endian integers, the coefficient of u first.
    ///
    /// # Errors
    /// As [`Fp::from_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bytes: &[u8; 96] = array(bytes)?;
        Ok(Self::new(&Fp::from_bytes(&bytes[48..])?, &Fp::from_bytes(&bytes[..48])?))
    }

    /// Encodes the element as 96 bytes, in the format of [`from_bytes`](Self::from_bytes).
    pub fn to_bytes(&self) -> [u8; 96] {
        let [c0, c1] = self.coefficients();
        let mut bytes = [0; 96];
        bytes[..48].copy_from_slice(&c1.to_bytes());
        bytes[48..].copy_from_slice(&c0.to_bytes());
        bytes
    }

    /// Draws a uniform element, which is public.
    ///
    /// # Errors
    /// As [`Fp::random`].
    pub fn random(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        Ok(Self::new(&Fp::random(rng)?, &Fp::random(rng)?))
    }

    /// Returns c₀ − c₁·u, which is also the p-th power.
    pub fn conjugate(&self) -> Self {
        let [c0, c1] = self.coefficients();
        Self::new(&c0, &-c1)
    }

    /// Returns c₀² + c₁², the product with the conjugate.
    pub fn norm(&self) -> Fp {
        let [c0, c1] = self.coefficients();
        c0.square() + c1.square()
    }

    /// Returns the coordinates of the point of the twisted curve to which RFC 9380 maps the
    /// element; `None` for infinity.
    pub(super) fn map_to_curve(&self) -> Option<([u8; 96], [u8; 96])> {
        let point = map_second(&self.0);
        let finite = !<Cycloid as Group<Second>>::affine_is_identity(&point);
        finite.then(|| <Cycloid as Group<Second>>::coordinates(&point))
    }

    fn compute(&self, operation: Operation) -> Self {
        Self(compute_second(operation, &self.0))
    }
}

/// Implements what the fields share; `limbs` iterates over the words of an element.
macro_rules! field {
    ($type:ident, $group:ty, $limbs:expr) => {
        impl $type {
            /// Returns whether this is 0.
            pub fn is_zero(&self) -> bool {
                *self == Self::ZERO
            }

            /// Returns twice this element.
            pub fn double(&self) -> Self {
                *self + *self
            }

            /// Returns this element squared.
            pub fn square(&self) -> Self {
                Self(<$group as Curve>::square(&self.0))
            }

            /// Returns the inverse, or `None` for 0.
            pub fn invert(&self) -> Option<Self> {
                (!self.is_zero()).then(|| self.compute(Operation::Invert))
            }

            /// Returns a square root, or `None` if there is none.
            pub fn sqrt(&self) -> Option<Self> {
                let root = self.compute(Operation::Root);
                (root.square() == *self).then_some(root)
            }

            /// Returns whether this is 0 or has a square root.
            pub fn is_square(&self) -> bool {
                self.sqrt().is_some()
            }

            /// Returns this element to the power of a public integer, little-endian.
            pub fn pow_vartime(&self, exponent: &[u64]) -> Self {
                let mut power = Self::ONE;
                for limb in exponent.iter().rev() {
                    for bit in (0..u64::BITS).rev() {
                        power = power.square();
                        if limb >> bit & 1 == 1 {
                            power *= *self;
                        }
                    }
                }
                power
            }
        }

        impl Default for $type {
            /// Returns 0.
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl PartialEq for $type {
            /// Compares in constant time.
            fn eq(&self, other: &Self) -> bool {
                let limbs: fn(&Self) -> &[u64] = $limbs;
                let pairs = limbs(self).iter().zip(limbs(other));
                // The result of a comparison is public.
                Mask::is_zero(pairs.fold(0, |any, (a, b)| any | (a ^ b))).reveal()
            }
        }

        impl Eq for $type {}

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($type), "("))?;
                self.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(")")
            }
        }

        impl Neg for $type {
            type Output = Self;

            fn neg(self) -> Self {
                Self::ZERO - self
            }
        }

        field!(@ $type, $group, Add, add, AddAssign, add_assign);
        field!(@ $type, $group, Sub, sub, SubAssign, sub_assign);
        field!(@ $type, $group, Mul, mul, MulAssign, mul_assign);
    };
    (@ $type:ident, $group:ty, $trait:ident, $method:ident, $assign:ident, $assign_method:ident) => {
        impl $trait for $type {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                Self(<$group as Curve>::$method(&self.0, &other.0))
            }
        }

        impl $assign for $type {
            fn $assign_method(&mut self, other: Self) {
                *self = $trait::$method(*self, other);
            }
        }
    };
}

field!(Fp, First, |a| &a.0);
field!(Fp2, Second, |a| a.0.as_flattened());

impl HashedField for Fp {
    const UNIFORM_BYTES: usize = 64;

    fn from_uniform(bytes: &[u8]) -> Self {
        Self::from_bytes_wide(bytes)
    }
}

impl HashedField for Fp2 {
    const UNIFORM_BYTES: usize = 128;

    fn from_uniform(bytes: &[u8]) -> Self {
        let (c0, c1) = bytes.split_at(bytes.len() / 2);
        Self::new(&Fp::from_bytes_wide(c0), &Fp::from_bytes_wide(c1))
    }
}
