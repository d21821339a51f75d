//! Sums u₁·G + u₂·Q of public scalars with precomputed multiples of Q, one or eight: for points
//! that verify many signatures.
//!
//! As for G in `BaseTable`, memory holds the points (2j + 1)·2^(WINDOW·i)·Q in the order of j <
//! 2^(WINDOW − 1), for every digit i that is a multiple of the spacing; in affine coordinates as
//! integers, so that they serve every backend.

use super::digits::digits;
use super::jacobian::{Affine, Jacobian};
use super::multiply::{base_multiple, odd_scalars, sum_of_columns};
use super::multiply_vartime::has_x;
use super::{AffinePoint, Curve, Scalar, Words};
use crate::machine::field::{CurveArithmetic, CurveTask, Limbs, Masks};
use crate::machine::lanes::{self, LANES};
use crate::machine::words::{LIMB_BITS, Limb};
use crate::math::field::MAX_WIDTH;

/// Bits per digit.
const WINDOW: usize = 5;

/// Number of odd multiples per digit.
const MULTIPLES: usize = 1 << (WINDOW - 1);

/// Returns the number of digits that share multiples: a divisor of the highest digit's place, as
/// [`sum_of_columns`] requires; of the small ones, the one with the least memory.
const fn spacing<C: Curve>() -> usize {
    match digits::<C>(WINDOW) - 1 {
        top if top.is_multiple_of(4) => 4,
        top if top.is_multiple_of(3) => 3,
        _ => 2,
    }
}

/// Returns the limbs of a coordinate.
const fn limbs<C: Curve>() -> usize {
    C::BITS.div_ceil(LIMB_BITS)
}

/// Returns the limbs of a point's multiples.
pub(crate) const fn multiples_limbs<C: Curve>() -> usize {
    ((digits::<C>(WINDOW) - 1) / spacing::<C>() + 1) * MULTIPLES * 2 * limbs::<C>()
}

/// Writes the multiples of a point into [`multiples_limbs`] limbs.
pub(crate) fn write_multiples<C: Curve>(point: &AffinePoint<C>, multiples: &mut [Limb]) {
    debug_assert_eq!(multiples.len(), multiples_limbs::<C>());
    C::write_multiples(WriteMultiples { point, multiples });
}

/// Returns whether u₁·G + u₂·Q is a point whose x coordinate is `x` modulo n; `x` is not 0.
/// `multiples` are those of Q.
pub(crate) fn has_x_prepared_vartime<C: Curve>(
    u1: &Scalar<C>,
    u2: &Scalar<C>,
    multiples: &[Limb],
    x: &Scalar<C>,
) -> bool {
    use core::slice::from_ref;
    let mut right = [false];
    C::has_x_prepared_vartime(HasXPrepared::new(
        from_ref(u1),
        from_ref(u2),
        &[multiples],
        from_ref(x),
        &mut right,
    ));
    right[0]
}

/// Like [`has_x_prepared_vartime`], for eight.
pub(crate) fn has_x_prepared_eight_vartime<C: Curve>(
    backend: lanes::Backend,
    u1: &[Scalar<C>; LANES],
    u2: &[Scalar<C>; LANES],
    multiples: &[&[Limb]; LANES],
    x: &[Scalar<C>; LANES],
) -> [bool; LANES] {
    let mut right = [false; LANES];
    let task = HasXPrepared::new(u1, u2, multiples, x, &mut right);
    C::has_x_prepared_eight_vartime(backend, task);
    right
}

/// Computes the multiples of a point.
pub struct WriteMultiples<'a, C: Curve> {
    point: &'a AffinePoint<C>,
    multiples: &'a mut [Limb],
}

impl<C: Curve> CurveTask<C::Field> for WriteMultiples<'_, C> {
    type Output = ();

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        let point = [*self.point; MAX_WIDTH];
        let mut base = Affine::of_points(arithmetic, &point[..A::WIDTH]).to_jacobian();
        for column in self.multiples.chunks_exact_mut(MULTIPLES * 2 * limbs::<C>()) {
            let twice = base.double();
            let mut multiples = [base; MULTIPLES];
            for i in 1..MULTIPLES {
                // The points are never equal, since the order is a large prime.
                multiples[i] = twice.add(&multiples[i - 1]).sum;
            }
            let multiples = Jacobian::with_z_1(&multiples);
            for (multiple, entry) in multiples.iter().zip(column.chunks_exact_mut(2 * limbs::<C>()))
            {
                let mut integers = [[Words::<C>::ZERO; MAX_WIDTH]; 2];
                multiple.x.store(&mut integers[0][..A::WIDTH]);
                multiple.y.store(&mut integers[1][..A::WIDTH]);
                let (x, y) = entry.split_at_mut(limbs::<C>());
                x.copy_from_slice(integers[0][0].as_ref());
                y.copy_from_slice(integers[1][0].as_ref());
            }
            base = base.double_times(WINDOW * spacing::<C>());
        }
    }
}

/// Tests whether sums have given x coordinates: as many as an element holds numbers.
pub struct HasXPrepared<'a, C: Curve> {
    u1: &'a [Scalar<C>],
    u2: &'a [Scalar<C>],
    multiples: &'a [&'a [Limb]],
    x: &'a [Scalar<C>],
    right: &'a mut [bool],
}

impl<'a, C: Curve> HasXPrepared<'a, C> {
    pub(super) const fn new(
        u1: &'a [Scalar<C>],
        u2: &'a [Scalar<C>],
        multiples: &'a [&'a [Limb]],
        x: &'a [Scalar<C>],
        right: &'a mut [bool],
    ) -> Self {
        Self { u1, u2, multiples, x, right }
    }
}

impl<C: Curve> CurveTask<C::Field> for HasXPrepared<'_, C> {
    type Output = ();

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        let of_g = base_multiple::<C, A>(arithmetic, self.u1);
        let of_q = prepared_multiple(arithmetic, self.u2, self.multiples);
        let sum = of_g.add_any(&of_q);
        let right = has_x(&sum, self.x) & !sum.is_infinity();
        for (number, outcome) in self.right.iter_mut().enumerate() {
            // Whether each signature is valid is the task's result.
            *outcome = right.at(number).reveal();
        }
    }
}

/// Returns k·Q for each of the numbers, for public k.
pub(super) fn prepared_multiple<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    scalars: &[Scalar<C>],
    multiples: &[&[Limb]],
) -> Jacobian<C, A> {
    let scalars = &odd_scalars(scalars, WINDOW)[..A::WIDTH];
    sum_of_columns(arithmetic, scalars, WINDOW, spacing::<C>(), |column, place| {
        let (mut x, mut y) = ([Words::<C>::ZERO; MAX_WIDTH], [Words::<C>::ZERO; MAX_WIDTH]);
        for (number, scalar) in scalars.iter().enumerate() {
            let index = column * MULTIPLES + scalar.digit(place).1 as usize;
            let entry = &multiples[number][index * 2 * limbs::<C>()..][..2 * limbs::<C>()];
            let (abscissa, ordinate) = entry.split_at(limbs::<C>());
            x[number].as_mut().copy_from_slice(abscissa);
            y[number].as_mut().copy_from_slice(ordinate);
        }
        let negative = arithmetic.mask(|number| scalars[number].digit(place).0);
        Affine::load(arithmetic, &x[..A::WIDTH], &y[..A::WIDTH]).negate_if(negative)
    })
}
