//! Points of the curves, inside or outside the groups of order r, for decoding without a group
//! check and for computing with arbitrary points.

use core::fmt;
use core::ops::{Add, Neg, Sub};

use super::backend::{First, Group, Second, SourceGroup};
use super::encoding::{self, Decoded};
use super::error::equal_counts;
use super::{Affine, Cycloid, Error, Fp, Fp2, Projective, integer};

/// A point of the curve of `G` with the backend `B`; not necessarily a member of the group.
///
/// Multiples are computed in variable time, without endomorphisms, which are valid for members
/// only.
pub struct CurvePoint<B: Group<G>, G: SourceGroup>(B::Affine);

/// A point of the curve over Fp.
pub type G1CurvePoint<B = Cycloid> = CurvePoint<B, First>;

/// A point of the twisted curve over Fp2.
pub type G2CurvePoint<B = Cycloid> = CurvePoint<B, Second>;

impl<B: Group<G>, G: SourceGroup> CurvePoint<B, G> {
    /// Returns infinity.
    pub fn identity() -> Self {
        Self(<B as Group<G>>::affine_identity())
    }

    /// Decodes a point from its compressed encoding, in ZCash's format.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Flags`], [`Error::NotCanonical`], [`Error::NotOnCurve`].
    pub fn from_compressed(bytes: &[u8]) -> Result<Self, Error> {
        match encoding::parse_compressed::<G>(bytes)? {
            Decoded::Identity => Ok(Self::identity()),
            Decoded::Point((x, larger)) => {
                <B as Group<G>>::decompress(&x, larger).map(Self).ok_or(Error::NotOnCurve)
            }
        }
    }

    /// Decodes a point from its uncompressed encoding, in ZCash's format.
    ///
    /// # Errors
    /// As [`from_compressed`](Self::from_compressed).
    pub fn from_uncompressed(bytes: &[u8]) -> Result<Self, Error> {
        match encoding::parse_uncompressed::<G>(bytes)? {
            Decoded::Identity => Ok(Self::identity()),
            Decoded::Point((x, y)) => {
                <B as Group<G>>::from_coordinates(&x, &y).map(Self).ok_or(Error::NotOnCurve)
            }
        }
    }

    /// Returns the point with these big-endian coordinates, for Fp2 with the coefficient of u
    /// first.
    ///
    /// # Errors
    /// [`Error::NotCanonical`], [`Error::NotOnCurve`].
    pub fn from_coordinates(x: &G::Compressed, y: &G::Compressed) -> Result<Self, Error> {
        if ![x, y].into_iter().all(|integers| encoding::is_canonical(integers.as_ref())) {
            return Err(Error::NotCanonical);
        }
        <B as Group<G>>::from_coordinates(x, y).map(Self).ok_or(Error::NotOnCurve)
    }

    /// Maps this point to the group, as hashing does: clear_cofactor of RFC 9380, section 7. A
    /// member becomes another member.
    pub fn clear_cofactor(&self) -> Projective<B, G> {
        Projective::from_raw(<B as Group<G>>::clear_cofactor(&self.to_projective()))
    }

    /// Returns the compressed encoding, in ZCash's format.
    pub fn to_compressed(&self) -> G::Compressed {
        encoding::compress::<G>(self.coordinates())
    }

    /// Returns the uncompressed encoding, in ZCash's format.
    pub fn to_uncompressed(&self) -> G::Uncompressed {
        encoding::encode::<G>(self.coordinates())
    }

    /// Returns the big-endian coordinates, for Fp2 with the coefficient of u first; `None` for
    /// infinity.
    pub fn coordinates(&self) -> Option<(G::Compressed, G::Compressed)> {
        (!self.is_identity()).then(|| <B as Group<G>>::coordinates(&self.0))
    }

    /// Returns whether this is infinity.
    pub fn is_identity(&self) -> bool {
        <B as Group<G>>::affine_is_identity(&self.0)
    }

    /// Returns whether this is a member of the group of order r.
    pub fn is_member(&self) -> bool {
        <B as Group<G>>::in_group(&self.0)
    }

