//! Single elements of Fp and Fp2, and the maps from them to the curves. Elements are in memory in
//! the form of coordinates.

use core::marker::PhantomData;

use super::super::backend::{First, Second};
use super::curve::{Curve, Memory2, Memory3, export};
use super::each::{Each, single};
use super::group::ToAffine;
use crate::machine::field::{Bls12Base, Wide};
use crate::math::bls12_381::{self, Field, Mapped, Words};

/// An operation on one element.
#[derive(Clone, Copy)]
pub(in super::super) enum Operation {
    /// From an integer.
    Load,
    /// To an integer.
    Store,
    Invert,
    /// A square root, or anything if there is none.
    Root,
}

/// Runs on one input, never side by side.
struct Compute<G>(PhantomData<G>);

impl<G: Curve> Each for Compute<G> {
    type Input = (Operation, G::Memory);
    type Output = G::Memory;

    fn each<A: Wide<Bls12Base>>(f: A, inputs: &[Self::Input], outputs: &mut [G::Memory]) {
        for ((operation, a), output) in inputs.iter().zip(outputs) {
            let element = |memory| G::Field::<A>::import(f, core::slice::from_ref(memory));
            let result = match operation {
                Operation::Load => G::Field::<A>::load(f, core::slice::from_ref(a)),
                Operation::Store => {
                    element(a).store(core::slice::from_mut(output));
                    continue;
                }
                Operation::Invert => element(a).invert(),
                Operation::Root => {
                    G::Field::<A>::square_root_of_ratio(&element(a), &G::Field::<A>::one(f)).1
                }
            };
            result.export(core::slice::from_mut(output));
        }
    }
}

/// Computes with an element of Fp in memory.
pub(in super::super) fn compute_first(operation: Operation, a: &Words) -> Words {
    single::<Compute<First>>(&(operation, *a), First::ZERO)
}

/// Computes with an element of Fp2 in memory.
pub(in super::super) fn compute_second(operation: Operation, a: &[Words; 2]) -> [Words; 2] {
    single::<Compute<Second>>(&(operation, *a), Second::ZERO)
}

struct Map<G>(PhantomData<G>);

impl<G: Curve> Each for Map<G> {
    type Input = G::Memory;
    type Output = Memory3<G>;

    fn each<A: Wide<Bls12Base>>(f: A, inputs: &[G::Memory], outputs: &mut [Memory3<G>]) {
        let element = G::Field::<A>::import(f, inputs);
        export::<G, A>(&bls12_381::map_to_curve(&element), outputs);
    }
}

/// Maps an element of Fp to an affine point of the curve (RFC 9380, section 6.6.3).
pub(in super::super) fn map_first(u: &Words) -> [Words; 2] {
    map::<First>(u)
}

/// Maps an element of Fp2 to an affine point of the curve (RFC 9380, section 6.6.3).
pub(in super::super) fn map_second(u: &[Words; 2]) -> [[Words; 2]; 2] {
    map::<Second>(u)
}

fn map<G: Curve>(u: &G::Memory) -> Memory2<G> {
    let point = single::<Map<G>>(u, [G::ZERO, G::ONE, G::ZERO]);
    single::<ToAffine<G>>(&point, [G::ZERO; 2])
}
