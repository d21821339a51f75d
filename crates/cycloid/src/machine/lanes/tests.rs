//! Every backend compared with num-bigint and with the portable one, limb for limb.

use std::format;
use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::super::cpu;
use super::super::cpu::Level;
use super::super::words::{LIMB_BITS, Limb};
use super::*;

/// Bit lengths of moduli: those of RSA and Diffie-Hellman, and their neighbours.
const SIZES: [usize; 17] =
    [64, 65, 256, 258, 259, 521, 768, 1022, 1024, 1039, 1280, 1536, 2048, 2200, 3072, 4096, 5000];

/// Returns all backends that can run here; without IFMA on the processor, in the emulator.
pub(crate) fn backends() -> Vec<Backend> {
    #[cfg_attr(
        not(all(target_arch = "x86_64", target_os = "linux")),
        allow(unused_mut, reason = "the emulator adds one")
    )]
    let mut backends: Vec<_> = Backend::available().collect();
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    if Level::Avx512.is_available() && !Level::Ifma.is_available() {
        match ifma_emulator::install() {
            // SAFETY: detection found AVX-512, and the emulator executes the IFMA instructions.
            Ok(_) => backends.push(Backend::Ifma(unsafe { cpu::Ifma::assume() })),
            Err(error) => std::eprintln!("not run: ifma: {error}"),
        }
    }
    let runs = |level: &Level| backends.iter().any(|backend| backend.name() == level.name());
    for level in Backend::LEVELS.iter().filter(|level| !runs(level)) {
        std::eprintln!("not run, because this processor lacks it: {}", level.name());
    }
    backends
}

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

/// Returns odd moduli of at most `bits` bits: carry-heavy, sparse, tiny, random.
fn moduli(bits: usize, random: &mut Random) -> [BigUint; LANES] {
    let top = power_of_two(bits);
    let half = power_of_two(bits - 1);
    let one = BigUint::from(1u8);
    [
        &top - &one,
        &half + &one,
        (&half + random.below(&half)) | &one,
        &top - power_of_two(bits / 2) - &one,
        one.clone(),
        &half - &one,
        &top - (BigUint::from(random.next() | 1) >> 1 << 1) - &one,
        (&half + random.below(&half)) | (power_of_two(bits / 2) - &one),
    ]
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
        &bound - 1u8,
        power_of_two(modulus.bits() as usize) - 1u8,
        power_of_two(modulus.bits() as usize / 2),
    ];
    values.extend((0..7).map(|_| random.below(&bound)));
    values.retain(|value| *value < bound);
    values
}

fn limbs(value: &BigUint) -> Vec<Limb> {
    value.to_u64_digits()
}

/// Returns the numbers as lanes of n limbs, with a guard before and after.
fn guarded(n: usize, numbers: &[BigUint; LANES]) -> Vec<Lanes> {
    let mut lanes = vec![GUARD; n + 2];
    for (lane, number) in numbers.iter().enumerate() {
        load(&mut lanes[1..=n], lane, &limbs(number));
    }
    lanes
}

const GUARD: Lanes = Lanes([0xdead_beef_0bad_f00d; LANES]);

fn assert_guards(lanes: &[Lanes]) {
    assert_eq!(lanes.first(), Some(&GUARD));
    assert_eq!(lanes.last(), Some(&GUARD));
}

fn inner(lanes: &mut [Lanes]) -> &mut [Lanes] {
    let n = lanes.len() - 2;
    &mut lanes[1..=n]
}

fn number(lanes: &[Lanes], lane: usize) -> BigUint {
    let mut out = vec![0; (lanes.len() * LANE_LIMB_BITS).div_ceil(LIMB_BITS)];
    store(&mut out, lanes, lane);
    let halves = out.iter().flat_map(|limb| [*limb as u32, (limb >> 32) as u32]);
    BigUint::new(halves.collect())
}

struct MontgomeryMul<'a> {
    accumulator: &'a mut [Lanes],
    /// `None` squares.
    by: Option<&'a [Lanes]>,
    /// How often it squares.
    times: usize,
    work: &'a mut [Lanes],
    modulus: &'a [Lanes],
}

impl Task for MontgomeryMul<'_> {
    type Output = ();

    fn run<W: LaneWords>(self, lanes: W) {
        let k0 = montgomery_k0(self.modulus);
        let Self { accumulator, by, times, work, modulus } = self;
        match by {
            Some(by) => lanes.montgomery_mul(accumulator, by, work, modulus, &k0),
            None => lanes.montgomery_square(accumulator, times, work, modulus, &k0),
        }
    }
}

