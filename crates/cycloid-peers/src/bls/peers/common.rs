//! Shared code of both peers: inputs as bytes, and cases.

use chacha20::ChaCha20Rng;
use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Affine, Cycloid, Fr};

use super::super::case::{Case, case_with};
use super::super::cases::inputs::rng;

/// Why decoding the library's encodings cannot fail.
pub(super) const VALID: &str = "the library's encodings are valid";

/// Draws the library's random inputs as bytes: the same values if drawn in the same order.
pub(super) struct Draw(ChaCha20Rng);

impl Draw {
    pub(super) fn new() -> Self {
        Self(rng())
    }

    /// Draws an element of Fr, little-endian.
    pub(super) fn scalar(&mut self) -> [u8; 32] {
        Fr::<Cycloid>::random(&mut self.0).expect("a sound generator").to_bytes()
    }

    /// Draws a member of G1 or G2, compressed.
    pub(super) fn point<G: SourceGroup>(&mut self) -> G::Compressed
    where
        Cycloid: Group<G>,
    {
        Affine::<Cycloid, G>::random(&mut self.0).expect("a sound generator").to_compressed()
    }
}

/// Creates a case: `prepare` returns the computation, and `bytes` encodes its result.
pub(super) fn case<R: 'static, C: FnMut() -> R + 'static>(
    name: impl Into<String>,
    function: &'static str,
    prepare: impl Fn() -> C + 'static,
    bytes: impl Fn(&R) -> Vec<u8> + Copy + 'static,
) -> Case {
    case_with(name, function, || None, prepare, bytes)
}

/// Encodes a boolean.
pub(super) fn truth(value: &bool) -> Vec<u8> {
    vec![u8::from(*value)]
}
