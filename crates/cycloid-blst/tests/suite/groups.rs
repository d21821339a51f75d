//! The group laws of G1 and G2, and multiplication compared with repeated addition.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, CurvePoint, Error, Fr, Projective};

use crate::support::{
    Generator, curve_points, edge_integers, integer, members, naive_multiple, on_every_backend,
    order, scalar,
};

on_every_backend!(laws, multiples, many, generators, members_and_others);

fn laws<B: Backend>() {
    laws_of::<B, First>();
    laws_of::<B, Second>();
}

fn laws_of<B: Backend + Group<G>, G: SourceGroup>() {
    let points: Vec<Projective<B, G>> = members(7).into_iter().map(Projective::from).collect();
    let infinity = Projective::identity();
    assert_eq!(infinity, Projective::default());
    assert!(infinity.is_identity() && infinity.double().is_identity() && (-infinity).is_identity());
    for (i, a) in points.iter().enumerate() {
        assert_eq!(*a + infinity, *a);
        assert_eq!(infinity + *a, *a);
        assert!((*a + -*a).is_identity());
        assert_eq!(*a + *a, a.double());
        assert_eq!(Projective::from(a.to_affine()), *a);
        assert_eq!((-*a).to_affine(), -a.to_affine());
        assert_eq!(a.is_identity(), a.to_affine().is_identity());
        for (j, b) in points.iter().enumerate() {
            assert_eq!(a == b, i == j);
            assert_eq!(a.to_affine() == b.to_affine(), i == j);
            assert_eq!(*a + *b, *b + *a);
            assert_eq!(a.add_affine(&b.to_affine()), *a + *b);
            assert_eq!(*a + b.to_affine(), *a + *b);
            assert_eq!((*a + *b) - *b, *a);
            // The same point in other coordinates.
            assert_eq!((*a + *b).double() - *b - *a, *a + *b);
            for c in &points {
                assert_eq!((*a + *b) + *c, *a + (*b + *c));
            }
        }
    }
    let mut assigned = points[4];
    assigned += points[5];
    assigned -= points[6];
    assigned *= Fr::from(3);
    assert_eq!(assigned, (points[4] + points[5] - points[6]) * Fr::from(3));
    assert_eq!(points.iter().copied().sum::<Projective<B, G>>(), {
        points.iter().fold(infinity, |sum, point| sum + *point)
    });
}

fn multiples<B: Backend>() {
    multiples_of::<B, First>();
    multiples_of::<B, Second>();
}

fn multiples_of<B: Backend + Group<G>, G: SourceGroup>() {
    let point = Projective::<B, G>::random(&mut Generator(3)).expect("a sound generator");
    let any = CurvePoint::from(point);
    for factor in edge_integers().into_iter().filter(|factor| *factor < order()) {
        let k = scalar::<B>(&factor);
        let expected = naive_multiple(&any, &factor);
        assert_eq!(CurvePoint::from(point * k), expected, "{factor}");
        assert_eq!(CurvePoint::from(point.multiply_vartime(&k)), expected, "{factor}");
        assert_eq!(any.multiply_vartime(&factor.to_u64_digits()), expected, "{factor}");
        assert!((Projective::<B, G>::identity() * k).is_identity());
    }
    assert_eq!(
        Projective::<B, G>::multiply_generator(&Fr::from(12345)),
        Projective::generator() * Fr::from(12345)
    );
}

fn many<B: Backend>() {
    many_of::<B, First>();
    many_of::<B, Second>();
}

/// 0 to 17 points cover every remainder modulo 8, and more than a chunk.
fn many_of<B: Backend + Group<G>, G: SourceGroup>() {
    let mut rng = Generator(4);
    let all = members::<B, G>(17);
    let short = [0, 1, 2, u128::from(u64::MAX), u128::from(u64::MAX) + 1, u128::MAX];
    for n in 0..=17 {
        let affine = &all[..n];
        let points: Vec<Projective<B, G>> = affine.iter().map(|p| (*p).into()).collect();
        let factors: Vec<Fr<B>> =
            (0..n).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
        let expected: Vec<_> = points.iter().zip(&factors).map(|(p, k)| *p * *k).collect();
        let mut multiples = points.clone();
        Projective::multiply_many(&mut multiples, &factors).expect("equal lengths");
        assert_eq!(multiples, expected);
        let mut multiples = points.clone();
        Projective::multiply_many_vartime(&mut multiples, &factors).expect("equal lengths");
        assert_eq!(multiples, expected);
        let mut coordinates = vec![Affine::generator(); n];
        Projective::to_affine_many(&multiples, &mut coordinates).expect("equal lengths");
        assert!(expected.iter().map(Projective::to_affine).eq(coordinates));
        assert_eq!(Projective::sum_affine(affine), points.iter().copied().sum());

        let weights: Vec<u128> = (0..n).map(|i| short[i % short.len()]).collect();
        let mut weighted = points.clone();
        <B as Group<G>>::multiply_short_many_vartime(&mut weighted, &weights);
        for ((weighted, point), weight) in weighted.iter().zip(&points).zip(&weights) {
            assert_eq!(*weighted, *point * scalar::<B>(&(*weight).into()));
        }
    }
    // Equal and opposite points in every position.
    for n in 0..40 {
        let equal = vec![all[5]; n];
        let expected = Projective::from(all[5]) * Fr::from(n as u64);
        assert_eq!(Projective::sum_affine(&equal), expected);
        let opposite: Vec<_> = (0..n).map(|i| if i % 2 == 0 { all[5] } else { -all[5] }).collect();
        let rest = if n % 2 == 0 { Affine::identity() } else { all[5] };
        assert_eq!(Projective::sum_affine(&opposite).to_affine(), rest);
    }
    let counts = Err(Error::Counts { first: 1, other: 0 });
    let mut one = [Projective::<B, G>::generator()];
    assert_eq!(Projective::multiply_many(&mut one, &[]), counts);
    assert_eq!(Projective::multiply_many_vartime(&mut one, &[]), counts);
    assert_eq!(Projective::to_affine_many(&one, &mut []), counts);
}

fn generators<B: Backend>() {
    generator_of::<B, First>();
    generator_of::<B, Second>();
}

fn generator_of<B: Backend + Group<G>, G: SourceGroup>() {
    let generator = CurvePoint::from(Affine::<B, G>::generator());
    assert!(generator.is_member() && !generator.is_identity());
    assert!(naive_multiple(&generator, &order()).is_identity());
    assert!(
        Projective::<B, G>::random(&mut Generator(5)).expect("a sound generator")
            != Projective::random(&mut Generator(6)).expect("a sound generator")
    );
}

fn members_and_others<B: Backend>() {
    members_of::<B, First>();
    members_of::<B, Second>();
}

fn members_of<B: Backend + Group<G>, G: SourceGroup>() {
    assert!(CurvePoint::<B, G>::identity().is_member());
    for point in curve_points::<B, G>(12) {
        let expected = naive_multiple(&point, &order()).is_identity();
        assert_eq!(point.is_member(), expected);
        assert_eq!(point.to_member().is_ok(), expected);
        if !expected {
            assert_eq!(point.to_member(), Err(Error::NotInGroup));
        }
    }
    let k = Fr::<B>::random(&mut Generator(7)).expect("a sound generator");
    let multiple = naive_multiple(&CurvePoint::<B, G>::from(Affine::generator()), &integer(&k));
    assert_eq!(multiple.to_member(), Ok((Projective::generator() * k).to_affine()));
}
