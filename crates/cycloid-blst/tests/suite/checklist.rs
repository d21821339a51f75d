//! Known defects of other implementations, one test each.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::signature::{
    MinPk, MinSig, PublicKey, Scheme, Signature, SignatureBackend, Variant, aggregate_verify,
    batch_verify, fast_aggregate_verify,
};
use cycloid::bls12_381::{
    Affine, Backend, CurvePoint, Error, Fq12, Fr, G1, G1Affine, G2, Gt, Projective,
};
use num_bigint::BigUint;

use crate::multi_scalar;
use crate::signatures::{SCHEMES, keys};
use crate::support::{
    Generator, curve_points, edge_integers, hex, little_endian, members, modulus, naive_multiple,
    on_every_backend, order, points_of_order, scalar,
};

on_every_backend!(
    inverses_of_rare_inputs,
    group_check_and_infinity_check_do_not_replace_each_other,
    infinity_key_with_infinity_signature_is_refused,
    zero_that_is_split_among_keys_is_refused,
    keys_off_the_group_are_refused,
    signatures_with_low_order_parts_that_cancel_are_refused,
    infinity_with_something_behind_it_is_refused,
    infinity_with_a_sign_is_refused,
    coordinates_from_the_modulus_on_are_refused,
    flags_are_not_part_of_the_coordinate,
    wrong_lengths_are_refused,
    compressed_and_uncompressed_are_told_apart,
    scalars_from_the_order_on_are_refused,
    membership_in_gt,
    one_of_fq12_is_one,
    tags_of_every_length,
    points_off_the_group_are_added_and_multiplied,
    points_of_low_order_are_added_and_multiplied,
    sums_of_multiples_at_the_edges,
    rogue_keys_are_refused,
    same_messages_are_refused_in_the_basic_scheme,
    tags_of_other_schemes_are_refused,
    empty_lists_are_refused,
    lists_of_different_lengths_are_refused,
    results_may_stand_where_arguments_stood,
);

/// 1: blst GHSA-x279-68rr-jp4p, constantine 433.
fn inverses_of_rare_inputs<B: Backend>() {
    let mut rng = Generator(60);
    // Integers with few set or few clear bits, or with whole limbs of either, take the shortest and
    // longest paths of the inversion.
    let mut integers = edge_integers();
    for i in 0..255_u32 {
        integers.push(BigUint::from(1_u32) << i);
        integers.push((BigUint::from(1_u32) << i) - 1_u32);
        integers.push(order() - (BigUint::from(1_u32) << i) % order());
        integers.push((BigUint::from(1_u32) << i) + (BigUint::from(1_u32) << (i / 2)));
    }
    for integer in integers {
        let a = scalar::<B>(&integer);
        if !a.is_zero() {
            assert!((a.invert().expect("not 0") * a).is_one(), "{integer}");
            assert!((a.invert_vartime().expect("not 0") * a).is_one(), "{integer}");
        }
    }
    // Elements of Fp, tested as elements of Fq12: near p, and with long runs of equal bits.
    for i in 0..380_u32 {
        let power = BigUint::from(1_u32) << i;
        for integer in [power.clone(), modulus() - &power, &power - 1_u32] {
            let mut bytes = [0; 576];
            let integer = integer.to_bytes_le();
            let at = 48 * (i as usize % 2);
            bytes[at..at + integer.len()].copy_from_slice(&integer);
            let a = Fq12::<B>::from_bytes(&bytes).expect("below p");
            if let Some(inverse) = a.invert() {
                assert!((inverse * a).is_one(), "2^{i}");
            }
        }
    }
    for _ in 0..20 {
        let a = Fq12::<B>::random(&mut rng).expect("a sound generator");
        assert!((a.invert().expect("not 0") * a).is_one());
    }
}

/// 2: blst GHSA-8c37-7qx3-4c4p.
fn group_check_and_infinity_check_do_not_replace_each_other<B: Backend>() {
    checks_of::<B, MinPk>();
    checks_of::<B, MinSig>();
}

