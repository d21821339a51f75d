//! Multiples and hashes of up to eight points, side by side, for public inputs.

use super::super::super::hash::{self, Message};
use super::super::curve::{Curve, Memory3};
use super::super::group::{map_many, multiply_bits_many};
use super::super::shared_inversion;
use super::Affine;

/// The most inputs of a batch.
pub const BATCH: usize = crate::machine::lanes::LANES;

/// Uniform bytes for up to two field elements: 64 for each coefficient, and zeros.
pub type Uniform = [[u8; 64]; 4];

/// Expands a message to uniform bytes for one or two field elements (RFC 9380, section 5.2).
pub fn expand_to_elements<G: Curve>(message: &Message<'_>, dst: &[u8], elements: usize) -> Uniform {
    let mut uniform = [[0; 64]; 4];
    let bytes = uniform[..elements.min(2) * G::DEGREE].as_flattened_mut();
    hash::expand(message, &hash::Dst::new(dst), bytes);
    uniform
}

/// Maps uniform bytes for `elements` field elements each, one or two, to the group: map_to_curve and
/// clear_cofactor of RFC 9380. Passes the affine coordinates to `write`. There are at most [`BATCH`].
pub fn map_batch<G: Curve>(
    uniform: &[Uniform],
    elements: usize,
    write: impl FnMut(usize, Affine<G>),
) {
    let mut points = [[G::ZERO; 3]; BATCH];
    let points = &mut points[..uniform.len()];
    map_many::<G>(uniform, elements, points);
    write_affine::<G>(points, write);
}

/// Computes kᵢ·aᵢ for points of the curve and integers of at most as many bits as stand with each,
/// up to 128. Passes the affine coordinates to `write`. There are at most [`BATCH`].
pub fn multiply_batch<G: Curve>(
    inputs: &[(Affine<G>, u128, usize)],
    write: impl FnMut(usize, Affine<G>),
) {
    let mut products = [[G::ZERO; 3]; BATCH];
    let products = &mut products[..inputs.len()];
    multiply_bits_many::<G>(inputs, products);
    write_affine::<G>(products, write);
}

fn write_affine<G: Curve>(points: &[Memory3<G>], write: impl FnMut(usize, Affine<G>)) {
    if !points.is_empty() {
        shared_inversion::to_affine::<G>(points.len(), |i| &points[i], write);
    }
}
