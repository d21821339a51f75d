//! Cases for sums of many multiples, and for transforms.

use std::hint::black_box;

use ark_bls12_381::{Fr, G1Projective, g1};
use ark_ec::short_weierstrass::{Projective, SWCurveConfig};
use ark_ec::{CurveGroup, VariableBaseMSM};
use ark_ff::AdditiveGroup;
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Cycloid, First};

use super::super::super::Case;
use super::super::common::{Draw, case};
use super::{bytes, optional, projective, scalar};

pub(super) fn sum<P, G>(log: u32) -> Case
where
    P: SWCurveConfig<ScalarField = Fr>,
    G: SourceGroup,
    Cycloid: Group<G>,
{
    let n = 1_usize << log;
    let prepare = move || {
        let mut draw = Draw::new();
        // The same points as the library's cases: each is the previous one plus a random point.
        let step = projective::<P, G>(&mut draw);
        let first = projective::<P, G>(&mut draw);
        let points = std::iter::successors(Some(first), |point| Some(point.double() + step));
        let points: Vec<Projective<P>> = points.take(n).collect();
        let points = Projective::normalize_batch(&points);
        let scalars: Vec<Fr> = (0..n).map(|_| scalar(&mut draw)).collect();
        move || Projective::<P>::msm_unchecked(black_box(&points), black_box(&scalars))
    };
    let name = format!("{} sum of 2^{log} multiples", G::NAME);
    case(name, "VariableBaseMSM::msm_unchecked", prepare, bytes)
}

/// Returns the domain of a transform of n values.
fn domain(n: usize) -> Option<Radix2EvaluationDomain<Fr>> {
    Radix2EvaluationDomain::new(n)
}

pub(super) fn transform(log: u32) -> Case {
    let n = 1_usize << log;
    let prepare = move || {
        let mut draw = Draw::new();
        let values: Vec<Fr> = (0..n).map(|_| scalar(&mut draw)).collect();
        let mut room = values.clone();
        let domain = domain(n);
        move || {
            room.copy_from_slice(&values);
            domain.map(|domain| domain.fft_in_place(&mut room)).map(|()| room[1])
        }
    };
    let name = format!("Fr transform of 2^{log}");
    case(name, "Radix2EvaluationDomain::fft_in_place", prepare, optional)
}

pub(super) fn transform_points(log: u32) -> Case {
    let n = 1_usize << log;
    let prepare = move || {
        let mut draw = Draw::new();
        let of_draw = projective::<g1::Config, First>;
        let values: Vec<G1Projective> = (0..n).map(|_| of_draw(&mut draw)).collect();
        let mut room = values.clone();
        let domain = domain(n);
        move || {
            room.copy_from_slice(&values);
            domain.map(|domain| domain.fft_in_place(&mut room)).map(|()| room[1])
        }
    };
    let name = format!("G1 transform of 2^{log}");
    case(name, "Radix2EvaluationDomain::fft_in_place", prepare, optional)
}
