//! Members of G1 and G2 in affine coordinates, the form of encodings and of pairing inputs.

use core::fmt;
use core::ops::Neg;

use rand_core::TryCryptoRng;

use super::backend::{Group, SourceGroup};
use super::encoding::{self, Decoded};
use super::error::equal_counts;
use super::projective::CHUNK;
use super::{Affine, CurvePoint, Error, Projective};

impl<B: Group<G>, G: SourceGroup> Affine<B, G> {
    /// Returns the neutral element, infinity.
    pub fn identity() -> Self {
        Self(<B as Group<G>>::affine_identity())
    }

    /// Returns the generator.
    pub fn generator() -> Self {
        Self(<B as Group<G>>::generator())
    }

    /// Returns a uniform multiple of the generator.
    ///
    /// # Errors
    /// As [`Fr::random`](super::Fr::random).
    pub fn random(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        Ok(Projective::random(rng)?.to_affine())
    }

    /// Returns whether this is infinity.
    pub fn is_identity(&self) -> bool {
        <B as Group<G>>::affine_is_identity(&self.0)
    }

    /// Returns the big-endian coordinates, for Fp2 with the coefficient of u first; `None` for
    /// infinity.
    pub fn coordinates(&self) -> Option<(G::Compressed, G::Compressed)> {
        (!self.is_identity()).then(|| <B as Group<G>>::coordinates(&self.0))
    }

    /// Decodes a member from its compressed encoding, in ZCash's format.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Flags`], [`Error::NotCanonical`], [`Error::NotOnCurve`], and
    /// [`Error::NotInGroup`].
    pub fn from_compressed(bytes: &[u8]) -> Result<Self, Error> {
        CurvePoint::from_compressed(bytes)?.to_member()
    }

    /// Like [`from_compressed`](Self::from_compressed), without the check that the point is in the
    /// group, for encodings known to be of members. Computing with other points gives undefined
    /// results, but stays memory-safe; use [`CurvePoint`] for them.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Flags`], [`Error::NotCanonical`], [`Error::NotOnCurve`].
    pub fn from_compressed_unchecked(bytes: &[u8]) -> Result<Self, Error> {
        CurvePoint::from_compressed(bytes).map(CurvePoint::into_affine_unchecked)
    }

    /// Decodes a member from its uncompressed encoding, in ZCash's format.
    ///
    /// # Errors
    /// As [`from_compressed`](Self::from_compressed).
    pub fn from_uncompressed(bytes: &[u8]) -> Result<Self, Error> {
        CurvePoint::from_uncompressed(bytes)?.to_member()
    }

    /// Like [`from_uncompressed`](Self::from_uncompressed), without the check that the point is in
    /// the group; see [`from_compressed_unchecked`](Self::from_compressed_unchecked).
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Flags`], [`Error::NotCanonical`], [`Error::NotOnCurve`].
    pub fn from_uncompressed_unchecked(bytes: &[u8]) -> Result<Self, Error> {
        CurvePoint::from_uncompressed(bytes).map(CurvePoint::into_affine_unchecked)
    }

    /// Decodes a member from its encoding, compressed or uncompressed according to the length.
    ///
    /// # Errors
    /// As [`from_compressed`](Self::from_compressed).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() == G::UNCOMPRESSED.as_ref().len() {
            Self::from_uncompressed(bytes)
        } else {
            Self::from_compressed(bytes)
        }
    }

    /// Runs [`from_compressed`](Self::from_compressed) on many encodings, with a result for each.
    ///
    /// # Errors
    /// [`Error::Counts`] if there are not as many results as encodings.
    pub fn from_compressed_many(
        encodings: &[G::Compressed],
        results: &mut [Result<Self, Error>],
    ) -> Result<(), Error> {
        equal_counts(encodings.len(), results.len())?;
        for (encodings, results) in encodings.chunks(CHUNK).zip(results.chunks_mut(CHUNK)) {
            from_compressed_chunk(encodings, results);
        }
        Ok(())
    }

    /// Returns the compressed encoding, in ZCash's format.
    pub fn to_compressed(&self) -> G::Compressed {
        encoding::compress::<G>(self.coordinates())
    }

    /// Returns the uncompressed encoding, in ZCash's format.
    pub fn to_uncompressed(&self) -> G::Uncompressed {
        encoding::encode::<G>(self.coordinates())
    }
}

/// Decodes up to [`CHUNK`] encodings.
fn from_compressed_chunk<B: Group<G>, G: SourceGroup>(
    encodings: &[G::Compressed],
    results: &mut [Result<Affine<B, G>, Error>],
) {
    // Well-formed encodings of finite points go through the backend's steps side by side.
    let mut x = [G::COMPRESSED; CHUNK];
    let mut larger = [false; CHUNK];
    let mut places = [0; CHUNK];
    let mut count = 0;
    for (i, encoding) in encodings.iter().enumerate() {
        match encoding::parse_compressed::<G>(encoding.as_ref()) {
            Ok(Decoded::Identity) => results[i] = Ok(Affine::identity()),
            Ok(Decoded::Point(parsed)) => {
                (x[count], larger[count]) = parsed;
                places[count] = i;
                count += 1;
            }
            Err(error) => results[i] = Err(error),
        }
    }
    let mut points = [None; CHUNK];
    <B as Group<G>>::decompress_many(&x[..count], &larger[..count], &mut points[..count]);
    let found = points.map(|point| point.unwrap_or(Affine::identity()));
    let mut members = [false; CHUNK];
    <B as Group<G>>::in_group_many(&found[..count], &mut members[..count]);
    for i in 0..count {
        results[places[i]] = match points[i] {
            None => Err(Error::NotOnCurve),
            Some(_) if !members[i] => Err(Error::NotInGroup),
            Some(point) => Ok(point),
        };
    }
}

impl<B: Group<G>, G: SourceGroup> Default for Affine<B, G> {
    /// Returns infinity.
    fn default() -> Self {
        Self::identity()
    }
}

impl<B: Group<G>, G: SourceGroup> PartialEq for Affine<B, G> {
    fn eq(&self, other: &Self) -> bool {
        <B as Group<G>>::affine_equal(&self.0, &other.0)
    }
}

impl<B: Group<G>, G: SourceGroup> Eq for Affine<B, G> {}

impl<B: Group<G>, G: SourceGroup> fmt::Debug for Affine<B, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", G::NAME)?;
        self.to_compressed().as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

impl<B: Group<G>, G: SourceGroup> From<Projective<B, G>> for Affine<B, G> {
    fn from(point: Projective<B, G>) -> Self {
        point.to_affine()
    }
}

impl<B: Group<G>, G: SourceGroup> Neg for Affine<B, G> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self(<B as Group<G>>::affine_negate(&self.0))
    }
}
