//! Each operation on eight inputs, on every backend, compared with the best backend for one number.
//!
//! The suite in `cycloid-blst` checks the correctness of that one, since it runs on it.

use std::vec::Vec;

use super::Cycloid;
use super::curve::{Curve, Memory2, to_memory3};
use super::each::{Each, Work, single};
use super::group::{
    Add, AddAffine, Coordinates, Decompress, Double, EncodeToCurve, Equal, HashToCurve, IsInGroup,
    Multiply, MultiplyGenerator, MultiplyShort, ToAffine,
};
use super::pairing::{
    self, FinalExponentiation, Invert, MillerLoop, Mul, Pow, SPREAD_PAIRS, SpreadExponentiation,
    SpreadInvert, SpreadIsInGroup, SpreadMillerLoop, SpreadMillerLoops, SpreadPow, SpreadPrepared,
    SpreadProduct, SquareCyclotomic,
};
use super::side_by_side::SpreadMultiply;
use crate::machine::field::{Bls12Base, Dense, SpreadTask, run_spread};
use crate::machine::lanes::{self, LANES};
use crate::machine::words;
use crate::scheme::bls12_381::backend::{First, Group, Pairing, Second, SourceGroup};
use crate::scheme::bls12_381::{Affine, G1Affine, G2Affine};

/// Compares the results of `E` on every backend, in every lane.
fn compare<E: Each>(what: &str, inputs: &[E::Input; LANES], start: E::Output)
where
    E::Output: PartialEq + core::fmt::Debug,
{
    let expected: Vec<E::Output> = inputs.iter().map(|input| single::<E>(input, start)).collect();
    for backend in words::Backend::available() {
        for (input, expected) in inputs.iter().zip(&expected) {
            let mut output = [start];
            let work = Work::<E> { inputs: &[*input], outputs: &mut output };
            Bls12Base::run_one_wide(backend, work);
            assert_eq!(output[0], *expected, "{what} {}", backend.name());
        }
    }
    for backend in lanes::tests::backends() {
        let mut outputs = [start; LANES];
        Bls12Base::run_eight_wide(backend, Work::<E> { inputs, outputs: &mut outputs });
        assert_eq!(outputs.as_slice(), expected, "{what} {}", backend.name());
    }
}

/// Compares points, whose projective coordinates may differ.
fn compare_points<E, G: Curve>(what: &str, inputs: &[E::Input; LANES])
where
    Cycloid: Group<G, Projective = [G::Memory; 3], Affine = [G::Memory; 2]>,
    E: Each<Output = [G::Memory; 3]>,
{
    let infinity = to_memory3::<G>(&[G::ZERO; 2]);
    let expected: Vec<_> = inputs.iter().map(|input| single::<E>(input, infinity)).collect();
    for backend in words::Backend::available() {
        for (input, expected) in inputs.iter().zip(&expected) {
            let mut output = [infinity];
            let work = Work::<E> { inputs: &[*input], outputs: &mut output };
            Bls12Base::run_one_wide(backend, work);
            let equal = <Cycloid as Group<G>>::equal(&output[0], expected);
            assert!(equal, "{what} {}", backend.name());
        }
    }
    for backend in lanes::tests::backends() {
        let mut outputs = [infinity; LANES];
        Bls12Base::run_eight_wide(backend, Work::<E> { inputs, outputs: &mut outputs });
        for (output, expected) in outputs.iter().zip(&expected) {
            assert!(<Cycloid as Group<G>>::equal(output, expected), "{what} {}", backend.name());
        }
    }
}

/// Checks a task on one element side by side, on every backend that has this shape.
fn on_vectors<T: SpreadTask>(task: impl Fn() -> T, check: impl Fn(T::Output)) {
    let results =
        lanes::tests::backends().into_iter().filter_map(|backend| run_spread(backend, task()));
    assert!(results.map(check).count() > 0);
}

/// Returns pseudorandom bytes.
fn uniform(seed: u64) -> [[u8; 64]; 4] {
    let mut state = seed;
    [(); 4].map(|()| {
        core::array::from_fn(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 56) as u8
        })
    })
}

fn parts(seed: u64, bits: usize) -> [u128; 4] {
    uniform(seed).map(|bytes| {
        let part = u128::from_be_bytes(*bytes.first_chunk().unwrap());
        if seed == 1 { 0 } else { part >> (128 - bits) }
    })
}

