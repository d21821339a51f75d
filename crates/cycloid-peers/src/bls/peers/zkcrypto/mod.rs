//! zkcrypto's `bls12_381`. It has no Fq12, no sums of multiples and no transforms, and hashes to
//! the curves only with a feature that it calls experimental.

mod groups;
mod pairings;
mod scalars;

use bls12_381::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Cycloid, First, Second};
use group::GroupEncoding;

use super::super::{Case, Part};
use super::common::{Draw, VALID};

pub(super) fn cases(part: Part) -> Vec<Case> {
    match part {
        Part::Fr => scalars::cases(),
        Part::G1 => groups::cases::<G1Projective, First>(|p: &G1Affine| p.is_torsion_free().into()),
        Part::G2 => {
            groups::cases::<G2Projective, Second>(|p: &G2Affine| p.is_torsion_free().into())
        }
        Part::Gt => pairings::gt(),
        Part::Pairing => pairings::cases(),
        Part::Signature | Part::Msm | Part::Fft | Part::Kzg => Vec::new(),
    }
}

/// Marks a function whose time depends on the exponent.
fn public(case: Case) -> Case {
    case.of_public()
}

/// Draws the next random scalar.
fn scalar(draw: &mut Draw) -> Scalar {
    Scalar::from_bytes(&draw.scalar()).expect(VALID)
}

/// Draws the next random member of G1 or G2.
fn affine<P: GroupEncoding, G: SourceGroup>(draw: &mut Draw) -> P
where
    Cycloid: Group<G>,
{
    P::from_bytes_unchecked(&encoding::<P, G>(draw)).expect(VALID)
}

/// Draws the next random member of G1 or G2, compressed.
fn encoding<P: GroupEncoding, G: SourceGroup>(draw: &mut Draw) -> P::Repr
where
    Cycloid: Group<G>,
{
    let mut bytes = P::Repr::default();
    bytes.as_mut().copy_from_slice(draw.point::<G>().as_ref());
    bytes
}

/// Returns a scalar as four words, little-endian.
fn words(scalar: &Scalar) -> [u64; 4] {
    let bytes = scalar.to_bytes();
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}
