//! The laws of the pairing, the field laws of Fq12, and GT.

use cycloid::bls12_381::{
    Backend, Error, Fq12, Fr, G1, G1Affine, G2, G2Affine, G2Prepared, Gt, PairingProduct,
    miller_loop, miller_loop_prepared, multi_pairing, pairing, pairing_check,
};
use num_bigint::BigUint;

use crate::support::{Generator, edge_integers, hex, modulus, on_every_backend, order, scalar};

on_every_backend!(
    field_laws,
    the_tower,
    field_encodings,
    final_exponentiation_is_a_power,
    membership,
    members_are_encoded,
    powers_of_members,
    products_of_powers,
    merged_products,
    generators,
    bilinear,
    infinity_gives_one,
    any_number_of_pairs,
);

fn elements<B: Backend>() -> Vec<Fq12<B>> {
    let mut rng = Generator(12);
    let mut elements = vec![Fq12::zero(), Fq12::one(), -Fq12::one()];
    // Every coefficient is p − 1.
    let largest: Vec<u8> = (modulus() - 1_u32).to_bytes_le().repeat(12);
    elements.push(Fq12::from_bytes(&largest).expect("below p"));
    elements.extend((0..4).map(|_| Fq12::random(&mut rng).expect("a sound generator")));
    elements
}

fn field_laws<B: Backend>() {
    let elements = elements::<B>();
    for a in &elements {
        assert_eq!(*a + Fq12::zero(), *a);
        assert_eq!(*a * Fq12::one(), *a);
        assert!((*a + -*a).is_zero());
        assert_eq!(a.square(), *a * *a);
        assert_eq!(a.conjugate().conjugate(), *a);
        match a.invert() {
            Some(inverse) => assert!((inverse * *a).is_one()),
            None => assert!(a.is_zero()),
        }
        assert_eq!(a.pow_vartime(&[5]), a.square().square() * *a);
        for b in &elements {
            assert_eq!(*a * *b, *b * *a);
            assert_eq!((*a + *b) - *b, *a);
            assert_eq!((*a * *b).conjugate(), a.conjugate() * b.conjugate());
            for c in &elements {
                assert_eq!((*a + *b) * *c, *a * *c + *b * *c);
                assert_eq!((*a * *b) * *c, *a * (*b * *c));
            }
        }
    }
}

/// Returns the element whose i-th coefficient is 1.
fn basis<B: Backend>(i: usize) -> Fq12<B> {
    let mut bytes = [0; 576];
    bytes[48 * i] = 1;
    Fq12::from_bytes(&bytes).expect("below p")
}

/// Checks u² = −1, v³ = u + 1, w² = v, and the order of the coefficients.
fn the_tower<B: Backend>() {
    let (one, u, v, w) = (basis::<B>(0), basis(1), basis(2), basis(6));
    assert!(one.is_one());
    assert_eq!(u.square(), -one);
    assert_eq!(v.square() * v, u + one);
    assert_eq!(w.square(), v);
    for i in 0..12 {
        let product = [one, w][i / 6] * [one, v, v.square()][i % 6 / 2] * [one, u][i % 2];
        assert_eq!(basis(i), product);
    }
    assert_eq!(w.conjugate(), -w);
    assert_eq!(v.conjugate(), v);
}

fn field_encodings<B: Backend>() {
    for element in elements::<B>() {
        assert_eq!(Fq12::from_bytes(&element.to_bytes()), Ok(element));
    }
    for given in [0, 575, 577] {
        let error = Err(Error::Length { needed: 576, given });
        assert_eq!(Fq12::<B>::from_bytes(&vec![0; given]), error);
    }
    for i in 0..12 {
        for too_large in [modulus(), modulus() + 1_u32, (BigUint::from(1_u32) << 384_u32) - 1_u32] {
            let mut bytes = [0; 576];
            bytes[48 * i..][..48].copy_from_slice(&too_large.to_bytes_le());
            assert_eq!(Fq12::<B>::from_bytes(&bytes), Err(Error::NotCanonical));
        }
    }
}