/// Multiplies, or squares if `b` is `None`, on every backend, and compares.
fn check_mul(
    backends: &[Backend],
    n: usize,
    modulus: &[BigUint; LANES],
    a: &[BigUint; LANES],
    b: Option<&[BigUint; LANES]>,
) {
    let modulus_lanes = guarded(n, modulus);
    let mut first = None;
    for backend in backends {
        let mut accumulator = guarded(n, a);
        let by = b.map(|b| guarded(n, b));
        let mut work = vec![GUARD; montgomery_work_lanes(n) + 2];
        backend.run(MontgomeryMul {
            accumulator: inner(&mut accumulator),
            by: by.as_ref().map(|by| &by[1..=n]),
            times: 1,
            work: inner(&mut work),
            modulus: &modulus_lanes[1..=n],
        });
        assert_guards(&accumulator);
        assert_guards(&work);
        let result = inner(&mut accumulator);
        let context = format!("{} with {n} limbs, square: {}", backend.name(), b.is_none());
        assert!(result.iter().all(|limb| limb.0.iter().all(|word| *word <= LIMB_MASK)));
        match &first {
            Some(first) => assert_eq!(result, first, "{context}"),
            None => {
                let r = power_of_two(n * LANE_LIMB_BITS);
                for lane in 0..LANES {
                    let m = &modulus[lane];
                    let product = number(result, lane);
                    let expected = &a[lane] * b.map_or(&a[lane], |b| &b[lane]);
                    assert!(product < m * 2u8, "{context}, lane {lane}");
                    assert_eq!(product * &r % m, expected % m, "{context}, lane {lane}");
                }
                first = Some(result.to_vec());
            }
        }
    }
}

fn rotated(numbers: &[BigUint; LANES], by: usize) -> [BigUint; LANES] {
    core::array::from_fn(|lane| numbers[(lane + by) % LANES].clone())
}

#[test]
fn montgomery_mul_and_square() {
    let backends = backends();
    let mut random = Random(1);
    for bits in SIZES {
        let n = lane_limbs(bits);
        let moduli = moduli(bits, &mut random);
        let values: [Vec<BigUint>; LANES] =
            core::array::from_fn(|lane| values(&moduli[lane], &mut random));
        for round in 0..20 {
            let modulus = rotated(&moduli, round);
            let pick = |step: usize| {
                let unrotated = core::array::from_fn(|lane| {
                    values[lane][(round + step * lane) % values[lane].len()].clone()
                });
                rotated(&unrotated, round)
            };
            let (a, b) = (pick(1), pick(3));
            check_mul(&backends, n, &modulus, &a, Some(&b));
            check_mul(&backends, n, &modulus, &a, None);
        }
    }
}

/// The largest possible columns: every limb of factors and modulus all ones, near 2m.
#[test]
fn columns_do_not_overflow_at_16384_bits() {
    let backends = backends();
    let mut random = Random(2);
    let n = lane_limbs(16384);
    let modulus = moduli(n * LANE_LIMB_BITS - 2, &mut random);
    let largest = modulus.each_ref().map(|m| m * 2u8 - 1u8);
    check_mul(&backends, n, &modulus, &largest, Some(&largest));
    check_mul(&backends, n, &modulus, &largest, None);
}

