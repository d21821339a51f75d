//! Sums of affine points, and conversion to affine coordinates, with one inversion for many points.
//!
//! Both work in pieces, in a fixed amount of stack memory.

use core::marker::PhantomData;
use core::ops::Range;

use super::curve::{
    Curve, Memory2, Memory3, export, export_affine, import, import_affine, import_some, is_zero,
};
use super::each::one;
use crate::machine::ct::{self, Mask};
use crate::machine::field::{Bls12Base, Dense, Wide, WideTask};
use crate::machine::lanes::{self, LANES, Multiplication};
use crate::machine::stack;
use crate::math::bls12_381::{Affine, Field, Fp, Inverses, Packed, Point, Points, Reference};
use crate::math::field::MAX_WIDTH;

/// Limbs of memory for points.
const POINTS: usize = 4096;

/// Limbs of memory for inverses: 128 in every backend's form.
const INVERSES: usize = 2048;

/// Number of sums left for complete additions: an inversion takes as long as a few of them.
const LAST: usize = MAX_WIDTH;

/// The most points that are added without inversions where eight complete additions run side by
/// side: inversions pay for many points only.
pub(super) const FEW: usize = 1024;

/// Memory aligned to a cache line.
#[repr(align(64))]
struct Aligned<const LIMBS: usize>([u64; LIMBS]);

/// Runs on eight lanes if products are cheap: lanes cost one extra product per coordinate, and with
/// AVX-512 without IFMA that cancels the gain of vectors.
fn run<T: WideTask<Bls12Base>>(n: usize, task: T) -> T::Output {
    match lanes::Backend::best() {
        Some(backend) if n >= LANES && backend.multiplication() == Multiplication::Integer => {
            Bls12Base::run_eight_wide(backend, task)
        }
        _ => one(task),
    }
}

/// Returns a₀ + a₁ + … of n points. Time depends on which are equal, opposite or infinity.
pub(super) fn sum_vartime<'a, G: Curve>(
    n: usize,
    point: impl Fn(usize) -> &'a Memory2<G>,
) -> Memory3<G>
where
    G::Memory: 'a,
{
    run(n, Sum::<G, _>::new(n, point, FEW))
}

/// The sum as work for a backend.
pub(super) struct Sum<G, P> {
    n: usize,
    point: P,
    few: usize,
    group: PhantomData<G>,
}

impl<G, P> Sum<G, P> {
    /// Returns the sum of n points: if there are at most `few`, those side by side are added
    /// without inversions.
    pub(super) fn new(n: usize, point: P, few: usize) -> Self {
        Self { n, point, few, group: PhantomData }
    }
}

impl<'a, G: Curve, P: Fn(usize) -> &'a Memory2<G>> WideTask<Bls12Base> for Sum<G, P>
where
    G::Memory: 'a,
{
    type Output = Memory3<G>;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Memory3<G> {
        if A::WIDTH > 1 && (1..=self.few).contains(&self.n) {
            return one(LastSums::<G> { sums: &self.sums_in_lanes(f) });
        }
        let (mut memory, mut inverses) = (Aligned([0; POINTS]), Aligned([0; INVERSES]));
        let mut points = Points::<G::Field<A>>::new(f, &mut memory.0, &mut inverses.0);
        // Room for as many sums as possible and as many points to add to them.
        let room = POINTS / Points::<G::Field<A>>::LIMBS / 2;
        let sums = room.min(self.n.div_ceil(2));
        put::<G, A>(f, &mut points, 0, 0..sums, &self.point);
        let number = |i| Reference::new(i, false);
        for start in (sums..self.n).step_by(sums.max(1)) {
            let end = self.n.min(start + sums);
            put::<G, A>(f, &mut points, sums, start..end, &self.point);
            for i in 0..end - start {
                points.add(number(i), number(sums + i), i);
            }
            points.finish();
        }
        let mut left = sums;
        while left > LAST {
            let half = left.div_ceil(2);
            for i in 0..left - half {
                points.add(number(i), number(half + i), i);
            }
            points.finish();
            left = half;
        }
        let mut affine = [[G::ZERO; 2]; LAST];
        let rest: [_; LAST] =
            core::array::from_fn(|i| if i < left { number(i) } else { Reference::NONE });
        for (affine, rest) in affine.chunks_exact_mut(A::WIDTH).zip(rest.chunks_exact(A::WIDTH)) {
            export_affine::<G, A>(&points.take(rest), affine);
        }
        one(Last::<G> { points: &affine[..left] })
    }
}

