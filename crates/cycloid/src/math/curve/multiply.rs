//! Multiples of points by secret scalars, in constant time.
//!
//! **Only the last addition can be exceptional**, so only that one uses the complete formula. Each
//! addition adds a digit's multiple D to the sum A of digits at other places. A sum of odd digits
//! at different places is never 0, as its lowest place decides, so A ± D ≠ 0 as integers. It is not
//! 0 modulo n either while |A ± D| < n, which holds until the last addition:
//! - If the highest digit comes last, all preceding ones add up to less than 2^(w·(t−1)) < n.
//! - If it comes first, A ± D is less than k / 2^(w·i) + 2^(w+1) when digit i is added, i > 0.
//!
//! Doubling is always correct. A table of odd multiples up to 31 never adds equal points, since n
//! is large. The scalar 0 is computed as 1, and the result replaced by infinity.

use core::slice::from_ref;

use super::compact::{Term, is_compact, sum_of_multiples};
use super::digits::{OddScalar, digit, digits};
use super::jacobian::{Added, Affine, Jacobian};
use super::tables::{SIZE, Size};
use super::{AffinePoint, Curve, Scalar};
use crate::machine::field::{CurveArithmetic, CurveTask, Masks};
use crate::machine::lanes::{self, LANES};
use crate::machine::words;
use crate::math::field::{Element, MAX_WIDTH};

/// The number of multiples of G that share an inversion, and of equations that are tested together.
pub(crate) const TOGETHER: usize = 16;

/// Bits per digit for a point given with the scalar.
pub(super) const WINDOW: usize = 5;

/// Number of odd multiples of that point.
pub(super) const MULTIPLES: usize = 1 << (WINDOW - 1);

/// Odd multiples of the generator in memory: for each `spacing`th digit of `window` bits at place
/// i, the points (2j + 1)·2^(window·i)·G in the order of j < 2^(window − 1), in affine coordinates
/// in the form of `Arithmetic::lookup_stored`.
#[derive(Clone, Copy, Debug)]
pub struct BaseTable {
    pub(super) window: usize,
    pub(super) spacing: usize,
    pub(super) limbs: &'static [words::Limb],
}

impl BaseTable {
    /// No multiples: those of G are computed like those of any point.
    pub(super) const NONE: Self = Self { window: 0, spacing: 0, limbs: &[] };

    pub(crate) const fn is_none(&self) -> bool {
        self.limbs.is_empty()
    }

    /// Returns the table of the size that the features choose; for eight there is one size.
    pub(super) const fn of<C: Curve, A: CurveArithmetic<C::Field>>() -> Self {
        if A::WIDTH > 1 {
            return C::BASE_EIGHT;
        }
        let [large, small] = C::BASE_ONE;
        match SIZE {
            Size::Large => large,
            Size::Small => small,
            Size::None => Self::NONE,
        }
    }
}

/// Returns k·P; `None` for k = 0, which becomes public.
pub(crate) fn multiply<C: Curve>(
    scalar: &Scalar<C>,
    point: &AffinePoint<C>,
) -> Option<AffinePoint<C>> {
    let mut products = [None];
    let (scalars, points) = (from_ref(scalar), from_ref(point));
    C::multiply_point(MultiplyPoint { scalars, points, products: &mut products });
    products[0]
}

/// Returns k·G; `None` for k = 0, which becomes public.
pub(crate) fn multiply_base<C: Curve>(scalar: &Scalar<C>) -> Option<AffinePoint<C>> {
    let mut products = [None];
    C::multiply_base(MultiplyBase { scalars: from_ref(scalar), products: &mut products });
    products[0]
}

/// Like [`multiply`], for eight.
pub(crate) fn multiply_eight<C: Curve>(
    backend: lanes::Backend,
    scalars: &[Scalar<C>; LANES],
    points: &[AffinePoint<C>; LANES],
) -> [Option<AffinePoint<C>>; LANES] {
    let mut products = [None; LANES];
    C::multiply_point_eight(backend, MultiplyPoint { scalars, points, products: &mut products });
    products
}

