//! Every backend compared with num-bigint and with the portable one, digit for digit.

use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;

use super::super::lanes::tests::backends;
use super::*;

/// Bit lengths of moduli: all numbers of vectors up to 12, boundaries of tiles, and the sizes of
/// RSA and Diffie-Hellman.
const SIZES: [usize; 27] = [
    2, 64, 65, 150, 151, 254, 354, 355, 512, 640, 768, 1000, 1024, 1100, 1536, 1600, 2048, 2400,
    2448, 2600, 3072, 3400, 3800, 4096, 4700, 6144, 8192,
];

/// A deterministic source of numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: &BigUint) -> BigUint {
        let digits = (0..bound.bits() / 32 + 3).map(|_| self.next() as u32).collect();
        BigUint::new(digits) % bound
    }
}

fn power_of_two(bits: usize) -> BigUint {
    BigUint::from(1u8) << bits
}

/// Returns odd moduli of exactly `bits` bits: carry-heavy, sparse, random.
fn moduli(bits: usize, random: &mut Random) -> Vec<BigUint> {
    let top = power_of_two(bits);
    let half = power_of_two(bits - 1);
    let one = BigUint::from(1u8);
    let mut moduli = vec![
        &top - &one,
        &half + &one,
        (&half + random.below(&half)) | &one,
        (&half + random.below(&half)) | (power_of_two(bits / 2) - &one),
        (&half + power_of_two(bits / 2)) | &one,
    ];
    if bits > 64 {
        moduli.push(&top - (random.next() | 1));
        moduli.push(&half + (random.next() | 1));
    }
    moduli
}

/// Returns almost reduced values, below 2·`modulus`.
fn values(modulus: &BigUint, random: &mut Random) -> Vec<BigUint> {
    let bound = modulus * 2u8;
    let mut values = vec![
        BigUint::ZERO,
        BigUint::from(1u8),
        modulus - 1u8,
        modulus.clone(),
        modulus + 1u8,
        &bound - 1u8,
        &bound - 2u8,
        power_of_two(modulus.bits() as usize) - 1u8,
        power_of_two(modulus.bits() as usize / 2),
    ];
    values.extend((0..3).map(|_| random.below(&bound)));
    values.retain(|value| *value < bound);
    values
}

const GUARD: Lanes = Lanes([0xdead_beef_0bad_f00d; LANES]);

/// Returns `inner` between two guards.
fn guarded(inner: Vec<Lanes>) -> Vec<Lanes> {
    let mut lanes = vec![GUARD];
    lanes.extend(inner);
    lanes.push(GUARD);
    lanes
}

fn assert_guards(lanes: &[Lanes]) {
    assert_eq!(lanes.first(), Some(&GUARD));
    assert_eq!(lanes.last(), Some(&GUARD));
}

fn inner(lanes: &mut [Lanes]) -> &mut [Lanes] {
    let n = lanes.len() - 2;
    &mut lanes[1..=n]
}

fn across(n: usize, number: &BigUint) -> Vec<Lanes> {
    let mut lanes = vec![GUARD; vectors(n)];
    load(&mut lanes, &number.to_u64_digits());
    lanes
}

/// The largest allowed digit.
const LARGEST: Limb = (1 << DIGIT_BITS) + (1 << 13) - 1;

/// Returns the same number in another form, with digits of more than 51 bits where possible.
fn redundant(mut lanes: Vec<Lanes>, random: &mut Random) -> Vec<Lanes> {
    let digits = Lanes::as_limbs_mut(&mut lanes);
    for i in (1..digits.len()).rev() {
        if random.next() & 3 != 0 && digits[i] > 0 && digits[i - 1] < 1 << 13 {
            digits[i] -= 1;
            digits[i - 1] += 1 << DIGIT_BITS;
        }
    }
    lanes
}

fn number(lanes: &[Lanes]) -> BigUint {
    let digits = Lanes::as_limbs(lanes).iter().rev();
    digits.fold(BigUint::ZERO, |value, digit| (value << DIGIT_BITS) + digit)
}

/// Two factors; `None` squares.
#[derive(Clone)]
struct Factors {
    modulus: BigUint,
    a: Vec<Lanes>,
    b: Option<Vec<Lanes>>,
}

/// Multiplies or squares two pairs of factors, one after the other.
struct Multiply<'a>(&'a [Factors; 2]);

