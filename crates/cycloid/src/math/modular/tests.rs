//! Every strategy on every backend compared with num-bigint: edge cases, carry-heavy and random
//! values, and the documented memory.

use num_bigint::BigUint;
use proptest::prelude::{Just, ProptestConfig, any, prop, prop_assume, prop_oneof, proptest};
use proptest::strategy::Strategy as Generator;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::machine::words::{self, Backend};

pub(super) fn number(limbs: &[Limb]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
}

/// The slow, obvious model.
pub(super) fn model(base: &[Limb], exponent: &[Limb], modulus: &[Limb]) -> BigUint {
    number(base).modpow(&number(exponent), &number(modulus))
}

/// A value that no code may leave behind or overwrite.
pub(super) const GUARD: Limb = 0xdead_beef_0bad_cafe;

/// Runs `f` with a scratch of exactly `needed` limbs between guards; checks the guards, and that
/// the used part of the scratch is wiped afterwards.
pub(super) fn with_guarded_scratch<T>(needed: usize, f: impl FnOnce(&mut [Limb]) -> T) -> T {
    let mut buffer = vec![GUARD; needed + 16];
    let output = f(&mut buffer[8..needed + 8]);
    assert!(buffer[..8].iter().all(|limb| *limb == GUARD), "written before the scratch");
    assert!(buffer[needed + 8..].iter().all(|limb| *limb == GUARD), "written behind the scratch");
    let wiped = |limb: &Limb| *limb == 0 || *limb == GUARD;
    assert!(buffer[8..needed + 8].iter().all(wiped), "scratch not wiped");
    output
}

/// Checks every strategy and the default, on every backend, with exactly the documented scratch.
fn check(base: &[Limb], exponent: &[Limb], modulus: &[Limb]) {
    let expected = model(base, exponent, modulus);
    let odd = modulus[0] & 1 == 1;
    let n = limbs_for(words::bit_length_vartime(modulus));
    for backend in Backend::available() {
        for strategy in Strategy::ALL {
            let mut result = vec![GUARD; n + 1];
            let outcome = with_guarded_scratch(strategy.scratch_limbs(n), |scratch| {
                let exponent = Exponent::new(exponent);
                strategy.pow_vartime_with(backend, &mut result, base, &exponent, modulus, scratch)
            });
            if strategy.reduction == Reduction::Montgomery && !odd {
                assert_eq!(outcome, Err(Error::ModulusEven));
                assert!(result.iter().all(|limb| *limb == GUARD), "written in spite of an error");
            } else {
                assert_eq!(outcome, Ok(()));
                assert_eq!(number(&result), expected, "{strategy} on {}", backend.name());
            }
        }
        if odd {
            check_default(backend, base, exponent, modulus, &expected);
        }
    }
}

fn check_default(
    backend: Backend,
    base: &[Limb],
    exponent: &[Limb],
    modulus: &[Limb],
    expected: &BigUint,
) {
    let n = limbs_for(words::bit_length_vartime(modulus));
    let mut r_squared = vec![0; n];
    let modulus = with_guarded_scratch(Modulus::scratch_limbs(n), |scratch| {
        Modulus::prepare(modulus, &mut r_squared, scratch).unwrap()
    });
    let exponent_limbs = exponent;
    let exponent = Exponent::new(exponent);
    for scratch in [pow_minimum_scratch_limbs(n), pow_scratch_limbs(n, exponent.bits())] {
        let mut result = vec![GUARD; n];
        with_guarded_scratch(scratch, |scratch| {
            pow_with(backend, &mut result, base, &exponent, &modulus, scratch).unwrap();
        });
        assert_eq!(number(&result), *expected, "default on {}", backend.name());
    }
    for lanes in across::backends(&modulus) {
        let mut result = vec![GUARD; n];
        with_guarded_scratch(across::scratch_limbs(n, exponent.bits()), |scratch| {
            across::pow(lanes, &mut result, base, &exponent, &modulus, scratch).unwrap();
        });
        assert_eq!(number(&result), *expected, "across lanes on {}", lanes.name());
    }
    let mut result = vec![GUARD; n];
    with_guarded_scratch(pow_minimum_scratch_limbs(n), |scratch| {
        pow_vartime(&mut result, base, &exponent, &modulus, scratch).unwrap();
    });
    assert_eq!(number(&result), *expected, "default for public exponents");
    // The first one is not longer than the modulus, the last one is.
    let longer = [exponent_limbs, &[1; 2], modulus.limbs()].concat();
    for factor in [&exponent_limbs[..n.min(exponent_limbs.len())], exponent_limbs, &longer] {
        let mut result = vec![GUARD; n + 1];
        with_guarded_scratch(pow_minimum_scratch_limbs(n), |scratch| {
            mul(&mut result, base, factor, &modulus, scratch).unwrap();
        });
        let product = number(base) * number(factor) % number(modulus.limbs());
        assert_eq!(number(&result), product, "product");
    }
    let again = Modulus::prepared(modulus.limbs(), modulus.r_squared()).unwrap();
    assert_eq!((again.limbs(), again.bits()), (modulus.limbs(), modulus.bits()));
}