fn final_exponentiation_is_a_power<B: Backend>() {
    assert_eq!(Fq12::<B>::zero().final_exponentiation(), None);
    let exponent = (modulus().pow(12) - 1_u32) / order();
    assert_eq!(&exponent * order(), modulus().pow(12) - 1_u32);
    let exponent = (exponent * 3_u32).to_u64_digits();
    for element in elements::<B>().into_iter().filter(|element| !element.is_zero()) {
        let member = element.final_exponentiation().expect("not 0");
        assert_eq!(Fq12::from(member), element.pow_vartime(&exponent));
        assert!(Fq12::from(member).is_in_gt());
    }
}

fn membership<B: Backend>() {
    assert!(Fq12::<B>::one().is_in_gt());
    let member = Gt::<B>::random(&mut Generator(13)).expect("a sound generator");
    assert!(Fq12::from(member).is_in_gt());
    assert!(Fq12::from(member).pow_vartime(&order().to_u64_digits()).is_one());
    for element in elements::<B>().into_iter().filter(|element| !element.is_one()) {
        assert!(!element.is_in_gt());
        assert_eq!(Gt::try_from(element), Err(Error::NotInGroup));
        assert_eq!(Gt::<B>::from_bytes(&element.to_bytes()), Err(Error::NotInGroup));
        if element.is_zero() {
            continue;
        }
        // In the cyclotomic subgroup, because of the easy part of the exponentiation, but not of
        // order r.
        let first = element.conjugate() * element.invert().expect("not 0");
        assert!(!first.is_in_gt() || first.is_one());
        let second = first.pow_vartime(&modulus().pow(2).to_u64_digits()) * first;
        assert!(!second.is_in_gt() || second.is_one());
        assert!(!(second * Fq12::from(member)).is_in_gt() || second.is_one());
    }
}

fn members_are_encoded<B: Backend>() {
    let mut rng = Generator(14);
    for member in
        [Gt::<B>::one(), Gt::generator(), Gt::random(&mut rng).expect("a sound generator")]
    {
        assert_eq!(Gt::from_bytes(&member.to_bytes()), Ok(member));
        assert_eq!(member.to_bytes(), Fq12::from(member).to_bytes());
    }
    assert_eq!(Gt::<B>::from_bytes(&[0; 576]), Err(Error::NotInGroup), "0");
    let error = Error::Length { needed: 576, given: 1 };
    assert_eq!(Gt::<B>::from_bytes(&[1]), Err(error));
}

fn powers_of_members<B: Backend>() {
    let member = Gt::<B>::generator();
    assert!(!member.is_one());
    assert_eq!(member.square(), member * member);
    assert!((member * member.invert()).is_one());
    assert_eq!(member.square() / member, member);
    for integer in edge_integers().into_iter().filter(|i| *i < order()).step_by(3) {
        let k = scalar::<B>(&integer);
        let expected = Fq12::from(member).pow_vartime(&integer.to_u64_digits());
        assert_eq!(Fq12::from(member.pow(&k)), expected, "{integer}");
        assert_eq!(member.pow_vartime(&k), member.pow(&k));
    }
}

/// e(G1, G2) of draft-irtf-cfrg-pairing-friendly-curves-11, appendix B, BLS12_381, e_0 to e_11.
const OF_GENERATORS: [&str; 12] = [
    "11619b45f61edfe3b47a15fac19442526ff489dcda25e59121d9931438907dfd448299a87dde3a649bdba96e84d54558",
    "153ce14a76a53e205ba8f275ef1137c56a566f638b52d34ba3bf3bf22f277d70f76316218c0dfd583a394b8448d2be7f",
    "095668fb4a02fe930ed44767834c915b283b1c6ca98c047bd4c272e9ac3f3ba6ff0b05a93e59c71fba77bce995f04692",
    "16deedaa683124fe7260085184d88f7d036b86f53bb5b7f1fc5e248814782065413e7d958d17960109ea006b2afdeb5f",
    "09c92cf02f3cd3d2f9d34bc44eee0dd50314ed44ca5d30ce6a9ec0539be7a86b121edc61839ccc908c4bdde256cd6048",
    "111061f398efc2a97ff825b04d21089e24fd8b93a47e41e60eae7e9b2a38d54fa4dedced0811c34ce528781ab9e929c7",
    "01ecfcf31c86257ab00b4709c33f1c9c4e007659dd5ffc4a735192167ce197058cfb4c94225e7f1b6c26ad9ba68f63bc",
    "08890726743a1f94a8193a166800b7787744a8ad8e2f9365db76863e894b7a11d83f90d873567e9d645ccf725b32d26f",
    "0e61c752414ca5dfd258e9606bac08daec29b3e2c57062669556954fb227d3f1260eedf25446a086b0844bcd43646c10",
    "0fe63f185f56dd29150fc498bbeea78969e7e783043620db33f75a05a0a2ce5c442beaff9da195ff15164c00ab66bdde",
    "10900338a92ed0b47af211636f7cfdec717b7ee43900eee9b5fc24f0000c5874d4801372db478987691c566a8c474978",
    "1454814f3085f0e6602247671bc408bbce2007201536818c901dbd4d2095dd86c1ec8b888e59611f60a301af7776be3d",
];