impl Task for Multiply<'_> {
    type Output = [Vec<Lanes>; 2];

    fn run<A: AcrossLanes>(self, across: A) -> Self::Output {
        let bits = self.0[0].modulus.bits() as usize;
        let n = digits(bits);
        let mut memory = [(); 2].map(|()| guarded(vec![GUARD; modulus_lanes(n)]));
        let [first, second] = &mut memory;
        let moduli = [(first, &self.0[0]), (second, &self.0[1])].map(|(memory, factors)| {
            let mut work = guarded(vec![GUARD; montgomery_work_lanes(n)]);
            let modulus = factors.modulus.to_u64_digits();
            let modulus = across.prepare(&modulus, bits, inner(memory), inner(&mut work));
            assert_guards(&work);
            modulus
        });
        for (modulus, factors) in moduli.iter().zip(self.0) {
            let r_squared = power_of_two(2 * n * DIGIT_BITS) % &factors.modulus;
            assert_eq!(number(modulus.r_squared()), r_squared);
            assert_eq!(number(modulus.digits()), factors.modulus);
        }
        let mut accumulators = self.0.each_ref().map(|factors| guarded(factors.a.clone()));
        for ((accumulator, factors), modulus) in accumulators.iter_mut().zip(self.0).zip(&moduli) {
            let mut work = guarded(vec![GUARD; montgomery_work_lanes(n)]);
            match &factors.b {
                Some(b) => across.multiply(inner(accumulator), b, inner(&mut work), modulus),
                None => across.square(inner(accumulator), inner(&mut work), modulus),
            }
            assert_guards(&work);
        }
        for memory in &memory {
            assert_guards(memory);
        }
        accumulators.map(|mut lanes| {
            assert_guards(&lanes);
            inner(&mut lanes).to_vec()
        })
    }
}

fn check(backends: &[Backend], factors: &[Factors; 2]) {
    let mut portable = None;
    for backend in backends {
        let context = std::format!("{} {} bits", backend.name(), factors[0].modulus.bits());
        let results = run(*backend, Multiply(factors));
        match &portable {
            Some(portable) => assert_eq!(results, *portable, "{context}"),
            None => {
                for (result, Factors { modulus, a, b }) in results.iter().zip(factors) {
                    let n = digits(modulus.bits() as usize);
                    let expected = number(a) * number(b.as_ref().unwrap_or(a)) % modulus;
                    let product = number(result);
                    assert!(product < modulus * 2u8, "{context}");
                    let r = power_of_two(n * DIGIT_BITS);
                    assert_eq!(product * r % modulus, expected, "{context}");
                    assert!(Lanes::as_limbs(result).iter().all(|digit| *digit <= LARGEST));
                    assert!(Lanes::as_limbs(result)[n..].iter().all(|digit| *digit == 0));
                    let mut reduced = result.clone();
                    reduce(&mut reduced, &across(n, modulus));
                    let mut limbs = vec![7; modulus.bits().div_ceil(64) as usize];
                    store(&mut limbs, &reduced);
                    let halves = limbs.iter().flat_map(|limb| [*limb as u32, (limb >> 32) as u32]);
                    assert_eq!(BigUint::new(halves.collect()), number(result) % modulus);
                }
                portable = Some(results);
            }
        }
    }
}

#[test]
fn multiply_and_square() {
    let backends = backends();
    let mut random = Random(1);
    for bits in SIZES {
        let n = digits(bits);
        for modulus in moduli(bits, &mut random) {
            let values = values(&modulus, &mut random);
            let other = moduli(bits, &mut random).pop().expect("some");
            // The emulator is slow.
            for round in 0..if bits <= 1100 { 4 } else { 1 } {
                let mut pick = |i: usize| {
                    let value = &values[(round * 5 + i) % values.len()];
                    let lanes = across(n, value);
                    if round % 2 == 0 { lanes } else { redundant(lanes, &mut random) }
                };
                let (a, b) = (pick(0), pick(3));
                let other = Factors {
                    modulus: other.clone(),
                    a: across(n, &random.below(&other)),
                    b: Some(across(n, &random.below(&other))),
                };
                let one = Factors { modulus: modulus.clone(), a, b: Some(b) };
                let squares = [&one, &other].map(|factors| Factors { b: None, ..factors.clone() });
                check(&backends, &[one, other]);
                check(&backends, &squares);
            }
        }
    }
}

