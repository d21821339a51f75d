//! A multiple of one point, and a sum of two public ones, across the lanes of vectors: for curves
//! whose backend has a kernel for it, between parts on `words`.
//!
//! The first part computes tables of affine multiples, the kernel the sum except its last addition,
//! and the last part adds that one, which can be exceptional (see `multiply`).

use core::slice::{from_mut, from_ref};

use super::digits::{OddScalar, digits};
use super::jacobian::{Affine, Jacobian};
use super::multiply::{
    BaseTable, MULTIPLES, MultiplyPoint, WINDOW, finish, store, write_affine_multiples,
};
use super::multiply_vartime::{self as vartime, HasX, NonAdjacent, has_x};
use super::{AffinePoint, Curve, Scalar, Words};
use crate::machine::ct::{self, Mask};
use crate::machine::field::{
    Addition, CurveArithmetic, CurvePrime, CurveTask, Limbs, MULTIPLES_OF_ONE, Masks,
    MultiplesOfOne,
};
use crate::machine::lanes::{self, Multiplication};
use crate::machine::words;
use crate::math::field::{Element, MAX_WIDTH};

const _: () = assert!(MULTIPLES == MULTIPLES_OF_ONE && vartime::WINDOW == WINDOW + 1);

/// The maximum number of additions: non-adjacent digits of two scalars of 521 bits.
const MAX_ADDITIONS: usize = 2 * (521usize.div_ceil(vartime::WINDOW) + 1);

/// The odd multiples of a point as integers.
type Multiples<C> = MultiplesOfOne<<C as Curve>::Field>;

/// Room for multiples.
const fn room<C: Curve>() -> Multiples<C> {
    [[Words::<C>::ZERO; 2]; MULTIPLES]
}

/// Computes k·P of one number, across the lanes if a backend can.
pub(super) fn multiply_point<C: Curve>(task: MultiplyPoint<'_, C>) {
    if const { can_be_across::<C>() }
        && let Some(lanes) = backend::<C>()
    {
        return multiply_point_on(lanes, task);
    }
    C::Field::run_one_curve(words::Backend::best(), task);
}

/// Returns whether u₁·G + u₂·Q has an x coordinate, with the sum across the lanes if a backend can.
pub(super) fn has_x_vartime<C: Curve>(task: HasX<'_, C>) -> bool {
    if const { can_be_across::<C>() }
        && let Some(lanes) = backend::<C>()
    {
        return has_x_vartime_on(lanes, task);
    }
    C::Field::run_one_curve(words::Backend::best(), task)
}

/// Returns whether there may be a kernel; code for curves without one is not compiled.
const fn can_be_across<C: Curve>() -> bool {
    C::Field::MULTIPLIES_ONE && !cfg!(feature = "small")
}

/// Returns the backend with a kernel, if there is one.
fn backend<C: Curve>() -> Option<lanes::Backend> {
    C::lanes().filter(|lanes| lanes.multiplication() == Multiplication::Integer)
}

/// Computes k·P, across the lanes of a backend with a kernel.
pub(super) fn multiply_point_on<C: Curve>(lanes: lanes::Backend, task: MultiplyPoint<'_, C>) {
    let one = words::Backend::best();
    let mut multiples = room::<C>();
    C::Field::run_one_curve(
        one,
        WriteMultiples { point: &task.points[0], multiples: &mut multiples },
    );
    let scalar = OddScalar::new(&task.scalars[0], WINDOW);
    // Without the lowest digit.
    let mut additions = Additions::NONE;
    for place in (1..digits::<C>(WINDOW)).rev() {
        let (is_negative, index) = scalar.digit(place);
        additions.add(0, index as u8 | (is_negative.value() & 16) as u8);
        additions.double(WINDOW as u16);
    }
    let sum = SumOfOne::<C> { points: &[&multiples], additions: &additions };
    match C::Field::run_eight_curve(lanes, sum) {
        Some(sum) => {
            let (scalar, multiples, sum) = (&scalar, &multiples, &sum);
            let finish = Finish { scalar, multiples, sum, products: task.products };
            C::Field::run_one_curve(one, finish);
        }
        None => C::Field::run_one_curve(one, task),
    }
}