fn group<G: Curve<Memory: PartialEq>>(bits: usize)
where
    Cycloid: Group<G, Projective = [G::Memory; 3], Affine = [G::Memory; 2]>,
{
    let name = <G as SourceGroup>::NAME;
    let infinity = to_memory3::<G>(&[G::ZERO; 2]);
    let seeds: [[[u8; 64]; 4]; LANES] = core::array::from_fn(|i| uniform(i as u64));
    compare_points::<EncodeToCurve<G>, G>(name, &seeds);
    compare_points::<HashToCurve<G>, G>(name, &seeds);
    let mut points = seeds.map(|seed| single::<HashToCurve<G>>(&seed, infinity));
    points[2] = infinity;
    points[3] = points[4];
    let others: [_; LANES] = core::array::from_fn(|i| points[(i + 1) % LANES]);
    let pairs: [_; LANES] = core::array::from_fn(|i| [&points[i], &others[i]]);
    compare::<Add<'_, G>>(name, &pairs, infinity);
    compare::<Equal<'_, G>>(name, &pairs, false);
    compare::<Double<G>>(name, &points, infinity);
    let affine: [Memory2<G>; LANES] =
        points.map(|point| single::<ToAffine<G>>(&point, [G::ZERO; 2]));
    compare::<ToAffine<G>>(name, &points, [G::ZERO; 2]);
    compare::<Coordinates<G>>(name, &affine, [G::ZERO; 2]);
    let mixed: [_; LANES] = core::array::from_fn(|i| (&points[i], &affine[(i + 5) % 2 + 4]));
    compare::<AddAffine<'_, G>>(name, &mixed, infinity);
    let multiples: [_; LANES] = core::array::from_fn(|i| (points[i], parts(i as u64, bits)));
    compare::<Multiply<G>>(name, &multiples, infinity);
    for (point, parts) in &multiples {
        let expected = single::<Multiply<G>>(&(*point, *parts), infinity);
        on_vectors(
            || SpreadMultiply::<G> { point, parts },
            |multiple| assert!(<Cycloid as Group<G>>::equal(&multiple, &expected), "{name}"),
        );
    }
    multiples_of_the_generator::<G>(bits);
    let multiples: [_; LANES] = core::array::from_fn(|i| (points[i], parts(i as u64, 128)));
    compare::<MultiplyShort<G>>(name, &multiples, infinity);
    // x coordinates of members, of other points of the curve, and of no point.
    let abscissas: [_; LANES] = core::array::from_fn(|i| {
        let mut x = single::<Coordinates<G>>(&affine[i], affine[i])[0];
        if i > 4 {
            x = G::small(i as u64);
        }
        (x, i % 2 == 1)
    });
    compare::<Decompress<G>>(name, &abscissas, None);
    let candidates = abscissas.map(|abscissa| {
        let found = single::<Decompress<G>>(&abscissa, None);
        found.map_or(infinity, |point| to_memory3::<G>(&point))
    });
    compare::<IsInGroup<G>>(name, &candidates, false);
}

/// The table and the general method, with digits of every value in every window.
fn multiples_of_the_generator<G: Curve<Memory: PartialEq>>(bits: usize)
where
    Cycloid: Group<G, Projective = [G::Memory; 3], Affine = [G::Memory; 2]>,
{
    let infinity = to_memory3::<G>(&[G::ZERO; 2]);
    let all = u128::MAX >> (128 - bits);
    let mut scalars = std::vec![[0; 4], [all; 4], [1, 0, 0, 0], [0, 1, 2, 3]];
    // The digits 0 to 63 in each window, and at each distance from the windows.
    let digits = |digit: u128| (0..22).fold(0, |part, window| part | digit << (6 * window));
    scalars.extend((0..64).map(|digit| [0, 1, 2, 5].map(|i| digits(digit) << i & all)));
    scalars.extend((0..20).map(|seed| parts(seed, bits)));
    for scalar in scalars {
        // Where a group has two parts, the others do not count.
        let expected = single::<Multiply<G>>(&(to_memory3::<G>(&G::GENERATOR), scalar), infinity);
        for backend in words::Backend::available() {
            let mut output = [infinity];
            let work = Work::<MultiplyGenerator<G>> { inputs: &[scalar], outputs: &mut output };
            Bls12Base::run_one_wide(backend, work);
            assert!(
                <Cycloid as Group<G>>::equal(&output[0], &expected),
                "{} {} {scalar:x?}",
                <G as SourceGroup>::NAME,
                backend.name()
            );
        }
    }
}

#[test]
fn first_group_on_every_backend() {
    group::<First>(128);
}

#[test]
fn second_group_on_every_backend() {
    group::<Second>(64);
}

