//! Constant-time inversion modulo an odd number: safegcd (Bernstein and Yang, Fast constant-time
//! gcd computation and modular inversion, 2019), with the half-integer start δ = 1/2, which needs
//! fewer steps (Wuille, 2021). Several steps at a time run on the low words only: `wide` is for
//! processors with words of 64 bits, `narrow` for those with 32.

#[cfg(any(target_pointer_width = "32", test))]
mod narrow;
#[cfg(any(not(target_pointer_width = "32"), test))]
mod wide;

#[cfg(target_pointer_width = "32")]
use narrow::{for_length, of_any_length};
#[cfg(not(target_pointer_width = "32"))]
use wide::{for_length, of_any_length};

use super::{Checked, Error, STACK_USE_WORDS, checked_scratch, split_result};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::{self, Limb};

/// Returns the limbs of scratch of [`invert`] for a modulus of `n` limbs.
pub const fn invert_scratch_limbs(n: usize) -> usize {
    4 * (n + 1)
}

/// Computes `result = 1 / x mod modulus` in constant time.
///
/// All are little-endian limbs. `x` has as many limbs as `modulus` and is less than it. `result`
/// has at least as many limbs as the modulus without its leading zeros, and is padded with zeros.
/// `scratch` has at least [`invert_scratch_limbs`] for that length and is wiped. Time depends on
/// the bit length of the modulus only. Modulo 1, the result is 0.
///
/// # Errors
/// [`Error::NotInvertible`] if `x` and the modulus have a common divisor, or if `x` is not less
/// than the modulus, which becomes public; otherwise as described in the module. Nothing is written
/// to `result` then.
pub fn invert(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    stack::clean(STACK_USE_WORDS, || invert_in_frames(result, x, modulus, scratch))
}

/// Like [`invert`], but does not clean the stack.
pub(crate) fn invert_in_frames(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    invert_by(for_length, result, x, modulus, scratch)
}

/// Like [`invert_in_frames`], without code for the lengths of the elliptic curves.
pub(crate) fn invert_long_in_frames(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    invert_by(|_| of_any_length, result, x, modulus, scratch)
}

fn invert_by(
    steps: Choice,
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    with_checked(result, x, modulus, scratch, |result, modulus, x, [f, g, d, e]| {
        let all_batches = steps(modulus.limbs.len());
        all_batches(modulus.bits, modulus.limbs, x, [&mut *f, g, &mut *d, e]);
        finish(modulus.limbs, f, d)?;
        result.copy_from_slice(&d[..result.len()]);
        Ok(())
    })
}

/// Returns 1 / x modulo an odd number, for a number less than that and without a common divisor:
/// the numbers are limbs, and the highest limb of the modulus is not 0. Does not clean the stack.
///
/// The compiler knows the length, so a program for one curve contains the code for its length only.
#[inline]
pub(crate) fn invert_fixed<W: AsRef<[Limb]> + AsMut<[Limb]> + Copy>(x: &W, modulus: &W) -> W {
    let (m, mut inverse) = (modulus.as_ref(), *x);
    #[cfg(target_pointer_width = "32")]
    if size_of::<W>() == size_of::<[Limb; narrow::SHORT]>() {
        let bits = words::bit_length_vartime(m);
        let [mut f, mut d] = narrow::all_short_batches(bits, m, x.as_ref());
        let outcome = finish(m, &mut f, &mut d);
        debug_assert!(outcome.is_ok());
        inverse.as_mut().copy_from_slice(&d[..narrow::SHORT]);
        return inverse;
    }
    let all_batches = const { for_length(size_of::<W>() / size_of::<Limb>()) };
    invert_checked(all_batches, inverse.as_mut(), x.as_ref(), m);
    inverse
}

/// Computes `inverse = 1 / x` modulo `m` as [`invert_fixed`] requires it. A program contains this
/// code once, for all lengths.
#[inline(never)]
fn invert_checked(all_batches: AllBatches, inverse: &mut [Limb], x: &[Limb], m: &[Limb]) {
    let mut numbers = [[0; FIXED_LIMBS + 1]; 4];
    let [f, g, d, e] = numbers.each_mut().map(|number| &mut number[..=m.len()]);
    all_batches(words::bit_length_vartime(m), m, x, [&mut *f, g, &mut *d, e]);
    let outcome = finish(m, f, d);
    debug_assert!(outcome.is_ok());
    inverse.copy_from_slice(&d[..m.len()]);
    numbers.iter_mut().for_each(|number| ct::wipe(number));
}

/// The most limbs for [`invert_fixed`].
const FIXED_LIMBS: usize = 9;

