//! Compares transforms with evaluation of the polynomial.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::{Backend, Domain, Error, Fr, Projective};

use crate::support::{Generator, on_every_backend};

on_every_backend!(scalars, points, wrong_lengths);

fn scalars<B: Backend>() {
    let mut rng = Generator(10);
    for k in 0..=8 {
        let n = 1_usize << k;
        let mut roots = vec![Fr::<B>::ZERO; n / 2];
        let domain = Domain::new(n, &mut roots).expect("a power of two");
        assert_eq!(domain.length(), n);
        let coefficients: Vec<Fr<B>> =
            (0..n).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
        let mut values = coefficients.clone();
        domain.fft(&mut values).expect("the length of the domain");
        let root = Fr::root_of_unity(k).expect("up to 32");
        let mut point = Fr::ONE;
        for value in &values {
            let expected = coefficients.iter().rev().fold(Fr::ZERO, |sum, c| sum * point + *c);
            assert_eq!(*value, expected);
            point *= root;
        }
        domain.inverse_fft(&mut values).expect("the length of the domain");
        assert_eq!(values, coefficients);
    }
    // Long transforms are checked by their inverse and one value.
    let n = 1 << 12;
    let mut roots = vec![Fr::<B>::ZERO; n / 2];
    let domain = Domain::new(n, &mut roots).expect("a power of two");
    let coefficients: Vec<Fr<B>> =
        (0..n).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
    let mut values = coefficients.clone();
    domain.fft(&mut values).expect("the length of the domain");
    assert_eq!(values[0], coefficients.iter().copied().sum());
    domain.inverse_fft(&mut values).expect("the length of the domain");
    assert_eq!(values, coefficients);
}

fn points<B: Backend>() {
    points_of::<B, First>(6);
    points_of::<B, Second>(5);
}

/// The transform of multiples of the generator must match that of the scalars.
fn points_of<B: Backend + Group<G>, G: SourceGroup>(largest: u32) {
    let mut rng = Generator(11);
    for k in 0..=largest {
        let n = 1_usize << k;
        let mut roots = vec![Fr::<B>::ZERO; n / 2];
        let domain = Domain::new(n, &mut roots).expect("a power of two");
        let mut scalars: Vec<Fr<B>> =
            (0..n).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
        scalars[n / 2] = Fr::ZERO;
        let multiple = |k: &Fr<B>| Projective::<B, G>::generator() * *k;
        let start: Vec<_> = scalars.iter().map(multiple).collect();
        let mut points = start.clone();
        domain.fft_points(&mut points).expect("the length of the domain");
        domain.fft(&mut scalars).expect("the length of the domain");
        assert!(scalars.iter().map(multiple).eq(points.iter().copied()));
        domain.inverse_fft_points(&mut points).expect("the length of the domain");
        assert_eq!(points, start);
        // On a coset.
        let shift = Fr::from(7);
        domain.inverse_fft(&mut scalars).expect("the length of the domain");
        domain.coset_fft(&shift, &mut scalars).expect("the length of the domain");
        domain.coset_fft_points(&shift, &mut points).expect("the length of the domain");
        assert!(scalars.iter().map(multiple).eq(points.iter().copied()));
        domain.inverse_coset_fft_points(&shift, &mut points).expect("an invertible shift");
        assert_eq!(points, start);
        let zero = domain.inverse_coset_fft_points(&Fr::ZERO, &mut points);
        assert_eq!(zero, Err(Error::Zero));
    }
}

fn wrong_lengths<B: Backend>() {
    let mut roots = [Fr::<B>::ZERO; 4];
    for length in [0, 3, 6, 1 << 33] {
        assert_eq!(Domain::new(length, &mut roots).map(|_| ()), Err(Error::Domain));
    }
    let counts = Err(Error::Counts { first: 8, other: 4 });
    assert_eq!(Domain::new(16, &mut roots).map(|_| ()), counts);
    // A root that is not primitive.
    let root = Fr::root_of_unity(2).expect("up to 32");
    assert_eq!(Domain::with_root(&root, 8, &mut roots).map(|_| ()), Err(Error::Domain));
    assert_eq!(Domain::with_root(&root, 1, &mut []).map(|_| ()), Err(Error::Domain));
    let root = Fr::root_of_unity(3).expect("up to 32").pow_vartime(&[3]);
    let domain = Domain::with_root(&root, 8, &mut roots).expect("another primitive root");
    for length in [0, 7, 9] {
        let mut values = vec![Fr::ONE; length];
        assert_eq!(domain.fft(&mut values), Err(Error::Domain));
        assert_eq!(domain.inverse_fft(&mut values), Err(Error::Domain));
        let mut points = vec![Projective::<B, First>::identity(); length];
        assert_eq!(domain.fft_points(&mut points), Err(Error::Domain));
        assert_eq!(domain.inverse_fft_points(&mut points), Err(Error::Domain));
        assert_eq!(domain.coset_fft_points(&Fr::ONE, &mut points), Err(Error::Domain));
    }
}