#[test]
fn pairing_on_every_backend() {
    let infinity = (<Cycloid as Group<First>>::identity(), <Cycloid as Group<Second>>::identity());
    let pairs: [_; LANES] = core::array::from_fn(|i| {
        let seed = uniform(100 + i as u64);
        let p = single::<HashToCurve<First>>(&seed, infinity.0);
        let q = single::<HashToCurve<Second>>(&seed, infinity.1);
        (<Cycloid as Group<First>>::to_affine(&p), <Cycloid as Group<Second>>::to_affine(&q))
    });
    compare::<MillerLoop>("loop", &pairs, pairing::ZERO);
    let values = pairs.map(|pair| single::<MillerLoop>(&pair, pairing::ZERO));
    compare::<Invert>("inverse", &values, pairing::ZERO);
    compare::<FinalExponentiation>("final exponentiation", &values, pairing::ZERO);
    let members = values.map(|value| single::<FinalExponentiation>(&value, pairing::ZERO));
    compare::<SquareCyclotomic>("square", &members, pairing::ZERO);
    let products: [_; LANES] = core::array::from_fn(|i| [&members[i], &values[i]]);
    compare::<Mul<'_>>("product", &products, pairing::ZERO);
    let powers: [_; LANES] = core::array::from_fn(|i| (members[i], parts(i as u64, 64)));
    compare::<Pow>("power", &powers, pairing::ZERO);
    for (seed, member) in members.iter().enumerate() {
        assert!(single::<pairing::IsInGroup>(member, false), "{seed}");
        assert!(!single::<pairing::IsInGroup>(&values[seed], false), "{seed}");
    }
    compare::<pairing::IsInGroup>("membership", &members, false);
    pairing_on_vectors(&pairs, &powers);
}

/// Compares the tasks on one element with the operations of one number.
fn pairing_on_vectors(
    pairs: &[(Memory2<First>, Memory2<Second>); LANES],
    powers: &[(pairing::Memory, [u128; 4]); LANES],
) {
    let p: [G1Affine<Cycloid>; LANES] = pairs.map(|(p, _)| Affine::from_raw(p));
    let q: [G2Affine<Cycloid>; LANES] = pairs.map(|(_, q)| Affine::from_raw(q));
    let lines = pairs.map(|(_, q)| <Cycloid as Pairing>::prepare(&q));
    let lines: Vec<_> = lines.iter().collect();
    let mul = |a: &pairing::Memory, b: &pairing::Memory| single::<Mul<'_>>(&[a, b], pairing::ZERO);
    let mut loops = <Cycloid as Pairing>::fq12_one();
    for count in 1..=LANES {
        loops = mul(&loops, &single::<MillerLoop>(&pairs[count - 1], pairing::ZERO));
        let (p, q) = (&p[..count], &q[..count]);
        if count <= SPREAD_PAIRS {
            on_vectors(
                || SpreadMillerLoop::<SPREAD_PAIRS> { p, q },
                |value| assert_eq!(value, loops, "{count}"),
            );
        }
        on_vectors(
            || SpreadMillerLoops { p, q },
            |value| assert_eq!(value, loops, "{count}, a point in each lane"),
        );
        on_vectors(
            || SpreadPrepared { p, q: &lines[..count] },
            |value| assert_eq!(value, loops, "{count} prepared"),
        );
        let member = single::<FinalExponentiation>(&loops, pairing::ZERO);
        on_vectors(|| SpreadExponentiation(&loops), |value| assert_eq!(value, member));
        on_vectors(
            || SpreadProduct::Mul(&loops, &member),
            |value| assert_eq!(value, mul(&loops, &member)),
        );
        let inverse = single::<Invert>(&loops, pairing::ZERO);
        on_vectors(|| SpreadInvert(&loops), |value| assert_eq!(value, inverse));
        on_vectors(|| SpreadIsInGroup(&loops), |is_member| assert!(!is_member, "{count}"));
        on_vectors(|| SpreadIsInGroup(&member), |is_member| assert!(is_member, "{count}"));
        on_vectors(
            || SpreadProduct::Square(&loops),
            |value| assert_eq!(value, mul(&loops, &loops)),
        );
        on_vectors(
            || SpreadProduct::SquareCyclotomic(&member),
            |value| assert_eq!(value, mul(&member, &member)),
        );
    }
    let (p, q) = ([p, p].concat(), [q, q].concat());
    let last = single::<MillerLoop>(&pairs[0], pairing::ZERO);
    on_vectors(
        || SpreadMillerLoops { p: &p[..LANES + 1], q: &q[..LANES + 1] },
        |value| assert_eq!(value, mul(&loops, &last)),
    );
    on_vectors(
        || SpreadMillerLoops { p: &p, q: &q },
        |value| assert_eq!(value, mul(&loops, &loops)),
    );
    on_vectors(|| SpreadInvert(&pairing::ZERO), |value| assert_eq!(value, pairing::ZERO));
    for (member, parts) in powers {
        let power = single::<Pow>(&(*member, *parts), pairing::ZERO);
        on_vectors(|| SpreadPow(member, parts), |value| assert_eq!(value, power));
    }
}
