//! Combs compared with exponentiation without a table, in every form.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::machine::lanes;
use crate::math::modular;

/// Returns every form: 64-bit limbs, and across the lanes of each backend.
fn forms() -> Vec<Option<Backend>> {
    let across = lanes::tests::backends().into_iter().map(Some);
    core::iter::once(None).chain(across).collect()
}

fn check(base: &[Limb], exponent: &Exponent<'_>, bits: usize, modulus: &[Limb], comb: Comb) {
    let n = modulus.len();
    let mut r_squared = vec![0; n];
    let mut scratch = vec![0; modular::pow_scratch_limbs(n, bits).max(FixedBase::scratch_limbs(n))];
    let modulus = Modulus::prepare(modulus, &mut r_squared, &mut scratch).unwrap();
    let mut expected = vec![0; n];
    modular::pow(&mut expected, base, exponent, &modulus, &mut scratch).unwrap();
    for form in forms() {
        let mut memory = vec![0; FixedBase::memory_limbs(n, comb)];
        let mut scratch = vec![0; FixedBase::scratch_limbs(n)];
        let fixed =
            FixedBase::prepare_with(form, base, bits, comb, &modulus, &mut memory, &mut scratch);
        let fixed = fixed.unwrap();
        let mut power = vec![Limb::MAX; n + 1];
        fixed.pow(&mut power, exponent, &mut scratch).unwrap();
        assert_eq!((&power[..n], power[n]), (&expected[..], 0), "{comb:?}, {form:?}, {n} limbs");
        assert!(scratch.iter().all(|limb| *limb == 0));
    }
}

#[test]
fn every_shape() {
    let modulus: Vec<Limb> =
        (0..17).map(|i| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * i + 1)).collect();
    let exponents = [[0; 3], [Limb::MAX, Limb::MAX, 0xff], [5, 1 << 63, 3]];
    let blocks = |teeth| if teeth < 3 { &[1, 2, 5, 40][..] } else { &[1, 2] };
    for teeth in 1..=Comb::MAX_TEETH {
        for blocks in blocks(teeth) {
            let comb = Comb::new(teeth, *blocks).unwrap();
            for exponent in &exponents {
                let exponent = Exponent::with_bits(exponent, 136).unwrap();
                check(&[3, 7], &exponent, 136, &modulus, comb);
            }
        }
    }
}

#[test]
fn invalid_shapes_are_refused() {
    assert!(Comb::new(0, 1).is_none() && Comb::new(1, 0).is_none() && Comb::new(9, 1).is_none());
    for blocks in [Comb::MAX_BLOCKS + 1, 1 << (usize::BITS - 8), usize::MAX] {
        assert!(Comb::new(8, blocks).is_none());
    }
    assert!(Comb::new(8, Comb::MAX_BLOCKS).is_some());
}

#[test]
fn small_and_hard_moduli_and_bases() {
    let comb = Comb::new(3, 2).unwrap();
    let all_ones = [Limb::MAX; 24];
    for modulus in [&[1][..], &[3], &[Limb::MAX], &[1, 0, 1 << 63], &all_ones[..16], &all_ones] {
        for base in [&[][..], &[0], &[1], &[2], &all_ones] {
            for exponent in [0, 1, 2, 0xffff, 0x8000, 0x1234] {
                let limbs = [exponent];
                let exponent = Exponent::with_bits(&limbs, 16).unwrap();
                check(base, &exponent, 16, modulus, comb);
                check(base, &exponent, 33, modulus, comb);
            }
            check(base, &Exponent::new(&[]), 0, modulus, comb);
        }
    }
}

#[test]
fn errors_are_reported() {
    let (limbs, comb) = ([Limb::MAX; 4], Comb::COMPACT);
    let mut r_squared = [0; 4];
    let mut scratch = vec![0; 200];
    let modulus = Modulus::prepare(&limbs, &mut r_squared, &mut scratch).unwrap();
    let mut memory = vec![0; FixedBase::memory_limbs(4, comb)];
    let short = memory.len() - 1;
    let error = FixedBase::prepare(&[2], 64, comb, &modulus, &mut memory[..short], &mut scratch);
    assert!(matches!(error, Err(Error::ScratchTooSmall { .. })));
    let error = FixedBase::prepare(&[2], 64, comb, &modulus, &mut memory, &mut scratch[..1]);
    assert!(matches!(error, Err(Error::ScratchTooSmall { .. })));
    let fixed = FixedBase::prepare(&[2], 64, comb, &modulus, &mut memory, &mut scratch).unwrap();
    let mut result = [7; 4];
    let one = Exponent::new(&[1]);
    let error = fixed.pow(&mut result, &Exponent::new(&[1, 0]), &mut scratch);
    assert_eq!(error, Err(Error::ExponentTooLong));
    let error = fixed.pow(&mut result[..3], &one, &mut scratch);
    assert_eq!(error, Err(Error::ResultTooShort { needed: 4, given: 3 }));
    let error = fixed.pow(&mut result, &one, &mut scratch[..FixedBase::scratch_limbs(4) - 1]);
    assert!(matches!(error, Err(Error::ScratchTooSmall { .. })));
    assert_eq!(result, [7; 4]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn random_values(
        mut modulus in prop::collection::vec(any::<Limb>(), 1..40),
        base in prop::collection::vec(any::<Limb>(), 0..42),
        exponent in prop::collection::vec(any::<Limb>(), 1..5),
        more in 0..70_usize,
        teeth in 1..=6_usize,
        blocks in 1..5_usize,
    ) {
        modulus[0] |= 1;
        let comb = Comb::new(teeth, blocks).unwrap();
        let exponent = Exponent::new(&exponent);
        let modulus = words::trim_vartime(&modulus);
        check(&base, &exponent, exponent.bits() + more, modulus, comb);
    }
}
