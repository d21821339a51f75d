//! EIP-2537's vectors, its rules on subgroups and long sums.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::eip2537::{self, Error};
use cycloid::bls12_381::{Backend, CurvePoint, Fr, Projective};
use num_bigint::BigUint;
use serde_json::Value;

use crate::support::{
    Generator, curve_points, hex, json, members, modulus, naive_multiple, on_every_backend, text,
};

on_every_backend!(vectors, refusals, outside_the_groups, long_sums, wrong_encodings);

/// The files of valid inputs, and their numbers of cases.
const COUNTS: [(&str, usize); 7] = [
    ("add_G1", 9),
    ("add_G2", 9),
    ("mul_G1", 11),
    ("mul_G2", 11),
    ("pairing_check", 15),
    ("map_fp_to_G1", 5),
    ("map_fp2_to_G2", 5),
];

/// The files of inputs that are refused.
const REFUSED: [(&str, usize); 9] = [
    ("add_G1", 7),
    ("add_G2", 7),
    ("mul_G1", 8),
    ("mul_G2", 8),
    ("msm_G1", 8),
    ("msm_G2", 8),
    ("pairing_check", 25),
    ("map_fp_to_G1", 5),
    ("map_fp2_to_G2", 5),
];

/// Runs an operation; its result as bytes.
fn run<B: Backend>(operation: &str, input: &[u8]) -> Result<Vec<u8>, Error> {
    match operation {
        "add_G1" => eip2537::g1_add::<B>(input).map(Vec::from),
        "add_G2" => eip2537::g2_add::<B>(input).map(Vec::from),
        "mul_G1" | "msm_G1" => eip2537::g1_msm::<B>(input).map(Vec::from),
        "mul_G2" | "msm_G2" => eip2537::g2_msm::<B>(input).map(Vec::from),
        "pairing_check" => eip2537::pairing_check::<B>(input).map(Vec::from),
        "map_fp_to_G1" => eip2537::map_fp_to_g1::<B>(input).map(Vec::from),
        "map_fp2_to_G2" => eip2537::map_fp2_to_g2::<B>(input).map(Vec::from),
        _ => panic!("no operation is called {operation}"),
    }
}

fn cases(file: &str, count: usize) -> Vec<(String, Vec<u8>, Value)> {
    let file = json(&format!("eip2537/{file}_bls.json"));
    let cases = file.as_array().expect("cases");
    assert_eq!(cases.len(), count);
    let case = |case: &Value| (case["Name"].to_string(), hex(text(&case["Input"])), case.clone());
    cases.iter().map(case).collect()
}

fn vectors<B: Backend>() {
    for (operation, count) in COUNTS {
        for (name, input, case) in cases(operation, count) {
            let expected = hex(text(&case["Expected"]));
            assert_eq!(run::<B>(operation, &input), Ok(expected), "{name}");
        }
    }
}

fn refusals<B: Backend>() {
    for (operation, count) in REFUSED {
        for (name, input, case) in cases(&format!("fail-{operation}"), count) {
            let error = run::<B>(operation, &input).expect_err(&name);
            let expected = match text(&case["ExpectedError"]) {
                "invalid input length" => Error::Length,
                "invalid field element top bytes" => Error::Padding,
                "invalid fp.Element encoding" => Error::NotCanonical,
                message if message.contains("on curve") => Error::NotOnCurve,
                message if message.contains("subgroup") => Error::NotInGroup,
                message => panic!("an unknown message: {message}"),
            };
            assert_eq!(error, expected, "{name}");
        }
    }
}

/// Encodes a point of the curve: padded coordinates, the coefficient of 1 first.
fn encode<B: Backend + Group<G>, G: SourceGroup>(point: &CurvePoint<B, G>) -> Vec<u8> {
    let Some((x, y)) = point.coordinates() else { return vec![0; 128 * G::DEGREE] };
    let integers = [x, y].map(|c| c.as_ref().chunks(48).rev().map(<[u8]>::to_vec).collect());
    let padded = |integer: Vec<u8>| [vec![0; 16], integer].concat();
    integers.into_iter().flat_map(|c: Vec<Vec<u8>>| c).flat_map(padded).collect()
}

