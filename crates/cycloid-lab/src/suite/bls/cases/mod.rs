//! The operations, generic over the backend.

pub(super) mod groups;
mod many;
mod pairings;
mod scalars;
mod signatures;

use chacha20::ChaCha20Rng;
use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::signature::{MinPk, MinSig};
use cycloid::bls12_381::{Affine, Backend, First, Projective, Second};
use rand_core::SeedableRng;

use super::{Case, Computed, Part};
use crate::measure::heap;

/// The length of the lists in operations on many elements.
pub(super) const MANY: usize = 256;

/// Returns the i-th of [`MANY`] messages, 32 distinct bytes each.
pub(super) fn message(i: usize) -> &'static [u8] {
    static BYTES: [u8; MANY + 31] = {
        let mut bytes = [0; MANY + 31];
        let mut i = 0;
        while i < bytes.len() {
            bytes[i] = i as u8;
            i += 1;
        }
        bytes
    };
    &BYTES[i..i + 32]
}

/// Returns the generator for all random inputs, the same for every operation.
pub(super) fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([0xb1; 32])
}

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
    }
}

/// Creates a case: `prepare` returns the computation, and `bytes` encodes its result.
pub(super) fn case<R: 'static, C: FnMut() -> R + 'static>(
    name: impl Into<String>,
    function: &'static str,
    prepare: impl Fn() -> C + 'static,
    bytes: impl Fn(&R) -> Vec<u8> + Copy + 'static,
) -> Case {
    Case {
        name: name.into(),
        function,
        constant_time: !function.ends_with("_vartime"),
        operations_per_call: 1,
        scratch: 0,
        note: None,
        prepare: Box::new(move || {
            // The library uses only memory from its caller.
            let heap_held = heap::measure(|| ()).1.map(|_| 0);
            Box::new(Computed { compute: prepare(), bytes, heap_held, result: None })
        }),
    }
}

impl Case {
    pub(super) fn of_several(self, operations: usize) -> Self {
        Self { operations_per_call: operations as u32, ..self }
    }

    pub(super) fn with_scratch(self, scratch: usize) -> Self {
        Self { scratch, ..self }
    }

    /// Marks a case that takes only public values.
    pub(super) fn of_public(self) -> Self {
        Self { constant_time: false, ..self }
    }
}

/// Encodes a member.
fn encoded<B: Backend + Group<G>, G: SourceGroup>(point: &Projective<B, G>) -> Vec<u8> {
    point.to_affine().to_compressed().as_ref().to_vec()
}

fn encoded_affine<B: Backend + Group<G>, G: SourceGroup>(point: &Affine<B, G>) -> Vec<u8> {
    point.to_compressed().as_ref().to_vec()
}
