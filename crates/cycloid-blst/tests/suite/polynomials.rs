//! Polynomials compared with sums of powers.

use cycloid::bls12_381::{Backend, Domain, Error, Fr, bit_reversal_permutation, polynomial};

use crate::support::{Generator, on_every_backend};

on_every_backend!(division, products, roots, interpolation, by_values, wrong_lengths, bit_reversal);

fn random<B: Backend>(count: usize, seed: u64) -> Vec<Fr<B>> {
    let mut rng = Generator(seed);
    (0..count).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect()
}

/// Returns polynomials of several lengths: 0 in several forms, constants, and random ones.
fn polynomials<B: Backend>() -> Vec<Vec<Fr<B>>> {
    let mut all = vec![vec![], vec![Fr::ZERO], vec![Fr::ZERO; 5], vec![Fr::ONE]];
    all.extend([1, 2, 3, 7, 16, 33].map(|count| random(count, 60 + count as u64)));
    // The highest coefficients are 0.
    let mut low = random(6, 61);
    low[3..].fill(Fr::ZERO);
    all.push(low);
    all
}

/// The model: the sum of the coefficients times powers of z.
fn value<B: Backend>(coefficients: &[Fr<B>], z: &Fr<B>) -> Fr<B> {
    let power = |i: usize| z.pow_vartime(&[i as u64]);
    coefficients.iter().enumerate().map(|(i, coefficient)| *coefficient * power(i)).sum()
}

fn division<B: Backend>() {
    for coefficients in polynomials::<B>() {
        for z in [Fr::ZERO, Fr::ONE, -Fr::ONE, random(1, 62)[0]] {
            let expected = value(&coefficients, &z);
            assert_eq!(polynomial::evaluate(&coefficients, &z), expected);
            let mut quotient = coefficients.clone();
            assert_eq!(polynomial::divide_by_linear(&mut quotient, &z), expected);
            // quotient·(X − z) + remainder, coefficient by coefficient.
            assert_eq!(quotient.last().copied().unwrap_or(Fr::ZERO), Fr::ZERO);
            for (i, coefficient) in coefficients.iter().enumerate() {
                let before = if i == 0 { expected } else { quotient[i - 1] };
                assert_eq!(before - z * quotient[i], *coefficient);
            }
        }
    }
}

fn products<B: Backend>() {
    let z = random::<B>(1, 63)[0];
    for a in polynomials::<B>() {
        for b in polynomials::<B>() {
            let mut product = vec![Fr::ONE; (a.len() + b.len()).saturating_sub(1)];
            if a.is_empty() || b.is_empty() {
                product.clear();
            }
            polynomial::multiply(&a, &b, &mut product).expect("the length of the product");
            assert_eq!(value(&product, &z), value(&a, &z) * value(&b, &z));
            // By transforms.
            let n = (a.len() + b.len()).max(1).next_power_of_two();
            let domain = Domain::new(n, vec![Fr::<B>::ZERO; n / 2]).expect("a power of two");
            let (mut a, mut b) = (a.clone(), b.clone());
            a.resize(n, Fr::ZERO);
            b.resize(n, Fr::ZERO);
            product.resize(n, Fr::ZERO);
            domain.multiply(&mut a, &mut b).expect("the length of the domain");
            assert_eq!(a, product);
        }
    }
}

fn roots<B: Backend>() {
    for count in [0, 1, 2, 9] {
        let roots = random::<B>(count, 64);
        let mut coefficients = vec![Fr::ZERO; count + 1];
        polynomial::from_roots(&roots, &mut coefficients).expect("the length of the product");
        let z = random(1, 65)[0];
        let expected = roots.iter().fold(Fr::ONE, |product, root| product * (z - *root));
        assert_eq!(value(&coefficients, &z), expected);
        assert_eq!(coefficients[count], Fr::ONE);
    }
}