/// Makes `d` of [`all_steps`] the inverse, from 0 to the modulus `m` minus one.
///
/// # Errors
/// [`Error::NotInvertible`] if `f` is not ±1, which becomes public.
pub(super) fn finish(m: &[Limb], f: &mut [Limb], d: &mut [Limb]) -> Result<(), Error> {
    let n = m.len();
    let negative = Mask::from_bit(f[n] >> 63);
    negate_if(negative, f);
    negate_if(negative, d);
    let excess = f[1..].iter().fold(f[0] ^ 1, |any, limb| any | limb);
    // The caller learns that there is no inverse.
    if !Mask::is_zero(excess).reveal() {
        return Err(Error::NotInvertible);
    }
    // Maps (−2m, 2m) to [0, m).
    for _ in 0..2 {
        let negative = Mask::from_bit(d[n] >> 63);
        let (low, top) = d.split_at_mut(n);
        top[0] = top[0].wrapping_add(words::add_if(negative, low, m));
    }
    for _ in 0..2 {
        subtract_if_not_less(d, m);
    }
    Ok(())
}

/// Computes `result` = the greatest common divisor of `x` and an odd `modulus`, in constant time.
/// Lengths, range of `x` and scratch are as for [`invert`].
///
/// # Errors
/// [`Error::NotInvertible`] if `x` is not less than the modulus, which becomes public; otherwise as
/// described in the module.
pub fn gcd(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    stack::clean(STACK_USE_WORDS, || gcd_by(for_length, result, x, modulus, scratch))
}

/// Like [`gcd`], without code for the lengths of the elliptic curves. Does not clean the stack.
pub(crate) fn gcd_long_in_frames(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    gcd_by(|_| of_any_length, result, x, modulus, scratch)
}

fn gcd_by(
    steps: Choice,
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    with_checked(result, x, modulus, scratch, |result, modulus, x, [f, g, d, e]| {
        let all_batches = steps(modulus.limbs.len());
        all_batches(modulus.bits, modulus.limbs, x, [&mut *f, g, d, e]);
        negate_if(Mask::from_bit(f[modulus.limbs.len()] >> 63), f);
        result.copy_from_slice(&f[..result.len()]);
        Ok(())
    })
}

