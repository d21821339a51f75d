//! Multiples and sums of two multiples by one short piece of code, for the feature `small`: the
//! digits of `digits`, and a table of the odd multiples of each point in Jacobian coordinates.
//!
//! One secret multiple is constant-time: only its last addition can be exceptional, as `multiply`
//! proves for digits of any length. A sum of two public multiples shares its doublings. There, any
//! addition can be exceptional, which branches.

use super::digits::{OddScalar, digits};
use super::jacobian::{Affine, Jacobian};
use super::{Curve, Scalar};
use crate::machine::field::{CurveArithmetic, Masks};

/// Bits per digit.
const WINDOW: usize = 4;

/// Number of odd multiples of each point.
const MULTIPLES: usize = 1 << (WINDOW - 1);

/// Returns whether multiples are computed here.
pub(super) const fn is_compact<C: Curve, A: CurveArithmetic<C::Field>>() -> bool {
    cfg!(feature = "small") && A::WIDTH == 1
}

/// A scalar as digits, and the odd multiples of its point, which is negated if the scalar was.
pub(super) struct Term<C: Curve, A: CurveArithmetic<C::Field>> {
    scalar: OddScalar,
    multiples: [[A::Element; 3]; MULTIPLES],
    curve: core::marker::PhantomData<C>,
}

impl<C: Curve, A: CurveArithmetic<C::Field>> Term<C, A> {
    #[inline(never)]
    pub(super) fn new(arithmetic: A, scalar: &Scalar<C>, point: &Affine<C, A>) -> Self {
        let scalar = OddScalar::new(scalar, WINDOW);
        let point = point.negate_if(arithmetic.mask(|_| scalar.negated)).to_jacobian();
        let mut multiples = [point.raw(); MULTIPLES];
        let twice = point.double();
        for i in 1..MULTIPLES {
            let below = Jacobian::<C, A>::from_raw(arithmetic, multiples[i - 1]);
            multiples[i] = twice.add(&below).sum.raw();
        }
        Self { scalar, multiples, curve: core::marker::PhantomData }
    }

    /// Returns the multiple of a digit.
    fn multiple(&self, arithmetic: A, place: usize) -> Jacobian<C, A> {
        let (negative, index) = self.scalar.digit(place);
        let mut multiple = [A::ZERO; 3];
        let index = arithmetic.word(|_| index);
        arithmetic.lookup(&mut multiple, self.multiples.as_flattened(), index);
        let multiple = Jacobian::from_raw(arithmetic, multiple);
        multiple.negate_if(arithmetic.mask(|_| negative))
    }
}

/// Returns k·P in constant time for one term, or the sum of k·P for two public ones. Each element
/// holds one number.
#[inline(never)]
pub(super) fn sum_of_multiples<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    terms: &[Term<C, A>],
) -> Jacobian<C, A> {
    let is_public = terms.len() > 1;
    let mut sum = Jacobian::infinity(arithmetic);
    let top = digits::<C>(WINDOW) - 1;
    for place in (0..=top).rev() {
        sum = sum.double_times(WINDOW);
        for term in terms {
            // Both scalars are public. The digits of 0 have the value 1.
            if is_public && term.scalar.zero.reveal() {
                continue;
            }
            let multiple = term.multiple(arithmetic, place);
            // With public scalars the sum is public. Nothing was added before the highest digit.
            if place == top && !is_public || is_public && sum.is_infinity().reveal_any() {
                sum = multiple;
                continue;
            }
            let added = sum.add(&multiple);
            sum = if is_public {
                added.complete_public(&sum)
            } else if place == 0 {
                added.complete(&sum)
            } else {
                added.sum
            };
        }
    }
    if is_public {
        return sum;
    }
    let zero = arithmetic.mask(|_| terms[0].scalar.zero);
    Jacobian::select(zero, &Jacobian::infinity(arithmetic), &sum)
}
