//! Sums on every backend compared with a slow model that multiplies each point separately and adds.

use std::vec;
use std::vec::Vec;

use super::super::Cycloid;
use super::super::curve::{Curve, Memory2, Memory3, to_memory3};
use super::super::each::{one, single};
use super::super::group::{Add, Double, HashToCurve, Multiply, NegateAffine, ToAffine};
use super::super::shared_inversion;
use super::{Plan, Sum, prepared, split, sum_of_parts};
use crate::machine::field::{Bls12Base, Dense};
use crate::machine::lanes;
use crate::machine::words;
use crate::scheme::bls12_381::backend::{First, Group, Integer, Scalars, Second};
use crate::scheme::bls12_381::{Affine, Fr, Projective};

/// Returns a generator of pseudorandom words.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    }
}

/// Returns members of the group, including infinity and opposite points.
fn points<G: Curve<Memory: PartialEq>>(n: usize) -> Vec<Memory2<G>> {
    let infinity = [G::ZERO, G::ONE, G::ZERO];
    let mut next = random(1);
    let mut point = || {
        let uniform = [(); 4].map(|()| core::array::from_fn(|_| next() as u8));
        single::<ToAffine<G>>(&single::<HashToCurve<G>>(&uniform, infinity), [G::ZERO; 2])
    };
    let distinct: Vec<_> = (0..n.min(12)).map(|_| point()).collect();
    (0..n)
        .map(|i| match i % 17 {
            5 => [G::ZERO; 2],
            7 => single::<NegateAffine<G>>(&distinct[3], [G::ZERO; 2]),
            j => distinct[j % 12],
        })
        .collect()
}

/// Returns scalars below r, including edge cases.
fn scalars(n: usize) -> Vec<Integer> {
    let mut next = random(2);
    let order = crate::scheme::bls12_381::integer::ORDER;
    (0..n)
        .map(|i| match i % 9 {
            2 => [0; 4],
            4 => [1, 0, 0, 0],
            6 => [order[0] - 1, order[1], order[2], order[3]],
            7 => [u64::MAX, u64::MAX, u64::MAX, order[3] - 1],
            _ => [next(), next(), next(), next() >> 2],
        })
        .collect()
}

fn slow<G: Curve<Memory: PartialEq>>(points: &[Memory2<G>], scalars: &[Integer]) -> Memory3<G> {
    let mut sum = [G::ZERO, G::ONE, G::ZERO];
    for (point, scalar) in points.iter().zip(scalars) {
        let point = to_memory3::<G>(point);
        let multiple = single::<Multiply<G>>(&(point, G::split(scalar)), sum);
        sum = single::<Add<'_, G>>(&[&sum, &multiple], sum);
    }
    sum
}

/// Checks every backend; the slow ones (the emulated one and portable lanes) only on request.
fn check<G: Curve<Memory: PartialEq>>(
    what: &str,
    points: &[Memory2<G>],
    scalars: &[Integer],
    emulated: bool,
) where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let affine = |point| single::<ToAffine<G>>(&point, [G::ZERO; 2]);
    let expected = affine(slow::<G>(points, scalars));
    let plans = [(Plan::of_members::<G>(points.len()), true), (Plan::of_any(points.len()), false)];
    for (plan, in_parts) in plans {
        let integer = |i: usize| if in_parts { split::<G>(&scalars[i]) } else { scalars[i] };
        let mut scratch = vec![u64::MAX; plan.scratch::<G>()];
        for backend in words::Backend::available() {
            let sum = Sum::<G, _>::new(plan, |i| &points[i], integer, &mut scratch);
            let sum = affine(Bls12Base::run_one_wide(backend, sum));
            assert_eq!(sum, expected, "{what} {} {}", points.len(), backend.name());
        }
        let few = lanes::tests::backends().into_iter().filter(|_| emulated);
        for backend in few.chain(lanes::Backend::best().filter(|_| !emulated)) {
            let sum = Sum::<G, _>::new(plan, |i| &points[i], integer, &mut scratch);
            let sum = affine(Bls12Base::run_eight_wide(backend, sum));
            assert_eq!(sum, expected, "{what} {} {}", points.len(), backend.name());
        }
    }
}

