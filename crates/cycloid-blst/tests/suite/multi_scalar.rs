//! Multi-scalar multiplication, compared with the sum of single multiples.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, CurvePoint, Error, Fr, Projective};

use crate::support::{
    Generator, curve_points, edge_integers, little_endian, members, naive_multiple,
    on_every_backend, order, scalar,
};

on_every_backend!(every_number_of_points, integers_of_any_size, wrong_lists);

/// Multiplies through the interface, with scratch that is initially filled with data.
pub(crate) fn msm<B: Backend + Group<G>, G: SourceGroup>(
    points: &[Affine<B, G>],
    scalars: &[Fr<B>],
) -> Projective<B, G> {
    let mut scratch = vec![u64::MAX; Projective::<B, G>::multi_scalar_scratch_limbs(points.len())];
    Projective::multi_scalar_multiply_vartime(points, scalars, &mut scratch).expect("enough")
}

pub(crate) fn naive<B: Backend + Group<G>, G: SourceGroup>(
    points: &[Affine<B, G>],
    scalars: &[Fr<B>],
) -> Projective<B, G> {
    points.iter().zip(scalars).map(|(p, k)| Projective::from(*p) * *k).sum()
}

fn every_number_of_points<B: Backend>() {
    numbers_of::<B, First>();
    numbers_of::<B, Second>();
}

/// All numbers up to 40, and some around the thresholds at which backends change their algorithm.
fn numbers_of<B: Backend + Group<G>, G: SourceGroup>() {
    let mut rng = Generator(9);
    let points: Vec<Affine<B, G>> =
        (0..300).map(|_| Affine::random(&mut rng).expect("a sound generator")).collect();
    let scalars: Vec<Fr<B>> =
        (0..300).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
    let multiples: Vec<_> = points.iter().zip(&scalars).map(|(p, k)| naive(&[*p], &[*k])).collect();
    for n in (0..=40).chain([63, 64, 65, 127, 128, 129, 255, 256, 257, 300]) {
        let sum: Projective<B, G> = multiples[..n].iter().copied().sum();
        assert_eq!(msm(&points[..n], &scalars[..n]), sum, "{n}");
    }
}

/// Infinity, equal and opposite points, and the scalars 0, 1, r − 1 and with long runs of bits,
/// mixed. A test of the checklist.
pub(crate) fn edges_of<B: Backend + Group<G>, G: SourceGroup>() {
    let factors: Vec<Fr<B>> =
        edge_integers().iter().filter(|k| **k < order()).map(scalar).collect();
    let special = members::<B, G>(6);
    let counts = [1, 2, 3, 7, 8, 9, 31, 32, 33, 70];
    for n in counts {
        for stride in [1, 5, 7] {
            let points: Vec<_> = (0..n).map(|i| special[i * stride % special.len()]).collect();
            let scalars: Vec<_> = (0..n).map(|i| factors[i * stride % factors.len()]).collect();
            assert_eq!(msm(&points, &scalars), naive(&points, &scalars), "{n}");
        }
    }
    for point in &special {
        // All points in the same bucket, with others that cancel them.
        for factor in [Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::from(16), factors[9]] {
            let multiple = naive(&[*point], &[factor]);
            for n in counts {
                let points: Vec<_> =
                    (0..n).map(|i| if i % 3 == 0 { -*point } else { *point }).collect();
                let expected = (0..n).fold(Projective::identity(), |sum, i| {
                    if i % 3 == 0 { sum - multiple } else { sum + multiple }
                });
                assert_eq!(msm(&points, &vec![factor; n]), expected, "{n}");
            }
        }
    }
}

fn integers_of_any_size<B: Backend>() {
    integers_of::<B, First>();
    integers_of::<B, Second>();
}

fn integers_of<B: Backend + Group<G>, G: SourceGroup>() {
    let integers = edge_integers();
    let integers = &integers[integers.len() - 30..];
    let points = members::<B, G>(9);
    let bytes: Vec<[u8; 32]> = integers.iter().map(little_endian).collect();
    assert!(integers.iter().any(|integer| *integer >= order()));
    for n in [0, 1, 2, 9] {
        let sum = Projective::multi_scalar_multiply_bytes_vartime(&points[..n], &bytes[..n]);
        let scalars: Vec<Fr<B>> = integers[..n].iter().map(scalar).collect();
        assert_eq!(sum, Ok(naive(&points[..n], &scalars)));
    }
    // Outside the group, an integer must not be reduced modulo r.
    let others = curve_points::<B, G>(9);
    for n in [0, 1, 2, 9] {
        let sum = CurvePoint::multi_scalar_multiply_vartime(&others[..n], &bytes[..n]);
        let terms = others[..n].iter().zip(integers).map(|(p, k)| naive_multiple(p, k));
        assert_eq!(sum, Ok(terms.fold(CurvePoint::identity(), |sum, term| sum + term)));
    }
}

fn wrong_lists<B: Backend>() {
    let points = [Affine::<B, First>::generator(); 40];
    let scalars = [Fr::ONE; 40];
    let mut scratch = vec![0; Projective::<B, First>::multi_scalar_scratch_limbs(40)];
    assert_eq!(
        Projective::multi_scalar_multiply_vartime(&points, &scalars[1..], &mut scratch),
        Err(Error::Counts { first: 40, other: 39 })
    );
    let needed = scratch.len();
    if needed > 0 {
        scratch.pop();
        assert_eq!(
            Projective::multi_scalar_multiply_vartime(&points, &scalars, &mut scratch),
            Err(Error::ScratchTooSmall { needed, given: needed - 1 })
        );
    }
    assert_eq!(
        Projective::multi_scalar_multiply_bytes_vartime(&points[..2], &[[0; 32]]),
        Err(Error::Counts { first: 2, other: 1 })
    );
    let others = [CurvePoint::from(points[0]); 2];
    assert_eq!(
        CurvePoint::multi_scalar_multiply_vartime(&others, &[[0; 32]]),
        Err(Error::Counts { first: 2, other: 1 })
    );
}
