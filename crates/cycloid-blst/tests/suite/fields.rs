//! Fp and Fp2 compared with integers modulo p.

use cycloid::bls12_381::{Error, Fp, Fp2};
use num_bigint::BigUint;

use crate::support::{Generator, modulus};

fn element(integer: &BigUint) -> Fp {
    Fp::from_bytes_wide(&(integer % modulus()).to_bytes_be())
}

fn integer(element: &Fp) -> BigUint {
    BigUint::from_bytes_be(&element.to_bytes())
}

/// Returns 0, 1, p − 1, values around powers of two, and random ones.
fn elements() -> Vec<Fp> {
    let one = BigUint::from(1_u32);
    let mut integers = vec![BigUint::ZERO, one.clone(), modulus() - 1_u32, modulus() >> 1];
    for bits in [32_u32, 63, 64, 128, 255, 256, 320, 380] {
        integers.extend([(&one << bits) - 1_u32, &one << bits]);
    }
    let mut rng = Generator(51);
    let random = (0..6).map(|_| Fp::random(&mut rng).expect("a sound generator"));
    integers.iter().map(element).chain(random).collect()
}

#[test]
fn arithmetic_in_fp() {
    let p = modulus();
    for a in elements() {
        let n = integer(&a);
        assert_eq!(integer(&-a), (&p - &n) % &p);
        assert_eq!(integer(&a.double()), (&n + &n) % &p);
        assert_eq!(integer(&a.square()), &n * &n % &p);
        assert_eq!(
            integer(&a.pow_vartime(&[5, 1])),
            n.modpow(&BigUint::from((1_u128 << 64) + 5), &p)
        );
        assert_eq!(a.invert().is_none(), a.is_zero());
        assert!(a.invert().is_none_or(|inverse| inverse * a == Fp::ONE));
        let is_square = n.modpow(&(&p >> 1), &p) <= BigUint::from(1_u32);
        assert_eq!(a.is_square(), is_square);
        assert_eq!(a.sqrt().map(|root| root.square()), is_square.then_some(a));
        for b in elements() {
            let m = integer(&b);
            assert_eq!(integer(&(a + b)), (&n + &m) % &p);
            assert_eq!(integer(&(a - b)), (&n + &p - &m) % &p);
            assert_eq!(integer(&(a * b)), &n * &m % &p);
            assert_eq!(a == b, n == m);
        }
    }
}

#[test]
fn arithmetic_in_fp2() {
    let all: Vec<Fp2> =
        elements().iter().flat_map(|a| [Fp::ZERO, Fp::ONE, -*a].map(|b| Fp2::new(a, &b))).collect();
    let mut squares = 0;
    for (a, b) in all.iter().zip(all.iter().rev()) {
        let ([a0, a1], [b0, b1]) = (a.coefficients(), b.coefficients());
        assert_eq!(*a + *b, Fp2::new(&(a0 + b0), &(a1 + b1)));
        assert_eq!(*a - *b, Fp2::new(&(a0 - b0), &(a1 - b1)));
        assert_eq!(*a * *b, Fp2::new(&(a0 * b0 - a1 * b1), &(a0 * b1 + a1 * b0)));
        assert_eq!(a.square(), *a * *a);
        assert_eq!(*a * a.conjugate(), Fp2::new(&a.norm(), &Fp::ZERO));
        assert_eq!(-*a, Fp2::ZERO - *a);
        assert_eq!(a.invert().is_none(), a.is_zero());
        assert!(a.invert().is_none_or(|inverse| inverse * *a == Fp2::ONE));
        // An element is a square if its norm is one in Fp.
        assert_eq!(a.is_square(), a.norm().is_square());
        assert_eq!(a.sqrt().map(|root| root.square()), a.is_square().then_some(*a));
        squares += usize::from(a.is_square());
        assert!(a.square().is_square());
    }
    assert!((1..all.len()).contains(&squares));
}

#[test]
fn encodings() {
    for a in elements() {
        assert_eq!(Fp::from_bytes(&a.to_bytes()), Ok(a));
        let b = Fp2::new(&a, &Fp::ONE);
        assert_eq!(Fp2::from_bytes(&b.to_bytes()), Ok(b));
        // The coefficient of u comes first.
        assert_eq!(b.to_bytes(), *[Fp::ONE.to_bytes(), a.to_bytes()].concat());
    }
    for excess in 0..3_u32 {
        let large = (modulus() + excess).to_bytes_be();
        assert_eq!(Fp::from_bytes(&large), Err(Error::NotCanonical));
        assert_eq!(
            Fp2::from_bytes(&[large.clone(), vec![0; 48]].concat()),
            Err(Error::NotCanonical)
        );
        assert_eq!(Fp2::from_bytes(&[vec![0; 48], large].concat()), Err(Error::NotCanonical));
    }
    for given in [0, 47, 49] {
        assert_eq!(Fp::from_bytes(&vec![0; given]), Err(Error::Length { needed: 48, given }));
    }
    assert_eq!(Fp2::from_bytes(&[0; 48]), Err(Error::Length { needed: 96, given: 48 }));
}

#[test]
fn wide_reductions() {
    for length in [0, 1, 46, 47, 48, 64, 93, 94, 95, 141, 200] {
        for byte in [0, 1, 0x80, 0xff] {
            let bytes = vec![byte; length];
            let expected = BigUint::from_bytes_be(&bytes) % modulus();
            assert_eq!(integer(&Fp::from_bytes_wide(&bytes)), expected, "{length} {byte}");
        }
    }
}