/// The largest possible columns: maximal digits of moduli of the greatest length.
#[test]
fn columns_do_not_overflow_at_16384_bits() {
    let bits = 16384;
    let n = digits(bits);
    let modulus = power_of_two(bits) - 1u8;
    let mut a = across(n, &BigUint::ZERO);
    Lanes::as_limbs_mut(&mut a)[..bits / DIGIT_BITS].fill(LARGEST);
    let one = Factors { modulus, a: a.clone(), b: Some(a) };
    let squares = [(); 2].map(|()| Factors { b: None, ..one.clone() });
    check(&backends(), &squares);
    check(&backends(), &[one.clone(), one]);
}

struct Chain<'a>(&'a BigUint, &'a BigUint);

impl Task for Chain<'_> {
    type Output = Vec<Lanes>;

    fn run<A: AcrossLanes>(self, across_lanes: A) -> Self::Output {
        let Self(modulus, start) = self;
        let bits = modulus.bits() as usize;
        let n = digits(bits);
        let mut work = vec![GUARD; montgomery_work_lanes(n)];
        let mut memory = vec![GUARD; modulus_lanes(n)];
        let limbs = modulus.to_u64_digits();
        let prepared = across_lanes.prepare(&limbs, bits, &mut memory, &mut work);
        let by = across(n, start);
        let mut accumulator = by.clone();
        for step in 0..100 {
            if step % 6 == 5 {
                across_lanes.multiply(&mut accumulator, &by, &mut work, &prepared);
            } else {
                across_lanes.square(&mut accumulator, &mut work, &prepared);
            }
            assert!(number(&accumulator) < modulus * 2u8);
        }
        accumulator
    }
}

#[test]
fn a_long_chain_stays_almost_reduced() {
    // Small sizes only: the emulator is slow.
    let mut random = Random(3);
    for bits in [128, 1024] {
        for modulus in moduli(bits, &mut random) {
            let start = random.below(&(&modulus * 2u8));
            let task = || Chain(&modulus, &start);
            let results: Vec<_> =
                backends().into_iter().map(|backend| run(backend, task())).collect();
            assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}

struct Select<'a>(&'a mut [Lanes], &'a [Lanes], usize);

impl Task for Select<'_> {
    type Output = ();

    fn run<A: AcrossLanes>(self, across: A) {
        across.select(self.0, self.1, self.2);
    }
}

#[test]
fn select_finds_every_entry_and_nothing_else() {
    let mut random = Random(4);
    for backend in backends() {
        for length in 1..=20 {
            let lanes = || Lanes([(); LANES].map(|()| random.next()));
            let table: Vec<Lanes> = core::iter::repeat_with(lanes).take(16 * length).collect();
            for index in (0..17).chain([1 << 32, usize::MAX]) {
                let mut out = guarded(vec![GUARD; length]);
                run(backend, Select(inner(&mut out), &table, index));
                assert_guards(&out);
                match table.chunks_exact(length).nth(index) {
                    Some(entry) => assert_eq!(inner(&mut out), entry),
                    None => assert!(inner(&mut out).iter().all(|lanes| *lanes == Lanes::ZERO)),
                }
            }
        }
    }
}

#[test]
fn conversions_there_and_back() {
    let mut random = Random(5);
    for bits in SIZES {
        let n = digits(bits);
        for number_bits in [0, 1, 50, 51, 52, bits, n * DIGIT_BITS] {
            let value = random.below(&power_of_two(number_bits));
            let lanes = guarded(across(n, &value));
            assert_guards(&lanes);
            assert_eq!(number(&lanes[1..=vectors(n)]), value);
            // Exactly as many words as the value needs, and more.
            for length in [number_bits.div_ceil(64), n + 2] {
                let mut limbs = vec![7; length];
                store(&mut limbs, &lanes[1..=vectors(n)]);
                let expected = value.to_u64_digits();
                assert_eq!(limbs[..expected.len()], expected);
                assert!(limbs[expected.len()..].iter().all(|limb| *limb == 0));
            }
        }
    }
}

#[test]
fn sizes() {
    for (bits, n) in
        [(64, 3), (512, 11), (1024, 21), (1536, 31), (2048, 41), (3072, 61), (4096, 81)]
    {
        assert_eq!(digits(bits), n);
    }
    for bits in 1..=16384 {
        let n = digits(bits);
        assert!(n * DIGIT_BITS >= bits + 3 && n % 2 == 1 && n <= MAX_DIGITS);
        assert!(LANES * vectors(n) > n && padding(n) <= 7);
    }
}
