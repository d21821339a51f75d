//! Cases for G1 and G2.

use std::hint::black_box;

use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, CurvePoint, Fr, Projective};

use super::super::case::{Case, case};
use super::inputs::{MANY, encoded, encoded_affine, message, rng};

/// The domain separation tag for hashing messages.
pub(in crate::bls) const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

pub(super) fn of<B: Backend + Group<G>, G: SourceGroup>() -> Vec<Case> {
    /// A case of two members and a scalar.
    fn of_two<B: Backend + Group<G>, G: SourceGroup, R: 'static>(
        name: &str,
        function: &'static str,
        compute: impl Fn(Projective<B, G>, Projective<B, G>, Fr<B>) -> R + Copy + 'static,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
        let prepare = move || {
            let mut rng = rng();
            let (p, q) = (
                Projective::random(&mut rng).expect("a sound generator"),
                Projective::random(&mut rng).expect("a sound generator"),
            );
            let k = Fr::random(&mut rng).expect("a sound generator");
            move || compute(black_box(p), black_box(q), black_box(k))
        };
        case(name, function, prepare, bytes)
    }
    let point = encoded::<B, G>;
    let optional =
        |point: &Option<Affine<B, G>>| point.as_ref().map_or_else(Vec::new, encoded_affine);
    let first = |point: &Option<Projective<B, G>>| point.as_ref().map_or_else(Vec::new, encoded);
    let random = || -> Affine<B, G> { Affine::random(&mut rng()).expect("a sound generator") };
    let many = || -> (Vec<Projective<B, G>>, Vec<Fr<B>>) {
        let mut rng = rng();
        let points =
            (0..MANY).map(|_| Projective::random(&mut rng).expect("a sound generator")).collect();
        (points, (0..MANY).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect())
    };
    let affine =
        move || -> Vec<Affine<B, G>> { many().0.iter().map(Projective::to_affine).collect() };
    vec![
        of_two::<B, G, _>("add", "Projective::add", |p, q, _| p + q, point),
        case(
            "add affine",
            "Projective::add_affine",
            || {
                let mut rng = rng();
                let p = Projective::<B, G>::random(&mut rng).expect("a sound generator");
                let q = Affine::random(&mut rng).expect("a sound generator");
                move || black_box(p).add_affine(black_box(&q))
            },
            point,
        ),
        of_two::<B, G, _>("double", "Projective::double", |p, _, _| p.double(), point),
        of_two::<B, G, _>("negate", "Projective::neg", |p, _, _| -p, point),
        of_two::<B, G, _>(
            "equality",
            "Projective::eq",
            |p, q, _| p == q,
            |same| vec![u8::from(*same)],
        ),
        of_two::<B, G, _>("multiply", "Projective::multiply", |p, _, k| p.multiply(&k), point),
        of_two::<B, G, _>(
            "multiply, public",
            "Projective::multiply_vartime",
            |p, _, k| p.multiply_vartime(&k),
            point,
        ),
        of_two::<B, G, _>(
            "multiply generator",
            "Projective::multiply_generator",
            |_, _, k| Projective::multiply_generator(&k),
            point,
        ),
        case(
            format!("multiply, of {MANY}"),
            "Projective::multiply_many",
            move || {
                let (points, scalars) = many();
                let mut room = points.clone();
                move || {
                    room.copy_from_slice(&points);
                    Projective::multiply_many(&mut room, &scalars).is_ok().then(|| room[0])
                }
            },
            first,
        )
        .of_several(MANY),
        case(
            format!("multiply, public, of {MANY}"),
            "Projective::multiply_many_vartime",
            move || {
                let (points, scalars) = many();
                let mut room = points.clone();
                move || {
                    room.copy_from_slice(&points);
                    Projective::multiply_many_vartime(&mut room, &scalars).is_ok().then(|| room[0])
                }
            },
            first,
        )
        .of_several(MANY),
        case(
            format!("sum of {MANY}, affine"),
            "Projective::sum_affine",
            move || {
                let points = affine();
                move || Projective::sum_affine(black_box(&points))
            },
            point,
        ),
        of_two::<B, G, _>(
            "to affine",
            "Projective::to_affine",
            |p, _, _| p.to_affine(),
            encoded_affine,
        ),
        case(
            format!("to affine, of {MANY}"),
            "Projective::to_affine_many",
            move || {
                let points = many().0;
                let mut room = vec![Affine::identity(); MANY];
                move || {
                    let done = Projective::to_affine_many(black_box(&points), &mut room);
                    done.is_ok().then(|| room[0])
                }
            },
            optional,
        )
        .of_several(MANY),
        case(
            "is a member",
            "CurvePoint::is_member",
            move || {
                let point = CurvePoint::from(random());
                move || black_box(&point).is_member()
            },
            |member: &bool| vec![u8::from(*member)],
        )
        .of_public(),
        case(
            "compress",
            "Affine::to_compressed",
            move || {
                let point = random();
                move || black_box(&point).to_compressed()
            },
            |bytes: &G::Compressed| bytes.as_ref().to_vec(),
        )
        .of_public(),
        case(
            "decompress",
            "Affine::from_compressed",
            move || {
                let bytes = random().to_compressed();
                move || Affine::<B, G>::from_compressed(black_box(bytes.as_ref())).ok()
            },
            optional,
        )
        .of_public(),
        case(
            "decompress, unchecked",
            "Affine::from_compressed_unchecked",
            move || {
                let bytes = random().to_compressed();
                move || Affine::<B, G>::from_compressed_unchecked(black_box(bytes.as_ref())).ok()
            },
            optional,
        )
        .of_public(),
        case(
            format!("decompress, of {MANY}"),
            "Affine::from_compressed_many",
            move || {
                let bytes: Vec<_> = affine().iter().map(Affine::to_compressed).collect();
                let mut room = vec![Ok(Affine::<B, G>::identity()); MANY];
                move || {
                    let done = Affine::from_compressed_many(black_box(&bytes), &mut room);
                    done.and(room[0]).ok()
                }
            },
            optional,
        )
        .of_public()
        .of_several(MANY),
        case(
            "hash to curve",
            "Projective::hash_to_curve",
            || || Projective::<B, G>::hash_to_curve(black_box(message(7)), TAG),
            point,
        )
        .of_public(),
        case(
            "encode to curve",
            "Projective::encode_to_curve",
            || || Projective::<B, G>::encode_to_curve(black_box(message(7)), TAG),
            point,
        )
        .of_public(),
        case(
            format!("hash to curve, of {MANY}"),
            "Projective::hash_to_curve_many",
            || {
                let messages: Vec<&[u8]> = (0..MANY).map(message).collect();
                let mut room = vec![Projective::<B, G>::identity(); MANY];
                move || {
                    let done = Projective::hash_to_curve_many(&messages, TAG, &mut room);
                    done.is_ok().then(|| room[0])
                }
            },
            first,
        )
        .of_public()
        .of_several(MANY),
    ]
}
