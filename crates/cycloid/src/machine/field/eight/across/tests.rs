//! Tests of the formulas on portable vectors, beside a model on big integers.

use num_bigint::BigUint;

use super::super::tests::Source;
use super::*;
use crate::machine::field::{P256, P384, P521};
use crate::machine::lanes::Portable;

/// Bounds of a point's X, Y, Y + Z and Z², in units.
const COORDINATES: [u64; FOUR] = [128, 228, 760, 5];

/// Properties of a prime, and its numbers as factors.
trait Model<const N: usize>: Across<N> {
    /// The prime in a unit.
    const PRIMES: u64;

    /// Whether a carried number may be several units.
    const IS_MONTGOMERY: bool;

    fn prime() -> BigUint {
        integer_of(Self::MODULUS.as_ref())
    }

    /// Returns the number that a lane of factors stands for.
    fn number(factors: &[[Limb; FOUR]; N], lane: usize) -> BigUint {
        let one = value::<Self, N>(&Self::ONE) % Self::prime();
        value::<Self, N>(&lane_of(factors, lane)) * one.modinv(&Self::prime()).unwrap()
            % Self::prime()
    }

    /// Returns factors of four numbers, with `excess` units added if there is room.
    fn factors(numbers: &[BigUint; FOUR], excess: [u64; FOUR]) -> [[Limb; FOUR]; N] {
        let one = value::<Self, N>(&Self::ONE);
        let lanes: [[Limb; N]; FOUR] = core::array::from_fn(|lane| {
            let mut number = &numbers[lane] * &one % Self::prime();
            if Self::IS_MONTGOMERY {
                number += Self::prime() * (Self::PRIMES * excess[lane]);
            }
            full::<Self, N>(&number)
        });
        load(Portable, &transposed(&lanes))
    }
}

impl Model<6> for P256 {
    const PRIMES: u64 = 1;
    const IS_MONTGOMERY: bool = true;
}

impl Model<9> for P384 {
    const PRIMES: u64 = 4;
    const IS_MONTGOMERY: bool = true;
}

impl Model<11> for P521 {
    const PRIMES: u64 = 128;
    const IS_MONTGOMERY: bool = false;
}

fn integer_of(words: &[Limb]) -> BigUint {
    words.iter().rev().fold(BigUint::ZERO, |sum, word| (sum << LIMB_BITS) + *word)
}

fn value<P: Across<N>, const N: usize>(limbs: &[Limb; N]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << P::RADIX_BITS) + *limb)
}

fn lane_of<const N: usize>(numbers: &[[Limb; FOUR]; N], lane: usize) -> [Limb; N] {
    numbers.map(|limb| limb[lane])
}

/// Returns the limbs of a number, none in excess.
fn full<P: Across<N>, const N: usize>(number: &BigUint) -> [Limb; N] {
    let mask = BigUint::from((1u64 << P::RADIX_BITS) - 1);
    core::array::from_fn(|j| Limb::try_from(number >> (P::RADIX_BITS * j) & &mask).unwrap())
}

/// Checks that limbs are carried, and each number is below so many units.
fn check_carried<P: Model<N>, const N: usize>(limbs: &[[Limb; FOUR]; N], units: [u64; FOUR]) {
    assert!(limbs.as_flattened().iter().all(|limb| *limb < (1 << P::RADIX_BITS) + (1 << 23)));
    for (lane, units) in units.into_iter().enumerate() {
        let value = value::<P, N>(&lane_of(limbs, lane));
        assert!(!P::IS_MONTGOMERY || value < P::prime() * (units * P::PRIMES), "lane {lane}");
    }
}

fn random<P: Model<N>, const N: usize>(source: &mut Source) -> BigUint {
    let limbs: [Limb; N] = core::array::from_fn(|_| source.word(0, 1 << P::RADIX_BITS));
    value::<P, N>(&limbs) % P::prime()
}

/// Returns zero, a number at the prime's bound, or any.
fn edge_or_random<P: Model<N>, const N: usize>(kind: usize, source: &mut Source) -> BigUint {
    match kind % 7 {
        0 => BigUint::ZERO,
        1 => P::prime() - 1u8,
        _ => random::<P, N>(source),
    }
}

