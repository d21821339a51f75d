//! Cases for sums of many multiples, and for transforms.

use std::hint::black_box;

use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, Domain, Fr, G1, Projective};

use super::super::case::{Case, case};
use super::inputs::{encoded, rng};

/// Returns the name of the case of 2^`log` multiples.
pub(in crate::bls) fn sum_name<G: SourceGroup>(log: u32) -> String {
    format!("{} sum of 2^{log} multiples", G::NAME)
}

/// Returns 2^`log` points and scalars.
pub(in crate::bls) fn sum_inputs<B: Backend + Group<G>, G: SourceGroup>(
    log: u32,
) -> (Vec<Affine<B, G>>, Vec<Fr<B>>) {
    let n = 1_usize << log;
    let mut rng = rng();
    // Each point is twice the previous one plus a random point: random multiples would take long.
    let step = Projective::<B, G>::random(&mut rng).expect("a sound generator");
    let first = Projective::random(&mut rng).expect("a sound generator");
    let points = std::iter::successors(Some(first), |point| Some(point.double() + step));
    let points: Vec<_> = points.take(n).collect();
    let mut affine = vec![Affine::identity(); n];
    let _ = Projective::to_affine_many(&points, &mut affine);
    (affine, (0..n).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect())
}

pub(super) fn sum<B: Backend + Group<G>, G: SourceGroup>(log: u32) -> Case {
    let scratch = Projective::<B, G>::multi_scalar_scratch_limbs(1 << log);
    let prepare = move || {
        let (affine, scalars) = sum_inputs::<B, G>(log);
        let mut scratch = vec![0; scratch];
        move || {
            Projective::multi_scalar_multiply_vartime(
                black_box(&affine),
                black_box(&scalars),
                &mut scratch,
            )
            .ok()
        }
    };
    let bytes = |sum: &Option<Projective<B, G>>| sum.as_ref().map_or_else(Vec::new, encoded);
    case(sum_name::<G>(log), "Projective::multi_scalar_multiply_vartime", prepare, bytes)
        .of_size(format!("{} sum of multiples", G::NAME), log)
        .with_scratch(scratch * size_of::<u64>())
}

pub(super) fn transform<B: Backend>(log: u32) -> Case {
    let n = 1_usize << log;
    let prepare = move || {
        let mut rng = rng();
        let values: Vec<Fr<B>> =
            (0..n).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
        let mut room = values.clone();
        let domain = Domain::new(n, vec![Fr::ZERO; n / 2]);
        move || {
            room.copy_from_slice(&values);
            let done = domain.as_ref().map(|domain| domain.fft(&mut room));
            matches!(done, Ok(Ok(()))).then(|| room[1])
        }
    };
    let bytes = |value: &Option<Fr<B>>| value.map_or_else(Vec::new, |v| v.to_bytes().to_vec());
    case(format!("Fr transform of 2^{log}"), "Domain::fft", prepare, bytes)
        .of_size("Fr transform", log)
        .with_scratch(n / 2 * size_of::<Fr<B>>())
}

pub(super) fn transform_points<B: Backend>(log: u32) -> Case {
    let n = 1_usize << log;
    let prepare = move || {
        let mut rng = rng();
        let values: Vec<G1<B>> =
            (0..n).map(|_| G1::random(&mut rng).expect("a sound generator")).collect();
        let mut room = values.clone();
        let domain = Domain::new(n, vec![Fr::ZERO; n / 2]);
        move || {
            room.copy_from_slice(&values);
            let done = domain.as_ref().map(|domain| domain.fft_points(&mut room));
            matches!(done, Ok(Ok(()))).then(|| room[1])
        }
    };
    let bytes = |value: &Option<G1<B>>| value.as_ref().map_or_else(Vec::new, encoded);
    case(format!("G1 transform of 2^{log}"), "Domain::fft_points", prepare, bytes)
        .of_size("G1 transform", log)
        .of_public()
        .with_scratch(n / 2 * size_of::<Fr<B>>())
}
