//! The traits of the crates `ff` and `pairing` on every backend, compared with the library's own.

use std::fmt::Debug;

use cycloid::bls12_381::backend::FieldConstants;
use cycloid::bls12_381::{Backend, Bls12, Cycloid, Fr, G1, G1Affine, G2, G2Affine, Gt};
use cycloid_blst::Blst;
use ff::{Field, PrimeField, WithSmallOrderMulGroup};
use pairing::{Engine, MillerLoopResult, MultiMillerLoop};

use crate::defaults::Defaults;

/// Returns the constants, roots, inverses and selected values.
fn numbers<B: Backend + FieldConstants>() -> Vec<[u8; 32]> {
    let constants = [
        Fr::<B>::TWO_INV,
        Fr::MULTIPLICATIVE_GENERATOR,
        Fr::ROOT_OF_UNITY,
        Fr::ROOT_OF_UNITY_INV,
        Fr::DELTA,
        <Fr<B> as WithSmallOrderMulGroup<3>>::ZETA,
    ];
    let mut found = constants.to_vec();
    for number in constants.into_iter().chain((0..20).map(Fr::from)) {
        found.extend([Field::sqrt(&number).unwrap_or(Fr::ZERO), Field::square(&number)]);
        found.push(Field::invert(&number).unwrap_or(Fr::ONE));
        found.extend([Fr::sqrt_ratio(&number, &Fr::from(3)).1]);
    }
    found.iter().map(PrimeField::to_repr).collect()
}

/// Returns the pairing of multiples of the generators, computed in three ways.
fn pairings<B: Backend + FieldConstants + Debug>() -> [Gt<B>; 3] {
    let (a, b) = (Fr::<B>::from(123_456_789), -Fr::from(5));
    let (p, q) = (G1Affine::<B>::generator() * a, G2Affine::<B>::generator() * b);
    let (p, q) = (p.to_affine(), q.to_affine());
    let product = Bls12::<B>::pairing(&G1Affine::generator(), &G2Affine::generator()) * (a * b);
    let half = (G1::from(p) * Fr::TWO_INV).to_affine();
    let lines = [q.into(), G2::identity().to_affine().into()];
    let terms = [(&half, &lines[0]), (&p, &lines[1]), (&half, &lines[0])];
    let sum = Bls12::<B>::multi_miller_loop(&terms).final_exponentiation();
    [product, Bls12::<B>::pairing(&p, &q), sum]
}

fn check<B: Backend + FieldConstants + Debug>() {
    assert_eq!(numbers::<B>(), numbers::<Cycloid>());
    let [ours, others] =
        [pairings::<Cycloid>().map(|x| x.to_bytes()), pairings::<B>().map(|x| x.to_bytes())];
    assert_eq!(ours, others);
    assert!(ours.iter().all(|bytes| *bytes == ours[0]));
}

#[test]
fn every_backend_is_an_engine() {
    check::<Blst>();
    check::<Defaults>();
}
