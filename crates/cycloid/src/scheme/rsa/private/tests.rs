//! Checks on reading a key, beyond the consistency of its parts.

use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;

use super::*;
use crate::math::prime::tests::{Counter, Repeating, STUCK};
use crate::math::prime::{is_probable_prime_scratch_limbs, is_probable_prime_vartime};
use crate::scheme::Hash;
use crate::scheme::rsa::tests::{Key, bytes, components, generate, key, load};
use crate::scheme::rsa::{Context, context_limbs};

const E: [u8; 3] = [1, 0, 1];

/// Returns the parts of a key with arbitrary factors, in the order of PKCS #1.
fn parts(p: &BigUint, q: &BigUint) -> [Vec<u8>; 7] {
    let e = BigUint::from(65537_u32);
    let (p1, q1) = (p - 1_u8, q - 1_u8);
    let d = e.modinv(&(&p1 * &q1)).unwrap();
    let inverse = q.modinv(p).unwrap();
    [p * q, d.clone(), p.clone(), q.clone(), &d % p1, &d % q1, inverse]
        .map(|part| part.to_bytes_be())
}

fn key_of(p: &BigUint, q: &BigUint) -> Result<Key, Error> {
    load(&components(&parts(p, q), &E))
}

fn prime(key: &Key, which: usize) -> BigUint {
    BigUint::from_bytes_be(&bytes(key)[which])
}

/// Returns the next prime that a key may have.
fn next_prime(mut from: BigUint) -> BigUint {
    from |= BigUint::from(1_u8);
    loop {
        let limbs = from.to_u64_digits();
        let mut scratch = vec![0; is_probable_prime_scratch_limbs(limbs.len())];
        let is_prime = is_probable_prime_vartime(&limbs, 4, &mut Counter(1), &mut scratch).unwrap();
        if is_prime && &from % 65537_u32 != BigUint::from(1_u8) {
            return from;
        }
        from += 2_u8;
    }
}

#[test]
fn a_coefficient_that_is_not_reduced_is_refused() {
    // Primes of 1056 bits leave room in 17 limbs.
    let key = generate(2112, 65537, 3).unwrap();
    let mut parts = bytes(&key);
    assert!(load(&components(&parts, &E)).is_ok());
    let larger = BigUint::from_bytes_be(&parts[6]) + prime(&key, 2);
    assert!(larger.bits() <= 17 * 64);
    parts[6] = larger.to_bytes_be();
    assert_eq!(load(&components(&parts, &E)).unwrap_err(), Error::Key(KeyError::PrivateExponent));
}

#[test]
fn primes_that_are_close_are_refused() {
    let p = prime(key(), 2);
    let one = BigUint::from(1_u8);
    let close = next_prime(&p + (&one << 923));
    let apart = next_prime(&p + (&one << 924));
    for (q, outcome) in [(&close, Err(Error::Key(KeyError::Primes))), (&apart, Ok(()))] {
        assert_eq!(key_of(&p, q).map(|_| ()), outcome);
        assert_eq!(key_of(q, &p).map(|_| ()), outcome);
    }
}

#[test]
fn a_composite_factor_is_detected() {
    let mut scratch = vec![7; check_primes_scratch_limbs(2048)];
    let mut check = |key: &Key| {
        let outcome = key.check_primes(2, &mut Counter(3), &mut scratch);
        assert!(scratch.iter().all(|limb| *limb == 0));
        outcome
    };
    assert_eq!(check(key()), Ok(()));
    let (p, q) = (prime(key(), 2), prime(key(), 3));
    // A product of two 512-bit primes as p and as q, and one with a small factor.
    let half = next_prime(BigUint::from(15_u8) << 508);
    let large = &half * next_prime(&half + 1_u8);
    let small = next_prime((BigUint::from(3_u8) << 1022) / 7_u8) * 7_u8;
    for composite in [&large, &small] {
        assert_eq!(composite.bits(), 1024);
        for wrong in [key_of(composite, &q).unwrap(), key_of(&p, composite).unwrap()] {
            assert_eq!(check(&wrong), Err(Error::Key(KeyError::Composite)));
            let mut memory = vec![0; context_limbs(2048)];
            let mut context = Context::new(&wrong, Counter(5), &mut memory).unwrap();
            let signed = context.sign_pkcs1v15(Hash::Sha256, b"message", &mut [0; 256]);
            assert_eq!(signed, Err(Error::Fault));
        }
    }
    for values in STUCK {
        let mut rng = Repeating::new(values);
        let outcome = key().check_primes(2, &mut rng, &mut scratch);
        assert_eq!(outcome, Err(Error::RandomGenerator));
    }
    let given = check_primes_scratch_limbs(2048) - 1;
    let outcome = key().check_primes(2, &mut Counter(3), &mut scratch[..given]);
    assert_eq!(outcome, Err(Error::MemoryTooSmall { needed: given + 1, given }));
    // A length that is not a multiple of the limb size.
    let odd = generate(2050, 65537, 5).unwrap();
    let mut scratch = vec![0; check_primes_scratch_limbs(2050)];
    assert_eq!(odd.check_primes(1, &mut Counter(3), &mut scratch), Ok(()));
}