/// Numbers of `n` limbs that stress carries and estimates.
pub(super) fn hard_numbers(n: usize) -> Vec<Vec<Limb>> {
    let top = |limb: Limb| {
        let mut x = vec![0; n];
        x[n - 1] = limb;
        x
    };
    let mut one_below_power = vec![Limb::MAX; n];
    one_below_power[n - 1] = Limb::MAX >> 1;
    let mut above_half = top(1 << 63);
    above_half[0] |= 1;
    let mut sparse = top(1);
    sparse[0] |= 1;
    let mut holes = vec![Limb::MAX; n];
    if n > 1 {
        holes[n / 2] = 0;
    }
    vec![
        vec![Limb::MAX; n],
        one_below_power,
        above_half,
        top(1 << 63),
        top(1),
        sparse,
        holes,
        (0..n as Limb).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect(),
    ]
}

#[test]
fn hard_values() {
    for n in [1, 2, 3, 5] {
        for modulus in hard_numbers(n) {
            for base in hard_numbers(n) {
                for exponent in [&[Limb::MAX][..], &[0x8000_0000_0000_0001], &[0b1_0110_1110]] {
                    check(&base, exponent, &modulus);
                }
            }
        }
    }
}

#[test]
fn lengths_that_matter() {
    for n in [4, 6, 8, 9, 16, 17, 24, 32] {
        for modulus in hard_numbers(n).into_iter().take(3) {
            let base = hard_numbers(n).pop().unwrap();
            check(&base, &[0xf0f1_2345_6789_abcd, 0b110], &modulus);
        }
    }
}

#[test]
fn tiny_moduli() {
    for modulus in 1..=40 {
        for base in 0..=9 {
            for exponent in 0..=17 {
                check(&[base], &[exponent], &[modulus]);
            }
        }
    }
}

#[test]
fn zero_and_one() {
    for modulus in [&[1][..], &[1, 0, 0], &[7], &[7, 0], &[0, 1], &[1, 1], &[0, 0, 6]] {
        for base in [&[][..], &[0], &[0, 0], &[1], &[2, 0, 0, 0]] {
            for exponent in [&[][..], &[0], &[0, 0], &[1], &[1, 0], &[2]] {
                check(base, exponent, modulus);
            }
        }
    }
}

#[test]
fn a_base_of_any_length_is_reduced() {
    for length in 1..=9 {
        let base: Vec<Limb> = (0..length).map(|i| Limb::MAX - i).collect();
        check(&base, &[3], &[0x1234_5679, 0x9abc_def0]);
        check(&base, &[3], &[Limb::MAX, Limb::MAX, 1]);
        check(&base, &[5], &[0, 0, 1]);
    }
}

#[test]
fn errors_leave_the_result_unchanged() {
    let pow = |strategy: Strategy, result: &mut [Limb], modulus: &[Limb], scratch: usize| {
        let mut scratch = vec![GUARD; scratch];
        let outcome =
            strategy.pow_vartime(result, &[3], &Exponent::new(&[5]), modulus, &mut scratch);
        assert!(outcome.is_ok() || scratch.iter().all(|limb| *limb == GUARD));
        outcome
    };
    for strategy in Strategy::ALL {
        let mut result = [GUARD; 2];
        let needed = strategy.scratch_limbs(2);
        let modulus = [7, 1];
        for modulus in [&[][..], &[0], &[0, 0, 0]] {
            assert_eq!(pow(strategy, &mut result, modulus, needed), Err(Error::ModulusZero));
        }
        let too_long = vec![1; MAX_BITS / 64 + 1];
        assert_eq!(pow(strategy, &mut result, &too_long, needed), Err(Error::ModulusTooLong));
        assert_eq!(
            pow(strategy, &mut result[..1], &modulus, needed),
            Err(Error::ResultTooShort { needed: 2, given: 1 })
        );
        assert_eq!(
            pow(strategy, &mut result, &modulus, needed - 1),
            Err(Error::ScratchTooSmall { needed: needed * 8, given: needed * 8 - 8 })
        );
        assert_eq!(result, [GUARD; 2]);
        assert_eq!(pow(strategy, &mut result, &modulus, needed), Ok(()));
        assert_eq!(result, [243, 0]);
    }
}

