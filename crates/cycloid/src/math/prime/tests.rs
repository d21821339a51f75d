//! Primality against trial division and against numbers that are known; generated primes against
//! what was asked for.

use std::vec;

use rand_core::{Rng, TryCryptoRng, TryRng};

use super::*;

/// A deterministic generator (splitmix64), for tests only.
pub(crate) struct Counter(pub(crate) u64);

impl TryRng for Counter {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(x ^ x >> 31)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Counter {}

fn is_prime(candidate: &[Limb]) -> bool {
    let mut scratch = vec![0; is_probable_prime_scratch(candidate.len().max(1))];
    is_probable_prime_vartime(candidate, 20, &mut Counter(7), &mut scratch).unwrap()
}

fn trial_division(x: u64) -> bool {
    x >= 2 && (2..).take_while(|d| d * d <= x).all(|d| !x.is_multiple_of(d))
}

#[test]
fn divisors_agree_with_division() {
    let mut random = Counter(1);
    for (divisor, _) in PRODUCTS {
        for x in [0, 1, divisor.value - 1, divisor.value, divisor.value + 1, u64::MAX] {
            assert_eq!(divisor.remainder(x), x % divisor.value);
        }
        for _ in 0..100 {
            let x = random.next_u64();
            assert_eq!(divisor.remainder(x), x % divisor.value);
            let number = [x, random.next_u64()];
            let wide = u128::from(number[1]) << 64 | u128::from(x);
            assert_eq!(u128::from(divisor.remainder_of(&number)), wide % u128::from(divisor.value));
        }
    }
    let covered: usize =
        SMALL_PRIMES.iter().filter(|prime| trial_division(u64::from(**prime))).count();
    assert_eq!((covered, SMALL_PRIMES[0], SMALL_PRIMES[510]), (511, 3, 3671));
}

#[test]
fn small_numbers() {
    for x in 0..20_000 {
        assert_eq!(is_prime(&[x]), trial_division(x), "{x}");
    }
    for x in (1 << 24)..(1 << 24) + 400 {
        assert_eq!(is_prime(&[x, 0]), trial_division(x), "{x}");
    }
}

#[test]
fn composites_that_fool_weaker_tests() {
    // Carmichael numbers with no small factor, and strong pseudoprimes to bases 2 to 37.
    for x in [
        443_656_337_893_445_593_609_056_001_u128,
        318_665_857_834_031_151_167_461,
        3_317_044_064_679_887_385_961_981,
    ] {
        assert!(!is_prime(&[x as u64, (x >> 64) as u64]), "{x}");
    }
    // Squares of primes.
    let p = 0xffff_ffff_ffff_ffc5_u128;
    let square = p * p;
    assert!(!is_prime(&[square as u64, (square >> 64) as u64]));
}

#[test]
fn known_primes() {
    assert!(is_prime(&[0xffff_ffff_ffff_ffc5]));
    // 2¹²⁷ − 1, and 2⁵²¹ − 1.
    assert!(is_prime(&[u64::MAX, u64::MAX >> 1]));
    let mut mersenne = [u64::MAX; 9];
    mersenne[8] = 0x1ff;
    assert!(is_prime(&mersenne));
    mersenne[8] = 0xff;
    assert!(!is_prime(&mersenne));
    // p − 1 divisible by a high power of 2: the prime of P-224, 2²²⁴ − 2⁹⁶ + 1.
    assert!(is_prime(&[1, 0xffff_ffff_0000_0000, u64::MAX, 0xffff_ffff]));
}

#[test]
fn generated_primes_are_what_was_asked_for() {
    for bits in [65_usize, 128, 200, 256, 512] {
        let n = bits.div_ceil(64);
        let mut prime = vec![0; n];
        let mut scratch = vec![Lanes([1; 8]); generate_scratch(n)];
        let mut asked = 0;
        let accept = |candidate: &[Limb]| {
            asked += 1;
            candidate[0] & 4 == 0
        };
        generate(&mut prime, bits, accept, &mut Counter(bits as u64), &mut scratch).unwrap();
        assert!(asked >= 8);
        assert!(is_prime(&prime), "{prime:x?}");
        assert_eq!(prime[0] & 7, 3);
        assert_eq!(words::bit_length_vartime(&prime), bits);
        // The square of a prime of at least √2·2^(bits−1) has 2·bits bits.
        let mut square = vec![0; 2 * n];
        words::Words::square(words::Portable, &mut square, &prime);
        assert_eq!(words::bit_length_vartime(&square), 2 * bits);
        assert!(scratch[..4 * n].iter().all(|element| *element == Lanes([0; 8])));
    }
}

#[test]
fn too_little_scratch_is_an_error() {
    let needed = is_probable_prime_scratch(2);
    for given in [0, 5, needed - 1] {
        let mut scratch = vec![0; given];
        let outcome =
            is_probable_prime_vartime(&[u64::MAX, u64::MAX >> 1], 1, &mut Counter(1), &mut scratch);
        assert!(matches!(outcome, Err(Error::ScratchTooSmall { .. })));
    }
    let needed = generate_scratch(2);
    for given in [0, 7, 8, 20] {
        assert!(given < needed);
        let mut scratch = vec![Lanes([0; 8]); given];
        let outcome = generate(&mut [0; 2], 128, |_| true, &mut Counter(1), &mut scratch);
        assert!(matches!(outcome, Err(Error::ScratchTooSmall { .. })));
    }
}
