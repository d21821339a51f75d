//! Public keys and signatures: members of the groups, and their sums.

use core::fmt;

use super::super::projective::CHUNK;
use super::super::{Affine, Error, Fr, Projective};
use super::{SignatureBackend, SourceGroup, Variant, equal_counts};

/// A public key: a member of its group that is not infinity (KeyValidate, section 2.5).
pub struct PublicKey<B: SignatureBackend<V>, V: Variant> {
    point: Affine<B, V::Keys>,
}

/// A signature, or a sum of signatures: a member of its group.
pub struct Signature<B: SignatureBackend<V>, V: Variant> {
    point: Affine<B, V::Signatures>,
}

impl<B: SignatureBackend<V>, V: Variant> PublicKey<B, V> {
    /// Decodes a key, compressed or uncompressed according to the length.
    ///
    /// # Errors
    /// As [`Affine::from_compressed`]; [`Error::Infinity`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_affine(Affine::from_bytes(bytes)?)
    }

    /// Converts a point to a key.
    ///
    /// # Errors
    /// [`Error::Infinity`].
    pub fn from_affine(point: Affine<B, V::Keys>) -> Result<Self, Error> {
        if point.is_identity() { Err(Error::Infinity) } else { Ok(Self::of(point)) }
    }

    /// Returns the compressed encoding.
    pub fn to_bytes(&self) -> <V::Keys as SourceGroup>::Compressed {
        self.point.to_compressed()
    }

    /// Returns the uncompressed encoding.
    pub fn to_uncompressed(&self) -> <V::Keys as SourceGroup>::Uncompressed {
        self.point.to_uncompressed()
    }

    /// Returns the point.
    pub const fn as_affine(&self) -> &Affine<B, V::Keys> {
        &self.point
    }

    /// Returns the sum of keys, each with a verified proof of possession.
    ///
    /// # Errors
    /// [`Error::Empty`]; [`Error::Infinity`] if the keys cancel each other.
    pub fn aggregate(keys: &[Self]) -> Result<Self, Error> {
        if keys.is_empty() {
            return Err(Error::Empty);
        }
        let sum = sum(keys, |key| key.point);
        Self::from_affine(sum.to_affine())
    }

    /// Returns the sum of keys times public weights. With random weights, unknown when the keys
    /// were made, no key can cancel another, and no proof of possession is needed.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Counts`]; [`Error::Infinity`] if the multiples cancel each other.
    pub fn weighted_aggregate(keys: &[Self], weights: &[Fr<B>]) -> Result<Self, Error> {
        Self::from_affine(weighted_sum(keys, weights, |key| key.point)?.to_affine())
    }

    pub(super) const fn of(point: Affine<B, V::Keys>) -> Self {
        Self { point }
    }
}

impl<B: SignatureBackend<V>, V: Variant> Signature<B, V> {
    /// Decodes a signature, compressed or uncompressed according to the length.
    ///
    /// # Errors
    /// As [`Affine::from_compressed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Affine::from_bytes(bytes).map(Self::from_affine)
    }

    /// Converts a point to a signature.
    pub const fn from_affine(point: Affine<B, V::Signatures>) -> Self {
        Self { point }
    }

    /// Returns the compressed encoding.
    pub fn to_bytes(&self) -> <V::Signatures as SourceGroup>::Compressed {
        self.point.to_compressed()
    }

    /// Returns the uncompressed encoding.
    pub fn to_uncompressed(&self) -> <V::Signatures as SourceGroup>::Uncompressed {
        self.point.to_uncompressed()
    }

    /// Returns the point.
    pub const fn as_affine(&self) -> &Affine<B, V::Signatures> {
        &self.point
    }

    /// Returns the sum of signatures (Aggregate, section 2.8).
    ///
    /// # Errors
    /// [`Error::Empty`].
    pub fn aggregate(signatures: &[Self]) -> Result<Self, Error> {
        if signatures.is_empty() {
            return Err(Error::Empty);
        }
        Ok(Self::from_affine(sum(signatures, |signature| signature.point).to_affine()))
    }

    /// Returns the sum of signatures times public weights.
    ///
    /// It verifies for one message with the keys' [`PublicKey::weighted_aggregate`].
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Counts`].
    pub fn weighted_aggregate(signatures: &[Self], weights: &[Fr<B>]) -> Result<Self, Error> {
        let sum = weighted_sum(signatures, weights, |signature| signature.point)?;
        Ok(Self::from_affine(sum.to_affine()))
    }
}

/// Returns the sum of the points of many, times their weights.
fn weighted_sum<T, B: super::Group<G>, G: SourceGroup>(
    of: &[T],
    weights: &[Fr<B>],
    point: impl Fn(&T) -> Affine<B, G>,
) -> Result<Projective<B, G>, Error> {
    equal_counts(of.len(), weights.len())?;
    if of.is_empty() {
        return Err(Error::Empty);
    }
    let mut sum = Projective::identity();
    for (of, weights) in of.chunks(CHUNK).zip(weights.chunks(CHUNK)) {
        let mut points = [Projective::identity(); CHUNK];
        points.iter_mut().zip(of).for_each(|(entry, of)| *entry = point(of).into());
        Projective::multiply_many_vartime(&mut points[..of.len()], weights)?;
        sum += points.into_iter().sum::<Projective<_, _>>();
    }
    Ok(sum)
}

/// Returns the sum of the points of many.
fn sum<T, B: super::Group<G>, G: SourceGroup>(
    of: &[T],
    point: impl Fn(&T) -> Affine<B, G>,
) -> Projective<B, G> {
    /// Large enough for a backend's efficient addition.
    const PIECE: usize = 64;
    let mut sum = Projective::identity();
    for piece in of.chunks(PIECE) {
        let mut points = [Affine::identity(); PIECE];
        points.iter_mut().zip(piece).for_each(|(entry, of)| *entry = point(of));
        sum += Projective::sum_affine(&points[..piece.len()]);
    }
    sum
}

macro_rules! value {
    ($type:ident) => {
        impl<B: SignatureBackend<V>, V: Variant> Clone for $type<B, V> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<B: SignatureBackend<V>, V: Variant> Copy for $type<B, V> {}

        impl<B: SignatureBackend<V>, V: Variant> PartialEq for $type<B, V> {
            fn eq(&self, other: &Self) -> bool {
                self.point == other.point
            }
        }

        impl<B: SignatureBackend<V>, V: Variant> Eq for $type<B, V> {}

        impl<B: SignatureBackend<V>, V: Variant> fmt::Debug for $type<B, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($type)).field(&self.point).finish()
            }
        }
    };
}

value!(PublicKey);
value!(Signature);
