//! arkworks, without threads. Its time depends on values, so none of it is suitable for secrets.

mod groups;
mod many;
mod pairings;
mod scalars;

use ark_bls12_381::{Fr, g1, g2};
use ark_ec::short_weierstrass::{Affine, Projective, SWCurveConfig};
use ark_ff::PrimeField;
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};
use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Cycloid, First, Second};

use super::super::{Case, Part};
use super::common::{Draw, VALID};

pub(super) fn cases(part: Part, sums: &[u32]) -> Vec<Case> {
    let cases = match part {
        Part::Fr => scalars::cases(),
        // The faster of its two multiplications: only `mul` in G1 uses an endomorphism.
        Part::G1 => groups::cases::<g1::Config, First>("Projective::mul", |p, k| p * k),
        Part::G2 => groups::cases::<g2::Config, Second>("WnafContext::mul", groups::multiply),
        Part::Gt => pairings::gt(),
        Part::Pairing => pairings::cases(),
        Part::Signature => Vec::new(),
        Part::Msm => {
            let of = |sum: &u32| {
                [many::sum::<g1::Config, First>(*sum), many::sum::<g2::Config, Second>(*sum)]
            };
            sums.iter().flat_map(of).collect()
        }
        Part::Fft => {
            let of_scalars = [8, 12, 16].map(many::transform);
            of_scalars.into_iter().chain([many::transform_points(6)]).collect()
        }
        Part::Kzg => Vec::new(),
    };
    cases.into_iter().map(Case::of_public).collect()
}

impl Case {
    /// Adds a note.
    fn noted(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }
}

/// Draws the next random scalar.
fn scalar(draw: &mut Draw) -> Fr {
    Fr::from_le_bytes_mod_order(&draw.scalar())
}

/// Draws the next random member of G1 or G2.
fn affine<P: SWCurveConfig, G: SourceGroup>(draw: &mut Draw) -> Affine<P>
where
    Cycloid: Group<G>,
{
    let bytes = draw.point::<G>();
    Affine::deserialize_compressed_unchecked(bytes.as_ref()).expect(VALID)
}

/// Draws the next random member with a third coordinate other than 1, as the library's have.
fn projective<P: SWCurveConfig, G: SourceGroup>(draw: &mut Draw) -> Projective<P>
where
    Cycloid: Group<G>,
{
    let (point, other) = (affine::<P, G>(draw), Projective::from(P::GENERATOR));
    other + point - other
}

/// Returns the canonical encoding; compressed for points.
fn bytes(value: &impl CanonicalSerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.serialize_compressed(&mut bytes).expect("writing to a vector cannot fail");
    bytes
}

/// Returns the canonical encoding, or empty bytes for `None`.
fn optional<T: CanonicalSerialize>(value: &Option<T>) -> Vec<u8> {
    value.as_ref().map_or_else(Vec::new, bytes)
}