/// Checks the plain sum of the points, and their affine coordinates, on the same backends.
fn check_lists<G: Curve<Memory: PartialEq>>(points: &[Memory2<G>], emulated: bool)
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let affine = |point| single::<ToAffine<G>>(&point, [G::ZERO; 2]);
    let ones = vec![[1, 0, 0, 0]; points.len()];
    let expected = affine(slow::<G>(points, &ones));
    // Homogeneous points with Z other than 1.
    let doubles: Vec<_> = points
        .iter()
        .map(|point| single::<Double<G>>(&to_memory3::<G>(point), to_memory3::<G>(point)))
        .collect();
    // The same points in Jacobian coordinates: (X·Z : Y·Z² : Z).
    let jacobian: Vec<_> =
        doubles.iter().map(|[x, y, z]| [G::mul(x, z), G::mul(y, &G::square(z)), *z]).collect();
    let expected_doubles: Vec<_> = doubles.iter().map(|point| affine(*point)).collect();
    let mut backends: Vec<_> = words::Backend::available().map(Err).collect();
    let all = lanes::tests::backends().into_iter();
    backends.extend(all.filter(|_| emulated).chain(lanes::Backend::best()).map(Ok));
    for backend in backends {
        // With and without inversions.
        for few in [0, shared_inversion::FEW] {
            let sum = shared_inversion::Sum::<G, _>::new(points.len(), |i| &points[i], few);
            let sum = match backend {
                Ok(eight) => Bls12Base::run_eight_wide(eight, sum),
                Err(one) => Bls12Base::run_one_wide(one, sum),
            };
            assert_eq!(affine(sum), expected, "{} {backend:?} {few}", points.len());
        }
        let homogeneous = to_affine::<G, false>(backend, &doubles);
        assert_eq!(homogeneous, expected_doubles, "{} {backend:?}", points.len());
        let jacobian = to_affine::<G, true>(backend, &jacobian);
        assert_eq!(jacobian, expected_doubles, "{} {backend:?}", points.len());
    }
}

/// Converts points on one backend, and checks that each is written once.
fn to_affine<G: Curve, const JACOBIAN: bool>(
    backend: Result<lanes::Backend, words::Backend>,
    points: &[Memory3<G>],
) -> Vec<Memory2<G>> {
    let mut given = vec![None; points.len()];
    let task = shared_inversion::ToAffine::<G, _, _, JACOBIAN> {
        n: points.len(),
        point: |i| &points[i],
        write: |i: usize, point| assert!(given[i].replace(point).is_none()),
        group: core::marker::PhantomData,
    };
    match backend {
        Ok(eight) => Bls12Base::run_eight_wide(eight, task),
        Err(one) => Bls12Base::run_one_wide(one, task),
    }
    given.into_iter().map(|point| point.expect("it is written")).collect()
}

fn every_number<G: Curve<Memory: PartialEq>>()
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let (points, scalars) = (points::<G>(200), scalars(200));
    for n in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 200] {
        check::<G>("mixed", &points[..n], &scalars[..n], n == 9);
        check_lists::<G>(&points[..n], n == 65);
    }
    // All in the same buckets, and half of them cancelling the other half.
    let opposite = single::<NegateAffine<G>>(&points[1], points[1]);
    for n in [2, 7, 8, 65] {
        let same = vec![points[1]; n];
        check_lists::<G>(&same, n == 7);
        check::<G>("equal", &same, &vec![scalars[0]; n], n == 7);
        let both: Vec<_> = (0..n).map(|i| [points[1], opposite][i % 2]).collect();
        check_lists::<G>(&both, n == 7);
        check::<G>("opposite", &both, &vec![scalars[0]; n], n == 7);
        check::<G>("infinity", &vec![[G::ZERO; 2]; n], &scalars[..n], n == 7);
        check::<G>("zero", &same, &vec![[0; 4]; n], false);
    }
    let points: Vec<_> = (0..700).map(|i| points[i * i % 199]).collect();
    check_lists::<G>(&points, false);
    for n in 0..=super::ANY {
        assert!(Plan::of_any(n).scratch::<G>() <= super::ANY_SCRATCH * G::DEGREE, "{n}");
    }
}

#[test]
fn first_group() {
    every_number::<First>();
}

#[test]
fn second_group() {
    every_number::<Second>();
}