#[test]
fn errors_of_the_default_leave_the_result_unchanged() {
    let mut r_squared = [GUARD; 2];
    let mut scratch = [GUARD; 64];
    for (modulus, error) in [
        (&[0, 0][..], Error::ModulusZero),
        (&[6, 1], Error::ModulusEven),
        (&[1; 257], Error::ModulusTooLong),
        (&[1, 1, 1], Error::ResultTooShort { needed: 3, given: 2 }),
    ] {
        let outcome = Modulus::prepare(modulus, &mut r_squared, &mut scratch);
        assert_eq!(outcome.unwrap_err(), error);
    }
    let needed = Modulus::scratch_limbs(2) * 8;
    let outcome = Modulus::prepare(&[1, 1], &mut r_squared, &mut scratch[..needed / 8 - 1]);
    assert_eq!(outcome.unwrap_err(), Error::ScratchTooSmall { needed, given: needed - 8 });
    assert_eq!((r_squared, scratch), ([GUARD; 2], [GUARD; 64]));

    let modulus = Modulus::prepare(&[7, 1], &mut r_squared, &mut scratch).unwrap();
    let mut scratch = [GUARD; 64];
    let mut result = [GUARD; 2];
    let exponent = Exponent::new(&[5]);
    let minimum = pow_minimum_scratch_limbs(2);
    let outcome = pow(&mut result, &[3], &exponent, &modulus, &mut scratch[..minimum - 1]);
    let (needed, given) = (minimum * 8, minimum * 8 - 8);
    assert_eq!(outcome, Err(Error::ScratchTooSmall { needed, given }));
    let outcome = pow(&mut result[..1], &[3], &exponent, &modulus, &mut scratch);
    assert_eq!(outcome, Err(Error::ResultTooShort { needed: 2, given: 1 }));
    assert_eq!((result, scratch), ([GUARD; 2], [GUARD; 64]));
}

#[test]
fn less_scratch_gives_a_smaller_window_and_the_same_result() {
    let limbs = [Limb::MAX - 188, Limb::MAX, Limb::MAX, Limb::MAX];
    let (mut r_squared, mut scratch) = ([0; 4], [0; 1000]);
    let modulus = Modulus::prepare(&limbs, &mut r_squared, &mut scratch).unwrap();
    let exponent = [0x0123_4567_89ab_cdef; 4];
    let expected = model(&[11], &exponent, &limbs);
    for given in pow_minimum_scratch_limbs(4)..=pow_scratch_limbs(4, 256) + 5 {
        let mut result = [GUARD; 4];
        let exponent = Exponent::new(&exponent);
        pow(&mut result, &[11], &exponent, &modulus, &mut scratch[..given]).unwrap();
        assert_eq!(number(&result), expected, "{given} limbs of scratch");
    }
}

#[test]
fn scratch_is_at_most_half_of_the_classic_table() {
    let fixed =
        |classic: [usize; 5]| Window::ALL.map(Exponentiation::FixedWindow).into_iter().zip(classic);
    let sliding = |classic: [usize; 5]| {
        Window::ALL.map(Exponentiation::ReducedMemoryVartime).into_iter().zip(classic)
    };
    let montgomery = [(Exponentiation::FastVartime, 1340), (Exponentiation::Ladder, 1608)]
        .into_iter()
        .chain(fixed([2412, 3484, 5628, 9916, 18492]))
        .chain(sliding([2412, 2948, 4020, 6164, 10452]))
        .map(|row| (Reduction::Montgomery, row));
    let barrett = [
        (Exponentiation::FastVartime, 1876),
        (Exponentiation::Ladder, 2144),
        (Exponentiation::FixedWindow(Window::ALL[0]), 2948),
        (Exponentiation::FixedWindow(Window::ALL[4]), 19028),
        (Exponentiation::ReducedMemoryVartime(Window::ALL[0]), 2948),
        (Exponentiation::ReducedMemoryVartime(Window::ALL[4]), 10988),
    ]
    .map(|row| (Reduction::BarrettVartime, row));
    for (reduction, (exponentiation, classic)) in montgomery.chain(barrett) {
        let strategy = Strategy { reduction, exponentiation };
        assert!(strategy.scratch_bytes(1024) * 2 <= classic, "{strategy}");
    }
}

#[test]
fn scratch_is_sufficient_for_every_length() {
    for n in 0..=MAX_BITS / 64 {
        for bits in [0, 1, 64 * n] {
            let least = pow_minimum_scratch_limbs(n);
            assert!(pow_scratch_limbs(n, bits) >= least, "{n} limbs, {bits} bits");
            assert!(pow_this_cpu_scratch_limbs(n, bits) >= least, "{n} limbs, {bits} bits");
            assert!(pow_eight_scratch_limbs(n, bits) >= pow_eight_minimum_scratch_limbs(n));
        }
    }
}

#[test]
fn constant_time_are_ladder_and_fixed_window_with_montgomery() {
    let marked: Vec<_> = Strategy::ALL.into_iter().filter(|s| s.is_constant_time()).collect();
    assert_eq!(marked.len(), 6);
    assert!(marked.iter().all(|s| s.reduction == Reduction::Montgomery));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_values(
        base in prop::collection::vec(limb(), 0..8),
        exponent in prop::collection::vec(limb(), 0..3),
        modulus in prop::collection::vec(limb(), 1..7),
    ) {
        prop_assume!(number(&modulus) != BigUint::ZERO);
        check(&base, &exponent, &modulus);
    }
}

/// Generates limbs that are random, all ones, all zeros, or close to these.
pub(super) fn limb() -> impl Generator<Value = Limb> {
    prop_oneof![3 => any::<Limb>(), 1 => Just(0), 1 => Just(Limb::MAX), 1 => 0..3u64]
}