/// Like [`multiply_base`], for eight.
pub(crate) fn multiply_base_eight<C: Curve>(
    backend: lanes::Backend,
    scalars: &[Scalar<C>; LANES],
) -> [Option<AffinePoint<C>>; LANES] {
    let mut products = [None; LANES];
    C::multiply_base_eight(backend, MultiplyBase { scalars, products: &mut products });
    products
}

/// Like [`multiply_base`], for up to [`TOGETHER`] scalars one after the other, with a single
/// inversion.
pub(crate) fn multiply_base_each<C: Curve>(
    scalars: &[Scalar<C>],
) -> [Option<AffinePoint<C>>; TOGETHER] {
    let mut products = [None; TOGETHER];
    let all = MultiplyBase { scalars, products: &mut products[..scalars.len()] };
    C::multiply_base_each(MultiplyBaseEach(all));
    products
}

/// Multiplies G by as many scalars as an element holds numbers.
pub struct MultiplyBase<'a, C: Curve> {
    scalars: &'a [Scalar<C>],
    products: &'a mut [Option<AffinePoint<C>>],
}

impl<C: Curve> CurveTask<C::Field> for MultiplyBase<'_, C> {
    type Output = ();

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        store(&base_multiple(arithmetic, self.scalars), self.products);
    }
}

/// Multiplies as many points as an element holds numbers by as many scalars.
pub struct MultiplyPoint<'a, C: Curve> {
    pub(super) scalars: &'a [Scalar<C>],
    pub(super) points: &'a [AffinePoint<C>],
    pub(super) products: &'a mut [Option<AffinePoint<C>>],
}

impl<C: Curve> CurveTask<C::Field> for MultiplyPoint<'_, C> {
    type Output = ();

    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        let points = Affine::of_points(arithmetic, self.points);
        store(&point_multiple(self.scalars, &points), self.products);
    }
}

/// Writes the affine coordinates of products, `None` for infinity.
pub(super) fn store<C: Curve, A: CurveArithmetic<C::Field>>(
    product: &Jacobian<C, A>,
    products: &mut [Option<AffinePoint<C>>],
) {
    let infinity = product.is_infinity();
    let mut coordinates = [[C::B; 2]; MAX_WIDTH];
    product.store(&mut coordinates[..A::WIDTH]);
    for (i, product) in products.iter_mut().enumerate() {
        // Infinity is the result and has no coordinates; scalars of keys and nonces never lead to
        // it.
        let some = !infinity.at(i).reveal();
        *product = some.then_some(AffinePoint::new_unchecked(coordinates[i]));
    }
}

/// Multiplies G by up to [`TOGETHER`] scalars, one number at a time.
pub struct MultiplyBaseEach<'a, C: Curve>(MultiplyBase<'a, C>);

impl<C: Curve> CurveTask<C::Field> for MultiplyBaseEach<'_, C> {
    type Output = ();

    /// Computes the multiples, and their affine coordinates with one inversion.
    fn run<A: CurveArithmetic<C::Field>>(self, arithmetic: A) {
        let Self(all) = self;
        let generator = Affine::of_points(arithmetic, &[AffinePoint::GENERATOR]).to_jacobian();
        let mut multiples = [generator; TOGETHER];
        write_base_multiples(arithmetic, all.scalars, &mut multiples[..all.scalars.len()]);
        // G replaces infinity, whose Z has no inverse.
        let finite = multiples
            .each_ref()
            .map(|multiple| Jacobian::select(multiple.is_infinity(), &generator, multiple));
        let affine = Jacobian::first_with_z_1(&finite, all.scalars.len());
        for ((product, multiple), point) in all.products.iter_mut().zip(&multiples).zip(&affine) {
            // Infinity is the result and has no coordinates; scalars of keys and nonces never lead
            // to it.
            let some = !multiple.is_infinity().reveal_any();
            let mut coordinates = [[C::B]; 2];
            point.x.store(&mut coordinates[0]);
            point.y.store(&mut coordinates[1]);
            *product = some.then_some(AffinePoint::new_unchecked(coordinates.map(|[it]| it)));
        }
    }
}

