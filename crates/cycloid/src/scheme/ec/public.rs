//! Public keys: points, and their encodings (SEC 1, section 2.3).

use core::fmt;

use super::{Curve, Error, MAX_BYTES};
use crate::machine::words;
use crate::math::curve::AffinePoint;

/// A public key: a point on the curve, not infinity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey<C: Curve>(AffinePoint<C>);

/// First bytes of point encodings.
const COMPRESSED_EVEN: u8 = 2;
const COMPRESSED_ODD: u8 = 3;
const UNCOMPRESSED: u8 = 4;

impl<C: Curve> PublicKey<C> {
    /// Reads a compressed or uncompressed point (SEC 1, section 2.3.4) and validates it (SP
    /// 800-56A, section 5.6.2.3.3). The groups have prime order, so this is full validation.
    ///
    /// # Errors
    /// [`Error::PointFormat`], also for the hybrid form; [`Error::PointAtInfinity`],
    /// [`Error::CoordinateRange`], [`Error::NotOnCurve`].
    pub fn from_sec1(bytes: &[u8]) -> Result<Self, Error> {
        let (&tag, rest) = bytes.split_first().ok_or(Error::PointFormat)?;
        match (tag, rest.len()) {
            (0, 0) => Err(Error::PointAtInfinity),
            (COMPRESSED_EVEN | COMPRESSED_ODD, length) if length == C::BYTES => {
                Ok(Self(AffinePoint::from_abscissa(rest, tag == COMPRESSED_ODD)?))
            }
            _ => Self::from_uncompressed(bytes),
        }
    }

    /// Reads an uncompressed point (SEC 1, section 2.3.4) and validates it, like
    /// [`from_sec1`](Self::from_sec1). A program that calls no other function for points contains no
    /// square roots.
    ///
    /// # Errors
    /// [`Error::PointFormat`] for any other form; [`Error::CoordinateRange`], [`Error::NotOnCurve`].
    pub fn from_uncompressed(bytes: &[u8]) -> Result<Self, Error> {
        match bytes.split_first() {
            Some((&UNCOMPRESSED, rest)) if rest.len() == 2 * C::BYTES => {
                let (x, y) = rest.split_at(C::BYTES);
                Ok(Self(AffinePoint::from_coordinates(x, y)?))
            }
            _ => Err(Error::PointFormat),
        }
    }

    /// Encodes the point as 4 and both coordinates, 1 + 2·[`Curve::BYTES`] bytes (SEC 1, section
    /// 2.3.3).
    pub fn to_uncompressed(&self) -> EncodedPoint {
        EncodedPoint::new(UNCOMPRESSED, C::BYTES, &[self.0.x().as_ref(), self.0.y().as_ref()])
    }

    /// Encodes the point as 2 or 3 and the x coordinate, 1 + [`Curve::BYTES`] bytes (SEC 1, section
    /// 2.3.3).
    pub fn to_compressed(&self) -> EncodedPoint {
        // Points may be secret, so this avoids a branch: COMPRESSED_ODD is one more.
        let tag = COMPRESSED_EVEN + u8::from(self.0.y_is_odd());
        EncodedPoint::new(tag, C::BYTES, &[self.0.x().as_ref()])
    }

    pub(in super::super) const fn from_point(point: AffinePoint<C>) -> Self {
        Self(point)
    }

    #[cfg(test)]
    pub(super) const fn point_mut(&mut self) -> &mut AffinePoint<C> {
        &mut self.0
    }

    pub(in super::super) const fn point(&self) -> &AffinePoint<C> {
        &self.0
    }
}

impl<C: Curve> fmt::Debug for PublicKey<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ec::PublicKey({}, ", C::NAME)?;
        self.to_compressed().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// An encoded point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedPoint {
    bytes: [u8; 1 + 2 * MAX_BYTES],
    length: usize,
}

impl EncodedPoint {
    fn new(tag: u8, coordinate_length: usize, coordinates: &[&[words::Limb]]) -> Self {
        let mut bytes = [0; 1 + 2 * MAX_BYTES];
        bytes[0] = tag;
        let mut length = 1;
        for coordinate in coordinates {
            words::to_be_bytes(&mut bytes[length..][..coordinate_length], coordinate);
            length += coordinate_length;
        }
        Self { bytes, length }
    }
}

impl core::ops::Deref for EncodedPoint {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl AsRef<[u8]> for EncodedPoint {
    fn as_ref(&self) -> &[u8] {
        self
    }
}