/// Sums take any points of the curve; sums of multiples and pairings only members.
fn outside_the_groups<B: Backend>() {
    outside_of::<B, First>(("add_G1", "msm_G1"));
    outside_of::<B, Second>(("add_G2", "msm_G2"));
    let outside = curve_points::<B, First>(1)[0];
    let pair = [encode(&outside), vec![0; 256]].concat();
    assert_eq!(eip2537::pairing_check::<B>(&pair), Err(Error::NotInGroup));
    let outside = curve_points::<B, Second>(1)[0];
    let pair = [vec![0; 128], encode(&outside)].concat();
    assert_eq!(eip2537::pairing_check::<B>(&pair), Err(Error::NotInGroup));
}

fn outside_of<B: Backend + Group<G>, G: SourceGroup>((add, msm): (&str, &str)) {
    let mut points = curve_points::<B, G>(3);
    points.retain(|point| !point.is_member());
    points.extend([CurvePoint::identity(), CurvePoint::from(members::<B, G>(2)[1])]);
    points.push(-points[0]);
    for a in &points {
        for b in &points {
            let input = [encode(a), encode(b)].concat();
            assert_eq!(run::<B>(add, &input), Ok(encode(&(*a + *b))));
        }
    }
    for place in [0, 63, 64, 69] {
        let mut terms = vec![[encode(&points[3]), vec![7; 32]].concat(); 70];
        terms[place] = [encode(&points[0]), vec![0; 32]].concat();
        assert_eq!(run::<B>(msm, &terms.concat()), Err(Error::NotInGroup), "{place}");
    }
}

/// Sums of several pieces, with scalars of r and more.
fn long_sums<B: Backend>() {
    long_sums_of::<B, First>("msm_G1");
    long_sums_of::<B, Second>("msm_G2");
}

fn long_sums_of<B: Backend + Group<G>, G: SourceGroup>(msm: &str) {
    let mut rng = Generator(41);
    for count in [1, 2, 64, 65, 130] {
        let points = members::<B, G>(count.min(9));
        let (mut input, mut expected) = (Vec::new(), Projective::<B, G>::identity());
        for i in 0..count {
            let point = points[i % points.len()];
            let mut scalar = Fr::<B>::random(&mut rng).expect("a sound generator").to_be_bytes();
            if i % 3 == 0 {
                scalar = [0xff; 32];
            }
            input.extend([encode(&CurvePoint::from(point)), scalar.to_vec()].concat());
            let k = Fr::from_be_bytes_wide(&scalar);
            expected += Projective::from(point) * k;
            if i < 2 {
                let integer = BigUint::from_bytes_be(&scalar);
                let multiple = naive_multiple(&CurvePoint::from(point), &integer);
                assert_eq!(multiple, CurvePoint::from(Projective::from(point) * k));
            }
        }
        assert_eq!(run::<B>(msm, &input), Ok(encode(&CurvePoint::from(expected))), "{count}");
    }
}

/// Lengths around the right one, p, padding, and a coordinate of infinity that is not 0.
fn wrong_encodings<B: Backend>() {
    for (operation, count) in COUNTS {
        let (_, input, _) = cases(operation, count).swap_remove(0);
        for length in [0, 1, 31, 63, input.len() - 1, input.len() + 1] {
            let mut wrong = input.clone();
            wrong.resize(length, 0);
            assert_eq!(run::<B>(operation, &wrong), Err(Error::Length), "{operation} {length}");
        }
        let mut padded = input.clone();
        padded[15] = 1;
        assert_eq!(run::<B>(operation, &padded), Err(Error::Padding), "{operation}");
        let mut large = input.clone();
        large[16..64].copy_from_slice(&modulus().to_bytes_be());
        assert_eq!(run::<B>(operation, &large), Err(Error::NotCanonical), "{operation}");
    }
    let mut no_infinity = vec![0; 256];
    no_infinity[63] = 1;
    assert_eq!(eip2537::g1_add::<B>(&no_infinity), Err(Error::NotOnCurve));
}
