//! Elements side by side compared with those of the tower, for one number in plain Rust.

use super::super::fp2::Field;
use super::super::tower::Fp12;
use super::super::{Affine, Fp, Fp2, Point, Runner, Words, final_exponentiation as exponentiate};
use super::super::{constants, miller_loop as loop_of_one};
use super::super::{
    map_to_curve, multiply as multiply_one, pow_in_group as powers_one, prepare,
    times_x as times_x_one,
};
use super::element::Frobenius;
use super::miller::Pair;
use super::*;
use crate::machine::field::{Bls12Base, Prime, SpreadTask, run_spread};
use crate::machine::{lanes, words};
use crate::math::field::MAX_WIDTH;

type Memory = [[Words; 2]; 6];

/// Returns elements with coefficients of 0, 1, p − 1, and arbitrary ones.
fn elements(count: usize) -> impl Iterator<Item = Memory> {
    let mut largest = Bls12Base::MODULUS;
    largest[0] -= 1;
    let mut state: u64 = 1;
    let mut random = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state >> 33
    };
    (0..count).map(move |i| {
        let mut memory = [[[0; 6]; 2]; 6];
        for words in memory.as_flattened_mut() {
            let kind = if i == 0 { 0 } else { random() % 8 };
            *words = match kind {
                0..3 => largest,
                3..5 => [0; 6],
                5 => constants::ONE,
                _ => [0; 6].map(|_| random() << 31 | random()),
            };
            words[5] &= 0xfff_ffff_ffff_ffff;
        }
        memory
    })
}

fn one(memory: &Memory) -> Fp12<words::Portable> {
    Fp12::import(words::Portable, core::slice::from_ref(memory))
}

fn fp(memory: &Words) -> Fp<words::Portable> {
    Field::import(words::Portable, core::slice::from_ref(memory))
}

fn memory(element: &Fp12<words::Portable>) -> Memory {
    let mut memory = [[[0; 6]; 2]; 6];
    element.export(core::slice::from_mut(&mut memory));
    memory
}

struct AgainstTower;

impl SpreadTask for AgainstTower {
    type Output = ();

    fn run<A: Spread>(self, f: A) {
        let all: std::vec::Vec<_> = elements(24).collect();
        let frobenius = Frobenius::new(f);
        for pair in all.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|memory| Spread12::import(f, &memory));
            let [x, y] = [one(&pair[0]), one(&pair[1])];
            assert_eq!(a.export(f), pair[0]);
            assert_eq!(a.mul(f, &b).export(f), memory(&x.mul(&y)));
            assert_eq!(a.square(f).export(f), memory(&x.square()));
            assert_eq!(a.square_cyclotomic(f).export(f), memory(&x.square_cyclotomic()));
            assert_eq!(a.conjugate(f).export(f), memory(&x.conjugate()));
            assert_eq!(a.frobenius(f, &frobenius).export(f), memory(&x.frobenius()));
            // Results are operands of every operation.
            let (mut a, mut x) = (a, x);
            for _ in 0..3 {
                a = a.square_cyclotomic(f).mul(f, &b).square(f).conjugate(f);
                x = x.square_cyclotomic().mul(&y).square().conjugate();
                a = a.frobenius(f, &frobenius).mul(f, &a);
                x = x.frobenius().mul(&x);
            }
            assert_eq!(a.export(f), memory(&x));
        }
    }
}

#[test]
fn elements_are_those_of_the_tower() {
    let mut some = false;
    for backend in lanes::tests::backends() {
        some |= run_spread(backend, AgainstTower).is_some();
    }
    assert!(some);
}

/// Points (x, y) of G1 and G2 in memory.
type Points = ([Words; 2], [[Words; 2]; 2]);

/// Returns multiples of the generators by powers of two.
fn points<const N: usize>() -> [Points; N] {
    let f = words::Portable;
    let constant = |memory: &[Words; 2]| Fp2::constant(f, memory);
    let mut p = Affine { x: fp(&constants::G1_X), y: fp(&constants::G1_Y) };
    let mut q = Affine { x: constant(&constants::G2_X), y: constant(&constants::G2_Y) };
    core::array::from_fn(|_| {
        let (mut g1, mut g2) = ([[0; 6]; 2], [[[0; 6]; 2]; 2]);
        p.x.export(core::slice::from_mut(&mut g1[0]));
        p.y.export(core::slice::from_mut(&mut g1[1]));
        q.x.export(core::slice::from_mut(&mut g2[0]));
        q.y.export(core::slice::from_mut(&mut g2[1]));
        p = p.to_point().double_times(1).to_affine();
        q = q.to_point().double_times(3).to_affine();
        (g1, g2)
    })
}

