//! The inputs of the operations, and the encodings of their results.

use chacha20::ChaCha20Rng;
use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, Projective};
use rand_core::SeedableRng;

/// The length of the lists in operations on many elements.
pub(in crate::bls) const MANY: usize = 256;

/// Returns the i-th of [`MANY`] messages, 32 distinct bytes each.
pub(in crate::bls) fn message(i: usize) -> &'static [u8] {
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
pub(in crate::bls) fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([0xb1; 32])
}

/// Encodes a member.
pub(super) fn encoded<B: Backend + Group<G>, G: SourceGroup>(point: &Projective<B, G>) -> Vec<u8> {
    point.to_affine().to_compressed().as_ref().to_vec()
}

pub(super) fn encoded_affine<B: Backend + Group<G>, G: SourceGroup>(
    point: &Affine<B, G>,
) -> Vec<u8> {
    point.to_compressed().as_ref().to_vec()
}
