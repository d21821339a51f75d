//! Compares two backends: equal inputs must give equal bytes, at edge cases of the arithmetic and
//! at random values.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::signature::{MinPk, MinSig, Scheme, SecretKey, SignatureBackend, Variant};
use cycloid::bls12_381::{
    Affine, Backend, CurvePoint, Domain, Fq12, Fr, G1, G1Affine, G2, Gt, Projective, miller_loop,
    pairing,
};

use crate::multi_scalar;
use crate::support::{
    Generator, curve_points, edge_integers, members, on_pairs_of_backends, scalar,
};

on_pairs_of_backends!(scalars, groups, off_the_group, target, signatures);

fn scalars<A: Backend, B: Backend>() {
    let elements: Vec<(Fr<A>, Fr<B>)> =
        edge_integers().iter().map(|integer| (scalar(integer), scalar(integer))).collect();
    let same = |a: Fr<A>, b: Fr<B>| assert_eq!(a.to_bytes(), b.to_bytes());
    for (i, (a, b)) in elements.iter().enumerate() {
        same(-*a, -*b);
        same(a.double(), b.double());
        same(a.square(), b.square());
        same(a.invert().unwrap_or_default(), b.invert().unwrap_or_default());
        same(a.sqrt_vartime().unwrap_or_default(), b.sqrt_vartime().unwrap_or_default());
        assert_eq!(a.legendre(), b.legendre());
        for (c, d) in &elements[..=i] {
            same(*a + *c, *b + *d);
            same(*a - *c, *b - *d);
            same(*a * *c, *b * *d);
        }
    }
    let (mut a, mut b): (Vec<Fr<A>>, Vec<Fr<B>>) = elements[..128].iter().copied().unzip();
    same(Fr::inner_product(&a, &a).expect("equal"), Fr::inner_product(&b, &b).expect("equal"));
    let domain = Domain::new(128, vec![Fr::ZERO; 64]).expect("a power of two");
    domain.fft(&mut a).expect("the length");
    let domain = Domain::new(128, vec![Fr::ZERO; 64]).expect("a power of two");
    domain.fft(&mut b).expect("the length");
    a.into_iter().zip(b).for_each(|(a, b)| same(a, b));
}

/// Moves a member of one backend to the other.
fn moved<A: Backend + Group<G>, B: Backend + Group<G>, G: SourceGroup>(
    point: &Affine<A, G>,
) -> Affine<B, G> {
    Affine::from_compressed(point.to_compressed().as_ref()).expect("a member")
}

fn groups<A: Backend, B: Backend>() {
    groups_of::<A, B, First>();
    groups_of::<A, B, Second>();
}

fn groups_of<A: Backend + Group<G>, B: Backend + Group<G>, G: SourceGroup>() {
    let same = |a: Projective<A, G>, b: Projective<B, G>| {
        let (a, b) = (a.to_affine(), b.to_affine());
        assert_eq!(a.to_uncompressed().as_ref(), b.to_uncompressed().as_ref());
    };
    same(Projective::generator(), Projective::generator());
    let affine = members::<A, G>(20);
    let others: Vec<Affine<B, G>> = affine.iter().map(moved).collect();
    let points: Vec<(Projective<A, G>, Projective<B, G>)> =
        affine.iter().zip(&others).map(|(a, b)| ((*a).into(), (*b).into())).collect();
    for (i, (a, b)) in points[..6].iter().enumerate() {
        same(a.double(), b.double());
        same(-*a, -*b);
        for (c, d) in &points[..=i] {
            same(*a + *c, *b + *d);
            same(a.add_affine(&c.to_affine()), b.add_affine(&d.to_affine()));
        }
    }
    for (i, integer) in edge_integers().iter().enumerate() {
        let (a, b) = points[i % points.len()];
        let (k, l) = (scalar(integer), scalar(integer));
        same(a * k, b * l);
        same(a.multiply_vartime(&k), b.multiply_vartime(&l));
        same(Projective::multiply_generator(&k), Projective::multiply_generator(&l));
    }
    let integers = edge_integers();
    let (k, l): (Vec<Fr<A>>, Vec<Fr<B>>) =
        integers.iter().map(|integer| (scalar(integer), scalar(integer))).unzip();
    for n in 0..=affine.len() {
        for offset in [0, 31, 70] {
            let (k, l) = (&k[offset..offset + n], &l[offset..offset + n]);
            same(multi_scalar::msm(&affine[..n], k), multi_scalar::msm(&others[..n], l));
        }
    }
    for length in (0..70).chain([255, 256, 1000]) {
        let message = vec![length as u8; length];
        let tag = &message[..length.min(40)];
        same(Projective::hash_to_curve(&message, tag), Projective::hash_to_curve(&message, tag));
        same(
            Projective::encode_to_curve(&message, tag),
            Projective::encode_to_curve(&message, tag),
        );
    }
}

fn off_the_group<A: Backend, B: Backend>() {
    off_of::<A, B, First>();
    off_of::<A, B, Second>();
}