/// Returns k·P for each of the numbers.
pub(super) fn point_multiple<C: Curve, A: CurveArithmetic<C::Field>>(
    scalars: &[Scalar<C>],
    point: &Affine<C, A>,
) -> Jacobian<C, A> {
    let arithmetic = point.x.arithmetic();
    if is_compact::<C, A>() {
        return sum_of_multiples(arithmetic, &[Term::new(arithmetic, &scalars[0], point)]);
    }
    let scalars = &odd_scalars(scalars, WINDOW)[..A::WIDTH];
    if table_is_affine::<C, A>() {
        let mut table = [[A::ZERO; 2]; MULTIPLES];
        write_affine_multiples(point, &mut table);
        let multiple = |place: usize| {
            let (negative, index) = digit::<C, A>(arithmetic, scalars, place);
            let mut entry = [A::ZERO; 2];
            arithmetic.lookup(&mut entry, table.as_flattened(), index);
            let [x, y] = entry.map(|value| Element::from_raw(arithmetic, value));
            Affine { x, y }.negate_if(negative)
        };
        sum_of_places(scalars, multiple, |first| first.to_jacobian(), Jacobian::add_affine)
    } else {
        let base = point.to_jacobian();
        let twice = base.double();
        let mut table = [base.raw(); MULTIPLES];
        for i in 1..MULTIPLES {
            table[i] = twice.add(&Jacobian::from_raw(arithmetic, table[i - 1])).sum.raw();
        }
        let multiple = |place: usize| {
            let (negative, index) = digit::<C, A>(arithmetic, scalars, place);
            let mut entry = [A::ZERO; 3];
            arithmetic.lookup(&mut entry, table.as_flattened(), index);
            Jacobian::<C, A>::from_raw(arithmetic, entry).negate_if(negative)
        };
        sum_of_places(scalars, multiple, |first| *first, Jacobian::add)
    }
}

/// Returns the sum of all digits' multiples from the highest digit on, with the addition of the
/// multiples' type.
#[inline(always)]
fn sum_of_places<C: Curve, A: CurveArithmetic<C::Field>, M>(
    scalars: &[OddScalar],
    multiple: impl Fn(usize) -> M,
    first: impl Fn(&M) -> Jacobian<C, A>,
    add: impl Fn(&Jacobian<C, A>, &M) -> Added<C, A>,
) -> Jacobian<C, A> {
    let top = digits::<C>(WINDOW) - 1;
    let mut sum = first(&multiple(top));
    for place in (1..top).rev() {
        sum = add(&sum.double_times(WINDOW), &multiple(place)).sum;
    }
    sum = sum.double_times(WINDOW);
    let last = add(&sum, &multiple(0));
    finish(scalars, last.complete(&sum))
}

/// Computes the odd multiples of a point in affine coordinates with one inversion, by additions of
/// 2P. The summands have the same Z, the preceding multiple's, and 2P gets that of the sum on the
/// way (Meloni, New point addition formulae for ECC applications, 2007): 5M + 2S, and 1M for Z. A
/// multiple's Z is the preceding one's times the difference of x coordinates, so the last one's
/// inverse gives all others.
///
/// The coordinates are divided in place, in a stack frame of their own: eight points side by side
/// take up to 2 KB each.
#[inline(never)]
pub(super) fn write_affine_multiples<C: Curve, A: CurveArithmetic<C::Field>>(
    point: &Affine<C, A>,
    table: &mut [[A::Element; 2]; MULTIPLES],
) {
    let arithmetic = point.x.arithmetic();
    let element = |raw: &A::Element| Element::<C::Field, A>::from_raw(arithmetic, *raw);
    let Jacobian { x: mut x1, y: mut y1, mut z } = point.to_jacobian().double();
    let square = z.square();
    let (mut x2, mut y2) = (&point.x * &square, &point.y * &(&square * &z));
    table[0] = [*point.x.raw(), *point.y.raw()];
    let mut ratios = [A::ZERO; MULTIPLES];
    for i in 1..MULTIPLES {
        let (h, r) = (&x1 - &x2, &y1 - &y2);
        let hh = h.square();
        x1 = &x1 * &hh;
        x2 = &x2 * &hh;
        y1 = &y1 * &(&x1 - &x2);
        x2 = &(&r.square() - &x1) - &x2;
        y2 = &(&r * &(&x1 - &x2)) - &y1;
        z = &z * &h;
        ratios[i] = *h.raw();
        table[i] = [*x2.raw(), *y2.raw()];
    }
    let mut inverse = z.invert();
    for i in (1..MULTIPLES).rev() {
        let square = inverse.square();
        let [x, y] = &table[i];
        let (x, y) = (&element(x) * &square, &element(y) * &(&square * &inverse));
        table[i] = [*x.raw(), *y.raw()];
        inverse = &inverse * &element(&ratios[i]);
    }
}