fn checks_of<B: SignatureBackend<V>, V: Variant>() {
    let infinity = Affine::<B, V::Keys>::identity();
    let error = PublicKey::<B, V>::from_bytes(infinity.to_compressed().as_ref());
    assert_eq!(error, Err(Error::Infinity));
    let error = PublicKey::<B, V>::from_bytes(infinity.to_uncompressed().as_ref());
    assert_eq!(error, Err(Error::Infinity));
    for point in off_the_group::<B, V::Keys>() {
        let error = PublicKey::<B, V>::from_bytes(point.to_compressed().as_ref());
        assert_eq!(error, Err(Error::NotInGroup));
        let error = PublicKey::<B, V>::from_bytes(point.to_uncompressed().as_ref());
        assert_eq!(error, Err(Error::NotInGroup));
    }
}

fn off_the_group<B: Backend + Group<G>, G: SourceGroup>() -> Vec<CurvePoint<B, G>> {
    let points = curve_points::<B, G>(8);
    let points: Vec<_> = points.into_iter().filter(|point| !point.is_member()).collect();
    assert!(points.len() >= 6);
    points
}

/// 3: paritytech/bls 91, status-im/nim-blscurve 76.
fn infinity_key_with_infinity_signature_is_refused<B: Backend>() {
    let infinity = hex(&format!("c0{}", "00".repeat(47)));
    assert_eq!(PublicKey::<B, MinPk>::from_bytes(&infinity), Err(Error::Infinity));
    let infinity = hex(&format!("c0{}", "00".repeat(95)));
    assert_eq!(PublicKey::<B, MinSig>::from_bytes(&infinity), Err(Error::Infinity));
    let signature = Signature::<B, MinPk>::from_bytes(&infinity).expect("a member");
    let (_, public) = keys::<B, MinPk>(1);
    assert_eq!(public[0].verify(Scheme::Basic, b"", &signature), Err(Error::Verification));
    assert_eq!(public[0].verify_possession(&signature), Err(Error::Verification));
}

/// 3: eprint 2021/323.
fn zero_that_is_split_among_keys_is_refused<B: Backend>() {
    split_of::<B, MinPk>();
    split_of::<B, MinSig>();
}

fn split_of<B: SignatureBackend<V>, V: Variant>() {
    let (_, public) = keys::<B, V>(2);
    let negative = PublicKey::from_affine(-*public[0].as_affine()).expect("not infinity");
    let infinity = Signature::from_affine(Affine::identity());
    let split = [public[0], negative];
    assert_eq!(PublicKey::aggregate(&split), Err(Error::Infinity));
    assert_eq!(fast_aggregate_verify(&split, b"message", &infinity), Err(Error::Infinity));
    // With equal messages, the draft accepts this in an aggregate with proofs of possession, which
    // a holder of both keys can provide; the basic scheme rejects it.
    let same = [b"message".as_slice(); 2];
    let result = aggregate_verify(Scheme::Basic, &split, &same, &infinity);
    assert_eq!(result, Err(Error::SameMessage));
    let differing = [b"message".as_slice(), b"another"];
    for scheme in SCHEMES {
        let result = aggregate_verify(scheme, &split, &differing, &infinity);
        assert_eq!(result, Err(Error::Verification));
    }
    let result = aggregate_verify(Scheme::MessageAugmentation, &split, &same, &infinity);
    assert_eq!(result, Err(Error::Verification));
    let both = [infinity; 2];
    for scheme in SCHEMES {
        let result = batch_verify(scheme, &split, &same, &both, &mut Generator(61));
        assert_eq!(result, Err(Error::Verification), "each signature must be valid by itself");
    }
}

/// 4: CometBFT, geth, Aptos.
fn keys_off_the_group_are_refused<B: Backend>() {
    for point in off_the_group::<B, First>() {
        let bytes = point.to_compressed();
        assert_eq!(PublicKey::<B, MinPk>::from_bytes(&bytes), Err(Error::NotInGroup));
        assert_eq!(Signature::<B, MinSig>::from_bytes(&bytes), Err(Error::NotInGroup));
        assert_eq!(G1Affine::<B>::from_compressed(&bytes), Err(Error::NotInGroup));
    }
    for point in off_the_group::<B, Second>() {
        let bytes = point.to_compressed();
        assert_eq!(PublicKey::<B, MinSig>::from_bytes(&bytes), Err(Error::NotInGroup));
        assert_eq!(Signature::<B, MinPk>::from_bytes(&bytes), Err(Error::NotInGroup));
    }
    for (low, bytes) in low_orders_first::<B>() {
        assert_eq!(PublicKey::<B, MinPk>::from_bytes(&bytes), Err(Error::NotInGroup), "{low}");
    }
}

