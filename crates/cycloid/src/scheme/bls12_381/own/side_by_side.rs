//! Multiples of one point on vectors, with its coordinates side by side.

use super::curve::{Curve, Memory3, export, import};
use super::each::spread;
use crate::machine::field::{Bls12Base, Spread, SpreadTask, Wide};
use crate::math::bls12_381::{self, Field, Point};

/// A multiple of one point on vectors; the scalar is in parts.
pub(super) struct SpreadMultiply<'a, G: Curve> {
    pub(super) point: &'a Memory3<G>,
    pub(super) parts: &'a [u128; 4],
}

impl<G: Curve> SpreadTask for SpreadMultiply<'_, G> {
    type Output = Memory3<G>;

    fn run<A: Spread>(self, f: A) -> Memory3<G> {
        bls12_381::spread::multiply::<G::SideBySide<A>>(f, self.point, self.parts)
    }
}

/// |x| times one point on vectors.
struct SpreadTimesX<'a, G: Curve>(&'a Memory3<G>);

impl<G: Curve> SpreadTask for SpreadTimesX<'_, G> {
    type Output = Memory3<G>;

    fn run<A: Spread>(self, f: A) -> Memory3<G> {
        bls12_381::spread::times_x::<G::SideBySide<A>>(f, self.0)
    }
}

/// Returns |x|·P for any point of the curve; one point goes on vectors if the processor has IFMA.
pub(super) fn times_x<G: Curve, A: Wide<Bls12Base>>(
    point: &Point<G::Field<A>>,
) -> Point<G::Field<A>> {
    if A::WIDTH == 1 {
        let mut memory = [[G::ZERO; 3]];
        export::<G, A>(point, &mut memory);
        if let Some(multiple) = spread(SpreadTimesX::<G>(&memory[0])) {
            return import::<G, A>(point.x.arithmetic(), &[multiple]);
        }
    }
    bls12_381::times_x(point)
}
