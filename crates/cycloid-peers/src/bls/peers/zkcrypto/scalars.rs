//! Cases for the scalar field.

use std::hint::black_box;

use bls12_381::Scalar;
use group::ff::{BatchInverter, Field};

use super::super::super::Case;
use super::super::super::cases::inputs::MANY;
use super::super::common::{Draw, case, truth};
use super::{public, scalar, words};

pub(super) fn cases() -> Vec<Case> {
    /// A case of one or two elements, drawn like the library's.
    fn of_two<R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(Scalar, Scalar) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
        let prepare = move || {
            let mut draw = Draw::new();
            let (a, b) = (scalar(&mut draw).square(), scalar(&mut draw));
            move || compute(black_box(a), black_box(b))
        };
        case(name, function, prepare, bytes)
    }
    let bytes = |a: &Scalar| a.to_bytes().to_vec();
    let option = |a: &Option<Scalar>| a.map_or_else(Vec::new, |a| a.to_bytes().to_vec());
    // Both roots are correct, so the square is compared.
    let squared = |a: &Option<Scalar>| a.map_or_else(Vec::new, |a| a.square().to_bytes().to_vec());
    vec![
        of_two("add", "Scalar::add", |a, b| a + b, bytes),
        of_two("subtract", "Scalar::sub", |a, b| a - b, bytes),
        of_two("negate", "Scalar::neg", |a, _| -a, bytes),
        of_two("double", "Scalar::double", |a, _| a.double(), bytes),
        of_two("multiply", "Scalar::mul", |a, b| a * b, bytes),
        of_two("square", "Scalar::square", |a, _| a.square(), bytes),
        of_two("invert", "Scalar::invert", |a, _| a.invert().into_option(), option),
        of_two("invert, public", "Scalar::invert", |a, _| a.invert().into_option(), option),
        of_two("power", "Scalar::pow", |a, b| a.pow(&words(&b)), bytes),
        public(of_two(
            "power, public",
            "Scalar::pow_vartime",
            |a, b| a.pow_vartime(&words(&b)),
            bytes,
        )),
        of_two("square root", "Scalar::sqrt", |a, _| a.sqrt().into_option(), squared),
        of_two("equality", "Scalar::eq", |a, b| a == b, truth),
        of_two("to bytes", "Scalar::to_bytes", |a, _| a.to_bytes(), |bytes| bytes.to_vec()),
        case(
            "from bytes",
            "Scalar::from_bytes",
            || {
                let bytes = Draw::new().scalar();
                move || Scalar::from_bytes(black_box(&bytes)).into_option()
            },
            option,
        ),
        case(
            format!("invert, of {MANY}"),
            "BatchInverter::invert_with_external_scratch",
            || {
                let mut draw = Draw::new();
                let mut a: Vec<Scalar> = (0..MANY).map(|_| scalar(&mut draw)).collect();
                let mut scratch = a.clone();
                move || {
                    BatchInverter::invert_with_external_scratch(black_box(&mut a), &mut scratch);
                    a[0]
                }
            },
            // Every run inverts the previous result; this sum is the same either way.
            |a| a.invert().into_option().map_or_else(Vec::new, |b| (a + b).to_bytes().to_vec()),
        )
        .of_several(MANY),
    ]
}