fn low_orders_first<B: Backend>() -> Vec<(u32, [u8; 48])> {
    let of = |n| points_of_order::<B, First>(n, 2).into_iter().map(move |p| (n, p.to_compressed()));
    of(3).chain(of(11)).collect()
}

/// 5: cfrg bls-signature 33.
fn signatures_with_low_order_parts_that_cancel_are_refused<B: Backend>() {
    low_parts::<B, MinSig>(3);
    low_parts::<B, MinSig>(11);
    low_parts::<B, MinPk>(13);
    low_parts::<B, MinPk>(23);
}

fn low_parts<B: SignatureBackend<V>, V: Variant>(n: u32) {
    let (secret, _) = keys::<B, V>(2);
    let low = points_of_order::<B, V::Signatures>(n, 1)[0];
    let point = |i: usize| CurvePoint::from(*secret[i].sign(Scheme::Basic, b"message").as_affine());
    let (first, second) = (point(0) + low, point(1) - low);
    assert!((first + second).is_member(), "the sum is a member");
    for part in [first, second, low] {
        let bytes = part.to_compressed();
        assert_eq!(Signature::<B, V>::from_bytes(bytes.as_ref()), Err(Error::NotInGroup));
    }
}

fn infinity_with_something_behind_it_is_refused<B: Backend>() {
    behind::<B, First>();
    behind::<B, Second>();
}

/// 6: at each byte, and in the bits next to the flags.
fn behind<B: Backend + Group<G>, G: SourceGroup>() {
    for i in 0..G::COMPRESSED.as_ref().len() {
        let mut bytes = Affine::<B, G>::identity().to_compressed();
        bytes.as_mut()[i] |= 1;
        let error = Affine::<B, G>::from_compressed(bytes.as_ref());
        assert_eq!(error, Err(Error::NotCanonical));
    }
    for i in 0..G::UNCOMPRESSED.as_ref().len() {
        let mut bytes = Affine::<B, G>::identity().to_uncompressed();
        bytes.as_mut()[i] |= 1;
        let error = Affine::<B, G>::from_uncompressed(bytes.as_ref());
        assert_eq!(error, Err(Error::NotCanonical));
    }
}

/// 6: cloudflare/circl 499.
fn infinity_with_a_sign_is_refused<B: Backend>() {
    let bytes = |first: &str, n: usize| hex(&format!("{first}{}", "00".repeat(n - 1)));
    assert_eq!(G1Affine::<B>::from_compressed(&bytes("e0", 48)), Err(Error::Flags));
    assert_eq!(Affine::<B, Second>::from_compressed(&bytes("e0", 96)), Err(Error::Flags));
    assert_eq!(G1Affine::<B>::from_uncompressed(&bytes("60", 96)), Err(Error::Flags));
    assert_eq!(Affine::<B, Second>::from_uncompressed(&bytes("60", 192)), Err(Error::Flags));
}

fn coordinates_from_the_modulus_on_are_refused<B: Backend>() {
    too_large::<B, First>();
    too_large::<B, Second>();
}

/// 6: p, p + 1, p + a valid coordinate, and the largest value that fits, in each position.
fn too_large<B: Backend + Group<G>, G: SourceGroup>() {
    let point = Affine::<B, G>::random(&mut Generator(62)).expect("a sound generator");
    let place = |bytes: &mut [u8], i: usize, integer: &BigUint| {
        let digits = integer.to_bytes_be();
        let flags = bytes[0] & 0xe0;
        bytes[48 * i..][..48].fill(0);
        bytes[48 * i + 48 - digits.len()..][..digits.len()].copy_from_slice(&digits);
        bytes[0] |= flags;
    };
    let largest = (BigUint::from(1_u32) << 381_u32) - 1_u32;
    for i in 0..2 * G::DEGREE {
        let mut bytes = point.to_uncompressed();
        let own = BigUint::from_bytes_be(&bytes.as_ref()[48 * i..][..48]);
        for integer in [modulus(), modulus() + 1_u32, (own + modulus()).min(largest.clone())] {
            place(bytes.as_mut(), i, &integer);
            let error = Affine::<B, G>::from_uncompressed(bytes.as_ref());
            assert_eq!(error, Err(Error::NotCanonical), "{integer:x}");
        }
    }
    for i in 0..G::DEGREE {
        for integer in [modulus(), modulus() + 1_u32, largest.clone()] {
            let mut bytes = point.to_compressed();
            place(bytes.as_mut(), i, &integer);
            let error = Affine::<B, G>::from_compressed(bytes.as_ref());
            assert_eq!(error, Err(Error::NotCanonical), "{integer:x}");
        }
    }
}

