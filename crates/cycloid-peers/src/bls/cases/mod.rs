//! The operations, generic over the backend.

pub(super) mod groups;
pub(super) mod inputs;
pub(super) mod kzg;
pub(super) mod many;
pub(super) mod pairings;
mod scalars;
mod signatures;

use cycloid::bls12_381::signature::{MinPk, MinSig};
use cycloid::bls12_381::{Backend, First, Second};

use super::Part;
use super::case::Case;

/// Returns the operations of a part, in the order of the table.
pub(super) fn of<B: Backend>(part: Part, sums: &[u32]) -> Vec<Case> {
    match part {
        Part::Fr => scalars::of::<B>(),
        Part::G1 => groups::of::<B, First>(),
        Part::G2 => groups::of::<B, Second>(),
        Part::Gt => pairings::gt::<B>(),
        Part::Pairing => pairings::of::<B>(),
        Part::Signature => {
            let mut cases = signatures::of::<B, MinPk>("small keys");
            cases.extend(signatures::of::<B, MinSig>("small signatures"));
            cases
        }
        Part::Msm => {
            let of = |sum: &u32| [many::sum::<B, First>(*sum), many::sum::<B, Second>(*sum)];
            sums.iter().flat_map(of).collect()
        }
        Part::Fft => {
            let of_scalars = [8, 12, 16].map(many::transform::<B>);
            of_scalars.into_iter().chain([many::transform_points::<B>(6)]).collect()
        }
        Part::Kzg => kzg::of::<B>(),
    }
}
