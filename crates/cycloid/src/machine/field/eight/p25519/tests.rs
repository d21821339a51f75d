//! Sums, factors and products with columns and limbs at their bounds, compared with integers.

use num_bigint::BigUint;

use super::super::super::super::lanes::Portable;
pub(super) use super::super::tests::Source;
use super::*;
use crate::machine::lanes::{LANES, LIMB_MASK};

type Words = [Limb; LANES];

pub(super) fn prime() -> BigUint {
    (BigUint::from(1u8) << 255) - 19u8
}

/// Returns the number of one lane.
fn integer(columns: &[Words], lane: usize) -> BigUint {
    columns.iter().rev().fold(BigUint::ZERO, |sum, column| (sum << 52) + column[lane])
}

/// Returns what a product reads of a factor, after a check of its bounds.
pub(super) fn value(factor: &Factor<Portable>, lane: usize) -> BigUint {
    let words = factor.0;
    assert!(words[4][lane] < (1 << TOP_BITS) + (1 << 12));
    integer(&words.map(|word| word.map(|word| word & LIMB_MASK)), lane)
}

/// Checks the bounds of a sum, and returns it.
pub(super) fn checked<const FROM: u64, const TO: u64>(
    sum: &Sum<Portable, FROM, TO>,
    lane: usize,
) -> BigUint {
    for column in sum.0 {
        assert!(column[lane] >= FROM << 52 && column[lane] < TO << 52, "{:x}", column[lane]);
    }
    integer(&sum.0, lane)
}

impl Source {
    /// Returns a factor, with bits that a product does not read.
    pub(super) fn factor(&mut self) -> Factor<Portable> {
        Factor(core::array::from_fn(|j| {
            core::array::from_fn(|_| match j {
                4 => self.word(0, (1 << TOP_BITS) + (1 << 12)),
                _ => self.word(0, 1 << 52) | self.next() << 52,
            })
        }))
    }

    pub(super) fn sum<const FROM: u64, const TO: u64>(&mut self) -> Sum<Portable, FROM, TO> {
        Sum(core::array::from_fn(|_| core::array::from_fn(|_| self.word(FROM << 52, TO << 52))))
    }
}

/// Returns a factor whose limbs are as large as they can be.
fn largest() -> Factor<Portable> {
    let mut words = [[Limb::MAX; LANES]; 5];
    words[4] = [(1 << TOP_BITS) + (1 << 12) - 1; LANES];
    Factor(words)
}

#[test]
fn the_offset_is_a_multiple_of_the_prime() {
    let offset = integer(&OFFSET.map(|limb| [limb; LANES]), 0);
    assert_eq!(offset, prime() << 9);
    assert!(OFFSET.iter().all(|limb| limb >> 52 == 15 && limb % 2 == 0));
}

#[test]
fn products_of_factors_at_their_bounds() {
    let (p, mut source) = (prime(), Source(1));
    for round in 0..500 {
        let [a, b, c, d] =
            core::array::from_fn(|_| if round == 0 { largest() } else { source.factor() });
        let single = a.mul(Portable, &b);
        let (first, second) = Factor::mul_two(Portable, [&a, &b], [&c, &d]);
        let (first_square, second_square) = Factor::square_two(Portable, &a, &b);
        for lane in 0..LANES {
            let [a, b, c, d] = [&a, &b, &c, &d].map(|factor| value(factor, lane));
            assert_eq!(checked(&single, lane) % &p, &a * &b % &p);
            assert_eq!(checked(&first, lane) % &p, &a * &b % &p);
            assert_eq!(checked(&second, lane) % &p, c * d % &p);
            assert_eq!(checked(&first_square, lane) % &p, &a * &a % &p);
            assert_eq!(checked(&second_square, lane) % &p, &b * &b % &p);
        }
    }
}

#[test]
fn sums_at_their_bounds_become_factors() {
    fn check<const FROM: u64, const TO: u64>(sum: &Sum<Portable, FROM, TO>) {
        let factor = sum.factor(Portable);
        let lanes = factor.lanes(Portable);
        for lane in 0..LANES {
            let expected = checked(sum, lane) % prime();
            assert_eq!(value(&factor, lane) % prime(), expected);
            assert!(lanes.iter().all(|limb| limb.0[lane] <= LIMB_MASK));
            let element = integer(&lanes.map(|limb| limb.0), lane);
            assert!(element < (BigUint::from(1u8) << 255) + (BigUint::from(1u8) << 220));
            assert_eq!(element % prime(), expected);
        }
    }
    let mut source = Source(2);
    check(&Sum::<_, 0, 1023>([[(1023 << 52) - 1; LANES]; 5]));
    check(&Sum::<_, 0, 1>([[0; LANES]; 5]));
    for _ in 0..500 {
        check(&source.sum::<0, 1>());
        check(&source.sum::<0, 1023>());
        let (a, b, c) = (source.sum::<15, 27>(), source.sum::<0, 11>(), source.sum::<0, 1>());
        check(&a.sub(Portable, &b));
        check(&a.add::<_, _, 0, 38>(Portable, &b));
        check(&c.minuend(Portable));
    }
}

#[test]
fn choices_take_whole_words() {
    let mut source = Source(3);
    let (a, b) = (source.factor(), source.factor());
    let mask = core::array::from_fn(|lane| if lane % 3 == 0 { Limb::MAX } else { 0 });
    let chosen = Factor::choose(Portable, mask, &a, &b);
    for lane in 0..LANES {
        let from = if lane % 3 == 0 { &a } else { &b };
        assert!((0..5).all(|j| chosen.0[j][lane] == from.0[j][lane]));
    }
}
