//! Cases for the scalar field.

use std::hint::black_box;

use ark_bls12_381::Fr;
use ark_ff::{AdditiveGroup, Field, LegendreSymbol, PrimeField, batch_inversion};
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};

use super::super::super::Case;
use super::super::super::cases::inputs::MANY;
use super::super::common::{Draw, case, truth};
use super::{bytes, optional, scalar};

pub(super) fn cases() -> Vec<Case> {
    /// A case of one or two elements, drawn like the library's.
    fn of_two<R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(Fr, Fr) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
        let prepare = move || {
            let mut draw = Draw::new();
            let (a, b) = (scalar(&mut draw).square(), scalar(&mut draw));
            move || compute(black_box(a), black_box(b))
        };
        case(name, function, prepare, bytes)
    }
    // Both roots are correct, so the square is compared.
    let squared = |a: &Option<Fr>| optional(&a.map(|a| a.square()));
    let list = |draw: &mut Draw| -> Vec<Fr> { (0..MANY).map(|_| scalar(draw)).collect() };
    vec![
        of_two("add", "Fr::add", |a, b| a + b, bytes),
        of_two("subtract", "Fr::sub", |a, b| a - b, bytes),
        of_two("negate", "Fr::neg", |a, _| -a, bytes),
        of_two("double", "Fr::double", |a, _| a.double(), bytes),
        of_two("multiply", "Fr::mul", |a, b| a * b, bytes),
        of_two("square", "Fr::square", |a, _| a.square(), bytes),
        of_two("invert", "Fr::inverse", |a, _| a.inverse(), optional),
        of_two("invert, public", "Fr::inverse", |a, _| a.inverse(), optional),
        of_two("divide", "Fr::div", |a, b| a / b, bytes),
        of_two("power", "Fr::pow", |a, b| a.pow(b.into_bigint()), bytes),
        of_two("power, public", "Fr::pow", |a, b| a.pow(b.into_bigint()), bytes),
        of_two(
            "Legendre symbol",
            "Fr::legendre",
            |a, _| a.legendre(),
            |symbol| match symbol {
                LegendreSymbol::Zero => vec![0],
                LegendreSymbol::QuadraticResidue => vec![1],
                // −1, as in the library's byte.
                LegendreSymbol::QuadraticNonResidue => vec![255],
            },
        ),
        of_two("square root", "Fr::sqrt", |a, _| a.sqrt(), squared),
        of_two("equality", "Fr::eq", |a, b| a == b, truth),
        of_two(
            "to bytes",
            "Fr::serialize_compressed",
            |a, _| {
                let mut bytes = [0; 32];
                let done = a.serialize_compressed(&mut bytes[..]);
                done.is_ok().then_some(bytes)
            },
            |bytes| bytes.map_or_else(Vec::new, |bytes| bytes.to_vec()),
        ),
        case(
            "from bytes",
            "Fr::deserialize_compressed",
            || {
                let bytes = Draw::new().scalar();
                move || Fr::deserialize_compressed(black_box(&bytes[..])).ok()
            },
            optional,
        ),
        case(
            format!("inner product of {MANY}"),
            "Fr::sum_of_products",
            move || {
                let mut draw = Draw::new();
                let [a, b] = [list(&mut draw), list(&mut draw)].map(|list| {
                    let array: Box<[Fr; MANY]> = list.try_into().expect("the list has this length");
                    array
                });
                move || Fr::sum_of_products(black_box(&a), black_box(&b))
            },
            bytes,
        ),
        case(
            format!("invert, of {MANY}"),
            "batch_inversion",
            move || {
                let mut a = list(&mut Draw::new());
                move || {
                    batch_inversion(black_box(&mut a));
                    a[0]
                }
            },
            // Every run inverts the previous result; this sum is the same either way.
            |a| optional(&a.inverse().map(|b| b + a)),
        )
        .of_several(MANY),
    ]
}
