//! Cases for the pairing, its parts, and its target group, which the crate writes additively.

use std::hint::black_box;

use bls12_381::{
    G1Affine, G2Affine, G2Prepared, Gt, MillerLoopResult, Scalar, multi_miller_loop, pairing,
};
use cycloid::bls12_381::{First, Second};
use group::Group;

use super::super::super::Case;
use super::super::common::{Draw, case};
use super::{affine, scalar};

/// Returns the coefficients in the library's encoding: little-endian, in the same order.
///
/// The crate has no encoding for members of GT, but its debug format has all coefficients: twelve
/// times `0x` and 96 digits.
fn bytes(member: &Gt) -> Vec<u8> {
    fn integers(text: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for part in text.split("0x").skip(1) {
            let digits = part.get(..96)?;
            let byte = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok();
            let integer: Option<Vec<u8>> = (0..48).rev().map(byte).collect();
            bytes.extend(integer?);
        }
        Some(bytes)
    }
    integers(&format!("{member:?}")).unwrap_or_default()
}

pub(super) fn gt() -> Vec<Case> {
    fn of_two(name: &str, function: &'static str, compute: fn(Gt, Gt, Scalar) -> Gt) -> Case {
        let prepare = move || {
            let mut draw = Draw::new();
            // Random members as the library makes them.
            let mut member = || Gt::generator() * scalar(&mut draw);
            let (a, b) = (member(), member());
            let k = scalar(&mut draw);
            move || compute(black_box(a), black_box(b), black_box(k))
        };
        case(name, function, prepare, bytes)
    }
    vec![
        of_two("multiply", "Gt::add", |a, b, _| a + b),
        of_two("square", "Gt::double", |a, _, _| a.double()),
        of_two("invert", "Gt::neg", |a, _, _| -a),
        of_two("power", "Gt::mul", |a, _, k| a * k),
        of_two("power, public", "Gt::mul", |a, _, k| a * k),
    ]
}

/// Returns pairs of members.
fn pairs(n: usize) -> (Vec<G1Affine>, Vec<G2Affine>) {
    let mut draw = Draw::new();
    let p = (0..n).map(|_| affine::<_, First>(&mut draw)).collect();
    (p, (0..n).map(|_| affine::<_, Second>(&mut draw)).collect())
}

/// Computes the Miller loop of pairs, including their lines: the crate has no other function for
/// several pairs.
fn miller_loop(p: &[G1Affine], q: &[G2Affine]) -> MillerLoopResult {
    let lines: Vec<G2Prepared> = q.iter().map(|q| G2Prepared::from(*q)).collect();
    miller_loop_prepared(p, &lines)
}

fn miller_loop_prepared(p: &[G1Affine], lines: &[G2Prepared]) -> MillerLoopResult {
    let terms: Vec<(&G1Affine, &G2Prepared)> = p.iter().zip(lines).collect();
    multi_miller_loop(&terms)
}

pub(super) fn cases() -> Vec<Case> {
    // Before the final exponentiation, libraries may differ.
    let raw = |value: &MillerLoopResult| bytes(&value.final_exponentiation());
    let mut cases: Vec<Case> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 64]
        .into_iter()
        .map(|n| {
            let prepare = move || {
                let (p, q) = pairs(n);
                move || miller_loop(black_box(&p), black_box(&q))
            };
            case(format!("Miller loop of {n}"), "multi_miller_loop", prepare, raw)
        })
        .collect();
    cases.extend([1, 8].map(|n| {
        let prepare = move || {
            let (p, q) = pairs(n);
            let lines: Vec<G2Prepared> = q.into_iter().map(G2Prepared::from).collect();
            move || miller_loop_prepared(black_box(&p), black_box(&lines))
        };
        case(format!("Miller loop of {n}, prepared"), "multi_miller_loop", prepare, raw)
    }));
    cases.extend([
        case(
            "final exponentiation",
            "MillerLoopResult::final_exponentiation",
            || {
                let (p, q) = pairs(1);
                let value = miller_loop(&p, &q);
                move || black_box(&value).final_exponentiation()
            },
            bytes,
        ),
        case(
            "pairing",
            "pairing",
            || {
                let (p, q) = pairs(1);
                move || pairing(black_box(&p[0]), black_box(&q[0]))
            },
            bytes,
        ),
        case(
            "pairing of 6",
            "multi_miller_loop",
            || {
                let (p, q) = pairs(6);
                move || miller_loop(black_box(&p), black_box(&q)).final_exponentiation()
            },
            bytes,
        ),
    ]);
    cases
}
