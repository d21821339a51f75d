//! Cases for the scalar field.

use std::hint::black_box;

use cycloid::bls12_381::{Backend, Fr};

use super::super::case::{Case, case};
use super::inputs::{MANY, rng};

pub(super) fn of<B: Backend>() -> Vec<Case> {
    /// A case of one or two elements.
    fn unary<B: Backend, R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(Fr<B>, Fr<B>) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
        let prepare = move || {
            let mut rng = rng();
            // A square, so that it has a root.
            let (a, b) = (
                Fr::random(&mut rng).expect("a sound generator").square(),
                Fr::random(&mut rng).expect("a sound generator"),
            );
            move || compute(black_box(a), black_box(b))
        };
        case(name, function, prepare, bytes)
    }
    let bytes = |a: &Fr<B>| a.to_bytes().to_vec();
    let option = |a: &Option<Fr<B>>| a.map_or_else(Vec::new, |a| a.to_bytes().to_vec());
    // Both roots are correct, so the square is compared.
    let squared = |a: &Option<Fr<B>>| a.map_or_else(Vec::new, |a| a.square().to_bytes().to_vec());
    let list = || -> (Vec<Fr<B>>, Vec<Fr<B>>) {
        let mut rng = rng();
        let mut random =
            || (0..MANY).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
        (random(), random())
    };
    vec![
        unary("add", "Fr::add", |a, b| a + b, bytes),
        unary("subtract", "Fr::sub", |a, b| a - b, bytes),
        unary("negate", "Fr::neg", |a, _| -a, bytes),
        unary("double", "Fr::double", |a, _| a.double(), bytes),
        unary("multiply", "Fr::mul", |a, b| a * b, bytes),
        unary("square", "Fr::square", |a, _| a.square(), bytes),
        unary("invert", "Fr::invert", |a, _| a.invert(), option),
        unary("invert, public", "Fr::invert_vartime", |a, _| a.invert_vartime(), option),
        unary("divide", "Fr::divide", |a, b| a.divide(&b), option),
        unary("power", "Fr::pow", |a, b| a.pow(&b.to_integer()), bytes),
        unary("power, public", "Fr::pow_vartime", |a, b| a.pow_vartime(&b.to_integer()), bytes),
        unary("Legendre symbol", "Fr::legendre", |a: Fr<B>, _| a.legendre(), |s| vec![*s as u8]),
        unary("square root", "Fr::sqrt_vartime", |a, _| a.sqrt_vartime(), squared),
        unary("equality", "Fr::eq", |a: Fr<B>, b| a == b, |same| vec![u8::from(*same)]),
        unary("to bytes", "Fr::to_bytes", |a: Fr<B>, _| a.to_bytes(), |bytes| bytes.to_vec()),
        case(
            "from bytes",
            "Fr::from_bytes",
            || {
                let bytes = Fr::<B>::random(&mut rng()).expect("a sound generator").to_bytes();
                move || Fr::<B>::from_bytes(black_box(&bytes)).ok()
            },
            option,
        ),
        case(
            format!("inner product of {MANY}"),
            "Fr::inner_product",
            move || {
                let (a, b) = list();
                move || Fr::inner_product(black_box(&a), black_box(&b)).ok()
            },
            option,
        ),
        case(
            format!("invert, of {MANY}"),
            "Fr::invert_many",
            move || {
                let (mut a, mut scratch) = list();
                move || {
                    let done = Fr::invert_many(black_box(&mut a), &mut scratch);
                    done.ok().map(|()| a[0])
                }
            },
            // Every run inverts the previous result; this sum is the same either way.
            move |a: &Option<Fr<B>>| option(&a.and_then(|a| Some(a + a.invert_vartime()?))),
        )
        .of_several(MANY)
        .with_scratch(MANY * size_of::<Fr<B>>()),
    ]
}
