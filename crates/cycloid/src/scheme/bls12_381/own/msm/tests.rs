//! Sums on every backend beside the slow way, in which each is multiplied by itself and added.

use std::vec;
use std::vec::Vec;

use super::super::Cycloid;
use super::super::each::{one, single};
use super::super::group::{
    Add, Curve, HashToCurve, Memory2, Memory3, Multiply, NegateAffine, ToAffine,
};
use super::{Plan, Sum, parts};
use crate::machine::field::{Bls12Base, Dense};
use crate::machine::lanes;
use crate::machine::words;
use crate::scheme::bls12_381::backend::{First, Group, Integer, Second};

/// Pseudo-random words.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    }
}

/// Members of the group, infinity among them, and opposite ones.
fn points<G: Curve>(n: usize) -> Vec<Memory2<G>> {
    let infinity = [G::ZERO, G::ONE, G::ZERO];
    let mut next = random(1);
    let mut point = || {
        let uniform = [(); 4].map(|()| core::array::from_fn(|_| next() as u8));
        single::<ToAffine<G>>(single::<HashToCurve<G>>(uniform, infinity), [G::ZERO; 2])
    };
    let distinct: Vec<_> = (0..n.min(12)).map(|_| point()).collect();
    (0..n)
        .map(|i| match i % 17 {
            5 => [G::ZERO; 2],
            7 => single::<NegateAffine<G>>(distinct[3], [G::ZERO; 2]),
            j => distinct[j % 12],
        })
        .collect()
}

/// Scalars below r, with those at the edges among them.
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

fn slow<G: Curve>(points: &[Memory2<G>], scalars: &[Integer]) -> Memory3<G> {
    let mut sum = [G::ZERO, G::ONE, G::ZERO];
    for (point, scalar) in points.iter().zip(scalars) {
        let point = super::super::group::to_memory3::<G>(point);
        let multiple = single::<Multiply<G>>((point, G::split(scalar)), sum);
        sum = single::<Add<G>>([sum, multiple], sum);
    }
    sum
}

/// With every backend that `slow_ones` allows.
fn check<G: Curve>(what: &str, points: &[Memory2<G>], scalars: &[Integer], emulated: bool)
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let affine = |point| single::<ToAffine<G>>(point, [G::ZERO; 2]);
    let expected = affine(slow::<G>(points, scalars));
    let plans = [(Plan::of_members::<G>(points.len()), true), (Plan::of_any(points.len()), false)];
    for (plan, split) in plans {
        let integer = |i: usize| if split { parts::<G>(&scalars[i]) } else { scalars[i] };
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

fn every_number<G: Curve>()
where
    Cycloid: Group<G, Projective = Memory3<G>, Affine = Memory2<G>>,
{
    let (points, scalars) = (points::<G>(200), scalars(200));
    for n in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 200] {
        check::<G>("mixed", &points[..n], &scalars[..n], n == 9);
    }
    // All in the same buckets, and half of them with what cancels the other half.
    let opposite = single::<NegateAffine<G>>(points[1], points[1]);
    for n in [2, 7, 8, 65] {
        let same = vec![points[1]; n];
        check::<G>("equal", &same, &vec![scalars[0]; n], n == 7);
        let both: Vec<_> = (0..n).map(|i| [points[1], opposite][i % 2]).collect();
        check::<G>("opposite", &both, &vec![scalars[0]; n], n == 7);
        check::<G>("infinity", &vec![[G::ZERO; 2]; n], &scalars[..n], n == 7);
        check::<G>("zero", &same, &vec![[0; 4]; n], false);
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

/// Where a bucket has more points than are folded together, and there are more groups of windows.
#[test]
fn long_buckets() {
    let n = super::SORTED / 2 + 700;
    let distinct = points::<First>(100);
    let points: Vec<_> = (0..n).map(|i| distinct[i * i % 97]).collect();
    for equal in [false, true] {
        let few = scalars(if equal { 1 } else { 53 });
        let scalars: Vec<_> = (0..n).map(|i| few[i % few.len()]).collect();
        // Σ kᵢ·aᵢ, by the sums of the scalars of each point.
        let plan = Plan::of_members::<First>(n);
        let mut scratch = vec![1; plan.scratch::<First>()];
        let integer = |i: usize| parts::<First>(&scalars[i]);
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
            let affine = single::<ToAffine<First>>(multiple, point);
            let multiple = slow::<First>(&[affine], &[[count, 0, 0, 0]]);
            expected = single::<Add<First>>([expected, multiple], expected);
        }
        let affine = |point| single::<ToAffine<First>>(point, [First::ZERO; 2]);
        assert_eq!(affine(sum), affine(expected), "{equal}");
    }
}
