//! Cases for the pairing, its parts, and its target group, which arkworks writes additively.

use std::hint::black_box;

use ark_bls12_381::{Bls12_381, Fq12, Fr, G1Affine, G2Affine};
use ark_ec::bls12::G2Prepared;
use ark_ec::pairing::{MillerLoopOutput, Pairing, PairingOutput};
use ark_ec::{AdditiveGroup, PrimeGroup};
use ark_ff::Field;
use ark_serialize::Valid;
use cycloid::bls12_381::{First, Second};

use super::super::super::Case;
use super::super::common::{Draw, case, truth};
use super::{affine, bytes, optional, scalar};

const COPIED: &str = "arkworks takes prepared lines by value, so each run copies them first";

type Gt = PairingOutput<Bls12_381>;
type Lines = G2Prepared<ark_bls12_381::Config>;

pub(super) fn gt() -> Vec<Case> {
    fn of_two<R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(Gt, Gt, Fr) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
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
    let element: fn(&Fq12) -> Vec<u8> = bytes;
    vec![
        of_two("Fq12 multiply", "Fq12::mul", |a, b, _| a.0 * b.0, element),
        of_two("Fq12 square", "Fq12::square", |a, _, _| a.0.square(), element),
        of_two("Fq12 invert", "Fq12::inverse", |a, _, _| a.0.inverse(), optional),
        of_two("multiply", "PairingOutput::add", |a, b, _| a + b, bytes),
        of_two("square", "PairingOutput::double", |a, _, _| a.double(), bytes),
        of_two("invert", "PairingOutput::neg", |a, _, _| -a, bytes),
        of_two("power", "PairingOutput::mul", |a, _, k| a * k, bytes),
        of_two("power, public", "PairingOutput::mul", |a, _, k| a * k, bytes),
        of_two("is a member", "PairingOutput::check", |a, _, _| a.check().is_ok(), truth),
    ]
}

/// Returns pairs of members.
fn pairs(n: usize) -> (Vec<G1Affine>, Vec<G2Affine>) {
    let mut draw = Draw::new();
    let p = (0..n).map(|_| affine::<_, First>(&mut draw)).collect();
    (p, (0..n).map(|_| affine::<_, Second>(&mut draw)).collect())
}

pub(super) fn cases() -> Vec<Case> {
    // Before the final exponentiation, libraries may differ.
    let raw =
        |value: &MillerLoopOutput<Bls12_381>| optional(&Bls12_381::final_exponentiation(*value));
    let mut cases: Vec<Case> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 64]
        .into_iter()
        .map(|n| {
            let prepare = move || {
                let (p, q) = pairs(n);
                move || Bls12_381::multi_miller_loop(black_box(&p), black_box(&q))
            };
            case(format!("Miller loop of {n}"), "Pairing::multi_miller_loop", prepare, raw)
        })
        .collect();
    cases.extend([1, 8].map(|n| {
        let prepare = move || {
            let (p, q) = pairs(n);
            let lines: Vec<Lines> = q.into_iter().map(Lines::from).collect();
            move || {
                let lines = black_box(&lines).iter().cloned();
                Bls12_381::multi_miller_loop(black_box(&p), lines)
            }
        };
        case(format!("Miller loop of {n}, prepared"), "Pairing::multi_miller_loop", prepare, raw)
            .noted(COPIED)
    }));
    cases.extend([
        case(
            "final exponentiation",
            "Pairing::final_exponentiation",
            || {
                let (p, q) = pairs(1);
                let value = Bls12_381::multi_miller_loop(&p, &q);
                move || Bls12_381::final_exponentiation(black_box(value))
            },
            optional,
        ),
        case(
            "pairing",
            "Pairing::pairing",
            || {
                let (p, q) = pairs(1);
                move || Bls12_381::pairing(black_box(p[0]), black_box(q[0]))
            },
            bytes,
        ),
        case(
            "pairing of 6",
            "Pairing::multi_pairing",
            || {
                let (p, q) = pairs(6);
                move || Bls12_381::multi_pairing(black_box(&p), black_box(&q))
            },
            bytes,
        ),
    ]);
    cases
}
