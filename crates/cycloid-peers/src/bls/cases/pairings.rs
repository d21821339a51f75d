//! Cases for the pairing, its parts, and its target field.

use std::hint::black_box;

use cycloid::bls12_381::{
    Backend, Fq12, Fr, G1Affine, G2Affine, G2Prepared, Gt, miller_loop, miller_loop_prepared,
    multi_pairing, pairing,
};

use super::super::case::{Case, case};
use super::inputs::rng;

pub(super) fn gt<B: Backend>() -> Vec<Case> {
    fn of_two<B: Backend, R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(Gt<B>, Gt<B>, Fr<B>) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
        let prepare = move || {
            let mut rng = rng();
            let (a, b, k) = (
                Gt::random(&mut rng).expect("a sound generator"),
                Gt::random(&mut rng).expect("a sound generator"),
                Fr::random(&mut rng).expect("a sound generator"),
            );
            move || compute(black_box(a), black_box(b), black_box(k))
        };
        case(name, function, prepare, bytes)
    }
    let member = |a: &Gt<B>| a.to_bytes().to_vec();
    let element = |a: &Fq12<B>| a.to_bytes().to_vec();
    vec![
        of_two("Fq12 multiply", "Fq12::mul", |a, b, _| Fq12::from(a) * Fq12::from(b), element),
        of_two("Fq12 square", "Fq12::square", |a, _, _| Fq12::from(a).square(), element),
        of_two(
            "Fq12 invert",
            "Fq12::invert",
            |a, _, _| Fq12::from(a).invert(),
            |a: &Option<Fq12<B>>| a.map_or_else(Vec::new, |a| a.to_bytes().to_vec()),
        ),
        of_two("multiply", "Gt::mul", |a, b, _| a * b, member),
        of_two("square", "Gt::square", |a, _, _| a.square(), member),
        of_two("invert", "Gt::invert", |a, _, _| a.invert(), member),
        of_two("power", "Gt::pow", |a, _, k| a.pow(&k), member),
        of_two("power, public", "Gt::pow_vartime", |a, _, k| a.pow_vartime(&k), member),
        of_two(
            "is a member",
            "Fq12::is_in_gt",
            |a: Gt<B>, _, _| Fq12::from(a).is_in_gt(),
            |member| vec![u8::from(*member)],
        )
        .of_public(),
    ]
}

/// Returns pairs of members.
pub(in crate::bls) fn pairs<B: Backend>(n: usize) -> (Vec<G1Affine<B>>, Vec<G2Affine<B>>) {
    let mut rng = rng();
    let p = (0..n).map(|_| G1Affine::random(&mut rng).expect("a sound generator")).collect();
    (p, (0..n).map(|_| G2Affine::random(&mut rng).expect("a sound generator")).collect())
}

pub(super) fn of<B: Backend>() -> Vec<Case> {
    // Before the final exponentiation, backends may differ.
    let raw = |value: &Option<Fq12<B>>| {
        let member = value.and_then(|value| value.final_exponentiation());
        member.map_or_else(Vec::new, |member| member.to_bytes().to_vec())
    };
    let member = |value: &Gt<B>| value.to_bytes().to_vec();
    let optional = |value: &Option<Gt<B>>| value.map_or_else(Vec::new, |v| v.to_bytes().to_vec());
    let mut cases: Vec<Case> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 64]
        .into_iter()
        .map(|n| {
            let prepare = move || {
                let (p, q) = pairs::<B>(n);
                move || miller_loop(black_box(&p), black_box(&q)).ok()
            };
            case(format!("Miller loop of {n}"), "miller_loop", prepare, raw)
        })
        .collect();
    cases.extend([1, 8].map(|n| {
        let prepare = move || {
            let (p, q) = pairs::<B>(n);
            let lines: Vec<G2Prepared<B>> = q.into_iter().map(G2Prepared::from).collect();
            move || {
                let lines: [Option<&G2Prepared<B>>; 8] = std::array::from_fn(|i| lines.get(i));
                let lines: [&G2Prepared<B>; 8] =
                    lines.map(|line| line.or(lines[0]).expect("there is at least one"));
                miller_loop_prepared(black_box(&p), &lines[..n]).ok()
            }
        };
        case(format!("Miller loop of {n}, prepared"), "miller_loop_prepared", prepare, raw)
    }));
    cases.extend([
        case(
            "final exponentiation",
            "Fq12::final_exponentiation",
            || {
                let (p, q) = pairs::<B>(1);
                let value = miller_loop(&p, &q).unwrap_or(Fq12::one());
                move || black_box(value).final_exponentiation()
            },
            optional,
        ),
        case(
            "pairing",
            "pairing",
            || {
                let (p, q) = pairs::<B>(1);
                move || pairing(black_box(&p[0]), black_box(&q[0]))
            },
            member,
        ),
        case(
            "pairing of 6",
            "multi_pairing",
            || {
                let (p, q) = pairs::<B>(6);
                move || multi_pairing(black_box(&p), black_box(&q)).ok()
            },
            optional,
        ),
    ]);
    cases.into_iter().map(Case::of_public).collect()
}
