//! Fr, compared with arbitrary-precision integers at edge cases of the arithmetic.

use cycloid::bls12_381::{Backend, Error, Fr};
use num_bigint::BigUint;

use crate::support::{
    Generator, edge_integers, integer, little_endian, on_every_backend, order, scalar,
};

on_every_backend!(
    constants,
    encodings_are_canonical,
    arithmetic_is_that_of_integers,
    inverses_and_quotients,
    powers,
    symbols_and_roots,
    roots_of_unity,
    wide_bytes_are_taken_modulo_r,
    text_is_decimal_or_hexadecimal,
    lists,
    random_elements_differ,
);

fn constants<B: Backend>() {
    assert_eq!(integer(&Fr::<B>::ZERO), BigUint::ZERO);
    assert_eq!(integer(&Fr::<B>::ONE), BigUint::from(1_u32));
    assert_eq!(Fr::<B>::ONE, Fr::from(1));
    assert_eq!(Fr::<B>::default(), Fr::ZERO);
    let limbs: Vec<u8> = Fr::<B>::ORDER.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    assert_eq!(BigUint::from_bytes_le(&limbs), order());
}

fn encodings_are_canonical<B: Backend>() {
    for integer in edge_integers() {
        let bytes = little_endian(&integer);
        let decoded = Fr::<B>::from_bytes(&bytes);
        if integer < order() {
            let element = decoded.expect("below r");
            assert_eq!(element.to_bytes(), bytes);
            let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
            assert_eq!(Fr::<B>::from_be_bytes(&reversed), Ok(element));
            assert_eq!(element.to_be_bytes().as_slice(), reversed);
        } else {
            assert_eq!(decoded, Err(Error::NotCanonical), "{integer}");
        }
    }
    for given in [0, 31, 33] {
        let bytes = vec![0; given];
        assert_eq!(Fr::<B>::from_bytes(&bytes), Err(Error::Length { needed: 32, given }));
    }
}

fn arithmetic_is_that_of_integers<B: Backend>() {
    let integers: Vec<BigUint> = edge_integers().into_iter().filter(|i| *i < order()).collect();
    for a in &integers {
        let x = scalar::<B>(a);
        assert_eq!(integer(&-x), (order() - a) % order());
        assert_eq!(integer(&x.double()), a * 2_u32 % order());
        assert_eq!(integer(&x.square()), a * a % order());
        for b in &integers {
            let y = scalar::<B>(b);
            assert_eq!(integer(&(x + y)), (a + b) % order());
            assert_eq!(integer(&(x - y)), (a + order() - b) % order());
            assert_eq!(integer(&(x * y)), a * b % order());
            assert_eq!(x == y, a == b);
        }
        let mut assigned = x;
        assigned += x;
        assigned *= x;
        assigned -= x;
        assert_eq!(assigned, x.double() * x - x);
    }
}

fn inverses_and_quotients<B: Backend>() {
    assert_eq!(Fr::<B>::ZERO.invert(), None);
    assert_eq!(Fr::<B>::ZERO.invert_vartime(), None);
    assert_eq!(Fr::<B>::ONE.divide(&Fr::ZERO), None);
    assert_eq!(Fr::<B>::ONE / Fr::ZERO, Fr::ZERO);
    for a in edge_integers() {
        let a = scalar::<B>(&a);
        if a.is_zero() {
            continue;
        }
        let inverse = a.invert().expect("not 0");
        assert_eq!(inverse * a, Fr::ONE);
        assert_eq!(a.invert_vartime(), Some(inverse));
        assert_eq!(Fr::from(5).divide(&a), Some(inverse * Fr::from(5)));
        assert_eq!(Fr::from(5) / a, inverse * Fr::from(5));
    }
}

fn powers<B: Backend>() {
    let mut exponents = vec![vec![], vec![0], vec![1], vec![2], vec![u64::MAX, 0, 7], vec![3; 5]];
    // Windows of every length at every place, and the border between short and long exponents.
    exponents.extend((1..64).map(|bits| vec![(1 << bits) - 1]));
    exponents.extend((1..64).map(|bits| vec![0x9f0b_61a5_4321_0f7d >> bits, 1 << (bits % 40)]));
    for a in edge_integers().into_iter().step_by(5) {
        for exponent in &exponents {
            let bytes: Vec<u8> = exponent.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            let expected = (&a % order()).modpow(&BigUint::from_bytes_le(&bytes), &order());
            assert_eq!(integer(&scalar::<B>(&a).pow(exponent)), expected);
            assert_eq!(integer(&scalar::<B>(&a).pow_vartime(exponent)), expected);
        }
    }
}