fn constants<P: Model<N>, const N: usize>() {
    let p = P::prime();
    assert_eq!(value::<P, N>(&P::UNIT), &p * P::PRIMES);
    assert_eq!(value::<P, N>(&P::COORDINATE) % &p, BigUint::ZERO);
    let most = if P::IS_MONTGOMERY { &p * (P::PRIMES * 228) } else { BigUint::ZERO };
    for j in 0..N {
        // The largest limb of a number that is subtracted.
        let carried = |number: &BigUint| match j + 1 == N && P::IS_MONTGOMERY {
            true => Limb::try_from(number >> (P::RADIX_BITS * j)).unwrap() + 1,
            false => (1 << P::RADIX_BITS) + (1 << 23),
        };
        assert!(2 * P::UNIT[j] >= carried(&(&p * P::PRIMES * 11u8 / 10u8)), "{j}");
        assert!(P::COORDINATE[j] >= carried(&most), "{j}");
        assert!(P::COORDINATE[j] <= 3 << P::RADIX_BITS, "{j}");
        // The sum of the nine and sixteen numbers that a doubling subtracts.
        assert!(28 * P::UNIT[j] >= 25 * carried(&(&p * P::PRIMES * 11u8 / 10u8)), "{j}");
    }
}

fn products<P: Model<N>, const N: usize>() {
    let (p, mut source) = (P::prime(), Source(3));
    let one = value::<P, N>(&P::ONE);
    let unit = 1u64 << P::RADIX_BITS;
    for round in 0..400 {
        // For P-521, what its bounds permit; for others, the numbers matter besides.
        let bounds = [[5, 5], [15, 1], [6, 4]][round % 3].map(|units| units * unit);
        let limbs = |source: &mut Source, bound: u64| -> [[Limb; FOUR]; N] {
            let mut limbs: [[Limb; FOUR]; N] = core::array::from_fn(|_| {
                core::array::from_fn(|_| match round {
                    0..3 => bound - 1,
                    _ => source.word(0, bound),
                })
            });
            if P::IS_MONTGOMERY {
                // Below 700 primes.
                let top = Limb::try_from((&p * 700u32) >> (P::RADIX_BITS * (N - 1))).unwrap();
                limbs[N - 1] = limbs[N - 1].map(|limb| limb % top);
            }
            limbs
        };
        let [a, b] = bounds.map(|bound| limbs(&mut source, bound));
        let factor = limbs(&mut source, 5 * unit);
        let addend = core::array::from_fn(|_| core::array::from_fn(|_| source.word(0, 32 * unit)));
        let (products, squares) = (
            product::<Portable, P, N>(Portable, &a, &b),
            square::<Portable, P, N>(Portable, &factor, Some(&addend)),
        );
        check_carried::<P, N>(&products, [2; FOUR]);
        let squares_alone = square::<Portable, P, N>(Portable, &factor, None);
        check_carried::<P, N>(&squares_alone, [2; FOUR]);
        for lane in 0..FOUR {
            let [a, b, factor, addend, products, squares] =
                [&a, &b, &factor, &addend, &products, &squares]
                    .map(|numbers| value::<P, N>(&lane_of(numbers, lane)));
            assert_eq!(products * &one % &p, a * b % &p);
            assert_eq!(squares * &one % &p, (&factor * &factor + addend * &one) % &p);
        }
    }
}

fn integers<P: Model<N>, const N: usize>() {
    let (p, mut source) = (P::prime(), Source(4));
    for round in 0..300 {
        let numbers: [BigUint; FOUR] =
            core::array::from_fn(|lane| edge_or_random::<P, N>(round + lane, &mut source));
        let words: [P::Words; FOUR] = core::array::from_fn(|lane| {
            let mut words = <P::Words as crate::machine::field::Limbs>::ZERO;
            let digits = numbers[lane].to_u64_digits();
            words.as_mut()[..digits.len()].copy_from_slice(&digits);
            words
        });
        let entered =
            P::enter(Portable, &load(Portable, &transposed(&words.each_ref().map(limbs::<P, N>))));
        check_carried::<P, N>(&entered, [2; FOUR]);
        let factors = P::factors(&numbers, COORDINATES.map(|units| units - 1));
        for (lane, number) in numbers.iter().enumerate() {
            assert_eq!(P::number(&entered, lane), *number);
            let left = lane_of(&P::leave(Portable, &factors), lane);
            let integer = integer_of(P::integer(left).as_ref());
            assert!(integer.bits() <= <P as Prime>::BITS as u64);
            assert_eq!(integer % &p, *number);
        }
    }
}