struct Pairings;

impl SpreadTask for Pairings {
    type Output = ();

    fn run<A: Spread>(self, f: A) {
        let one = words::Portable;
        let points = points::<3>();
        for count in 1..=3 {
            let points = &points[..count];
            let mut pairs: std::vec::Vec<_> =
                points.iter().map(|(p, q)| Pair::new(f, p, q)).collect();
            let value = miller_loop(f, &mut pairs);
            let p: std::vec::Vec<_> =
                points.iter().map(|(p, _)| Affine { x: fp(&p[0]), y: fp(&p[1]) }).collect();
            let mut runners: std::vec::Vec<_> = points
                .iter()
                .map(|(_, q)| {
                    let [x, y] = q.map(|part| Fp2::constant(one, &part));
                    Runner::new(&Affine { x, y })
                })
                .collect();
            let expected = loop_of_one(one, &p, &mut runners);
            assert_eq!(value.export(f), memory(&expected));
            // With a point in each lane, of one vector or of as many as there are pairs.
            let eight = |start: usize, pairs: usize| {
                let pair = move |lane: usize| &points[start + lane];
                Eight::new(f, pairs, move |lane| &pair(lane).0, move |lane| &pair(lane).1)
            };
            let value = miller_loop_of_many(f, &mut [eight(0, count)]);
            assert_eq!(value.export(f), memory(&expected));
            let mut eights: std::vec::Vec<_> = (0..count).map(|start| eight(start, 1)).collect();
            assert_eq!(miller_loop_of_many(f, &mut eights).export(f), memory(&expected));
            let mut lines = std::vec![std::vec::Vec::new(); count];
            for ((_, q), lines) in points.iter().zip(&mut lines) {
                let [x, y] = q.map(|part| Fp2::constant(one, &part));
                prepare(&Affine { x, y }, |_, line| {
                    lines.push([0, 1, 2].map(|i: usize| {
                        let mut memory = [[0; 6]; 2];
                        line[i].export(core::slice::from_mut(&mut memory));
                        memory
                    }));
                });
            }
            let of_g1: std::vec::Vec<_> = points.iter().map(|(p, _)| p).collect();
            let line = |pair: usize, place: usize| &lines[pair][place];
            for value in [
                miller_loop_prepared::<_, 3>(f, &of_g1, line),
                miller_loop_prepared_of_many::<_, 1>(f, &of_g1, line),
                miller_loop_prepared_of_many::<_, 2>(f, &of_g1, line),
            ] {
                assert_eq!(value.export(f), memory(&expected));
            }
            let expected = exponentiate(&expected);
            assert_eq!(final_exponentiation(f, &value).export(f), memory(&expected));
        }
    }
}

#[test]
fn pairings_are_those_of_the_tower() {
    let mut some = false;
    for backend in lanes::tests::backends() {
        some |= run_spread(backend, Pairings).is_some();
    }
    assert!(some);
}

/// Parts of scalars: extreme ones, those with digits at the bounds of windows, and arbitrary ones.
fn all_parts(bits: usize) -> impl Iterator<Item = [u128; 4]> {
    let most = u128::MAX >> (128 - bits);
    let patterns = [0, 1, 7, 8, 9, 15, 16, most, most - 1, most / 15 * 8, most / 15 * 7];
    let mut state: u128 = 1;
    let mut random = move || {
        state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(7);
        state >> (128 - bits)
    };
    let edges = (0..patterns.len())
        .map(move |i| core::array::from_fn(|part| patterns[(i + part * 3) % patterns.len()]));
    let same = patterns.into_iter().map(|part| [part; 4]);
    same.chain(edges).chain((0..4).map(move |_| [random(), random(), random(), random()]))
}

struct Multiples;

impl SpreadTask for Multiples {
    type Output = ();

    fn run<A: Spread>(self, f: A) {
        let one = words::Portable;
        let [(p, q), ..] = points::<1>();
        let z = <OfFp<A> as Coordinates>::SMALL;
        for p in [[p[0], p[1], z[1]], [z[0], z[1], z[0]]] {
            let base = Point { x: fp(&p[0]), y: fp(&p[1]), z: fp(&p[2]) };
            for parts in all_parts(128) {
                let [x, y, z] = multiply::<OfFp<A>>(f, &p, &parts).map(|memory| fp(&memory));
                let expected = multiply_one(&base, &parts.map(|part| [part; MAX_WIDTH]));
                assert!(Point { x, y, z }.equal(&expected).reveal(), "{parts:x?}");
            }
        }
        let z = <OfFp2<A> as Coordinates>::SMALL;
        for q in [[q[0], q[1], z[1]], [z[0], z[1], z[0]]] {
            let [x, y, z] = q.map(|memory| Fp2::constant(one, &memory));
            let base = Point { x, y, z };
            for parts in all_parts(64) {
                let multiple = multiply::<OfFp2<A>>(f, &q, &parts);
                let [x, y, z] = multiple.map(|memory| Fp2::constant(one, &memory));
                let expected = multiply_one(&base, &parts.map(|part| [part; MAX_WIDTH]));
                assert!(Point { x, y, z }.equal(&expected).reveal(), "{parts:x?}");
            }
        }
    }
}

