//! Cases for G1 and G2, through the traits of the crate `group`.

use std::hint::black_box;

use bls12_381::Scalar;
use cycloid::bls12_381::Cycloid;
use cycloid::bls12_381::backend::{Group, SourceGroup};
use group::prime::{PrimeCurve, PrimeCurveAffine};
use group::{GroupEncoding, Wnaf, WnafGroup};

use super::super::super::Case;
use super::super::super::cases::inputs::MANY;
use super::super::common::{Draw, case, truth};
use super::{affine, encoding, public, scalar};

pub(super) fn cases<C, G>(is_member: fn(&C::Affine) -> bool) -> Vec<Case>
where
    C: PrimeCurve<Scalar = Scalar> + WnafGroup,
    G: SourceGroup,
    Cycloid: Group<G>,
{
    /// A case of two members and a scalar.
    fn of_two<C, G, R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(C, C, Scalar) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case
    where
        C: PrimeCurve<Scalar = Scalar> + WnafGroup,
        G: SourceGroup,
        Cycloid: Group<G>,
    {
        let prepare = move || {
            let mut draw = Draw::new();
            let (p, q) = (projective::<C, G>(&mut draw), projective::<C, G>(&mut draw));
            let k = scalar(&mut draw);
            move || compute(black_box(p), black_box(q), black_box(k))
        };
        case(name, function, prepare, bytes)
    }
    let point = |p: &C| p.to_affine().to_bytes().as_ref().to_vec();
    let of_affine = |p: &C::Affine| p.to_bytes().as_ref().to_vec();
    let optional = |p: &Option<C::Affine>| {
        p.as_ref().map_or_else(Vec::new, |p| p.to_bytes().as_ref().to_vec())
    };
    vec![
        of_two::<C, G, _>("add", "Projective::add", |p, q, _| p + q, point),
        case(
            "add affine",
            "Projective::add_mixed",
            || {
                let mut draw = Draw::new();
                let p = projective::<C, G>(&mut draw);
                let q: C::Affine = affine::<_, G>(&mut draw);
                move || black_box(p) + black_box(&q)
            },
            point,
        ),
        of_two::<C, G, _>("double", "Projective::double", |p, _, _| p.double(), point),
        of_two::<C, G, _>("negate", "Projective::neg", |p, _, _| -p, point),
        of_two::<C, G, _>("equality", "Projective::eq", |p, q, _| p == q, truth),
        of_two::<C, G, _>("multiply", "Projective::mul", |p, _, k| p * k, point),
        public(of_two::<C, G, _>(
            "multiply, public",
            "Wnaf::base",
            |p, _, k| Wnaf::new().scalar(&k).base(p),
            point,
        )),
        of_two::<C, G, _>(
            "multiply generator",
            "Projective::mul",
            |_, _, k| C::generator() * k,
            point,
        ),
        of_two::<C, G, _>("to affine", "Affine::from", |p, _, _| p.to_affine(), of_affine),
        case(
            format!("to affine, of {MANY}"),
            "Projective::batch_normalize",
            || {
                let mut draw = Draw::new();
                let points: Vec<C> = (0..MANY).map(|_| projective::<C, G>(&mut draw)).collect();
                let mut room = vec![C::Affine::identity(); MANY];
                move || {
                    C::batch_normalize(black_box(&points), &mut room);
                    room[0]
                }
            },
            of_affine,
        )
        .of_several(MANY),
        case(
            "is a member",
            "Affine::is_torsion_free",
            move || {
                let point: C::Affine = affine::<_, G>(&mut Draw::new());
                move || is_member(black_box(&point))
            },
            truth,
        ),
        case(
            "compress",
            "Affine::to_compressed",
            || {
                let point: C::Affine = affine::<_, G>(&mut Draw::new());
                move || black_box(&point).to_bytes()
            },
            |bytes| bytes.as_ref().to_vec(),
        ),
        case(
            "decompress",
            "Affine::from_compressed",
            || {
                let bytes = encoding::<C::Affine, G>(&mut Draw::new());
                move || C::Affine::from_bytes(black_box(&bytes)).into_option()
            },
            optional,
        ),
        case(
            "decompress, unchecked",
            "Affine::from_compressed_unchecked",
            || {
                let bytes = encoding::<C::Affine, G>(&mut Draw::new());
                move || C::Affine::from_bytes_unchecked(black_box(&bytes)).into_option()
            },
            optional,
        ),
    ]
}

/// Draws the next random member with a third coordinate other than 1, as the library's have.
fn projective<C: PrimeCurve, G: SourceGroup>(draw: &mut Draw) -> C
where
    Cycloid: Group<G>,
{
    let point: C::Affine = affine::<_, G>(draw);
    C::generator().double() + point - C::generator().double()
}