/// Returns whether u₁·G + u₂·Q has an x coordinate, on a backend with a kernel. Sums with equal or
/// opposite points on the way are computed again, on one number.
pub(super) fn has_x_vartime_on<C: Curve>(lanes: lanes::Backend, task: HasX<'_, C>) -> bool {
    let HasX { u1, u2, q, x } = task;
    let one = words::Backend::best();
    let sum = sum_vartime(lanes, u1, u2, q);
    C::Field::run_one_curve(one, SumHasX { sum: &sum, x })
        .unwrap_or_else(|| C::Field::run_one_curve(one, HasX { u1, u2, q, x }))
}

/// Returns u₁·G + u₂·Q as X, Y and Z; Z is 0 for infinity, and where points were equal or opposite.
#[inline(never)]
fn sum_vartime<C: Curve>(
    lanes: lanes::Backend,
    u1: &Scalar<C>,
    u2: &Scalar<C>,
    q: &AffinePoint<C>,
) -> [Words<C>; 3] {
    let one = words::Backend::best();
    let [mut of_q, mut of_g] = [room::<C>(), room::<C>()];
    C::Field::run_one_curve(one, WriteMultiples { point: q, multiples: &mut of_q });
    C::Field::run_one_curve(one, BaseMultiples::<C> { multiples: &mut of_g });
    let mut additions = Additions::NONE;
    write_additions_vartime::<C>(u1, u2, &mut additions);
    let sum = SumOfOne::<C> { points: &[&of_g, &of_q], additions: &additions };
    C::Field::run_eight_curve(lanes, sum).unwrap_or([Words::<C>::ZERO; 3])
}

/// Writes the additions of u₁·G + u₂·Q. Apart, so that the kernel need not share the stack with the
/// digits.
#[inline(never)]
fn write_additions_vartime<C: Curve>(u1: &Scalar<C>, u2: &Scalar<C>, additions: &mut Additions) {
    let digits = [u1, u2].map(|u| NonAdjacent::new::<C>(u, vartime::WINDOW));
    let places = digits.iter().map(NonAdjacent::places).max().unwrap_or(0);
    for place in (0..places).rev() {
        additions.double(1);
        for (point, digits) in (0..).zip(&digits) {
            if let Some((is_negative, index)) = digits.digit(place) {
                additions.add(point, index as u8 | u8::from(is_negative) << 4);
            }
        }
    }
}

/// Computes the odd multiples of a point.
struct WriteMultiples<'a, C: Curve> {
    point: &'a AffinePoint<C>,
    multiples: &'a mut Multiples<C>,
}

impl<C: Curve> CurveTask<C::Field> for WriteMultiples<'_, C> {
    type Output = ();

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        let mut table = [[A::ZERO; 2]; MULTIPLES];
        let point = Affine::of_points(arithmetic, from_ref(self.point));
        write_affine_multiples::<C, A>(&point, &mut table);
        write_integers::<C, A>(arithmetic, &table, self.multiples);
    }
}

/// Reads the odd multiples of the generator from its table, or computes them.
struct BaseMultiples<'a, C: Curve> {
    multiples: &'a mut Multiples<C>,
}

impl<C: Curve> CurveTask<C::Field> for BaseMultiples<'_, C> {
    type Output = ();

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        let BaseTable { window, limbs, .. } = const { BaseTable::of::<C, A>() };
        if window < WINDOW {
            let Self { multiples } = self;
            WriteMultiples::<C> { point: &AffinePoint::GENERATOR, multiples }.run(arithmetic);
            return;
        }
        let mut table = [[A::ZERO; 2]; MULTIPLES];
        let stored = limbs.chunks_exact(A::STORED_LIMBS);
        for (coordinate, limbs) in table.as_flattened_mut().iter_mut().zip(stored) {
            *coordinate = arithmetic.stored(limbs);
        }
        write_integers::<C, A>(arithmetic, &table, self.multiples);
    }
}