fn off_of<A: Backend + Group<G>, B: Backend + Group<G>, G: SourceGroup>() {
    let bytes = |point: &CurvePoint<A, G>| point.to_uncompressed();
    for point in curve_points::<A, G>(10) {
        let other = CurvePoint::<B, G>::from_uncompressed(bytes(&point).as_ref()).expect("a point");
        assert_eq!(other.to_compressed().as_ref(), point.to_compressed().as_ref());
        assert_eq!(other.is_member(), point.is_member());
        for integer in edge_integers().iter().step_by(9) {
            let integer = integer.to_u64_digits();
            let (a, b) = (point.multiply_vartime(&integer), other.multiply_vartime(&integer));
            assert_eq!(bytes(&a).as_ref(), b.to_uncompressed().as_ref());
        }
    }
    // Every x up to 255 must be on the curve in both backends or in neither.
    for x in 0..=255 {
        let mut encoding = G::COMPRESSED;
        let last = encoding.as_ref().len() - 1;
        encoding.as_mut()[last] = x;
        encoding.as_mut()[0] = 0xa0;
        let a = CurvePoint::<A, G>::from_compressed(encoding.as_ref());
        let b = CurvePoint::<B, G>::from_compressed(encoding.as_ref());
        assert_eq!(
            a.map(|a| bytes(&a).as_ref().to_vec()),
            b.map(|b| b.to_uncompressed().as_ref().to_vec())
        );
    }
}

fn target<A: Backend, B: Backend>() {
    let mut rng = Generator(70);
    let same = |a: Fq12<A>, b: Fq12<B>| assert_eq!(a.to_bytes(), b.to_bytes());
    let mut elements: Vec<Fq12<A>> =
        (0..4).map(|_| Fq12::random(&mut rng).expect("a sound generator")).collect();
    elements.extend([Fq12::zero(), Fq12::one(), -Fq12::one()]);
    let elements: Vec<(Fq12<A>, Fq12<B>)> = elements
        .into_iter()
        .map(|a| (a, Fq12::from_bytes(&a.to_bytes()).expect("an element")))
        .collect();
    for (a, b) in &elements {
        same(a.square(), b.square());
        same(a.conjugate(), b.conjugate());
        same(a.invert().unwrap_or(Fq12::zero()), b.invert().unwrap_or(Fq12::zero()));
        if let (Some(a), Some(b)) = (a.final_exponentiation(), b.final_exponentiation()) {
            same(a.into(), b.into());
        }
        for (c, d) in &elements {
            same(*a + *c, *b + *d);
            same(*a - *c, *b - *d);
            same(*a * *c, *b * *d);
        }
    }
    same(Gt::generator().into(), Gt::generator().into());
    for n in 1..10 {
        let p: Vec<G1Affine<A>> =
            (0..n).map(|_| G1::random(&mut rng).expect("a sound generator").to_affine()).collect();
        let q: Vec<_> = (0..n)
            .map(|_| G2::<A>::random(&mut rng).expect("a sound generator").to_affine())
            .collect();
        let (r, s): (Vec<_>, Vec<_>) =
            (p.iter().map(moved).collect(), q.iter().map(moved).collect());
        let a = miller_loop(&p, &q).expect("equal").final_exponentiation().expect("not 0");
        let b: Gt<B> = miller_loop(&r, &s).expect("equal").final_exponentiation().expect("not 0");
        same(a.into(), b.into());
        same(pairing(&p[0], &q[0]).into(), pairing(&r[0], &s[0]).into());
        let k = Fr::<A>::random(&mut rng).expect("a sound generator");
        let l = Fr::from_bytes(&k.to_bytes()).expect("below r");
        same(a.pow(&k).into(), b.pow(&l).into());
        same(a.pow_vartime(&k).into(), b.pow_vartime(&l).into());
    }
}

fn signatures<A: Backend, B: Backend>() {
    signatures_of::<A, B, MinPk>();
    signatures_of::<A, B, MinSig>();
}

fn signatures_of<A: SignatureBackend<V>, B: SignatureBackend<V>, V: Variant>() {
    for seed in 0..3_u8 {
        let a = SecretKey::<A, V>::key_gen(&[seed; 32], b"info").expect("enough").derive_child(7);
        let b = SecretKey::<B, V>::key_gen(&[seed; 32], b"info").expect("enough").derive_child(7);
        assert_eq!(a.to_bytes(), b.to_bytes());
        let (p, q) = (a.public_key().to_bytes(), b.public_key().to_bytes());
        assert_eq!(p.as_ref(), q.as_ref());
        for scheme in [Scheme::Basic, Scheme::MessageAugmentation, Scheme::ProofOfPossession] {
            let (s, t) = (a.sign(scheme, &[seed]).to_bytes(), b.sign(scheme, &[seed]).to_bytes());
            assert_eq!(s.as_ref(), t.as_ref());
        }
        assert_eq!(
            a.prove_possession().to_bytes().as_ref(),
            b.prove_possession().to_bytes().as_ref()
        );
    }
}