/// 6: ethereum/execution-specs 2395.
fn flags_are_not_part_of_the_coordinate<B: Backend>() {
    for point in members::<B, First>(8).into_iter().skip(1) {
        let bytes = point.to_compressed();
        assert!(bytes[0] & 0x80 != 0 && BigUint::from_bytes_be(&bytes) > modulus());
        assert_eq!(G1Affine::from_compressed(&bytes), Ok(point));
    }
}

fn wrong_lengths_are_refused<B: Backend>() {
    let bytes = G1Affine::<B>::generator().to_uncompressed();
    for given in (0..96).filter(|given| *given != 48) {
        let result = G1Affine::<B>::from_bytes(&bytes[..given]);
        assert_eq!(result, Err(Error::Length { needed: 48, given }));
    }
    let mut longer = bytes.to_vec();
    longer.push(0);
    let error = Error::Length { needed: 96, given: 97 };
    assert_eq!(G1Affine::<B>::from_uncompressed(&longer), Err(error));
}

fn compressed_and_uncompressed_are_told_apart<B: Backend>() {
    mixed::<B, First>();
    mixed::<B, Second>();
}

fn mixed<B: Backend + Group<G>, G: SourceGroup>() {
    for point in members::<B, G>(6) {
        let (mut short, mut long) = (point.to_compressed(), point.to_uncompressed());
        short.as_mut()[0] &= 0x7f;
        long.as_mut()[0] |= 0x80;
        assert_eq!(Affine::<B, G>::from_compressed(short.as_ref()), Err(Error::Flags));
        assert_eq!(Affine::<B, G>::from_uncompressed(long.as_ref()), Err(Error::Flags));
        assert_eq!(Affine::<B, G>::from_bytes(short.as_ref()), Err(Error::Flags));
        assert_eq!(Affine::<B, G>::from_bytes(long.as_ref()), Err(Error::Flags));
    }
}

/// 6: kilic/bls12-381 40.
fn scalars_from_the_order_on_are_refused<B: Backend>() {
    let top = BigUint::from(1_u32) << 256_u32;
    for integer in [order(), order() + 1_u32, order() * 2_u32, top - 1_u32] {
        let bytes = little_endian(&integer);
        assert_eq!(Fr::<B>::from_bytes(&bytes), Err(Error::NotCanonical));
    }
    let largest = order() - 1_u32;
    assert_eq!(Fr::<B>::from_bytes(&little_endian(&largest)), Ok(-Fr::ONE));
}

/// 7: blst 108.
fn membership_in_gt<B: Backend>() {
    assert!(!Fq12::<B>::zero().is_in_gt());
    assert!(!(-Fq12::<B>::one()).is_in_gt(), "of order 2");
    assert!(Fq12::<B>::one().is_in_gt());
    let member = Fq12::from(Gt::<B>::generator());
    assert!(member.is_in_gt() && !(-member).is_in_gt());
    assert!(!(member + member).is_in_gt());
    assert!(!Fq12::<B>::random(&mut Generator(63)).expect("a sound generator").is_in_gt());
}

fn one_of_fq12_is_one<B: Backend>() {
    let mut bytes = [0; 576];
    bytes[0] = 1;
    assert_eq!(Fq12::<B>::one().to_bytes(), bytes);
    assert_eq!(Gt::<B>::one().to_bytes(), bytes);
    assert_eq!(Gt::from_bytes(&bytes), Ok(Gt::<B>::one()));
}

