//! The symbol compared with the obvious algorithm.

use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;

/// The binary algorithm on full-length numbers.
fn model(x: &BigUint, modulus: &BigUint) -> i32 {
    let (mut a, mut b) = (x % modulus, modulus.clone());
    let mut symbol = 1;
    let low = |x: &BigUint| x.iter_u64_digits().next().unwrap_or(0);
    while a != BigUint::ZERO {
        while !a.bit(0) {
            a >>= 1;
            if matches!(low(&b) % 8, 3 | 5) {
                symbol = -symbol;
            }
        }
        swap(&mut a, &mut b);
        if low(&a) % 4 == 3 && low(&b) % 4 == 3 {
            symbol = -symbol;
        }
        a %= &b;
    }
    if b == BigUint::from(1u8) { symbol } else { 0 }
}

fn number(limbs: &[Limb]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
}

fn check(x: &[Limb], modulus: &[Limb]) {
    let mut scratch = vec![0; scratch_limbs(modulus.len())];
    let symbol = symbol_vartime(x, modulus, &mut scratch);
    assert_eq!(symbol, model(&number(x), &number(modulus)), "{x:x?} over {modulus:x?}");
}

#[test]
fn every_small_pair() {
    for modulus in (1..200).step_by(2) {
        for x in 0..2 * modulus {
            check(&[x], &[modulus]);
            check(&[x, 0, 0], &[modulus, 0, 0]);
        }
    }
}

#[test]
fn numbers_that_are_close_or_far_apart() {
    let all_ones = vec![Limb::MAX; 5];
    let mut moduli = vec![all_ones.clone(), vec![1, 0, 0, 0, 1 << 63], vec![3, 0, 0, 0, 1]];
    moduli.push((0..5).map(|i| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * i + 1)).collect());
    for modulus in moduli {
        for distance in 0..200 {
            let mut near = modulus.clone();
            words::sub(&mut near, &[distance]);
            check(&near, &modulus);
            let mut far = vec![0; 5];
            far[0] = distance;
            check(&far, &modulus);
            let mut power = vec![0; 5];
            power[distance as usize % 5] = 1 << (distance % 64);
            check(&power, &modulus);
            // Equal in the highest 64 bits and different below.
            let mut other = modulus.clone();
            other[1] ^= distance;
            check(&other, &modulus);
        }
    }
}

#[test]
fn common_factors() {
    let factor = BigUint::from(Limb::MAX);
    let limbs = |x: BigUint| {
        let mut limbs = x.to_u64_digits();
        limbs.resize(4, 0);
        limbs
    };
    for k in (1u64..50).step_by(2) {
        let modulus = limbs(&factor * &factor * k);
        check(&limbs(&factor * (k + 2)), &modulus);
        check(&modulus, &modulus);
    }
}

/// Generates limbs that are often all ones, all zeros, or close to these.
fn limb() -> impl Strategy<Value = Limb> {
    prop_oneof![any::<Limb>(), Just(0), Just(Limb::MAX), Just(1), Just(1 << 63)]
}

proptest! {
    #[test]
    fn random_numbers(pairs in prop::collection::vec((limb(), limb()), 1..12)) {
        let (x, mut modulus): (Vec<Limb>, Vec<Limb>) = pairs.into_iter().unzip();
        modulus[0] |= 1;
        check(&x, &modulus);
    }

    #[test]
    fn squares_and_products(x in prop::collection::vec(limb(), 1..8), k in any::<Limb>()) {
        // The symbol of x²·k is that of k if x and the modulus have no common factor.
        let modulus = (BigUint::from(1u8) << 521) - 1u8;
        let limbs = |x: &BigUint| {
            let mut limbs = x.to_u64_digits();
            limbs.resize(9, 0);
            limbs
        };
        let x = number(&x) % &modulus;
        prop_assume!(x != BigUint::ZERO);
        let product = &x * &x * k % &modulus;
        let mut scratch = vec![0; scratch_limbs(9)];
        let p = limbs(&modulus);
        prop_assert_eq!(
            symbol_vartime(&limbs(&product), &p, &mut scratch),
            symbol_vartime(&limbs(&BigUint::from(k)), &p, &mut scratch)
        );
    }
}