impl<'a, G: Curve, P: Fn(usize) -> &'a Memory2<G>> Sum<G, P>
where
    G::Memory: 'a,
{
    /// Returns the sum of every eighth point, from each of the first eight, by complete additions.
    #[inline(never)]
    fn sums_in_lanes<A: Wide<Bls12Base>>(&self, f: A) -> [Memory3<G>; MAX_WIDTH] {
        let mut sum = Point::infinity(f);
        for i in (0..self.n).step_by(A::WIDTH) {
            let point = import_some::<G, A>(f, i..self.n, &self.point);
            let missing = f.mask(|lane| Mask::from_bit(u64::from(i + lane >= self.n)));
            let none = missing | (point.x.is_zero() & point.y.is_zero());
            sum = Point::select(none, &sum, &sum.add_affine(&point));
        }
        let mut sums = [[G::ZERO, G::ONE, G::ZERO]; MAX_WIDTH];
        export::<G, A>(&sum, &mut sums[..A::WIDTH]);
        sums
    }
}

/// Adds a few sums.
struct LastSums<'a, G: Curve> {
    sums: &'a [Memory3<G>],
}

impl<G: Curve> WideTask<Bls12Base> for LastSums<'_, G> {
    type Output = Memory3<G>;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Memory3<G> {
        let mut sum = Point::infinity(f);
        for other in self.sums.iter().filter(|[_, _, z]| !is_zero::<G>(&[*z; 2])) {
            sum = sum.add(&import::<G, A>(f, core::slice::from_ref(other)));
        }
        let mut out = [[G::ZERO; 3]];
        export::<G, A>(&sum, &mut out);
        out[0]
    }
}

/// Writes some points to consecutive places from `number` on.
fn put<'a, G: Curve, A: Wide<Bls12Base>>(
    f: A,
    points: &mut Points<'_, G::Field<A>>,
    number: usize,
    range: Range<usize>,
    point: &impl Fn(usize) -> &'a Memory2<G>,
) where
    G::Memory: 'a,
{
    for i in range.clone().step_by(A::WIDTH) {
        let some = import_some::<G, A>(f, i..range.end, point);
        points.put(number + i - range.start, range.end - i, &some);
    }
}

/// Sums a few points by complete additions.
struct Last<'a, G: Curve> {
    points: &'a [Memory2<G>],
}

impl<G: Curve> WideTask<Bls12Base> for Last<'_, G> {
    type Output = Memory3<G>;

    fn run<A: Wide<Bls12Base>>(self, f: A) -> Memory3<G> {
        let mut sum = Point::infinity(f);
        for point in self.points.iter().filter(|point| !is_zero::<G>(*point)) {
            sum = sum.add_affine(&import_affine::<G, A>(f, &[*point]));
        }
        let mut out = [[G::ZERO; 3]];
        export::<G, A>(&sum, &mut out);
        out[0]
    }
}

/// Computes the affine coordinates of n points in homogeneous coordinates and passes each to
/// `write`.
pub(super) fn to_affine<'a, G: Curve>(
    n: usize,
    point: impl Fn(usize) -> &'a Memory3<G>,
    write: impl FnMut(usize, Memory2<G>),
) where
    G::Memory: 'a,
{
    run(n, ToAffine::<G, _, _, false> { n, point, write, group: PhantomData });
}

/// Like [`to_affine`], for points in Jacobian coordinates.
#[cfg(feature = "internals")]
pub(super) fn jacobian_to_affine<'a, G: Curve>(
    n: usize,
    point: impl Fn(usize) -> &'a Memory3<G>,
    write: impl FnMut(usize, Memory2<G>),
) where
    G::Memory: 'a,
{
    run(n, ToAffine::<G, _, _, true> { n, point, write, group: PhantomData });
}

/// The same as work for a backend.
pub(super) struct ToAffine<G, P, W, const JACOBIAN: bool> {
    pub(super) n: usize,
    pub(super) point: P,
    pub(super) write: W,
    pub(super) group: PhantomData<G>,
}

