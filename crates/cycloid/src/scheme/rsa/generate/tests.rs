//! Properties of generated primes, and generators that repeat themselves.

use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;
use rand_core::Rng;

use super::*;
use crate::math::prime::tests::{Counter, Repeating, STUCK, Scripted};
use crate::math::prime::{is_probable_prime_scratch_limbs, is_probable_prime_vartime};
use crate::scheme::rsa::tests::{bytes, generate, number};

const BITS: usize = 2048;

fn generate_with(rng: &mut impl CryptoRng) -> Result<PrivateKey<Vec<Limb>>, Error> {
    let mut scratch = vec![7; generate_scratch_limbs(BITS)];
    let outcome =
        PrivateKey::generate(BITS, 65537, vec![0; private_key_limbs(BITS)], rng, &mut scratch);
    assert!(scratch.iter().all(|limb| *limb == 0));
    outcome
}

#[test]
fn moduli_and_primes_of_both_residues_modulo_four() {
    let mut moduli = [0; 4];
    // Sometimes p − 1 has as many factors of 2 as q − 1, sometimes more, sometimes fewer.
    let mut halvings = [0; 3];
    for seed in 0..32 {
        let key = generate(BITS, 65537, seed).unwrap();
        let [n, d, p, q, d_p, d_q, inverse] = bytes(&key).map(|b| BigUint::from_bytes_be(&b));
        moduli[(n.to_u64_digits()[0] & 3) as usize] += 1;
        let one = BigUint::from(1_u8);
        let (p1, q1) = (&p - &one, &q - &one);
        let (of_p, of_q) = (p1.trailing_zeros().unwrap(), q1.trailing_zeros().unwrap());
        halvings[usize::from(of_p > of_q) + 2 * usize::from(of_p < of_q)] += 1;
        let gcd = {
            let (mut a, mut b) = (p1.clone(), q1.clone());
            while b != BigUint::ZERO {
                (a, b) = (b.clone(), a % b);
            }
            a
        };
        let lambda = &p1 * &q1 / gcd;
        assert!(d < lambda && d * 65537_u32 % lambda == one, "seed {seed}");
        assert!(d_p * 65537_u32 % p1 == one && d_q * 65537_u32 % q1 == one, "seed {seed}");
        assert!(inverse * q % p == one, "seed {seed}");
    }
    assert_eq!((moduli[0], moduli[2]), (0, 0));
    assert!(moduli[1] >= 4 && moduli[3] >= 4, "{moduli:?}");
    assert!(halvings.iter().all(|times| *times > 0), "{halvings:?}");
}

#[test]
fn generators_that_are_stuck_are_errors() {
    for values in STUCK {
        let mut rng = Repeating::new(values);
        assert_eq!(generate_with(&mut rng).map(|_| ()), Err(Error::RandomGenerator));
        assert!(rng.given <= 16, "{values:x?}: {}", rng.given);
        // The generator gets stuck after the first prime.
        let mut good = Scripted::new(Vec::new(), Counter(1));
        first_prime(&mut good);
        let start = good.at;
        let mut counter = Counter(1);
        let script = (0..start).map(|_| counter.next_u64()).collect();
        let mut rng = Scripted::new(script, Repeating::new(values));
        assert_eq!(generate_with(&mut rng).map(|_| ()), Err(Error::RandomGenerator));
        assert!(rng.then.given <= 16, "{values:x?}: {}", rng.then.given);
    }
}

/// Returns the first prime of a key made with a generator.
fn first_prime(rng: &mut impl CryptoRng) -> Vec<Limb> {
    let mut scratch = vec![0; generate_scratch_limbs(BITS)];
    let mut p = vec![0; prime_limbs(BITS)];
    let usable = |prime: &[Limb]| inverse_of(less_one_modulo(prime, 65537), 65537).is_some();
    prime::generate_within(5 * BITS, &mut p, BITS / 2, usable, rng, &mut scratch).unwrap();
    p
}

#[test]
fn a_second_prime_close_to_the_first_is_refused() {
    let mut recorded = Scripted::new(Vec::new(), Counter(1));
    let p = first_prime(&mut recorded);
    let mut counter = Counter(1);
    let script: Vec<Limb> = (0..recorded.at).map(|_| counter.next_u64()).collect();
    // Slightly less and slightly more than 2^(1024 − 100) from p.
    for (distance, taken) in [(923, false), (924, true)] {
        let mut q: BigUint = number(&p) + (BigUint::from(1_u8) << distance);
        let q = loop {
            q += 2_u8;
            let limbs = q.to_u64_digits();
            let mut scratch = vec![0; is_probable_prime_scratch_limbs(limbs.len())];
            let is_prime = is_probable_prime_vartime(&limbs, 4, &mut Counter(1), &mut scratch);
            if is_prime.unwrap() && &q % 65537_u32 != BigUint::from(1_u8) {
                break limbs;
            }
        };
        let mut script = script.clone();
        script.extend(&q);
        let mut rng = Scripted::new(script, Counter(2));
        let key = generate_with(&mut rng).unwrap();
        let [_, _, first, second, ..] = bytes(&key).map(|b| BigUint::from_bytes_be(&b));
        assert_eq!(first, number(&p));
        assert_eq!(second == number(&q), taken, "2^{distance}");
    }
}