/// 7: tags are read correctly, also if they are temporary values.
fn tags_of_every_length<B: Backend>() {
    let mut points = Vec::new();
    for length in 0..300 {
        let point = G1::<B>::hash_to_curve(b"message", &vec![b't'; length]);
        assert!(!points.contains(&point), "{length}");
        points.push(point);
    }
    assert_eq!(G2::<B>::hash_to_curve(b"", b""), G2::hash_to_curve(b"", b""));
}

fn points_off_the_group_are_added_and_multiplied<B: Backend>() {
    any_points::<B, First>(curve_points(8));
    any_points::<B, Second>(curve_points(8));
}

fn points_of_low_order_are_added_and_multiplied<B: Backend>() {
    any_points::<B, First>([points_of_order(3, 2), points_of_order(11, 3)].concat());
    any_points::<B, Second>([points_of_order(13, 2), points_of_order(23, 3)].concat());
}

/// 8: sums and multiples computed only by the curve's group law.
fn any_points<B: Backend + Group<G>, G: SourceGroup>(points: Vec<CurvePoint<B, G>>) {
    let infinity = CurvePoint::identity();
    for a in &points {
        assert_eq!(*a + infinity, *a);
        assert_eq!(infinity + *a, *a);
        assert_eq!(*a + -*a, infinity);
        assert_eq!(*a + *a, a.double());
        for b in &points {
            assert_eq!(*a + *b, *b + *a);
            assert_eq!((*a + *b) - *b, *a);
            assert_eq!((*a + *b) + points[0], *a + (*b + points[0]));
        }
        for integer in edge_integers().iter().step_by(7) {
            let expected = naive_multiple(a, integer);
            assert_eq!(a.multiply_vartime(&integer.to_u64_digits()), expected, "{integer}");
        }
        let long = [3, 0, 0, 0, 0, 1 << 40];
        let integer = BigUint::from(3_u32) + (BigUint::from(1_u32) << 360_u32);
        assert_eq!(a.multiply_vartime(&long), naive_multiple(a, &integer));
        assert_eq!(a.multiply_vartime(&[]), infinity);
        for small in 0..30_u64 {
            let expected = (0..small).fold(infinity, |sum, _| sum + *a);
            assert_eq!(a.multiply_vartime(&[small]), expected);
        }
    }
    let integers: Vec<[u8; 32]> = edge_integers().iter().rev().map(little_endian).collect();
    for n in 0..=points.len() {
        let sum = CurvePoint::multi_scalar_multiply_vartime(&points[..n], &integers[..n]);
        let terms = points[..n].iter().zip(&integers);
        let terms = terms.map(|(p, k)| naive_multiple(p, &BigUint::from_bytes_le(k)));
        assert_eq!(sum, Ok(terms.fold(infinity, |sum, term| sum + term)));
    }
}

/// 9: blst f48500c, ae643ba, 01d167c.
fn sums_of_multiples_at_the_edges<B: Backend>() {
    multi_scalar::edges_of::<B, First>();
    multi_scalar::edges_of::<B, Second>();
    assert!(multi_scalar::msm::<B, First>(&[], &[]).is_identity());
    assert!(multi_scalar::msm::<B, Second>(&[], &[]).is_identity());
    let point = G1Affine::<B>::generator();
    let (p, k) = ([point, -point, point, point], [Fr::from(5); 4]);
    assert_eq!(multi_scalar::msm(&p, &k), G1::generator() * Fr::from(10));
}

/// 10: a key chosen to cancel another key.
fn rogue_keys_are_refused<B: Backend>() {
    let (secret, public) = keys::<B, MinPk>(2);
    // The attacker owns key 1, publishes x·G − (the victim's key), and signs alone for both.
    let own = Projective::from(*public[1].as_affine());
    let rogue = own - Projective::from(*public[0].as_affine());
    let rogue = PublicKey::from_affine(rogue.to_affine()).expect("not infinity");
    let lists = [public[0], rogue];
    let messages = [b"message".as_slice(); 2];
    let signature = secret[1].sign(Scheme::ProofOfPossession, b"message");
    // This works without proofs of possession; the attacker cannot give such a proof.
    assert_eq!(fast_aggregate_verify(&lists, b"message", &signature), Ok(()));
    let proof = secret[1].prove_possession();
    assert_eq!(rogue.verify_possession(&proof), Err(Error::Verification));
    let basic = secret[1].sign(Scheme::Basic, b"message");
    let result = aggregate_verify(Scheme::Basic, &lists, &messages, &basic);
    assert_eq!(result, Err(Error::SameMessage));
    let augmented = secret[1].sign(Scheme::MessageAugmentation, b"message");
    let result = aggregate_verify(Scheme::MessageAugmentation, &lists, &messages, &augmented);
    assert_eq!(result, Err(Error::Verification));
}