/// Checks the arguments of [`invert`] and [`gcd`], splits the scratch into four numbers with one
/// limb more than the modulus, and wipes it afterwards.
fn with_checked(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
    compute: impl FnOnce(&mut [Limb], Checked<'_>, &[Limb], [&mut [Limb]; 4]) -> Result<(), Error>,
) -> Result<(), Error> {
    let whole = modulus;
    let modulus = Checked::new(modulus)?.odd()?;
    let n = modulus.limbs.len();
    let (result, padding) = split_result(result, n)?;
    let scratch = checked_scratch(scratch, invert_scratch_limbs(n))?;
    // The caller learns that x is out of range.
    if x.len() != whole.len() || !words::is_less(x, whole).reveal() {
        return Err(Error::NotInvertible);
    }
    let (f, rest) = scratch.split_at_mut(n + 1);
    let (g, rest) = rest.split_at_mut(n + 1);
    let (d, e) = rest.split_at_mut(n + 1);
    let outcome = compute(result, modulus, &x[..n], [f, g, d, e]);
    if outcome.is_ok() {
        padding.fill(0);
    }
    ct::wipe(scratch);
    outcome
}

/// Computes `f` = ±gcd, and `d` = ±1 / x mod modulus with the same sign, if the gcd is 1: for a
/// modulus of `bits` bits in as many limbs as these take, x, and f, g, d and e.
///
/// All four are numbers in two's complement. f and g start as modulus and x; g ends as 0. The
/// invariants are d·x ≡ f and e·x ≡ g modulo the modulus, up to the power of two that each step
/// divides by; d and e stay between −2m and m. x is at most the modulus.
type AllBatches = fn(usize, &[Limb], &[Limb], [&mut [Limb]; 4]);

/// Returns the steps for a modulus of so many limbs. A function, so that a program contains the code
/// for the lengths that it uses only.
type Choice = fn(usize) -> AllBatches;

/// Runs [`AllBatches`].
pub(super) fn all_steps(modulus: Checked<'_>, x: &[Limb], numbers: [&mut [Limb]; 4]) {
    for_length(modulus.limbs.len())(modulus.bits, modulus.limbs, x, numbers);
}

/// Returns the number of steps after which g is 0 for every pair of numbers of at most `bits` bits:
/// a line slightly above the convex-hull bounds of Wuille's safegcd-bounds (2021) for δ = 1/2,
/// which are 590 for 256 bits.
const fn steps(bits: usize) -> usize {
    (45907 * bits + 26313) / 19929 + 1
}

/// Computes `a = −a` in two's complement if `mask` is true.
fn negate_if(mask: Mask, a: &mut [Limb]) {
    let mut carry = mask.value() & 1;
    for limb in a {
        let (sum, over) = (*limb ^ mask.value()).overflowing_add(carry);
        *limb = sum;
        carry = Limb::from(over);
    }
}

/// Computes `a −= m` unless the result is negative, for `a` nonnegative and longer by one limb.
fn subtract_if_not_less(a: &mut [Limb], m: &[Limb]) {
    let (low, top) = a.split_at_mut(m.len());
    let below = words::is_less(low, m).value() & 1;
    let take = Mask::from_bit((below ^ 1) | (!Mask::is_zero(top[0])).value() & 1);
    let borrow = words::sub_if(take, low, m);
    top[0] = top[0].wrapping_sub(borrow);
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::{ProptestConfig, prop, proptest};
    use std::vec;
    use std::vec::Vec;

    use super::super::tests::{GUARD, hard_numbers, limb, number};
    use super::*;

    /// Compares the steps for words of 32 bits with those for 64: the greatest common divisors, and
    /// the coefficients modulo the modulus.
    fn check_narrow(x: &[Limb], modulus: &[Limb]) {
        let Ok(checked) = Checked::new(modulus).and_then(Checked::odd) else { return };
        let n = checked.limbs.len();
        let mut wide: [Vec<Limb>; 4] = [(); 4].map(|()| vec![GUARD; n + 1]);
        let mut narrow = wide.clone();
        let run = |numbers: &mut [Vec<Limb>; 4], all: &dyn Fn([&mut [Limb]; 4])| {
            all(numbers.each_mut().map(Vec::as_mut_slice));
            let [f, g, d, _] = numbers;
            assert!(g.iter().all(|limb| *limb == 0), "{x:x?} mod {modulus:x?}");
            let outcome = finish(checked.limbs, f, d);
            (outcome, f.clone(), outcome.is_ok().then(|| d.clone()))
        };
        let expected = run(&mut wide, &|all| all_steps(checked, &x[..n], all));
        let bits = checked.bits;
        let found =
            run(&mut narrow, &|all| narrow::of_any_length(bits, checked.limbs, &x[..n], all));
        assert_eq!(found, expected, "{x:x?} mod {modulus:x?}");
        if n == narrow::SHORT {
            let [mut f, mut d] = narrow::all_short_batches(bits, checked.limbs, &x[..n]);
            let outcome = finish(checked.limbs, &mut f, &mut d);
            let found = (outcome, f.to_vec(), outcome.is_ok().then(|| d.to_vec()));
            assert_eq!(found, expected, "{x:x?} mod {modulus:x?}, short");
        }
    }

    fn check(x: &[Limb], modulus: &[Limb]) {
        let n = modulus.len();
        if number(x) < number(modulus) {
            check_narrow(x, modulus);
        }
        let mut scratch = vec![GUARD; invert_scratch_limbs(n) + 2];
        let mut result = vec![GUARD; n + 1];
        let end = scratch.len() - 1;
        let outcome = invert(&mut result, x, modulus, &mut scratch[1..end]);
        assert_eq!((scratch[0], scratch[end]), (GUARD, GUARD));
        match number(x).modinv(&number(modulus)) {
            _ if number(x) >= number(modulus) => assert_eq!(outcome, Err(Error::NotInvertible)),
            Some(expected) => {
                assert_eq!(outcome, Ok(()), "{x:x?} mod {modulus:x?}");
                assert_eq!(number(&result), expected, "{x:x?} mod {modulus:x?}");
                assert!(scratch[1..end].iter().all(|limb| *limb == 0 || *limb == GUARD));
            }
            None if number(modulus) == BigUint::from(1u8) => assert_eq!(outcome, Ok(())),
            None => {
                assert_eq!(outcome, Err(Error::NotInvertible), "{x:x?} mod {modulus:x?}");
                assert!(result.iter().all(|limb| *limb == GUARD));
            }
        }
    }

    #[test]
    fn every_small_pair() {
        for modulus in (1..400).step_by(2) {
            for x in 0..=modulus {
                check(&[x], &[modulus]);
            }
        }
    }

    #[test]
    fn hard_values() {
        for n in [1, 2, 3, 4, 9, 16, 17, 33] {
            for mut modulus in hard_numbers(n) {
                modulus[0] |= 1;
                for x in hard_numbers(n) {
                    check(&x, &modulus);
                    let mut below = modulus.clone();
                    words::sub(&mut below, &[1]);
                    check(&below, &modulus);
                    words::sub(&mut below, &x[..1]);
                    check(&below, &modulus);
                }
            }
        }
    }

    #[test]
    fn errors_are_reported() {
        let mut result = [GUARD; 2];
        let mut scratch = [GUARD; 12];
        let mut invert =
            |x: &[Limb], m: &[Limb], s: usize| invert(&mut result, x, m, &mut scratch[..s]);
        assert_eq!(invert(&[3, 0], &[8, 1], 12), Err(Error::ModulusEven));
        assert_eq!(invert(&[3, 0], &[0, 0], 12), Err(Error::ModulusZero));
        assert_eq!(invert(&[3], &[7, 1], 12), Err(Error::NotInvertible));
        let error = Error::ScratchTooSmall { needed: 96, given: 88 };
        assert_eq!(invert(&[3, 0], &[7, 1], 11), Err(error));
        assert_eq!(result, [GUARD; 2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn random_values(pairs in prop::collection::vec((limb(), limb()), 1..7)) {
            let (x, mut modulus): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            modulus[0] |= 1;
            check(&x, &modulus);
        }
    }
}
