//! Members of G1 and G2, in the coordinates used for additions.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use rand_core::TryCryptoRng;

use super::backend::{Group, SourceGroup};
use super::error::equal_counts;
use super::hash::Expander;
use super::{Affine, Error, Fr, Message, Projective, hash, integer};
use crate::machine::stack;
use crate::scheme::stack_use;

impl<B: Group<G>, G: SourceGroup> Projective<B, G> {
    /// Returns the neutral element, infinity.
    pub fn identity() -> Self {
        Self(<B as Group<G>>::identity())
    }

    /// Returns the generator.
    pub fn generator() -> Self {
        Affine::generator().into()
    }

    /// Returns a uniform multiple of the generator.
    ///
    /// # Errors
    /// As [`Fr::random`].
    pub fn random(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        Ok(Self::multiply_generator(&Fr::random(rng)?))
    }

    /// Returns whether this is infinity.
    pub fn is_identity(&self) -> bool {
        <B as Group<G>>::is_identity(&self.0)
    }

    /// Returns twice this point.
    pub fn double(&self) -> Self {
        Self(<B as Group<G>>::double(&self.0))
    }

    /// Returns the sum with a point in affine coordinates, which is cheaper than a general sum.
    pub fn add_affine(&self, other: &Affine<B, G>) -> Self {
        Self(<B as Group<G>>::add_affine(&self.0, other.raw()))
    }

    /// Returns `scalar` times this point.
    pub fn multiply(&self, scalar: &Fr<B>) -> Self {
        stack::clean(stack_use::BLS_MULTIPLY, || {
            Self(<B as Group<G>>::multiply(&self.0, scalar.raw()))
        })
    }

    /// Returns a public scalar times this point.
    pub fn multiply_vartime(&self, scalar: &Fr<B>) -> Self {
        Self(<B as Group<G>>::multiply_vartime(&self.0, scalar.raw()))
    }

    /// Returns `scalar` times the generator.
    pub fn multiply_generator(scalar: &Fr<B>) -> Self {
        stack::clean(stack_use::BLS_MULTIPLY, || {
            Self(<B as Group<G>>::multiply_generator(scalar.raw()))
        })
    }

    /// Computes pointsᵢ ← scalarsᵢ · pointsᵢ.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn multiply_many(points: &mut [Self], scalars: &[Fr<B>]) -> Result<(), Error> {
        equal_counts(points.len(), scalars.len())?;
        stack::clean(stack_use::bls_multiples(points.len()), || {
            <B as Group<G>>::multiply_many(points, scalars);
        });
        Ok(())
    }

    /// Computes pointsᵢ ← scalarsᵢ · pointsᵢ, for public scalars.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn multiply_many_vartime(points: &mut [Self], scalars: &[Fr<B>]) -> Result<(), Error> {
        equal_counts(points.len(), scalars.len())?;
        <B as Group<G>>::multiply_many_vartime(points, scalars);
        Ok(())
    }

    /// Returns the sum of many public points. Time may depend on which of them are equal or
    /// opposite.
    pub fn sum_affine(points: &[Affine<B, G>]) -> Self {
        Self(<B as Group<G>>::sum(points))
    }

    /// Returns the limbs of scratch for
    /// [`multi_scalar_multiply_vartime`](Self::multi_scalar_multiply_vartime).
    pub fn multi_scalar_scratch_limbs(points: usize) -> usize {
        <B as Group<G>>::msm_scratch_limbs(points)
    }

    /// Returns Σ scalarsᵢ · pointsᵢ, for public scalars and any number of points, including
    /// infinity and equal or opposite points. `scratch` has at least
    /// [`multi_scalar_scratch_limbs`](Self::multi_scalar_scratch_limbs)`(points.len())` limbs.
    ///
    /// # Errors
    /// [`Error::Counts`], [`Error::ScratchTooSmall`].
    pub fn multi_scalar_multiply_vartime(
        points: &[Affine<B, G>],
        scalars: &[Fr<B>],
        scratch: &mut [u64],
    ) -> Result<Self, Error> {
        equal_counts(points.len(), scalars.len())?;
        let (needed, given) = (Self::multi_scalar_scratch_limbs(points.len()), scratch.len());
        if given < needed {
            return Err(Error::ScratchTooSmall { needed, given });
        }
        Ok(Self(<B as Group<G>>::msm_vartime(points, scalars, scratch)))
    }

    /// Returns Σ integersᵢ · pointsᵢ, for public integers of 32 little-endian bytes, which may be r
    /// or more.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn multi_scalar_multiply_bytes_vartime(
        points: &[Affine<B, G>],
        integers: &[[u8; 32]],
    ) -> Result<Self, Error> {
        equal_counts(points.len(), integers.len())?;
        Ok(Self(<B as Group<G>>::msm_integers_vartime(
            points.len(),
            |i| points[i].raw(),
            |i| integer::from_le_bytes(&integers[i]),
        )))
    }

    /// Hashes a message to a point, by hash_to_curve of RFC 9380 with the suite
    /// `BLS12381G1_XMD:SHA-256_SSWU_RO_` or `BLS12381G2_XMD:SHA-256_SSWU_RO_`.
    ///
    /// `dst` is the domain separation tag, of any length; the RFC requires at least 16 bytes.
    pub fn hash_to_curve(message: &[u8], dst: &[u8]) -> Self {
        Self::hash_parts_to_curve(&[&[], message], dst)
    }

    /// Like [`hash_to_curve`](Self::hash_to_curve), for a prefix followed by a message.
    pub fn hash_parts_to_curve(message: &Message<'_>, dst: &[u8]) -> Self {
        Self(<B as Group<G>>::hash_to_curve(message, &hash::Dst::new(dst)))
    }

    /// Encodes a message to a point, by encode_to_curve of RFC 9380 with the suite
    /// `BLS12381G1_XMD:SHA-256_SSWU_NU_` or `BLS12381G2_XMD:SHA-256_SSWU_NU_`. The result is not
    /// uniform.
    pub fn encode_to_curve(message: &[u8], dst: &[u8]) -> Self {
        let dst = hash::Dst::new(dst);
        Self(<B as Group<G>>::encode_to_curve(&[&[], message], &dst))
    }

    /// Like [`hash_parts_to_curve`](Self::hash_parts_to_curve), with any function that expands the
    /// message.
    pub fn hash_to_curve_with<E: Expander>(message: &Message<'_>, dst: &[u8]) -> Self {
        Self::map_expanded::<E>(message, dst, 2 * G::DEGREE)
    }

    /// Encodes a message to a point that is not uniform, with any function that expands it.
    pub fn encode_to_curve_with<E: Expander>(message: &Message<'_>, dst: &[u8]) -> Self {
        Self::map_expanded::<E>(message, dst, G::DEGREE)
    }

    fn map_expanded<E: Expander>(message: &Message<'_>, dst: &[u8], coefficients: usize) -> Self {
        let mut uniform = [[0; 64]; 4];
        let uniform = &mut uniform[..coefficients];
        match E::expand(message, dst, uniform.as_flattened_mut()) {
            Ok(()) => Self(<B as Group<G>>::map_to_curve(uniform)),
            Err(_) => unreachable!("an expander gives 256 bytes"),
        }
    }

    /// Runs [`hash_to_curve`](Self::hash_to_curve) on many messages.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn hash_to_curve_many(
        messages: &[&[u8]],
        dst: &[u8],
        points: &mut [Self],
    ) -> Result<(), Error> {
        equal_counts(messages.len(), points.len())?;
        let dst = hash::Dst::new(dst);
        for (messages, points) in messages.chunks(CHUNK).zip(points.chunks_mut(CHUNK)) {
            let mut prefixed: [Message<'_>; CHUNK] = [[&[], &[]]; CHUNK];
            for (prefixed, message) in prefixed.iter_mut().zip(messages) {
                prefixed[1] = message;
            }
            <B as Group<G>>::hash_to_curve_many(&prefixed[..messages.len()], &dst, points);
        }
        Ok(())
    }

    /// Converts the point to affine coordinates.
    pub fn to_affine(&self) -> Affine<B, G> {
        Affine::from_raw(<B as Group<G>>::to_affine(&self.0))
    }

    /// Converts points to affine coordinates, with one inversion for many.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn to_affine_many(points: &[Self], affine: &mut [Affine<B, G>]) -> Result<(), Error> {
        equal_counts(points.len(), affine.len())?;
        <B as Group<G>>::to_affine_many(points, affine);
        Ok(())
    }
}