fn same_messages_are_refused_in_the_basic_scheme<B: Backend>() {
    let (secret, public) = keys::<B, MinSig>(3);
    let messages = [b"message".as_slice(), b"another", b"message"];
    for scheme in SCHEMES {
        let signatures: Vec<_> =
            secret.iter().zip(messages).map(|(key, message)| key.sign(scheme, message)).collect();
        let signature = Signature::aggregate(&signatures).expect("not empty");
        let result = aggregate_verify(scheme, &public, &messages, &signature);
        let same = scheme == Scheme::Basic;
        assert_eq!(result, if same { Err(Error::SameMessage) } else { Ok(()) });
    }
}

fn tags_of_other_schemes_are_refused<B: Backend>() {
    let (secret, public) = keys::<B, MinPk>(1);
    for made in SCHEMES {
        let signature = secret[0].sign(made, b"message");
        for taken in SCHEMES {
            let result = public[0].verify(taken, b"message", &signature);
            assert_eq!(result.is_ok(), made == taken);
        }
    }
}

fn empty_lists_are_refused<B: Backend>() {
    let infinity = Signature::<B, MinPk>::from_affine(Affine::identity());
    assert_eq!(Signature::<B, MinPk>::aggregate(&[]), Err(Error::Empty));
    assert_eq!(PublicKey::<B, MinPk>::aggregate(&[]), Err(Error::Empty));
    assert_eq!(fast_aggregate_verify::<B, MinPk>(&[], b"", &infinity), Err(Error::Empty));
    for scheme in SCHEMES {
        let result = aggregate_verify::<B, MinPk>(scheme, &[], &[], &infinity);
        assert_eq!(result, Err(Error::Empty));
        let result = batch_verify::<B, MinPk>(scheme, &[], &[], &[], &mut Generator(64));
        assert_eq!(result, Err(Error::Empty));
    }
}

fn lists_of_different_lengths_are_refused<B: Backend>() {
    let (secret, public) = keys::<B, MinPk>(2);
    let signature = secret[0].sign(Scheme::Basic, b"message");
    let messages = [b"message".as_slice(), b"another"];
    let counts = |first, other| Err(Error::Counts { first, other });
    let rng = &mut Generator(65);
    for scheme in SCHEMES {
        let result = aggregate_verify(scheme, &public, &messages[..1], &signature);
        assert_eq!(result, counts(2, 1));
        let result = aggregate_verify(scheme, &public[..1], &messages, &signature);
        assert_eq!(result, counts(1, 2));
        let result = aggregate_verify(scheme, &public, &[], &signature);
        assert_eq!(result, counts(2, 0));
        let result = batch_verify(scheme, &public, &messages, &[signature], rng);
        assert_eq!(result, counts(2, 1));
        let result = batch_verify(scheme, &public, &messages[..1], &[signature; 2], rng);
        assert_eq!(result, counts(2, 1));
    }
}

/// 10: aliasing.
fn results_may_stand_where_arguments_stood<B: Backend>() {
    let mut rng = Generator(66);
    let (a, b) = (
        Fr::<B>::random(&mut rng).expect("a sound generator"),
        Fr::<B>::random(&mut rng).expect("a sound generator"),
    );
    let mut x = a;
    x *= b;
    x += x;
    x *= x;
    assert_eq!(x, (a * b).double().square());
    let p = G1::<B>::random(&mut rng).expect("a sound generator");
    let mut q = p;
    q += q;
    q += p;
    q -= q;
    assert!(q.is_identity());
    let mut f = Fq12::<B>::random(&mut rng).expect("a sound generator");
    let g = f;
    f *= f;
    f += g;
    f -= g;
    assert_eq!(f, g.square());
}
