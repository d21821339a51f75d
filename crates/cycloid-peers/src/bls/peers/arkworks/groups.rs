//! Cases for G1 and G2.

use std::hint::black_box;

use ark_bls12_381::Fr;
use ark_ec::hashing::HashToCurve;
use ark_ec::hashing::curve_maps::wb::{WBConfig, WBMap};
use ark_ec::hashing::map_to_curve_hasher::MapToCurveBasedHasher;
use ark_ec::scalar_mul::BatchMulPreprocessing;
use ark_ec::scalar_mul::wnaf::WnafContext;
use ark_ec::short_weierstrass::{Affine, Projective};
use ark_ec::{CurveGroup, PrimeGroup};
use ark_ff::AdditiveGroup;
use ark_ff::field_hashers::DefaultFieldHasher;
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};
use cycloid::bls12_381::Cycloid;
use cycloid::bls12_381::backend::{Group, SourceGroup};
use sha2_0_10::Sha256;

use super::super::super::Case;
use super::super::super::cases::groups::TAG;
use super::super::super::cases::inputs::{MANY, message};
use super::super::common::{Draw, case, truth};
use super::{affine, bytes, optional, projective, scalar};

const TABLE: &str = "arkworks multiplies the generator with a precomputed table, of the width that it uses for \
    256 scalars, and returns an affine point";

/// Hashing to a curve with SHA-256 and the map of Wahby and Boneh (RFC 9380).
type Hasher<P> = MapToCurveBasedHasher<Projective<P>, DefaultFieldHasher<Sha256>, WBMap<P>>;

/// The window width of a multiplication in bits.
const WINDOW: usize = 4;

/// Multiplies with windows.
pub(super) fn multiply<P: WBConfig>(p: Projective<P>, k: P::ScalarField) -> Projective<P> {
    WnafContext::new(WINDOW).mul(p, &k)
}

/// Returns the cases; `function` names the multiplication.
pub(super) fn cases<P, G>(
    function: &'static str,
    multiply: fn(Projective<P>, Fr) -> Projective<P>,
) -> Vec<Case>
where
    P: WBConfig<ScalarField = Fr>,
    G: SourceGroup,
    Cycloid: Group<G>,
{
    /// A case of two members and a scalar.
    fn of_two<P, G, R: 'static>(
        name: &str,
        function: &'static str,
        compute: impl Fn(Projective<P>, Projective<P>, Fr) -> R + Copy + 'static,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case
    where
        P: WBConfig<ScalarField = Fr>,
        G: SourceGroup,
        Cycloid: Group<G>,
    {
        let prepare = move || {
            let mut draw = Draw::new();
            let (p, q) = (projective::<P, G>(&mut draw), projective::<P, G>(&mut draw));
            let k = scalar(&mut draw);
            move || compute(black_box(p), black_box(q), black_box(k))
        };
        case(name, function, prepare, bytes)
    }
    let many = || -> Vec<Projective<P>> {
        let mut draw = Draw::new();
        (0..MANY).map(|_| projective::<P, G>(&mut draw)).collect()
    };
    vec![
        of_two::<P, G, _>("add", "Projective::add", |p, q, _| p + q, bytes),
        case(
            "add affine",
            "Projective::add",
            || {
                let mut draw = Draw::new();
                let (p, q) = (projective::<P, G>(&mut draw), affine::<P, G>(&mut draw));
                move || black_box(p) + black_box(q)
            },
            bytes,
        ),
        of_two::<P, G, _>("double", "Projective::double", |p, _, _| p.double(), bytes),
        of_two::<P, G, _>("negate", "Projective::neg", |p, _, _| -p, bytes),
        of_two::<P, G, _>("equality", "Projective::eq", |p, q, _| p == q, truth),
        of_two::<P, G, _>("multiply", function, move |p, _, k| multiply(p, k), bytes),
        of_two::<P, G, _>("multiply, public", function, move |p, _, k| multiply(p, k), bytes),
        case(
            "multiply generator",
            "BatchMulPreprocessing::batch_mul",
            || {
                let mut draw = Draw::new();
                // The library draws this scalar after two members.
                let [_, _, k] = std::array::from_fn(|_| scalar(&mut draw));
                let table = BatchMulPreprocessing::new(Projective::<P>::generator(), MANY);
                move || black_box(&table).batch_mul(black_box(&[k]))[0]
            },
            bytes,
        )
        .noted(TABLE),
        case(
            format!("sum of {MANY}, affine"),
            "Projective::sum",
            move || {
                let points = Projective::normalize_batch(&many());
                move || black_box(&points).iter().sum::<Projective<P>>()
            },
            bytes,
        ),
        of_two::<P, G, _>("to affine", "Projective::into_affine", |p, _, _| p.into_affine(), bytes),
        case(
            format!("to affine, of {MANY}"),
            "Projective::normalize_batch",
            move || {
                let points = many();
                move || Projective::normalize_batch(black_box(&points))[0]
            },
            bytes,
        )
        .of_several(MANY),
        case(
            "is a member",
            "Affine::is_in_correct_subgroup_assuming_on_curve",
            || {
                let point = affine::<P, G>(&mut Draw::new());
                move || black_box(&point).is_in_correct_subgroup_assuming_on_curve()
            },
            truth,
        ),
        case(
            "compress",
            "Affine::serialize_compressed",
            || {
                let point = affine::<P, G>(&mut Draw::new());
                move || {
                    // As long as an encoding in G2; in G1 the rest stays empty.
                    let mut bytes = [0; 96];
                    let done = black_box(&point).serialize_compressed(&mut bytes[..]);
                    done.is_ok().then_some(bytes)
                }
            },
            |bytes| {
                let length = Affine::<P>::identity().compressed_size();
                bytes.map_or_else(Vec::new, |bytes| bytes[..length].to_vec())
            },
        ),
        case(
            "decompress",
            "Affine::deserialize_compressed",
            || {
                let bytes = Draw::new().point::<G>();
                move || Affine::<P>::deserialize_compressed(black_box(bytes.as_ref())).ok()
            },
            optional,
        ),
        case(
            "decompress, unchecked",
            "Affine::deserialize_compressed_unchecked",
            || {
                let bytes = Draw::new().point::<G>();
                move || {
                    Affine::<P>::deserialize_compressed_unchecked(black_box(bytes.as_ref())).ok()
                }
            },
            optional,
        ),
        case(
            "hash to curve",
            "MapToCurveBasedHasher::hash",
            || {
                let hasher = Hasher::<P>::new(TAG).ok();
                move || hasher.as_ref().and_then(|hasher| hasher.hash(black_box(message(7))).ok())
            },
            optional,
        ),
    ]
}