/// The draft's final exponentiation omits the factor 3.
fn generators<B: Backend>() {
    let bytes: Vec<u8> = OF_GENERATORS
        .iter()
        .flat_map(|digits| hex(digits).into_iter().rev().collect::<Vec<u8>>())
        .collect();
    let value = Gt::<B>::from_bytes(&bytes).expect("a member");
    let found = pairing(&G1Affine::<B>::generator(), &G2Affine::generator());
    assert_eq!(found, value.square() * value);
}

fn bilinear<B: Backend>() {
    let mut rng = Generator(15);
    let (p, q) = (
        G1::<B>::random(&mut rng).expect("a sound generator"),
        G2::<B>::random(&mut rng).expect("a sound generator"),
    );
    let e = |p: G1<B>, q: G2<B>| pairing(&p.to_affine(), &q.to_affine());
    let value = e(p, q);
    assert!(!value.is_one() && Fq12::from(value).is_in_gt());
    for (a, b) in [(1_u64, 2), (3, 5), (u64::MAX, 7)] {
        let (a, b) = (Fr::from(a), Fr::from(b));
        assert_eq!(e(p * a, q * b), value.pow(&(a * b)));
    }
    let (a, b) = (
        Fr::random(&mut rng).expect("a sound generator"),
        Fr::random(&mut rng).expect("a sound generator"),
    );
    assert_eq!(e(p * a, q * b), value.pow(&(a * b)));
    assert_eq!(e(p * a, q), e(p, q * a));
    assert_eq!(e(p + G1::generator(), q), value * e(G1::generator(), q));
    assert_eq!(e(p, q + G2::generator()), value * e(p, G2::generator()));
    assert_eq!(e(-p, q), value.invert());
    assert_eq!(e(p, -q), value.invert());
}

fn infinity_gives_one<B: Backend>() {
    let (p, q) = (G1Affine::<B>::generator(), G2Affine::<B>::generator());
    let (zero1, zero2) = (G1Affine::<B>::identity(), G2Affine::<B>::identity());
    for (p, q) in [(zero1, q), (p, zero2), (zero1, zero2)] {
        assert!(pairing(&p, &q).is_one());
        assert!(miller_loop(&[p], &[q]).expect("a pair").is_one());
        let lines = G2Prepared::from(q);
        assert!(miller_loop_prepared(&[p], &[&lines]).expect("a pair").is_one());
        assert_eq!(lines.is_identity(), q.is_identity());
    }
}