/// Writes the integers of elements of one number.
fn write_integers<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    table: &[[A::Element; 2]; MULTIPLES],
    multiples: &mut Multiples<C>,
) {
    let coordinates = table.as_flattened().iter();
    for (integer, element) in multiples.as_flattened_mut().iter_mut().zip(coordinates) {
        arithmetic.store(element, from_mut(integer));
    }
}

/// The additions of a sum; wiped when dropped, since digits may be secret.
struct Additions {
    additions: [Addition; MAX_ADDITIONS],
    count: usize,
}

impl Additions {
    const NONE: Self = Self {
        additions: [Addition { point: 0, digit: 0, doublings: 0 }; MAX_ADDITIONS],
        count: 0,
    };

    /// Appends the addition of a multiple, as [`Addition`] describes.
    fn add(&mut self, point: u8, digit: u8) {
        self.additions[self.count] = Addition { point, digit, doublings: 0 };
        self.count += 1;
    }

    /// Doubles the sum of all additions so far.
    fn double(&mut self, times: u16) {
        if let Some(last) = self.count.checked_sub(1) {
            self.additions[last].doublings += times;
        }
    }
}

impl Drop for Additions {
    fn drop(&mut self) {
        for addition in &mut self.additions[..self.count] {
            ct::wipe_bytes(from_mut(&mut addition.digit));
        }
    }
}

/// Computes a sum of multiples across the lanes.
struct SumOfOne<'a, C: Curve> {
    points: &'a [&'a Multiples<C>],
    additions: &'a Additions,
}

impl<C: Curve> CurveTask<C::Field> for SumOfOne<'_, C> {
    type Output = Option<[Words<C>; 3]>;

    #[inline(always)]
    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) -> Self::Output {
        let Additions { additions, count } = self.additions;
        arithmetic.sum_of_one(self.points, &additions[..*count])
    }
}

/// Adds the lowest digit's multiple, and writes the product.
struct Finish<'a, C: Curve> {
    scalar: &'a OddScalar,
    multiples: &'a Multiples<C>,
    sum: &'a [Words<C>; 3],
    products: &'a mut [Option<AffinePoint<C>>],
}

impl<C: Curve> CurveTask<C::Field> for Finish<'_, C> {
    type Output = ();

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        let sum = jacobian::<C, A>(arithmetic, self.sum);
        let (negative, index) = self.scalar.digit(0);
        let mut entry = [Words::<C>::ZERO; 2];
        for (i, multiple) in (0..).zip(self.multiples) {
            let is_index = Mask::equal(i, index);
            for (to, from) in entry.iter_mut().zip(multiple) {
                ct::assign_if(is_index, to.as_mut(), from.as_ref());
            }
        }
        let [x, y] = entry.map(|number| [number; MAX_WIDTH]);
        let multiple = Affine::load(arithmetic, &x[..A::WIDTH], &y[..A::WIDTH])
            .negate_if(arithmetic.mask(|_| negative));
        let product = finish(from_ref(self.scalar), sum.add_affine(&multiple).complete(&sum));
        store(&product, self.products);
    }
}

/// Tests whether a sum has an x coordinate; `None` if the sum is infinity or unknown.
struct SumHasX<'a, C: Curve> {
    sum: &'a [Words<C>; 3],
    x: &'a Scalar<C>,
}

impl<C: Curve> CurveTask<C::Field> for SumHasX<'_, C> {
    type Output = Option<bool>;

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) -> Option<bool> {
        let sum = jacobian::<C, A>(arithmetic, self.sum);
        // The signature, its key and its message are public.
        (!sum.is_infinity().reveal_any()).then(|| has_x(&sum, from_ref(self.x)).reveal_any())
    }
}

/// Loads a point.
fn jacobian<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    coordinates: &[Words<C>; 3],
) -> Jacobian<C, A> {
    let [x, y, z] = coordinates.map(|number| {
        let numbers = [number; MAX_WIDTH];
        Element::load(arithmetic, &numbers[..A::WIDTH])
    });
    Jacobian { x, y, z }
}