/// Returns twice a point, with twice the Z of the usual formula.
fn doubled(p: &BigUint, [x, y, z]: &[BigUint; 3]) -> [BigUint; 3] {
    let m = 3u8 * (x * x + p * p - z.pow(4) % p) % p;
    let yy = y * y % p;
    let s = 4u8 * x * &yy % p;
    let x3 = (&m * &m + 2u8 * (p - &s)) % p;
    let y3 = (m * (p + s - &x3) + 8u8 * (p * p - &yy * &yy)) % p;
    [4u8 * x3 % p, 8u8 * y3 % p, 4u8 * y * z % p]
}

fn added(p: &BigUint, [x, y, z]: &[BigUint; 3], [x2, y2]: &[BigUint; 2]) -> [BigUint; 3] {
    let h = (x2 * z * z + p - x) % p;
    let r = (y2 * z.pow(3) + p - y) % p;
    let hhh = h.pow(3) % p;
    let v = x * &h * &h % p;
    let x3 = (&r * &r + 3u8 * p - &hhh - 2u8 * &v) % p;
    let y3 = (r * (p + v - &x3) + p * p - y * hhh % p) % p;
    [x3, y3, z * h % p]
}

fn steps<P: Model<N>, const N: usize>() {
    let (p, mut source) = (P::prime(), Source(5));
    for round in 0..300 {
        let numbers: [_; 5] =
            core::array::from_fn(|i| edge_or_random::<P, N>(round + i, &mut source));
        let [x, y, z, x2, y2] = numbers;
        let four = |[x, y, z]: &[BigUint; 3]| [x.clone(), y.clone(), (y + z) % &p, z * z % &p];
        let excess = COORDINATES.map(|units| if round % 3 == 0 { units - 1 } else { 0 });
        let sum = P::factors(&four(&[x.clone(), y.clone(), z.clone()]), excess);
        let mut addend = P::factors(&[x2, y2, BigUint::ZERO, BigUint::ZERO], [0; FOUR]);
        if round % 2 == 0 {
            let offset = load(Portable, &offsets::<P, N>([0, 2, 0, 0]));
            for (limb, offset) in addend.iter_mut().zip(offset) {
                limb[1] = offset[1] - limb[1];
            }
        }
        let (coordinates_1, coordinates_2) =
            ([x, y, z], core::array::from_fn(|lane| P::number(&addend, lane)));
        let expected = [doubled(&p, &coordinates_1), added(&p, &coordinates_1, &coordinates_2)];
        let found = [
            double::<Portable, P, N>(Portable, &sum),
            add::<Portable, P, N>(Portable, &sum, &addend),
        ];
        for (expected, found) in expected.iter().zip(&found) {
            check_carried::<P, N>(found, COORDINATES);
            for (lane, number) in four(expected).iter().enumerate() {
                assert_eq!(P::number(found, lane), *number, "{round} {lane}");
            }
            let again = coordinates::<Portable, P, N>(Portable, found)
                .map(|number| integer_of(number.as_ref()) % &p);
            assert_eq!(again, *expected);
        }
    }
}

fn digits<P: Model<N>, const N: usize>() {
    let (p, mut source) = (P::prime(), Source(6));
    let multiples: MultiplesOfOne<P> = core::array::from_fn(|_| {
        [0, 1].map(|_| joined::<P, N>(&full::<P, N>(&random::<P, N>(&mut source))))
    });
    let mut table = Table::<P, N>::EMPTY;
    table.fill(Portable, &multiples);
    for digit in 0..32u8 {
        let index = usize::from(digit & 15);
        let [x, y] = multiples[index].each_ref().map(|words| integer_of(words.as_ref()));
        let y = if digit < 16 { y } else { &p - y };
        let found = table.look_up(Portable, digit);
        assert_eq!([0, 1].map(|lane| P::number(&found, lane)), [x.clone(), y.clone()]);
        let point = affine::<Portable, P, N>(Portable, &found);
        check_carried::<P, N>(&point, [4; FOUR]);
        assert_eq!(P::number(&point, 2), (&y + 1u8) % &p);
        assert_eq!(P::number(&point, 3), BigUint::from(1u8));
    }
}

macro_rules! each_prime {
    ($($name:ident $check:ident)+) => {$(
        #[test]
        fn $name() {
            $check::<P256, 6>();
            $check::<P384, 9>();
            $check::<P521, 11>();
        }
    )+};
}

each_prime! {
    offsets_are_multiples_of_the_prime_and_cover_what_is_subtracted constants
    products_of_factors_at_their_bounds products
    integers_become_factors_and_integers_again integers
    steps_on_any_numbers steps
    every_digit_is_found digits
}
