//! G1 and G2 as groups of prime order, with their encodings.
//!
//! Multiples take the same time for all scalars and points. Whether a point is infinity and the
//! results of comparisons are public; so are decoded points. A wNAF takes variable time.

use group::prime::{PrimeCurve, PrimeCurveAffine, PrimeGroup};
use group::{Curve, GroupEncoding, UncompressedEncoding};
use rand_core_0_6::RngCore;
use subtle::{Choice, CtOption};

use crate::scheme::bls12_381::backend::{FieldConstants, Group};
use crate::scheme::bls12_381::{Affine, Fr, Projective, SourceGroup};

impl<B: Group<G> + FieldConstants, G: SourceGroup> group::Group for Projective<B, G> {
    type Scalar = Fr<B>;

    /// Returns a uniform multiple of the generator that is not infinity. The trait has no error: a
    /// generator of random numbers that cannot fail must be given.
    fn random(mut rng: impl RngCore) -> Self {
        loop {
            let point = Self::multiply_generator(&<Fr<B> as ff::Field>::random(&mut rng));
            if !point.is_identity() {
                return point;
            }
        }
    }

    fn identity() -> Self {
        Self::identity()
    }

    fn generator() -> Self {
        Self::generator()
    }

    fn is_identity(&self) -> Choice {
        choice(self.is_identity())
    }

    fn double(&self) -> Self {
        self.double()
    }
}

impl<B: Group<G> + FieldConstants, G: SourceGroup> Curve for Projective<B, G> {
    type AffineRepr = Affine<B, G>;

    /// Converts points with one inversion for many.
    ///
    /// # Panics
    /// Panics if the lengths differ, as the trait demands.
    fn batch_normalize(p: &[Self], q: &mut [Affine<B, G>]) {
        assert_eq!(p.len(), q.len());
        <B as Group<G>>::to_affine_many(p, q);
    }

    fn to_affine(&self) -> Affine<B, G> {
        self.to_affine()
    }
}

impl<B: Group<G> + FieldConstants, G: SourceGroup> PrimeGroup for Projective<B, G> {}

impl<B: Group<G> + FieldConstants, G: SourceGroup> PrimeCurve for Projective<B, G> {
    type Affine = Affine<B, G>;
}

impl<B: Group<G> + FieldConstants, G: SourceGroup> PrimeCurveAffine for Affine<B, G> {
    type Scalar = Fr<B>;
    type Curve = Projective<B, G>;

    fn identity() -> Self {
        Self::identity()
    }

    fn generator() -> Self {
        Self::generator()
    }

    fn is_identity(&self) -> Choice {
        choice(self.is_identity())
    }

    fn to_curve(&self) -> Projective<B, G> {
        (*self).into()
    }
}

#[cfg(feature = "alloc")]
impl<B: Group<G> + FieldConstants, G: SourceGroup> group::WnafGroup for Projective<B, G> {
    /// Returns the window that needs the fewest additions: half of 2ʷ for the table, and one in
    /// w + 1 of the 255 bits for each scalar.
    fn recommended_wnaf_for_num_scalars(scalars: usize) -> usize {
        let additions =
            |window: &usize| (1 << (window - 1)) + scalars.saturating_mul(255) / (window + 1);
        (2..=22).min_by_key(additions).unwrap_or(2)
    }
}

impl<B: Group<G>, G: SourceGroup> GroupEncoding for Affine<B, G> {
    type Repr = Compressed<G>;

    fn from_bytes(bytes: &Compressed<G>) -> CtOption<Self> {
        option(Self::from_compressed(bytes.as_ref()).ok(), Self::identity())
    }

    /// Decodes a point of the curve, as [`Affine::from_compressed_unchecked`] does.
    fn from_bytes_unchecked(bytes: &Compressed<G>) -> CtOption<Self> {
        option(Self::from_compressed_unchecked(bytes.as_ref()).ok(), Self::identity())
    }

    fn to_bytes(&self) -> Compressed<G> {
        Compressed(self.to_compressed())
    }
}

impl<B: Group<G>, G: SourceGroup> UncompressedEncoding for Affine<B, G> {
    type Uncompressed = Uncompressed<G>;

    fn from_uncompressed(bytes: &Uncompressed<G>) -> CtOption<Self> {
        option(Self::from_uncompressed(bytes.as_ref()).ok(), Self::identity())
    }

    /// Decodes a point of the curve, as [`Affine::from_uncompressed_unchecked`] does.
    fn from_uncompressed_unchecked(bytes: &Uncompressed<G>) -> CtOption<Self> {
        option(Self::from_uncompressed_unchecked(bytes.as_ref()).ok(), Self::identity())
    }

    fn to_uncompressed(&self) -> Uncompressed<G> {
        Uncompressed(self.to_uncompressed())
    }
}

impl<B: Group<G>, G: SourceGroup> GroupEncoding for Projective<B, G> {
    type Repr = Compressed<G>;

    fn from_bytes(bytes: &Compressed<G>) -> CtOption<Self> {
        option(Affine::from_compressed(bytes.as_ref()).ok().map(Self::from), Self::identity())
    }

    /// Decodes a point of the curve, as [`Affine::from_compressed_unchecked`] does.
    fn from_bytes_unchecked(bytes: &Compressed<G>) -> CtOption<Self> {
        let point = Affine::from_compressed_unchecked(bytes.as_ref());
        option(point.ok().map(Self::from), Self::identity())
    }

    fn to_bytes(&self) -> Compressed<G> {
        Compressed(self.to_affine().to_compressed())
    }
}

/// Defines an encoding that is all zeros at first; arrays of this length have no default.
macro_rules! encoding {
    ($(#[$attribute:meta])* $type:ident, $bytes:ident, $zeros:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $type<G: SourceGroup>(pub G::$bytes);

        impl<G: SourceGroup> Default for $type<G> {
            /// Returns zeros, which encode no point.
            fn default() -> Self {
                Self(G::$zeros)
            }
        }

        impl<G: SourceGroup> AsRef<[u8]> for $type<G> {
            fn as_ref(&self) -> &[u8] {
                self.0.as_ref()
            }
        }

        impl<G: SourceGroup> AsMut<[u8]> for $type<G> {
            fn as_mut(&mut self) -> &mut [u8] {
                self.0.as_mut()
            }
        }
    };
}

encoding! {
    /// The bytes of a compressed point of G1 or G2, in ZCash's format.
    Compressed, Compressed, COMPRESSED
}

encoding! {
    /// The bytes of an uncompressed point of G1 or G2, in ZCash's format.
    Uncompressed, Uncompressed, UNCOMPRESSED
}

/// Returns a value whose presence is public.
pub(super) fn option<T>(value: Option<T>, absent: T) -> CtOption<T> {
    let present = choice(value.is_some());
    CtOption::new(value.unwrap_or(absent), present)
}

pub(super) fn choice(value: bool) -> Choice {
    Choice::from(u8::from(value))
}
