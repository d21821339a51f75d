//! Tests several equations R = u₁·G + u₂·Q of public values at once, by a random linear combination
//! (Bellare, Garay and Rabin, Fast batch verification for modular exponentiation and digital
//! signatures, 1998, section 3: the small exponents test).
//!
//! With factors z, Σ z·R = (Σ z·u₁)·G + Σ z·u₂·Q is tested. If every equation holds, so does this
//! one. If one does not, its difference D = R − u₁·G − u₂·Q is not infinity, and as the order of the
//! group is prime, at most one of the 2^64 values of its factor makes the sum of all z·D infinity.
//! So the combination holds with a probability of 2^−64 at most. The first factor may be 1.
//!
//! The multiples of all R share their doublings, and those of G and of equal Q are one multiple
//! each, so an equation costs less than half of what it costs alone.

use super::affine::right_side;
use super::jacobian::{Affine, Jacobian};
use super::multiply::{base_multiple, point_multiple};
use super::multiply_vartime::{NonAdjacent, Running, odd_multiples, signed};
use super::prepared::prepared_multiple;
use super::{AffinePoint, Curve, Scalar};
use crate::machine::field::{CurveArithmetic, CurveTask, Masks};
use crate::machine::lanes::LANES;
use crate::machine::words::Limb;

/// Digits of factors are odd and less than 2^(WINDOW − 1).
const WINDOW: usize = 4;

/// Number of odd multiples of each R.
const MULTIPLES: usize = 1 << (WINDOW - 2);

/// An equation R = u₁·G + u₂·Q of public values.
pub(crate) struct Equation<'a, C: Curve> {
    /// R.
    pub(crate) sum: AffinePoint<C>,
    pub(crate) u1: Scalar<C>,
    pub(crate) u2: Scalar<C>,
    /// Q.
    pub(crate) point: &'a AffinePoint<C>,
    /// The precomputed multiples of Q, if there are any.
    pub(crate) multiples: Option<&'a [Limb]>,
}

/// Up to [`LANES`] equations.
pub(crate) type Equations<'a, C> = [Option<Equation<'a, C>>; LANES];

/// Returns whether all equations hold. There is at least one. The factors have at most 64 bits and
/// are fixed after the equations. The result is `false` for a point off the curve, and if a sum is
/// infinity.
pub(crate) fn all_hold_vartime<C: Curve>(
    equations: &Equations<'_, C>,
    factors: &[Scalar<C>; LANES],
) -> bool {
    C::all_hold_vartime(AllHold { equations, factors })
}

/// Tests a combination of equations.
pub struct AllHold<'a, C: Curve> {
    equations: &'a Equations<'a, C>,
    factors: &'a [Scalar<C>; LANES],
}

impl<C: Curve> CurveTask<C::Field> for AllHold<'_, C> {
    type Output = bool;

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) -> bool {
        let sums = self.equations.each_ref().map(|equation| {
            equation.as_ref().map(|it| Affine::<C, A>::of_points(arithmetic, &[it.sum]))
        });
        // Off the curve, the formulas prove nothing. The points are public.
        let on_curve =
            |sum: &Affine<C, A>| sum.y.square().equal(&right_side::<C, A>(&sum.x)).reveal_any();
        if !sums.iter().flatten().all(on_curve) {
            return false;
        }
        self.left(&sums).is_some_and(|left| {
            let right = self.right(arithmetic);
            let finite = !left.is_infinity() & !right.is_infinity();
            // Whether the signatures are valid is the task's result.
            (left.equal_if_finite(&right) & finite).reveal_any()
        })
    }
}

impl<C: Curve> AllHold<'_, C> {
    /// Returns Σ z·R; `None` for infinity.
    fn left<A: CurveArithmetic<C::Field>>(
        &self,
        sums: &[Option<Affine<C, A>>; LANES],
    ) -> Option<Jacobian<C, A>> {
        let terms: [Option<_>; LANES] = core::array::from_fn(|i| {
            let sum = sums[i].as_ref()?;
            let digits = NonAdjacent::new::<C>(&self.factors[i], WINDOW);
            Some((digits, odd_multiples::<C, A, MULTIPLES>(&sum.to_jacobian())))
        });
        let places = terms.iter().flatten().map(|(digits, _)| digits.places).max().unwrap_or(0);
        let mut sum = Running::new();
        for place in (0..places).rev() {
            sum.double();
            for (digits, multiples) in terms.iter().flatten() {
                if let Some((negative, index)) = digits.digit(place) {
                    sum.add(&signed(&multiples[index], negative));
                }
            }
        }
        sum.finish()
    }

    /// Returns (Σ z·u₁)·G + Σ z·u₂·Q.
    fn right<A: CurveArithmetic<C::Field>>(&self, arithmetic: A) -> Jacobian<C, A> {
        use core::slice::from_ref;
        let terms = || {
            let terms = self.equations.iter().zip(self.factors);
            terms.filter_map(|(equation, factor)| Some((equation.as_ref()?, factor)))
        };
        let of_g = terms()
            .fold(Scalar::zero(), |sum, (equation, factor)| sum.add(&equation.u1.mul(factor)));
        let mut sum = base_multiple::<C, A>(arithmetic, from_ref(&of_g));
        for (i, (first, _)) in terms().enumerate() {
            let same = |equation: &Equation<'_, C>| core::ptr::eq(equation.point, first.point);
            if terms().take(i).any(|(equation, _)| same(equation)) {
                continue;
            }
            let scalar = terms()
                .filter(|(equation, _)| same(equation))
                .fold(Scalar::zero(), |sum, (equation, factor)| sum.add(&equation.u2.mul(factor)));
            let scalar = from_ref(&scalar);
            sum = sum.add_any(&match first.multiples {
                Some(multiples) => prepared_multiple(arithmetic, scalar, &[multiples]),
                None => point_multiple(scalar, &Affine::of_points(arithmetic, &[*first.point])),
            });
        }
        sum
    }
}
