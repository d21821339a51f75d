//! Sums of multiples of prepared points compared with multiplying and adding one by one.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, Error, Fr, PreparedSums, Projective};

use crate::support::{Generator, members, on_every_backend};

on_every_backend!(sums, long_sums, wrong_lengths);

type Prepared<B, G> = PreparedSums<B, G, Vec<Affine<B, G>>, Vec<u64>>;

fn prepare<B: Backend + Group<G>, G: SourceGroup>(
    points: Vec<Affine<B, G>>,
    size: usize,
) -> Prepared<B, G> {
    let table = vec![u64::MAX; Prepared::<B, G>::table_limbs(points.len(), size)];
    PreparedSums::new(points, size, table).expect("whole sums")
}

/// Returns random scalars and edge cases.
fn scalars<B: Backend>(count: usize) -> Vec<Fr<B>> {
    let mut rng = Generator(71);
    let scalar = |i: usize| match i % 7 {
        1 => Fr::ZERO,
        3 => Fr::ONE,
        5 => -Fr::ONE,
        _ => Fr::random(&mut rng).expect("a sound generator"),
    };
    (0..count).map(scalar).collect()
}

/// Returns members with infinity and with equal and opposite points.
fn points<B: Backend + Group<G>, G: SourceGroup>(count: usize) -> Vec<Affine<B, G>> {
    members::<B, G>(11).into_iter().cycle().take(count).collect()
}

fn check<B: Backend + Group<G>, G: SourceGroup>(
    points: Vec<Affine<B, G>>,
    scalars: &[Fr<B>],
    size: usize,
) {
    let multiples: Vec<_> =
        points.iter().zip(scalars).map(|(p, k)| Projective::from(*p) * *k).collect();
    let expected: Vec<Projective<B, G>> =
        multiples.chunks(size).map(|sum| sum.iter().copied().sum()).collect();
    let prepared = prepare(points, size);
    assert_eq!(prepared.sums(), expected.len());
    let mut sums = vec![Projective::generator(); expected.len()];
    let mut scratch = vec![u64::MAX; prepared.scratch_limbs()];
    prepared.compute_vartime(scalars, &mut sums, &mut scratch).expect("equal counts");
    assert_eq!(sums, expected, "{} sums of {size}", sums.len());
}

fn sums<B: Backend>() {
    for (size, count) in [(1, 1), (1, 5), (2, 3), (3, 20), (8, 2), (64, 3), (65, 1)] {
        check::<B, First>(points(size * count), &scalars(size * count), size);
        check::<B, Second>(points(size * count), &scalars(size * count), size);
    }
    check::<B, First>(vec![], &[], 4);
    // Every digit in one bucket, and none at all.
    check::<B, First>(points(40), &[Fr::ONE; 40], 40);
    check::<B, First>(points(40), &[Fr::ZERO; 40], 20);
    check::<B, First>(vec![Affine::identity(); 9], &scalars(9), 9);
    check::<B, Second>(vec![Affine::generator(); 12], &[-Fr::ONE; 12], 6);
}

/// More digits than are folded at a time, in many buckets, and all in a few: scalars whose windows
/// are all equal.
fn long_sums<B: Backend>() {
    check::<B, First>(points(900), &scalars(900), 900);
    let repeated = |byte: u8| Fr::from_bytes_wide(&[byte; 31]);
    let few: Vec<Fr<B>> = (0..1500).map(|i| repeated([0x11, 0x33, 0x55][i % 3])).collect();
    check::<B, First>(points(1500), &few, 1500);
    check::<B, First>(points(1500), &few, 750);
    // More digits in each of a few buckets than are folded at a time.
    check::<B, First>(points(4000), &[repeated(0x11); 4000], 4000);
}

fn wrong_lengths<B: Backend>() {
    let limbs = Prepared::<B, First>::table_limbs(6, 3);
    for size in [0, 4, 7] {
        let outcome = PreparedSums::new(points::<B, First>(6), size, vec![0; 2 * limbs]);
        assert_eq!(outcome.map(|_| ()), Err(Error::Counts { first: 6, other: size }));
    }
    if limbs > 0 {
        let outcome = PreparedSums::new(points::<B, First>(6), 3, vec![0; limbs - 1]);
        let needed = Error::ScratchTooSmall { needed: limbs, given: limbs - 1 };
        assert_eq!(outcome.map(|_| ()), Err(needed));
    }
    let prepared = prepare(points::<B, First>(6), 3);
    let mut scratch = vec![0; prepared.scratch_limbs()];
    let mut compute = |scalars: usize, sums: usize, limbs: usize| {
        let mut sums = vec![Projective::identity(); sums];
        prepared.compute_vartime(&vec![Fr::ONE; scalars], &mut sums, &mut scratch[..limbs])
    };
    let limbs = prepared.scratch_limbs();
    assert_eq!(compute(5, 2, limbs), Err(Error::Counts { first: 6, other: 5 }));
    assert_eq!(compute(6, 3, limbs), Err(Error::Counts { first: 2, other: 3 }));
    if limbs > 0 {
        let needed = Error::ScratchTooSmall { needed: limbs, given: limbs - 1 };
        assert_eq!(compute(6, 2, limbs - 1), Err(needed));
    }
    assert_eq!(compute(6, 2, limbs), Ok(()));
}