/// Returns whether an inversion for a point's table costs less than affine additions save: for
/// eight, and for one where whole additions are kernels or the curve is longer than P-256. It takes
/// a 20th to a 25th off k·P.
const fn table_is_affine<C: Curve, A: CurveArithmetic<C::Field>>() -> bool {
    A::WIDTH > 1 || C::BITS > 256 || cfg!(any(target_arch = "aarch64", target_arch = "x86_64"))
}

/// Returns k·G for each of the numbers.
pub(super) fn base_multiple<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    scalars: &[Scalar<C>],
) -> Jacobian<C, A> {
    base_multiple_from(arithmetic, scalars, const { &BaseTable::of::<C, A>() })
}

/// Returns k·G for each of the numbers, by a given table.
#[inline(always)]
pub(super) fn base_multiple_from<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    scalars: &[Scalar<C>],
    table: &BaseTable,
) -> Jacobian<C, A> {
    if table.is_none() {
        let generators = [AffinePoint::GENERATOR; MAX_WIDTH];
        return point_multiple(scalars, &Affine::of_points(arithmetic, &generators[..A::WIDTH]));
    }
    let &BaseTable { window, spacing, .. } = table;
    let scalars = &odd_scalars(scalars, window)[..A::WIDTH];
    let multiple = |column, place| look_up::<C, A>(arithmetic, table, scalars, column, place);
    if spacing == 1 && A::POINTS_READ_MEANWHILE == 1 << (window - 1) {
        let [first, second] = [0, 1].map(|place| multiple(place, place));
        let rows = table.limbs.chunks_exact(row_limbs::<C, A>(window));
        return sum_of_rows(scalars, [&first, &second], rows);
    }
    sum_of_columns(arithmetic, scalars, window, spacing, multiple)
}

/// Returns the limbs of a column's multiples in a table.
const fn row_limbs<C: Curve, A: CurveArithmetic<C::Field>>(window: usize) -> usize {
    (2 * A::STORED_LIMBS) << (window - 1)
}

/// Returns the sum of all digits' multiples. Each row of the table has the multiples of one digit.
/// The caller has looked up the first two. Each addition reads the row of the next digit.
#[inline(always)]
fn sum_of_rows<'a, C: Curve, A: CurveArithmetic<C::Field>>(
    scalars: &[OddScalar],
    [first, second]: [&Affine<C, A>; 2],
    rows: impl Iterator<Item = &'a [words::Limb]>,
) -> Jacobian<C, A> {
    let arithmetic = first.x.arithmetic();
    let mut sum = first.to_jacobian().raw();
    let mut addend = [*second.x.raw(), *second.y.raw()];
    for (place, row) in rows.enumerate().skip(2) {
        let (negative, index) = digit::<C, A>(arithmetic, scalars, place);
        arithmetic.add_affine_then_look_up(&mut sum, &mut addend, row, index, negative);
    }
    let sum = Jacobian::from_raw(arithmetic, sum);
    let [x, y] = addend.map(|value| Element::from_raw(arithmetic, value));
    finish(scalars, sum.add_affine(&Affine { x, y }).complete(&sum))
}

/// Returns a digit's multiple in a column of the table.
#[inline(always)]
fn look_up<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    &BaseTable { window, limbs, .. }: &BaseTable,
    scalars: &[OddScalar],
    column: usize,
    place: usize,
) -> Affine<C, A> {
    let (negative, index) = digit::<C, A>(arithmetic, scalars, place);
    let mut coordinates = [A::ZERO; 2];
    let row = row_limbs::<C, A>(window);
    arithmetic.lookup_stored(&mut coordinates, &limbs[column * row..][..row], index);
    let [x, y] = coordinates.map(|value| Element::from_raw(arithmetic, value));
    Affine { x, y }.negate_if(negative)
}

