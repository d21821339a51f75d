//! The field Fq12, and GT, its subgroup of order r.

use core::fmt;
use core::iter::Product;
use core::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use rand_core::TryCryptoRng;

use super::backend::Pairing;
use super::error::{array, equal_counts};
use super::{Cycloid, Error, Fr, encoding};
use crate::machine::ct;
use crate::machine::stack;
use crate::scheme::{random, stack_use};

/// An element of Fq12 with the backend `B`.
///
/// The tower is Fp2 = Fp\[u\]/(u² + 1), Fp6 = Fp2\[v\]/(v³ − u − 1), Fq12 = Fp6\[w\]/(w² − v).
pub struct Fq12<B: Pairing = Cycloid>(B::Fq12);

impl<B: Pairing> Fq12<B> {
    /// Bytes of an encoding.
    pub const BYTES: usize = 12 * 48;

    /// Returns the backend's own representation.
    #[inline(always)]
    pub const fn raw(&self) -> &B::Fq12 {
        &self.0
    }

    /// Wraps a representation, which must be one of the backend's.
    #[inline(always)]
    pub const fn from_raw(raw: B::Fq12) -> Self {
        Self(raw)
    }

    /// Returns 0.
    pub fn zero() -> Self {
        Self(B::fq12_zero())
    }

    /// Returns 1.
    pub fn one() -> Self {
        Self(B::fq12_one())
    }

    /// Draws a uniform element, which is public.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`] if the generator fails, returns the same eight bytes twice, or
    /// gives no usable value in 128 draws.
    pub fn random(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        let mut coefficients = [[0; 48]; 12];
        for integer in &mut coefficients {
            random_integer(integer, rng)?;
        }
        Ok(Self(B::fq12_from_coefficients(&coefficients)))
    }

    /// Decodes 576 bytes: twelve integers of 48 bytes, **little-endian**, in the order of the
    /// tower: (1, u)·(1, v, v²)·(1, w), with the first factor varying fastest.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::NotCanonical`] if an integer is not below p.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let mut coefficients = [[0; 48]; 12];
        coefficients.as_flattened_mut().copy_from_slice(array::<{ 12 * 48 }>(bytes)?);
        coefficients.iter_mut().for_each(|integer| integer.reverse());
        if !encoding::is_canonical(coefficients.as_flattened()) {
            return Err(Error::NotCanonical);
        }
        Ok(Self(B::fq12_from_coefficients(&coefficients)))
    }

    /// Encodes the element as 576 bytes, in the format of [`from_bytes`](Self::from_bytes).
    pub fn to_bytes(&self) -> [u8; 12 * 48] {
        let mut bytes = [0; 12 * 48];
        let coefficients = B::fq12_coefficients(&self.0);
        for (bytes, integer) in bytes.chunks_exact_mut(48).zip(&coefficients) {
            bytes.copy_from_slice(integer);
            bytes.reverse();
        }
        bytes
    }

    /// Returns whether this is 0.
    pub fn is_zero(&self) -> bool {
        *self == Self::zero()
    }

    /// Returns whether this is 1.
    pub fn is_one(&self) -> bool {
        *self == Self::one()
    }

    /// Returns this element squared.
    pub fn square(&self) -> Self {
        Self(B::fq12_square(&self.0))
    }

    /// Returns the inverse, or `None` for 0.
    pub fn invert(&self) -> Option<Self> {
        (!self.is_zero()).then(|| Self(B::fq12_invert(&self.0)))
    }

    /// Returns this element to the power of p⁶: negates the coefficient of w.
    pub fn conjugate(&self) -> Self {
        Self(B::fq12_conjugate(&self.0))
    }

    /// Returns this element to the power of a public integer, little-endian.
    pub fn pow_vartime(&self, exponent: &[u64]) -> Self {
        let mut power = Self::one();
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

    /// Returns whether this is a member of GT.
    pub fn is_in_gt(&self) -> bool {
        B::gt_contains(&self.0)
    }

    /// Returns this element to the power of 3·(p¹² − 1)/r, a member of GT; `None` for 0. The factor
    /// 3 makes it cheaper, and zkcrypto and blst use it too (Hayashida, Hayasaka and Teruya, eprint
    /// 2020/875).
    pub fn final_exponentiation(&self) -> Option<Gt<B>> {
        stack::clean(stack_use::BLS_PAIRING, || self.final_exponentiation_in_frames())
    }

    /// Like [`final_exponentiation`](Self::final_exponentiation), but does not clean the element
    /// from the stack.
    pub(super) fn final_exponentiation_in_frames(&self) -> Option<Gt<B>> {
        (!self.is_zero()).then(|| Gt(B::final_exponentiation(&self.0)))
    }
}