fn interpolation<B: Backend>() {
    for count in [0, 1, 2, 3, 8, 21] {
        let points = random::<B>(count, 66);
        let mut values = random::<B>(count, 67);
        let expected = values.clone();
        let mut scratch = vec![Fr::ONE; 2 * count];
        polynomial::interpolate(&points, &mut values, &mut scratch).expect("distinct points");
        assert!(scratch.iter().all(Fr::is_zero));
        for (point, expected) in points.iter().zip(&expected) {
            assert_eq!(value(&values, point), *expected);
        }
    }
    // Equal points next to each other and apart, one of them 0.
    for pair in [[0, 1], [0, 4], [2, 3]] {
        let mut points = random::<B>(5, 68);
        points[pair[0]] = Fr::ZERO;
        points[pair[1]] = Fr::ZERO;
        let outcome = polynomial::interpolate(&points, &mut [Fr::ONE; 5], &mut [Fr::ONE; 10]);
        assert_eq!(outcome, Err(Error::SamePoint));
    }
}

/// Evaluation by values on the roots of unity, also at the roots themselves, and on cosets.
fn by_values<B: Backend>() {
    for k in 0..=7 {
        let n = 1_usize << k;
        let domain = Domain::new(n, vec![Fr::<B>::ZERO; n / 2]).expect("a power of two");
        let root = Fr::root_of_unity(k).expect("up to 32");
        for coefficients in [random(n, 69), vec![Fr::ZERO; n]] {
            let mut values = coefficients.clone();
            domain.fft(&mut values).expect("the length of the domain");
            let others = random::<B>(2, 70);
            for z in [Fr::ZERO, Fr::ONE, root, root.pow_vartime(&[n as u64 / 2 + 1]), others[0]] {
                let found = domain.evaluate(&mut values.clone(), &z);
                assert_eq!(found, Ok(value(&coefficients, &z)), "{n}");
            }
            for shift in [Fr::ONE, others[0], others[1]] {
                let mut on_coset = coefficients.clone();
                domain.coset_fft(&shift, &mut on_coset).expect("the length of the domain");
                for (i, found) in on_coset.iter().enumerate() {
                    let z = shift * root.pow_vartime(&[i as u64]);
                    assert_eq!(*found, value(&coefficients, &z));
                }
                domain.inverse_coset_fft(&shift, &mut on_coset).expect("an invertible shift");
                assert_eq!(on_coset, coefficients);
            }
        }
    }
}

fn wrong_lengths<B: Backend>() {
    let ones = [Fr::<B>::ONE; 8];
    let counts = |first, other| Err(Error::Counts { first, other });
    assert_eq!(polynomial::multiply(&ones, &ones, &mut [Fr::ONE; 14]), counts(15, 14));
    assert_eq!(polynomial::multiply(&ones, &[], &mut [Fr::ONE; 7]), counts(0, 7));
    assert_eq!(polynomial::from_roots(&ones, &mut [Fr::ONE; 8]), counts(9, 8));
    let interpolate = |values: usize, scratch: usize| {
        polynomial::interpolate(&ones, &mut vec![Fr::ONE; values], &mut vec![Fr::ONE; scratch])
    };
    assert_eq!(interpolate(7, 16), counts(8, 7));
    assert_eq!(interpolate(8, 15), counts(16, 15));
    let domain = Domain::new(8, [Fr::<B>::ZERO; 4]).expect("a power of two");
    for length in [0, 7, 9, 16] {
        let wrong = || vec![Fr::ONE; length];
        assert_eq!(domain.evaluate(&mut wrong(), &Fr::ONE), Err(Error::Domain));
        assert_eq!(domain.coset_fft(&Fr::ONE, &mut wrong()), Err(Error::Domain));
        assert_eq!(domain.inverse_coset_fft(&Fr::ONE, &mut wrong()), Err(Error::Domain));
        assert_eq!(domain.multiply(&mut wrong(), &mut [Fr::ONE; 8]), Err(Error::Domain));
        assert_eq!(domain.multiply(&mut [Fr::ONE; 8], &mut wrong()), Err(Error::Domain));
    }
    assert_eq!(domain.inverse_coset_fft(&Fr::ZERO, &mut [Fr::ONE; 8]), Err(Error::Zero));
}

fn bit_reversal<B: Backend>() {
    let mut numbers: Vec<usize> = (0..8).collect();
    bit_reversal_permutation(&mut numbers).expect("a power of two");
    assert_eq!(numbers, [0, 4, 2, 6, 1, 5, 3, 7]);
    bit_reversal_permutation(&mut [B::NAME]).expect("a power of two");
    assert_eq!(bit_reversal_permutation(&mut numbers[..3]), Err(Error::Domain));
    assert_eq!(bit_reversal_permutation(&mut numbers[..0]), Err(Error::Domain));
}