#[test]
fn multiples_are_those_of_one_number() {
    let mut some = false;
    for backend in lanes::tests::backends() {
        some |= run_spread(backend, Multiples).is_some();
    }
    assert!(some);
}

/// Points of the curves, outside the groups too.
struct TimesX;

impl SpreadTask for TimesX {
    type Output = ();

    fn run<A: Spread>(self, f: A) {
        let one = words::Portable;
        for memory in elements(6) {
            let u = memory[0];
            let points = [map_to_curve(&fp(&u[0])), Point::infinity(one)];
            for point in &points {
                let mut words = [[0; 6]; 3];
                for (to, coordinate) in words.iter_mut().zip([&point.x, &point.y, &point.z]) {
                    Field::export(coordinate, core::slice::from_mut(to));
                }
                let [x, y, z] = times_x::<OfFp<A>>(f, &words).map(|memory| fp(&memory));
                assert!(Point { x, y, z }.equal(&times_x_one(point)).reveal());
            }
            let points = [map_to_curve(&Fp2::constant(one, &u)), Point::infinity(one)];
            for point in &points {
                let mut words = [[[0; 6]; 2]; 3];
                for (to, coordinate) in words.iter_mut().zip([&point.x, &point.y, &point.z]) {
                    coordinate.export(core::slice::from_mut(to));
                }
                let multiple = times_x::<OfFp2<A>>(f, &words);
                let [x, y, z] = multiple.map(|memory| Fp2::constant(one, &memory));
                assert!(Point { x, y, z }.equal(&times_x_one(point)).reveal());
            }
        }
    }
}

#[test]
fn multiples_by_x_are_those_of_one_number() {
    let mut some = false;
    for backend in lanes::tests::backends() {
        some |= run_spread(backend, TimesX).is_some();
    }
    assert!(some);
}

struct Members;

impl SpreadTask for Members {
    type Output = ();

    fn run<A: Spread>(self, f: A) {
        let [(p, q), ..] = points::<1>();
        let value = miller_loop(f, &mut [Pair::new(f, &p, &q)]);
        let frobenius = Frobenius::new(f);
        // In the cyclotomic subgroup, but not of order r.
        let cyclotomic = value.conjugate(f).mul(f, &value.invert(f));
        let twice = cyclotomic.frobenius(f, &frobenius).frobenius(f, &frobenius);
        let cyclotomic = twice.mul(f, &cyclotomic);
        let member = final_exponentiation(f, &value);
        assert!(member.is_in_group(f) && member.conjugate(f).is_in_group(f));
        let zero = Spread12::import(f, &[[[0; 6]; 2]; 6]);
        let product = member.mul(f, &cyclotomic);
        for other in [zero, value, cyclotomic, product] {
            assert!(!other.is_in_group(f));
            assert!(!one(&other.export(f)).is_in_group().reveal());
        }
        assert!(Spread12::one(f).is_in_group(f));
        for memory in elements(8) {
            let element = Spread12::import(f, &memory);
            assert!(!element.is_in_group(f));
            let x = one(&memory);
            assert_eq!(element.invert(f).export(f), self::memory(&x.invert()));
        }
    }
}

#[test]
fn members_are_those_of_the_tower() {
    let mut some = false;
    for backend in lanes::tests::backends() {
        some |= run_spread(backend, Members).is_some();
    }
    assert!(some);
}

struct Powers;

impl SpreadTask for Powers {
    type Output = ();

    fn run<A: Spread>(self, f: A) {
        let [(p, q), ..] = points::<1>();
        let value = final_exponentiation(f, &miller_loop(f, &mut [Pair::new(f, &p, &q)]));
        let base = one(&value.export(f));
        for parts in all_parts(64) {
            let expected = powers_one(&base, &parts.map(|part| [part; MAX_WIDTH]));
            assert_eq!(pow_in_group(f, &value, &parts).export(f), memory(&expected), "{parts:x?}");
        }
    }
}

#[test]
fn powers_are_those_of_one_number() {
    let mut some = false;
    for backend in lanes::tests::backends() {
        some |= run_spread(backend, Powers).is_some();
    }
    assert!(some);
}