impl<'a, G: Curve, P, W, const JACOBIAN: bool> WideTask<Bls12Base> for ToAffine<G, P, W, JACOBIAN>
where
    G::Memory: 'a,
    P: Fn(usize) -> &'a Memory3<G>,
    W: FnMut(usize, Memory2<G>),
{
    type Output = ();

    fn run<A: Wide<Bls12Base>>(mut self, f: A) {
        if A::WIDTH == 1 && G::DEGREE == 1 {
            return stack::clean(EACH_STACK, || self.each(f));
        }
        let mut memory = Aligned([0; INVERSES]);
        let mut inverses = Inverses::new(f, &mut memory.0);
        let room = inverses.room();
        // The last point fills missing places.
        let points = |i: usize| {
            if A::WIDTH == 1 {
                return import::<G, A>(f, core::slice::from_ref((self.point)(i)));
            }
            let at = |place: usize| (i + place).min(self.n - 1);
            let points: [_; MAX_WIDTH] = core::array::from_fn(|place| *(self.point)(at(place)));
            import::<G, A>(f, &points)
        };
        for start in (0..self.n).step_by(room) {
            let end = self.n.min(start + room);
            for i in (start..end).step_by(A::WIDTH) {
                inverses.push(&denominator(&points(i)).norm());
            }
            inverses.invert();
            for i in (start..end).step_by(A::WIDTH).rev() {
                let point = points(i);
                let inverse = denominator(&point).inverse(&inverses.pop());
                // X/Z and Y/Z, or X/Z² and Y/Z³.
                let (by_x, by_y) = if JACOBIAN {
                    let square = inverse.square();
                    (square, square.mul(&inverse))
                } else {
                    (inverse, inverse)
                };
                let zero = G::Field::<A>::zero(f);
                let is_infinity = point.is_infinity();
                let y = G::Field::<A>::select(is_infinity, &zero, &point.y.mul(&by_y));
                let x = G::Field::<A>::select(is_infinity, &zero, &point.x.mul(&by_x));
                let point = Affine { x, y };
                if A::WIDTH == 1 {
                    let mut affine = [[G::ZERO; 2]];
                    export_affine::<G, A>(&point, &mut affine);
                    (self.write)(i, affine[0]);
                    continue;
                }
                let mut affine = [[G::ZERO; 2]; MAX_WIDTH];
                export_affine::<G, A>(&point, &mut affine[..A::WIDTH]);
                for (place, affine) in affine.iter().enumerate().take(A::WIDTH.min(end - i)) {
                    (self.write)(i + place, *affine);
                }
            }
        }
        ct::wipe(&mut memory.0);
    }
}

/// Points that share an inversion in [`ToAffine::each`], and its stack use.
const EACH: usize = 128;
const EACH_STACK: usize = 16 << 10;