#[test]
fn a_long_chain_stays_almost_reduced() {
    // Small sizes only: the emulator is slow.
    let backends = backends();
    let mut random = Random(3);
    for bits in [128, 1024] {
        let n = lane_limbs(bits);
        let moduli = moduli(bits, &mut random);
        let start = moduli.each_ref().map(|m| random.below(&(m * 2u8)));
        let modulus = guarded(n, &moduli);
        let mut results = Vec::new();
        for backend in &backends {
            let mut accumulator = guarded(n, &start);
            let by = guarded(n, &start);
            let mut work = vec![GUARD; montgomery_work_lanes(n) + 2];
            for step in 0..100 {
                backend.run(MontgomeryMul {
                    accumulator: inner(&mut accumulator),
                    by: (step % 6 == 5).then_some(&by[1..=n]),
                    times: 1,
                    work: inner(&mut work),
                    modulus: &modulus[1..=n],
                });
            }
            for (lane, m) in moduli.iter().enumerate() {
                assert!(number(inner(&mut accumulator), lane) < m * 2u8);
            }
            results.push(accumulator);
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn several_squarings_are_single_ones() {
    let mut random = Random(7);
    for bits in [256, 512, 768, 1024, 1536, 2048] {
        let n = lane_limbs(bits);
        let moduli = moduli(bits, &mut random);
        let start = moduli.each_ref().map(|m| random.below(&(m * 2u8)));
        let modulus = guarded(n, &moduli);
        for backend in backends() {
            let squared = |calls: usize, times: usize| {
                let mut accumulator = guarded(n, &start);
                let mut work = vec![GUARD; montgomery_work_lanes(n) + 2];
                for _ in 0..calls {
                    backend.run(MontgomeryMul {
                        accumulator: inner(&mut accumulator),
                        by: None,
                        times,
                        work: inner(&mut work),
                        modulus: &modulus[1..=n],
                    });
                }
                accumulator
            };
            assert_eq!(squared(1, 0), guarded(n, &start));
            assert_eq!(squared(1, 5), squared(5, 1), "{} with {n} limbs", backend.name());
        }
    }
}

struct Lookup<'a>(&'a mut [Lanes], &'a [Lanes], &'a Lanes);

impl Task for Lookup<'_> {
    type Output = ();

    fn run<W: LaneWords>(self, lanes: W) {
        lanes.lookup(self.0, self.1, self.2);
    }
}

#[test]
fn lookup_finds_each_lane_its_own_entry() {
    let mut random = Random(4);
    for backend in backends() {
        for n in [1, 4, 5, 15, 20, 30, 40, 46, 80] {
            let table: Vec<Lanes> =
                (0..16 * n).map(|_| Lanes([(); LANES].map(|()| random.next()))).collect();
            for shift in 0..17 {
                let index = Lanes(core::array::from_fn(|lane| (lane as Limb * 5 + shift) % 17));
                let mut out = vec![GUARD; n + 2];
                backend.run(Lookup(inner(&mut out), &table, &index));
                assert_guards(&out);
                for (i, limb) in inner(&mut out).iter().enumerate() {
                    for (lane, word) in limb.0.iter().enumerate() {
                        let entry = table.get(index.0[lane] as usize * n + i);
                        assert_eq!(*word, entry.map_or(0, |entry| entry.0[lane]));
                    }
                }
            }
            // An index beyond 32 bits is also outside the table.
            let mut out = vec![GUARD; n];
            backend.run(Lookup(&mut out, &table, &Lanes([1 << 32; LANES])));
            assert!(out.iter().all(|limb| *limb == Lanes::ZERO));
        }
    }
}

#[test]
fn conversions_there_and_back() {
    let mut random = Random(5);
    for n in [1, 2, 5, 20, 33] {
        for words in 0..=n {
            let bits = (words * LIMB_BITS).min(n * LANE_LIMB_BITS);
            let numbers: [BigUint; LANES] =
                core::array::from_fn(|_| random.below(&power_of_two(bits)));
            let lanes = guarded(n, &numbers);
            assert_guards(&lanes);
            for (lane, expected) in numbers.iter().enumerate() {
                let value = lanes[1..=n]
                    .iter()
                    .rev()
                    .fold(BigUint::ZERO, |value, limb| (value << LANE_LIMB_BITS) + limb.0[lane]);
                assert_eq!(value, *expected);
                // Exactly as many words as the value needs, and more than the lane has.
                for length in [bits.div_ceil(LIMB_BITS), n + 2] {
                    let mut out = vec![7; length];
                    store(&mut out, &lanes[1..=n], lane);
                    assert_eq!(limbs(expected), super::super::words::trim_vartime(&out));
                }
            }
        }
    }
}

#[test]
fn linear_functions() {
    let mut random = Random(6);
    for bits in SIZES {
        let n = lane_limbs(bits);
        let moduli = moduli(bits, &mut random);
        let modulus = guarded(n, &moduli);
        let k0 = montgomery_k0(&modulus[1..=n]);
        for (k0, m) in k0.0.iter().zip(&modulus[1].0) {
            assert!(*k0 <= LIMB_MASK && k0.wrapping_mul(*m).wrapping_add(1) & LIMB_MASK == 0);
        }
        for round in 0..16 {
            let a = moduli.each_ref().map(|m| {
                let values = values(m, &mut random);
                values[round % values.len()].clone()
            });
            let mut lanes = guarded(n, &a);
            reduce_once(inner(&mut lanes), &modulus[1..=n]);
            for (lane, m) in moduli.iter().enumerate() {
                assert_eq!(number(&lanes[1..=n], lane), &a[lane] % m);
            }
            double_mod(inner(&mut lanes), &modulus[1..=n]);
            for (lane, m) in moduli.iter().enumerate() {
                assert_eq!(number(&lanes[1..=n], lane), &a[lane] * 2u8 % m);
            }
            assert_guards(&lanes);
        }
    }
}

#[test]
fn sizes() {
    for (bits, n) in
        [(64, 5), (512, 10), (1024, 20), (1536, 30), (2048, 40), (3072, 60), (4096, 80)]
    {
        assert_eq!(lane_limbs(bits), n);
    }
    for bits in 1..=16384 {
        let n = lane_limbs(bits);
        assert!(n * LANE_LIMB_BITS >= bits + 2 && n < 1024);
        assert!([5, 10].contains(&n) || n.is_multiple_of(15) || n.is_multiple_of(20));
    }
}

#[test]
fn lanes_as_limbs() {
    let mut lanes = [Lanes([1; LANES]), Lanes([2; LANES])];
    let limbs = Lanes::as_limbs_mut(&mut lanes);
    assert_eq!(limbs.len(), 16);
    limbs[8] = 5;
    assert_eq!(lanes[1].0[..2], [5, 2]);
}

#[test]
fn best_is_the_last_of_those_available() {
    let last = Backend::available().last().map(Backend::name);
    match Backend::best() {
        Some(best) => assert_eq!(Some(best.name()), last),
        None => assert_eq!(last, Some("portable")),
    }
}