/// Sums with tables on every backend.
fn with_tables<G: Curve<Memory: PartialEq>>()
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let (points, scalars) = (points::<G>(66), scalars(66));
    let affine: Vec<_> =
        points.iter().map(|point| Affine::<Cycloid, G>::from_raw(*point)).collect();
    let elements: Vec<_> =
        scalars.iter().map(|k| Fr::<Cycloid>::from_raw(Cycloid::fr_from_integer(k))).collect();
    let backends = lanes::tests::backends().into_iter().map(Some);
    for backend in core::iter::once(None).chain(backends) {
        for (n, size) in [(1, 1), (7, 7), (9, 3), (66, 33)] {
            let mut table = vec![u64::MAX; prepared::table_limbs::<G>(n, size)];
            let form = prepared::prepare::<G>(backend, &affine[..n], size, &mut table);
            let mut scratch = vec![u64::MAX; prepared::scratch::<G>(n, size)];
            let mut sums = vec![Projective::<Cycloid, G>::generator(); n / size];
            let elements = &elements[..n];
            prepared::sums_of_multiples(&form, &table, size, elements, &mut sums, &mut scratch);
            for (i, sum) in sums.iter().enumerate() {
                let range = i * size..(i + 1) * size;
                let expected = slow::<G>(&points[range.clone()], &scalars[range]);
                let same = <Cycloid as Group<G>>::equal(sum.raw(), &expected);
                assert!(same, "{n} {size} {backend:?}");
            }
        }
    }
}

#[test]
fn tables() {
    with_tables::<First>();
    with_tables::<Second>();
}

/// Split into parts for threads, whether or not threads exist.
fn in_parts<G: Curve<Memory: PartialEq>>()
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let (points, scalars) = (points::<G>(70), scalars(70));
    let affine: Vec<_> =
        points.iter().map(|point| Affine::<Cycloid, G>::from_raw(*point)).collect();
    let elements: Vec<_> =
        scalars.iter().map(|k| Fr::<Cycloid>::from_raw(Cycloid::fr_from_integer(k))).collect();
    for (n, parts) in [(0, 3), (1, 2), (7, 7), (64, 2), (70, 3), (69, 5)] {
        let mut scratch = vec![7; super::scratch::<G>(n, parts)];
        let sum = sum_of_parts::<G>(&affine[..n], &elements[..n], &mut scratch, parts);
        let expected = slow::<G>(&points[..n], &scalars[..n]);
        assert!(<Cycloid as Group<G>>::equal(&sum, &expected), "{n} in {parts}");
    }
}

#[test]
fn parts() {
    in_parts::<First>();
    in_parts::<Second>();
}

/// A bucket with more points than are folded together, and several groups of windows.
#[test]
fn long_buckets() {
    let n = super::SORTED / 2 + 700;
    let distinct = points::<First>(100);
    let points: Vec<_> = (0..n).map(|i| distinct[i * i % 97]).collect();
    for equal in [false, true] {
        let few = scalars(if equal { 1 } else { 53 });
        let scalars: Vec<_> = (0..n).map(|i| few[i % few.len()]).collect();
        // Σ kᵢ·aᵢ, computed from the sums of the scalars of each point.
        let plan = Plan::of_members::<First>(n);
        let mut scratch = vec![1; plan.scratch::<First>()];
        let integer = |i: usize| split::<First>(&scalars[i]);
        let sum = one(Sum::<First, _>::new(plan, |i| &points[i], integer, &mut scratch));
        let mut expected = [First::ZERO, First::ONE, First::ZERO];
        let mut terms: Vec<(Memory2<First>, Integer, u64)> = Vec::new();
        for (point, scalar) in points.iter().zip(&scalars) {
            match terms.iter_mut().find(|term| term.0 == *point && term.1 == *scalar) {
                Some(term) => term.2 += 1,
                None => terms.push((*point, *scalar, 1)),
            }
        }
        for (point, scalar, count) in terms {
            let multiple = slow::<First>(&[point], &[scalar]);
            let affine = single::<ToAffine<First>>(&multiple, point);
            let multiple = slow::<First>(&[affine], &[[count, 0, 0, 0]]);
            expected = single::<Add<'_, First>>(&[&expected, &multiple], expected);
        }
        let affine = |point| single::<ToAffine<First>>(&point, [First::ZERO; 2]);
        assert_eq!(affine(sum), affine(expected), "{equal}");
    }
}