/// Writes k·G for up to [`TOGETHER`] scalars, one number each. All take their multiples from a
/// column before the next one is read, so that it stays in the fastest cache.
fn write_base_multiples<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    scalars: &[Scalar<C>],
    multiples: &mut [Jacobian<C, A>],
) {
    let table = const { &BaseTable::of::<C, A>() };
    if table.is_none() {
        for (multiple, scalar) in multiples.iter_mut().zip(scalars) {
            *multiple = base_multiple(arithmetic, from_ref(scalar));
        }
        return;
    }
    let odd: [OddScalar; TOGETHER] = core::array::from_fn(|i| {
        scalars.get(i).map_or_else(OddScalar::unused, |it| OddScalar::new(it, table.window))
    });
    sums_of_columns::<C, A>(multiples, table.window, table.spacing, |i, column, place| {
        look_up(arithmetic, table, from_ref(&odd[i]), column, place)
    });
    for (multiple, odd) in multiples.iter_mut().zip(&odd) {
        *multiple = finish(from_ref(odd), *multiple);
    }
}

/// Returns the sum of all digits' multiples, if those of every `spacing`th digit are precomputed.
/// For a column and a digit in it, `multiple` returns the digit's multiple except for the power of
/// two between the digit's place and the column's.
pub(super) fn sum_of_columns<C: Curve, A: CurveArithmetic<C::Field>>(
    arithmetic: A,
    scalars: &[OddScalar],
    window: usize,
    spacing: usize,
    multiple: impl Fn(usize, usize) -> Affine<C, A>,
) -> Jacobian<C, A> {
    let mut sum = [Jacobian::infinity(arithmetic)];
    sums_of_columns(&mut sum, window, spacing, |_, column, place| multiple(column, place));
    let [sum] = sum;
    finish(scalars, sum)
}

/// Writes sums like that of [`sum_of_columns`], of odd scalars. `multiple` also gets the index of
/// the sum.
#[inline(always)]
fn sums_of_columns<C: Curve, A: CurveArithmetic<C::Field>>(
    sums: &mut [Jacobian<C, A>],
    window: usize,
    spacing: usize,
    multiple: impl Fn(usize, usize, usize) -> Affine<C, A>,
) {
    // The highest digit is in the last column of row 0, which is processed last.
    let top = digits::<C>(window) - 1;
    debug_assert!(top.is_multiple_of(spacing) && top > 0);
    let columns = top / spacing;
    for row in (0..spacing).rev() {
        let is_first = row + 1 == spacing;
        if !is_first {
            sums.iter_mut().for_each(|sum| *sum = sum.double_times(window));
        }
        for column in 0..columns {
            for (i, sum) in sums.iter_mut().enumerate() {
                let multiple = multiple(i, column, column * spacing + row);
                *sum = if is_first && column == 0 {
                    multiple.to_jacobian()
                } else {
                    sum.add_affine(&multiple).sum
                };
            }
        }
    }
    for (i, sum) in sums.iter_mut().enumerate() {
        let last = multiple(i, columns, top);
        *sum = sum.add_affine(&last).complete(sum);
    }
}

/// Restores the sign that the scalar lost when it was made odd, and returns infinity for the scalar
/// 0.
pub(super) fn finish<C: Curve, A: CurveArithmetic<C::Field>>(
    scalars: &[OddScalar],
    product: Jacobian<C, A>,
) -> Jacobian<C, A> {
    let arithmetic = product.x.arithmetic();
    let product = product.negate_if(arithmetic.mask(|number| scalars[number].negated));
    let zero = arithmetic.mask(|number| scalars[number].zero);
    Jacobian::select(zero, &Jacobian::infinity(arithmetic), &product)
}

/// Recodes the scalars; they are the first of [`MAX_WIDTH`].
pub(super) fn odd_scalars<C: Curve>(
    scalars: &[Scalar<C>],
    window: usize,
) -> [OddScalar; MAX_WIDTH] {
    core::array::from_fn(|i| {
        scalars.get(i).map_or_else(OddScalar::unused, |scalar| OddScalar::new(scalar, window))
    })
}