    /// Converts this point to a member of the group.
    ///
    /// # Errors
    /// [`Error::NotInGroup`].
    pub fn to_member(&self) -> Result<Affine<B, G>, Error> {
        if self.is_member() { Ok(Affine::from_raw(self.0)) } else { Err(Error::NotInGroup) }
    }

    pub(super) fn into_affine_unchecked(self) -> Affine<B, G> {
        Affine::from_raw(self.0)
    }

    /// Returns twice this point.
    pub fn double(&self) -> Self {
        Self::from_projective(&<B as Group<G>>::double(&self.to_projective()))
    }

    /// Returns a public integer, limbs little-endian, times this point.
    pub fn multiply_vartime(&self, integer: &[u64]) -> Self {
        let multiple = <B as Group<G>>::multiply_integer_vartime(&self.to_projective(), integer);
        Self::from_projective(&multiple)
    }

    /// Returns Σ integersᵢ · pointsᵢ, for public integers of 32 little-endian bytes, which may be r
    /// or more. Correct for all points of the curve, of any order.
    ///
    /// # Errors
    /// [`Error::Counts`].
    pub fn multi_scalar_multiply_vartime(
        points: &[Self],
        integers: &[[u8; 32]],
    ) -> Result<Self, Error> {
        equal_counts(points.len(), integers.len())?;
        let sum = <B as Group<G>>::msm_integers_vartime(
            points.len(),
            |i| &points[i].0,
            |i| integer::from_le_bytes(&integers[i]),
        );
        Ok(Self::from_projective(&sum))
    }

    /// Returns the point with the coordinates of a point of the curve, or infinity.
    fn from_mapped(coordinates: Option<(G::Compressed, G::Compressed)>) -> Self {
        let point = coordinates.and_then(|(x, y)| <B as Group<G>>::from_coordinates(&x, &y));
        point.map_or_else(Self::identity, Self)
    }

    fn to_projective(self) -> B::Projective {
        <B as Group<G>>::from_affine(&self.0)
    }

    fn from_projective(point: &B::Projective) -> Self {
        Self(<B as Group<G>>::to_affine(point))
    }
}

impl<B: Group<First>> CurvePoint<B, First> {
    /// Maps an element to a point of the curve, by map_to_curve of RFC 9380, section 6.6.3, without
    /// clearing the cofactor.
    pub fn map_to_curve(u: &Fp) -> Self {
        Self::from_mapped(u.map_to_curve())
    }
}

impl<B: Group<Second>> CurvePoint<B, Second> {
    /// Maps an element to a point of the curve, by map_to_curve of RFC 9380, section 6.6.3, without
    /// clearing the cofactor.
    pub fn map_to_curve(u: &Fp2) -> Self {
        Self::from_mapped(u.map_to_curve())
    }
}

impl<B: Group<G>, G: SourceGroup> Clone for CurvePoint<B, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Group<G>, G: SourceGroup> Copy for CurvePoint<B, G> {}

impl<B: Group<G>, G: SourceGroup> PartialEq for CurvePoint<B, G> {
    fn eq(&self, other: &Self) -> bool {
        <B as Group<G>>::affine_equal(&self.0, &other.0)
    }
}

impl<B: Group<G>, G: SourceGroup> Eq for CurvePoint<B, G> {}

impl<B: Group<G>, G: SourceGroup> fmt::Debug for CurvePoint<B, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CurvePoint(")?;
        self.to_compressed().as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

impl<B: Group<G>, G: SourceGroup> From<Affine<B, G>> for CurvePoint<B, G> {
    fn from(member: Affine<B, G>) -> Self {
        Self(*member.raw())
    }
}

impl<B: Group<G>, G: SourceGroup> From<Projective<B, G>> for CurvePoint<B, G> {
    fn from(member: Projective<B, G>) -> Self {
        member.to_affine().into()
    }
}

impl<B: Group<G>, G: SourceGroup> Add for CurvePoint<B, G> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::from_projective(&<B as Group<G>>::add_affine(&self.to_projective(), &other.0))
    }
}

impl<B: Group<G>, G: SourceGroup> Neg for CurvePoint<B, G> {
    type Output = Self;

    fn neg(self) -> Self {
        Self(<B as Group<G>>::affine_negate(&self.0))
    }
}

impl<B: Group<G>, G: SourceGroup> Sub for CurvePoint<B, G> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}