/// Draws a uniform integer below p, big-endian, which is public.
pub(super) fn random_integer(
    integer: &mut [u8; 48],
    rng: &mut impl TryCryptoRng,
) -> Result<(), Error> {
    for _ in 0..random::DRAWS {
        random::fill(rng, integer)?;
        // Random elements of Fq12 are not meant to be secret.
        ct::mark_public(integer);
        // p has 381 bits.
        integer[0] &= 0x1f;
        if encoding::is_canonical(integer) {
            return Ok(());
        }
    }
    Err(Error::RandomGenerator)
}

/// A member of GT, written multiplicatively. The type cannot hold other elements of Fq12.
pub struct Gt<B: Pairing = Cycloid>(B::Fq12);

impl<B: Pairing> Gt<B> {
    /// Bytes of an encoding.
    pub const BYTES: usize = Fq12::<B>::BYTES;

    /// Returns the backend's own representation.
    #[inline(always)]
    pub const fn raw(&self) -> &B::Fq12 {
        &self.0
    }

    /// Returns the neutral element, 1.
    pub fn one() -> Self {
        Self(B::fq12_one())
    }

    /// Returns a uniform power of the generator.
    ///
    /// # Errors
    /// As [`Fr::random`].
    pub fn random(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        Ok(Self::generator().pow(&Fr::random(rng)?))
    }

    /// Decodes a member from 576 bytes, in the format of [`Fq12::from_bytes`].
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NotCanonical`], [`Error::NotInGroup`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::try_from(Fq12::from_bytes(bytes)?)
    }

    /// Encodes the member as 576 bytes.
    pub fn to_bytes(&self) -> [u8; 12 * 48] {
        Fq12::<B>(self.0).to_bytes()
    }

    /// Returns whether this is 1.
    pub fn is_one(&self) -> bool {
        *self == Self::one()
    }

    /// Returns this member squared.
    pub fn square(&self) -> Self {
        Self(B::gt_square(&self.0))
    }

    /// Returns the inverse.
    pub fn invert(&self) -> Self {
        Self(B::fq12_conjugate(&self.0))
    }

    /// Returns this member to the power of a scalar.
    pub fn pow(&self, exponent: &Fr<B>) -> Self {
        stack::clean(stack_use::BLS_PAIRING, || Self(B::gt_pow(&self.0, exponent.raw())))
    }

    /// Returns the product of the powers baseᵢ^exponentᵢ.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn multi_pow(bases: &[Self], exponents: &[Fr<B>]) -> Result<Self, Error> {
        equal_counts(bases.len(), exponents.len())?;
        Ok(stack::clean(stack_use::bls_powers(bases.len()), || {
            Self(B::gt_multi_pow(bases.len(), |i| &bases[i].0, |i| exponents[i].raw()))
        }))
    }

    /// Returns this member to the power of a public scalar.
    pub fn pow_vartime(&self, exponent: &Fr<B>) -> Self {
        Self(B::gt_pow_vartime(&self.0, exponent.raw()))
    }
}

macro_rules! element {
    ($type:ident) => {
        impl<B: Pairing> Clone for $type<B> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<B: Pairing> Copy for $type<B> {}

        impl<B: Pairing> PartialEq for $type<B> {
            fn eq(&self, other: &Self) -> bool {
                B::fq12_equal(&self.0, &other.0)
            }
        }

        impl<B: Pairing> Eq for $type<B> {}

        impl<B: Pairing> fmt::Debug for $type<B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($type), "("))?;
                self.to_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(")")
            }
        }

        impl<B: Pairing> Product for $type<B> {
            fn product<I: Iterator<Item = Self>>(elements: I) -> Self {
                elements.fold(Self::one(), Mul::mul)
            }
        }
    };
}

element!(Fq12);
element!(Gt);
super::operators::ring!(Fq12<B>, Pairing, fq12_add, fq12_sub, fq12_mul);

impl<B: Pairing> Neg for Fq12<B> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::zero() - self
    }
}

impl<B: Pairing> Mul for Gt<B> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self(B::fq12_mul(&self.0, &other.0))
    }
}

impl<B: Pairing> MulAssign for Gt<B> {
    #[inline]
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl<B: Pairing> Div for Gt<B> {
    type Output = Self;

    #[expect(clippy::suspicious_arithmetic_impl, reason = "the inverse is a conjugate")]
    fn div(self, divisor: Self) -> Self {
        self * divisor.invert()
    }
}

impl<B: Pairing> From<Gt<B>> for Fq12<B> {
    fn from(member: Gt<B>) -> Self {
        Self(member.0)
    }
}

impl<B: Pairing> TryFrom<Fq12<B>> for Gt<B> {
    type Error = Error;

    /// Returns [`Error::NotInGroup`] if the element is not a member.
    fn try_from(element: Fq12<B>) -> Result<Self, Error> {
        if element.is_in_gt() { Ok(Self(element.0)) } else { Err(Error::NotInGroup) }
    }
}