/// From no pairs to more than two chunks, including infinity, prepared and unprepared.
fn any_number_of_pairs<B: Backend>() {
    let mut rng = Generator(16);
    let scalars: Vec<(Fr<B>, Fr<B>)> = (0..35)
        .map(|i| match i % 11 {
            5 => (Fr::ZERO, Fr::ONE),
            8 => (Fr::from(3), Fr::ZERO),
            _ => (
                Fr::random(&mut rng).expect("a sound generator"),
                Fr::random(&mut rng).expect("a sound generator"),
            ),
        })
        .collect();
    let base = Gt::<B>::generator();
    for from in [0, 6] {
        for n in (0..=18).chain([29]) {
            let scalars = &scalars[from..from + n];
            let p: Vec<_> =
                scalars.iter().map(|(a, _)| (G1::<B>::generator() * *a).to_affine()).collect();
            let q: Vec<_> =
                scalars.iter().map(|(_, b)| (G2::<B>::generator() * *b).to_affine()).collect();
            let exponent: Fr<B> = scalars.iter().map(|(a, b)| *a * *b).sum();
            let expected = base.pow(&exponent);
            assert_eq!(multi_pairing(&p, &q), Ok(expected), "{n}");
            assert_eq!(pairing_check(&p, &q), Ok(expected.is_one()));
            let value = miller_loop(&p, &q).expect("equal lengths");
            assert_eq!(value.final_exponentiation(), Some(expected));
            let lines: Vec<G2Prepared<B>> = q.iter().map(|q| (*q).into()).collect();
            let lines: Vec<&G2Prepared<B>> = lines.iter().collect();
            let value = miller_loop_prepared(&p, &lines).expect("equal lengths");
            assert_eq!(value.final_exponentiation(), Some(expected), "{n}");
            // One more pair that cancels the others.
            let last = (G1::<B>::generator() * -exponent).to_affine();
            let (p, q) = ([p, vec![last]].concat(), [q, vec![G2Affine::generator()]].concat());
            assert_eq!(pairing_check(&p, &q), Ok(true), "{n}");
        }
    }
    let counts = Error::Counts { first: 1, other: 0 };
    let p = [G1Affine::<B>::generator()];
    assert_eq!(miller_loop(&p, &[]), Err(counts));
    assert_eq!(miller_loop_prepared(&p, &[]), Err(counts));
    assert_eq!(pairing_check(&p, &[]), Err(counts));
    assert_eq!(multi_pairing(&p, &[]), Err(counts));
}

fn products_of_powers<B: Backend>() {
    let mut rng = Generator(31);
    for n in [0, 1, 2, 5, 8, 9, 17] {
        let mut bases: Vec<_> =
            (0..n).map(|_| Gt::<B>::random(&mut rng).expect("a sound generator")).collect();
        let mut exponents: Vec<_> =
            (0..n).map(|_| Fr::<B>::random(&mut rng).expect("a sound generator")).collect();
        if n > 4 {
            bases[1] = Gt::one();
            bases[3] = bases[2].invert();
            exponents[2] = Fr::ZERO;
            exponents[4] = -Fr::ONE;
        }
        let expected: Gt<B> = bases.iter().zip(&exponents).map(|(base, k)| base.pow(k)).product();
        assert_eq!(Gt::multi_pow(&bases, &exponents), Ok(expected));
    }
    let counts = Err(Error::Counts { first: 1, other: 0 });
    assert_eq!(Gt::<B>::multi_pow(&[Gt::one()], &[]), counts);
}

/// Products of any lengths, merged in any order, are the product of all pairings.
fn merged_products<B: Backend>() {
    let mut rng = Generator(32);
    let pairs: Vec<(G1Affine<B>, G2Affine<B>)> = (0..40)
        .map(|i| match i {
            3 => (G1Affine::identity(), G2Affine::generator()),
            17 => (G1Affine::generator(), G2Affine::identity()),
            _ => (
                G1Affine::random(&mut rng).expect("a sound generator"),
                G2Affine::random(&mut rng).expect("a sound generator"),
            ),
        })
        .collect();
    let product = |pairs: &[(G1Affine<B>, G2Affine<B>)]| {
        let mut product = PairingProduct::new();
        pairs.iter().for_each(|(p, q)| product.multiply(p, q));
        product
    };
    assert_eq!(PairingProduct::<B>::new().finish(), Gt::one());
    for (n, cut) in [(1, 0), (1, 1), (15, 3), (16, 16), (17, 2), (20, 18), (33, 16), (40, 17)] {
        let (p, q): (Vec<_>, Vec<_>) = pairs[..n].iter().copied().unzip();
        let expected = multi_pairing(&p, &q).expect("equal counts");
        let (first, second) = (product(&pairs[..cut]), product(&pairs[cut..n]));
        for (into, other) in [(&first, &second), (&second, &first)] {
            let mut merged = into.clone();
            merged.merge(other);
            assert_eq!(merged.finish(), expected, "{n} {cut}");
        }
    }
}