fn symbols_and_roots<B: Backend>() {
    assert_eq!(Fr::<B>::ZERO.legendre(), 0);
    assert_eq!(Fr::<B>::ZERO.sqrt_vartime(), Some(Fr::ZERO));
    assert_eq!(Fr::<B>::from(7).legendre(), -1, "7 generates the group");
    for a in edge_integers() {
        let a = scalar::<B>(&a);
        if a.is_zero() {
            continue;
        }
        let square = a.square();
        assert_eq!(square.legendre(), 1);
        assert!(square.is_square());
        let root = square.sqrt_vartime().expect("a square");
        assert!(root == a || root == -a);
        assert!(integer(&root) <= integer(&-root));
        let other = square * Fr::from(7);
        assert_eq!((other.legendre(), other.sqrt_vartime()), (-1, None));
        assert!(!other.is_square());
    }
}

fn roots_of_unity<B: Backend>() {
    for k in 0..=32 {
        let root = Fr::<B>::root_of_unity(k).expect("up to 32");
        let half_way = (1..k).fold(root, |power, _| power.square());
        assert_eq!(half_way, if k == 0 { Fr::ONE } else { -Fr::ONE });
    }
    assert_eq!(Fr::<B>::root_of_unity(33), None);
}

fn wide_bytes_are_taken_modulo_r<B: Backend>() {
    assert_eq!(Fr::<B>::from_bytes_wide(&[]), Fr::ZERO);
    for length in [1, 30, 31, 32, 33, 48, 62, 63, 64, 100] {
        for fill in [0x00, 0x01, 0xff, 0xa5] {
            let bytes = vec![fill; length];
            let expected = BigUint::from_bytes_le(&bytes) % order();
            assert_eq!(integer(&Fr::<B>::from_bytes_wide(&bytes)), expected);
        }
    }
}

fn text_is_decimal_or_hexadecimal<B: Backend>() {
    for integer in edge_integers() {
        let (decimal, hexadecimal) = (format!("{integer}"), format!("{integer:#x}"));
        if integer < order() {
            let element: Fr<B> = decimal.parse().expect("an integer below r");
            assert_eq!(element, scalar(&integer));
            assert_eq!(hexadecimal.parse(), Ok(element));
            assert_eq!(element.to_string(), decimal);
            assert_eq!(format!("{element:#x}"), format!("0x{integer:064x}"));
        } else {
            assert_eq!(decimal.parse::<Fr<B>>(), Err(Error::NotCanonical));
            assert_eq!(hexadecimal.parse::<Fr<B>>(), Err(Error::NotCanonical));
        }
    }
    assert_eq!("9".repeat(100).parse::<Fr<B>>(), Err(Error::NotCanonical));
    for text in ["", "0x", "-1", "1 ", "0xg", "a", "１"] {
        assert_eq!(text.parse::<Fr<B>>(), Err(Error::Digits), "{text}");
    }
}

fn lists<B: Backend>() {
    let mut rng = Generator(1);
    for n in 0..20 {
        let mut a: Vec<Fr<B>> =
            (0..n).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
        if n > 2 {
            a[n / 2] = Fr::ZERO;
        }
        let b: Vec<Fr<B>> =
            (0..n).map(|_| Fr::random(&mut rng).expect("a sound generator")).collect();
        let products = a.iter().zip(&b).map(|(a, b)| *a * *b);
        assert_eq!(Fr::inner_product(&a, &b), Ok(products.clone().sum()));
        let mut product = a.clone();
        Fr::mul_many(&mut product, &b).expect("equal lengths");
        assert!(products.eq(product));
        let mut sum = a.clone();
        Fr::add_many(&mut sum, &b).expect("equal lengths");
        assert!(a.iter().zip(&b).map(|(a, b)| *a + *b).eq(sum));
        let mut inverses = a.clone();
        Fr::invert_many(&mut inverses, &mut vec![Fr::ZERO; n]).expect("equal lengths");
        assert!(a.iter().map(|a| a.invert().unwrap_or_default()).eq(inverses));
        assert_eq!(a.iter().copied().product::<Fr<B>>(), a.iter().fold(Fr::ONE, |p, a| p * *a));
    }
    let counts = Err(Error::Counts { first: 2, other: 1 });
    let (mut two, mut one) = ([Fr::<B>::ONE; 2], [Fr::ONE; 1]);
    assert_eq!(Fr::inner_product(&two, &one), counts.map(|()| Fr::ZERO));
    assert_eq!(Fr::add_many(&mut two, &one), counts);
    assert_eq!(Fr::mul_many(&mut two, &one), counts);
    assert_eq!(Fr::invert_many(&mut two, &mut one), counts);
    assert_eq!(two, [Fr::ONE; 2], "nothing is written on an error");
}

fn random_elements_differ<B: Backend>() {
    let mut rng = Generator(2);
    let elements: Vec<Fr<B>> =
        (0..50).map(|_| Fr::random_nonzero(&mut rng).expect("a sound generator")).collect();
    for (i, a) in elements.iter().enumerate() {
        assert!(!a.is_zero() && !elements[..i].contains(a));
    }
    assert!(elements.iter().any(|a| integer(a).bit(254)));
}