/// Number of points processed at a time by operations that take no scratch.
pub(super) const CHUNK: usize = 16;

impl<B: Group<G>, G: SourceGroup> Default for Projective<B, G> {
    /// Returns infinity.
    fn default() -> Self {
        Self::identity()
    }
}

impl<B: Group<G>, G: SourceGroup> PartialEq for Projective<B, G> {
    fn eq(&self, other: &Self) -> bool {
        <B as Group<G>>::equal(&self.0, &other.0)
    }
}

impl<B: Group<G>, G: SourceGroup> Eq for Projective<B, G> {}

impl<B: Group<G>, G: SourceGroup> fmt::Debug for Projective<B, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_affine().fmt(f)
    }
}

impl<B: Group<G>, G: SourceGroup> From<Affine<B, G>> for Projective<B, G> {
    fn from(point: Affine<B, G>) -> Self {
        Self(<B as Group<G>>::from_affine(point.raw()))
    }
}

impl<B: Group<G>, G: SourceGroup> Add for Projective<B, G> {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(<B as Group<G>>::add(&self.0, &other.0))
    }
}

impl<B: Group<G>, G: SourceGroup> Add<Affine<B, G>> for Projective<B, G> {
    type Output = Self;

    #[inline]
    fn add(self, other: Affine<B, G>) -> Self {
        self.add_affine(&other)
    }
}

impl<B: Group<G>, G: SourceGroup> AddAssign for Projective<B, G> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<B: Group<G>, G: SourceGroup> Neg for Projective<B, G> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self(<B as Group<G>>::negate(&self.0))
    }
}

impl<B: Group<G>, G: SourceGroup> Sub for Projective<B, G> {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl<B: Group<G>, G: SourceGroup> SubAssign for Projective<B, G> {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl<B: Group<G>, G: SourceGroup> Mul<Fr<B>> for Projective<B, G> {
    type Output = Self;

    /// Constant-time.
    fn mul(self, scalar: Fr<B>) -> Self {
        self.multiply(&scalar)
    }
}

impl<B: Group<G>, G: SourceGroup> MulAssign<Fr<B>> for Projective<B, G> {
    fn mul_assign(&mut self, scalar: Fr<B>) {
        *self = self.multiply(&scalar);
    }
}

impl<B: Group<G>, G: SourceGroup> Sum for Projective<B, G> {
    fn sum<I: Iterator<Item = Self>>(points: I) -> Self {
        points.fold(Self::identity(), Add::add)
    }
}