impl<'a, G: Curve, P, W, const JACOBIAN: bool> ToAffine<G, P, W, JACOBIAN>
where
    G::Memory: 'a,
    P: Fn(usize) -> &'a Memory3<G>,
    W: FnMut(usize, Memory2<G>),
{
    /// Runs for one number and coordinates in Fp. Products stay where they were computed: copies
    /// would wait for the stores of the kernels, because they load more at a time.
    #[inline(never)]
    fn each<A: Wide<Bls12Base>>(mut self, f: A) {
        let load = |coordinate: &G::Memory| {
            let mut raw = [A::ZERO];
            G::Field::<A>::import(f, core::slice::from_ref(coordinate)).write(&mut raw);
            raw[0]
        };
        let mut one = [A::ZERO];
        G::Field::<A>::one(f).write(&mut one);
        // Z, or 1 for infinity; and the products of these, which become the inverses.
        let (mut own, mut products) = ([A::ZERO; EACH], [A::ZERO; EACH]);
        for start in (0..self.n).step_by(EACH) {
            let count = EACH.min(self.n - start);
            for i in 0..count {
                let z = load(&(self.point)(start + i)[2]);
                own[i] = f.select(f.equal(&z, &A::ZERO), &one[0], &z);
                products[i] = own[i];
                if let Some((before, [product, ..])) = products.split_at_mut_checked(i)
                    && let Some(before) = before.last()
                {
                    f.mul_in_place(product, before);
                }
            }
            let product = products[count - 1];
            let mut inverse = *Fp::from_raw(f, product).invert().raw();
            for i in (0..count).rev() {
                let own_inverse = if let Some(before) = i.checked_sub(1) {
                    f.mul_in_place(&mut products[before], &inverse);
                    f.mul_in_place(&mut inverse, &own[i]);
                    &mut products[before]
                } else {
                    &mut inverse
                };
                let [x, y, z] = (self.point)(start + i);
                let (mut x, mut y) = (load(x), load(y));
                if JACOBIAN {
                    let square = f.square(own_inverse);
                    f.mul_in_place(own_inverse, &square);
                    f.mul_in_place(&mut x, &square);
                } else {
                    f.mul_in_place(&mut x, own_inverse);
                }
                f.mul_in_place(&mut y, own_inverse);
                let infinity = f.equal(&load(z), &A::ZERO);
                let mut affine = [G::ZERO; 2];
                for (affine, coordinate) in affine.iter_mut().zip([&x, &y]) {
                    let coordinate = f.select(infinity, &A::ZERO, coordinate);
                    let coordinate = G::Field::<A>::read(f, core::slice::from_ref(&coordinate));
                    coordinate.export(core::slice::from_mut(affine));
                }
                (self.write)(start + i, affine);
            }
        }
    }
}

/// Returns Z, or 1 for infinity.
fn denominator<F: Field>(point: &Point<F>) -> F {
    F::select(point.is_infinity(), &F::one(point.x.arithmetic()), &point.z)
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::super::curve::are_equal;
    use super::super::each::single;
    use super::super::group::{Add, ToAffine as OneToAffine};
    use super::*;
    use crate::machine::words;
    use crate::scheme::bls12_381::backend::{First, Second};

    /// Compares lists of every length around the number of points that share an inversion, with
    /// infinity at either end and in between.
    fn check<G: Curve>() {
        let [x, y] = G::GENERATOR;
        let generator = [x, y, G::ONE];
        let infinity = [G::ZERO, G::ONE, G::ZERO];
        let mut multiple = generator;
        let mut homogeneous = Vec::new();
        for i in 0..2 * EACH + 3 {
            let is_infinity = i % 61 == 5 || [0, EACH - 1, 2 * EACH + 2].contains(&i);
            homogeneous.push(if is_infinity { infinity } else { multiple });
            multiple = single::<Add<'_, G>>(&[&multiple, &generator], multiple);
        }
        let affine: Vec<Memory2<G>> =
            homogeneous.iter().map(|point| single::<OneToAffine<G>>(point, [G::ZERO; 2])).collect();
        let jacobian: Vec<Memory3<G>> = affine
            .iter()
            .zip(&homogeneous)
            .map(|([x, y], [_, z, finite])| {
                let zz = G::square(z);
                let z = if is_zero::<G>(&[*finite]) { G::ZERO } else { *z };
                [G::mul(x, &zz), G::mul(y, &G::mul(&zz, &z)), z]
            })
            .collect();
        for backend in words::Backend::available() {
            for n in [0, 1, 2, 7, EACH - 1, EACH, EACH + 1, affine.len()] {
                let mut out = [vec![[G::ONE; 2]; n], vec![[G::ONE; 2]; n]];
                let [first, second] = &mut out;
                let (point, write) = (|i: usize| &homogeneous[i], |i: usize, a| first[i] = a);
                let task = ToAffine::<G, _, _, false> { n, point, write, group: PhantomData };
                Bls12Base::run_one_wide(backend, task);
                let (point, write) = (|i: usize| &jacobian[i], |i: usize, a| second[i] = a);
                let task = ToAffine::<G, _, _, true> { n, point, write, group: PhantomData };
                Bls12Base::run_one_wide(backend, task);
                for (i, affine) in affine[..n].iter().enumerate() {
                    let equal = out.iter().all(|out| are_equal::<G>(&out[i], affine));
                    assert!(equal, "{} {i} of {n}", backend.name());
                }
            }
        }
    }

    #[test]
    fn lists_have_the_affine_coordinates_of_each_point() {
        check::<First>();
        check::<Second>();
    }
}
