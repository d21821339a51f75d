//! Primality compared with trial division and known numbers; generated primes checked against their
//! specification.

use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;
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

/// A generator that repeats some values forever and counts them.
pub(crate) struct Repeating<'a> {
    values: &'a [u64],
    pub(crate) given: usize,
}

impl<'a> Repeating<'a> {
    pub(crate) const fn new(values: &'a [u64]) -> Self {
        Self { values, given: 0 }
    }
}

impl TryRng for Repeating<'_> {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.given += 1;
        Ok(self.values[(self.given - 1) % self.values.len()])
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl TryCryptoRng for Repeating<'_> {}

/// Generators stuck at zero, at one, at all ones, and at an arbitrary value.
pub(crate) const STUCK: [&[u64]; 4] = [&[0], &[1], &[u64::MAX], &[0x9e37_79b9_7f4a_7c15]];

/// A generator that returns scripted values first, then those of another generator.
pub(crate) struct Scripted<R> {
    pub(crate) script: Vec<u64>,
    pub(crate) at: usize,
    pub(crate) then: R,
}

impl<R> Scripted<R> {
    pub(crate) const fn new(script: Vec<u64>, then: R) -> Self {
        Self { script, at: 0, then }
    }
}

impl<R: TryCryptoRng<Error = core::convert::Infallible>> TryRng for Scripted<R> {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.at += 1;
        match self.script.get(self.at - 1) {
            Some(value) => Ok(*value),
            None => self.then.try_next_u64(),
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

impl<R: TryCryptoRng<Error = core::convert::Infallible>> TryCryptoRng for Scripted<R> {}

fn is_prime(candidate: &[Limb]) -> bool {
    let mut scratch = vec![0; is_probable_prime_scratch_limbs(candidate.len().max(1))];
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
fn generated_primes_satisfy_the_request() {
    for bits in [65_usize, 128, 200, 256, 512] {
        let n = bits.div_ceil(64);
        let mut prime = vec![0; n];
        let mut scratch = vec![0; generate_scratch_limbs(n)];
        scratch[..32 * n].fill(1);
        let mut asked = 0;
        let accept = |candidate: &[Limb]| {
            asked += 1;
            candidate[0] & 4 == 0
        };
        generate(&mut prime, bits, accept, &mut Counter(bits as u64), &mut scratch).unwrap();
        assert!(asked >= 8);
        assert!(is_prime(&prime), "{prime:x?}");
        assert_eq!(prime[0] & 5, 1);
        assert_eq!(words::bit_length_vartime(&prime), bits);
        // The square of a prime of at least √2·2^(bits−1) has 2·bits bits.
        let mut square = vec![0; 2 * n];
        words::Words::square(words::Portable, &mut square, &prime);
        assert_eq!(words::bit_length_vartime(&square), 2 * bits);
        assert!(scratch.iter().all(|limb| *limb == 0));
    }
}

#[test]
fn too_little_scratch_is_an_error() {
    let needed = is_probable_prime_scratch_limbs(2);
    for given in [0, 5, needed - 1] {
        let mut scratch = vec![0; given];
        let outcome =
            is_probable_prime_vartime(&[u64::MAX, u64::MAX >> 1], 1, &mut Counter(1), &mut scratch);
        assert!(matches!(outcome, Err(Error::ScratchTooSmall { .. })));
    }
    let needed = generate_scratch_limbs(2);
    for given in [0, 63, 64, 160] {
        assert!(given < needed);
        let mut scratch = vec![0; given];
        let outcome = generate(&mut [0; 2], 128, |_| true, &mut Counter(1), &mut scratch);
        assert!(matches!(outcome, Err(Error::ScratchTooSmall { .. })));
    }
}

/// Returns a prime of `bits` bits with the property.
fn prime_that(
    bits: usize,
    candidates: usize,
    accept: impl FnMut(&[Limb]) -> bool,
    rng: &mut impl CryptoRng,
) -> Result<Vec<Limb>, Error> {
    let mut prime = vec![0; bits.div_ceil(64)];
    let mut scratch = vec![7; generate_scratch_limbs(prime.len())];
    generate_within(candidates, &mut prime, bits, accept, rng, &mut scratch)?;
    Ok(prime)
}

#[test]
fn primes_of_both_residues_modulo_four() {
    let mut residues = [0; 4];
    for seed in 0..32 {
        let prime = prime_that(128, 2560, |_| true, &mut Counter(seed)).unwrap();
        residues[(prime[0] & 3) as usize] += 1;
    }
    assert!(residues[1] >= 4 && residues[3] >= 4, "{residues:?}");
}

#[test]
fn primes_whose_predecessors_are_often_even() {
    // About every sixth tested candidate is prime, however often p − 1 can be halved.
    for halvings in [2, 5, 9, 12] {
        let mut tested = 0;
        let accept = |candidate: &[Limb]| {
            let fits = candidate[0] & ((2 << halvings) - 1) == 1 | 1 << halvings;
            tested += usize::from(fits);
            fits
        };
        let prime = prime_that(128, 1 << 22, accept, &mut Counter(halvings)).unwrap();
        assert!(is_prime(&prime), "{prime:x?}");
        assert_eq!((prime[0] - 1).trailing_zeros(), halvings as u32);
        assert!(tested < 100, "{halvings} halvings: {tested}");
    }
}

fn is_secret_prime(candidate: &[Limb]) -> bool {
    let mut scratch = vec![3; secret_scratch(candidate.len())];
    let outcome = is_probable_prime(candidate, 8, &mut Counter(7), &mut scratch).unwrap();
    assert!(scratch.iter().all(|limb| *limb == 0));
    outcome
}

#[test]
fn secret_and_public_primality_tests_agree() {
    // p − 1 divisible by 2⁹⁶ and by 2¹⁸⁹: the primes 2²²⁴ − 2⁹⁶ + 1 and 3·2¹⁸⁹ + 1.
    assert!(is_secret_prime(&[1, 0xffff_ffff_0000_0000, u64::MAX, 0xffff_ffff]));
    assert!(is_secret_prime(&[1, 0, 3 << 61]));
    assert!(!is_secret_prime(&[1, 0, 5 << 61]));
    for x in [
        443_656_337_893_445_593_609_056_001_u128,
        318_665_857_834_031_151_167_461,
        3_317_044_064_679_887_385_961_981,
        0xffff_ffff_ffff_ffc5 * 0xffff_ffff_ffff_ffc5,
    ] {
        assert!(!is_secret_prime(&[x as u64, (x >> 64) as u64]), "{x}");
    }
    let mut random = Counter(11);
    let mut primes = 0;
    for i in 0..2000_u64 {
        let twos = i % 70;
        let odd = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64()) | 1;
        let number = (odd << twos | 1 << 127) + u128::from(twos > 0);
        let number = [number as u64, (number >> 64) as u64];
        let expected = is_prime(&number);
        assert_eq!(is_secret_prime(&number), expected, "{number:x?}");
        primes += usize::from(expected);
    }
    assert!(primes > 20, "{primes}");
}

/// Returns a product of two primes p and 2p − 1, and a base to which it is a strong probable prime.
fn strong_pseudoprime() -> ([Limb; 2], [Limb; 2]) {
    let number = |limbs: &[Limb]| limbs.iter().rev().fold(BigUint::ZERO, |sum, l| (sum << 64) + l);
    let limbs = |number: &BigUint| {
        let mut digits = number.to_u64_digits();
        digits.resize(2, 0);
        [digits[0], digits[1]]
    };
    let composite = (0xeeee_eeee_u64..)
        .filter(|p| p % 4 == 3 && trial_division(*p) && trial_division(2 * p - 1))
        .map(|p| BigUint::from(p) * BigUint::from(2 * p - 1))
        .find(|composite| composite.bits() == 65)
        .unwrap();
    let one = BigUint::from(1_u8);
    let exponent = (&composite - &one) >> 1;
    let mut random = Counter(5);
    loop {
        let base = [random.next_u64(), random.next_u64()];
        let power = number(&base).modpow(&exponent, &composite);
        if power == one || power == &composite - &one {
            return (limbs(&composite), base);
        }
    }
}

#[test]
fn a_composite_that_passes_the_first_round_fails_later_rounds() {
    let (composite, base) = strong_pseudoprime();
    assert!(!is_prime(&composite));
    // Eight candidates: the composite, and numbers without small prime factors. Eight bases.
    let mut script = composite.to_vec();
    let mut random = Counter(9);
    while script.len() < 16 {
        let candidate = [random.next_u64() | 1, 1];
        let is_new = !has_small_factor(&candidate) && !is_prime(&candidate);
        // Leading bits like those of drawn candidates.
        if is_new && candidate[0] >> 63 == 1 {
            script.extend(candidate);
        }
    }
    script.extend(base);
    script.extend((0..14).map(|_| random.next_u64()));
    let length = script.len();
    let mut rng = Scripted::new(script, Counter(13));
    let mut first = Vec::new();
    let accept = |candidate: &[Limb]| {
        first.push(candidate.to_vec());
        true
    };
    let prime = prime_that(65, 1300, accept, &mut rng).unwrap();
    assert_eq!(first[0], composite);
    assert!(rng.at > length + 16, "it was not taken for a prime first");
    assert_ne!(prime, composite);
    assert!(is_prime(&prime));
}

#[test]
fn generators_that_repeat_themselves_are_errors() {
    for values in STUCK {
        let mut rng = Repeating::new(values);
        let outcome = prime_that(1024, usize::MAX, |_| true, &mut rng);
        assert_eq!(outcome, Err(Error::RandomGenerator), "{values:x?}");
        assert!(rng.given <= 16, "{values:x?}: {}", rng.given);

        let mut rng = Repeating::new(values);
        let mut scratch = vec![0; is_probable_prime_scratch_limbs(2)];
        // Zero, one and numbers not less than the candidate cannot be bases.
        let prime = [u64::MAX, u64::MAX >> 1];
        let outcome = is_probable_prime_vartime(&prime, 4, &mut rng, &mut scratch);
        let is_base = ![0, 1, u64::MAX].contains(&values[0]);
        assert_eq!(outcome, if is_base { Ok(true) } else { Err(Error::RandomGenerator) });
        assert!(rng.given <= 2 * random::DRAWS);
        let outcome = is_probable_prime(
            &prime,
            4,
            &mut Repeating::new(values),
            &mut vec![0; secret_scratch(2)],
        );
        assert_eq!(outcome, Err(Error::RandomGenerator));
    }
    // One repeated candidate, and several.
    for (period, candidates) in [(16, 2), (17, 2000), (32, 2000), (128, 2000)] {
        let mut random = Counter(period);
        let mut values: Vec<u64> = (0..period).map(|_| random.next_u64()).collect();
        // Every value is large enough to be the highest limb.
        values.iter_mut().for_each(|value| *value |= 3 << 62);
        let mut rng = Repeating::new(&values);
        let outcome = prime_that(1024, 2000, |_| false, &mut rng);
        assert_eq!(outcome, Err(Error::RandomGenerator), "{period}");
        assert_eq!(rng.given, 16 * candidates, "{period}");
    }
}

#[test]
fn a_search_ends_after_the_given_number_of_candidates() {
    let mut asked = 0;
    let accept = |_: &[Limb]| {
        asked += 1;
        false
    };
    let outcome = prime_that(256, 3000, accept, &mut Counter(1));
    assert_eq!(outcome, Err(Error::RandomGenerator));
    // Small primes divide six of seven.
    assert!((300..900).contains(&asked), "{asked}");
    let mut scratch = vec![0; generate_scratch_limbs(4)];
    let outcome = generate(&mut [0; 4], 256, |_| false, &mut Counter(1), &mut scratch);
    assert_eq!(outcome, Err(Error::RandomGenerator));
}

#[test]
fn scratch_is_enough_for_a_round() {
    for n in 2..=64 {
        let given = modular::pow_eight_minimum_scratch_limbs(n);
        assert!(strong_scratch_limbs(n) <= given, "{n}");
        let least = 4 * n + modular::pow_minimum_scratch_limbs(n);
        assert!(least <= secret_scratch(n), "{n}");
    }
}
