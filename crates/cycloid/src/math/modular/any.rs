//! Products and inverses modulo any number, even or odd, in constant time.
//!
//! A product modulo 2^k·o, o odd, keeps its low k bits; the rest is reduced modulo o. An inverse
//! modulo an even m is one of an odd number, with which safegcd works in exchanged roles: for odd
//! x, t = 1/m mod x gives 1/x = (1 + m·(x − t))/x, an exact division.

use super::inverse::{all_steps, finish, invert_in_frames};
use super::montgomery::Montgomery;
use super::{
    Checked, Error, Residues, STACK_USE_WORDS, checked_scratch, invert_scratch_limbs, limbs_for,
    split_result,
};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::{self, Backend, LIMB_BITS, Limb, Words};

/// Returns the limbs of scratch of [`mul_any`] for factors of `a` and `b` limbs and a modulus of
/// `n`.
pub const fn mul_any_scratch_limbs(a: usize, b: usize, n: usize) -> usize {
    a + b + 3 * n + words::montgomery_work_limbs(n)
}

/// Computes `result = a · b mod modulus` in constant time, for any modulus but 0, which is not
/// prepared.
///
/// All are little-endian limbs. The factors have any length and value. `result` has at least as
/// many limbs as the modulus without its leading zeros, n, and is padded with zeros. `scratch` has
/// at least [`mul_any_scratch_limbs`] for these lengths; the used part is wiped. Time depends on
/// the lengths, on the length of the modulus in bits, and on its number of trailing zero bits,
/// which becomes public.
///
/// For several products modulo one odd number, [`mul`](super::mul) is faster.
///
/// ```
/// use cycloid::modular;
///
/// let mut product = [0];
/// let mut scratch = [0; modular::mul_any_scratch_limbs(1, 1, 1)];
/// modular::mul_any(&mut product, &[7], &[8], &[10], &mut scratch)?;
/// assert_eq!(product, [6]);
/// # Ok::<(), modular::Error>(())
/// ```
///
/// # Errors
/// [`Error::ModulusZero`], [`Error::ModulusTooLong`], [`Error::ResultTooShort`],
/// [`Error::ScratchTooSmall`]; nothing is written to `result` then.
pub fn mul_any(
    result: &mut [Limb],
    a: &[Limb],
    b: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let modulus = Checked::new(modulus)?;
    let n = modulus.limbs.len();
    let (result, padding) = split_result(result, n)?;
    let scratch = checked_scratch(scratch, mul_any_scratch_limbs(a.len(), b.len(), n))?;
    stack::clean(STACK_USE_WORDS, || {
        Backend::best().run(MulAny { result, a, b, modulus, scratch });
    });
    padding.fill(0);
    ct::wipe(scratch);
    Ok(())
}

struct MulAny<'a> {
    result: &'a mut [Limb],
    a: &'a [Limb],
    b: &'a [Limb],
    modulus: Checked<'a>,
    scratch: &'a mut [Limb],
}

impl words::Task for MulAny<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let Self { result, a, b, modulus, scratch } = self;
        let twos = trailing_zeros(modulus.limbs);
        let odd_bits = modulus.bits - twos;
        let (product, rest) = scratch.split_at_mut(a.len() + b.len());
        if a.is_empty() || b.is_empty() {
            product.fill(0);
        } else {
            words.mul(product, a, b);
        }
        keep_low_bits(result, product, twos);
        if odd_bits == 1 {
            return;
        }
        // The quotients by 2^twos: of the modulus, and of the product.
        let n = limbs_for(odd_bits);
        let (odd, rest) = rest.split_at_mut(modulus.limbs.len());
        odd.copy_from_slice(modulus.limbs);
        shift_right(odd, twos);
        shift_right(product, twos);
        let (residue, rest) = rest.split_at_mut(n);
        let (one, rest) = rest.split_at_mut(n);
        let work = &mut rest[..words::montgomery_work_limbs(n)];
        let mut residues = Montgomery::new(words, &odd[..n], None, work);
        residues.enter(one, residue, product);
        residues.leave(residue);
        or_shifted(result, residue, twos);
    }
}

/// Returns the number of trailing zero bits, which becomes public, of a number that is not 0.
fn trailing_zeros(a: &[Limb]) -> usize {
    let mut count = 0;
    let mut zero_so_far = Mask::from_bit(1);
    for limb in a {
        // 64 for a limb of 0.
        let zeros = Limb::from(limb.trailing_zeros());
        count += zero_so_far.select(zeros, 0);
        zero_so_far = Mask::from_bit(zero_so_far.value() & Mask::is_zero(*limb).value() & 1);
    }
    // How a modulus splits into a power of two and an odd number is part of its shape.
    ct::mark_public(core::slice::from_ref(&count));
    count as usize
}

/// Copies the lowest `bits` bits of `a`, and zeros.
fn keep_low_bits(result: &mut [Limb], a: &[Limb], bits: usize) {
    for (i, limb) in result.iter_mut().enumerate() {
        let kept = bits.saturating_sub(i * LIMB_BITS).min(LIMB_BITS);
        let all = a.get(i).copied().unwrap_or(0);
        *limb = if kept == LIMB_BITS { all } else { all & ((1 << kept) - 1) };
    }
}

/// Computes `a = ⌊a / 2^bits⌋`; `bits` is public.
fn shift_right(a: &mut [Limb], bits: usize) {
    let (limbs, bits) = (bits / LIMB_BITS, bits % LIMB_BITS);
    for i in 0..a.len() {
        let at = |place: usize| a.get(place).copied().unwrap_or(0);
        // A shift by 64 places, if `bits` is 0, is done as 1 and 63.
        a[i] = at(i + limbs) >> bits | at(i + limbs + 1) << 1 << (LIMB_BITS - 1 - bits);
    }
}

/// Computes `result = result | a · 2^bits`; `bits` is public.
fn or_shifted(result: &mut [Limb], a: &[Limb], bits: usize) {
    let (limbs, bits) = (bits / LIMB_BITS, bits % LIMB_BITS);
    let at = |place: Option<usize>| place.and_then(|place| a.get(place)).copied().unwrap_or(0);
    for (i, limb) in result.iter_mut().enumerate() {
        let place = i.checked_sub(limbs);
        let below = place.and_then(|place| place.checked_sub(1));
        *limb |= at(place) << bits | at(below) >> 1 >> (LIMB_BITS - 1 - bits);
    }
}

/// Returns the limbs of scratch of [`invert_any`] for a modulus of `n` limbs.
pub const fn invert_any_scratch_limbs(n: usize) -> usize {
    invert_scratch_limbs(n) + 2 * n
}

/// Computes `result = 1 / x mod modulus` in constant time, for any modulus but 0.
///
/// Like [`invert`](super::invert), with a scratch of at least [`invert_any_scratch_limbs`]. Time
/// depends on the length of the modulus in bits and on its parity, which becomes public.
///
/// ```
/// use cycloid::modular;
///
/// let mut inverse = [0];
/// let mut scratch = [0; modular::invert_any_scratch_limbs(1)];
/// modular::invert_any(&mut inverse, &[3], &[10], &mut scratch)?;
/// assert_eq!(inverse, [7]);
/// # Ok::<(), modular::Error>(())
/// ```
///
/// # Errors
/// As [`invert`](super::invert), except [`Error::ModulusEven`]. That there is no inverse since both
/// numbers are even becomes public as well.
pub fn invert_any(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    let checked = Checked::new(modulus)?;
    let n = checked.limbs.len();
    let scratch = checked_scratch(scratch, invert_any_scratch_limbs(n))?;
    stack::clean(STACK_USE_WORDS, || {
        if checked.odd().is_ok() {
            return invert_in_frames(result, x, modulus, scratch);
        }
        let (result, padding) = split_result(result, n)?;
        // The caller learns that x is out of range.
        if x.len() != modulus.len() || !words::is_less(x, modulus).reveal() {
            return Err(Error::NotInvertible);
        }
        // The caller learns that there is no inverse.
        if Mask::is_zero(x[0] & 1).reveal() {
            return Err(Error::NotInvertible);
        }
        let outcome =
            Backend::best().run(InvertEven { result, x: &x[..n], modulus: checked, scratch });
        ct::wipe(scratch);
        outcome?;
        padding.fill(0);
        Ok(())
    })
}

/// Inverts an odd number modulo an even one.
struct InvertEven<'a> {
    result: &'a mut [Limb],
    x: &'a [Limb],
    modulus: Checked<'a>,
    scratch: &'a mut [Limb],
}

impl words::Task for InvertEven<'_> {
    type Output = Result<(), Error>;

    fn run<W: Words>(self, words: W) -> Result<(), Error> {
        let Self { result, x, modulus, scratch } = self;
        let m = modulus.limbs;
        let n = m.len();
        let (larger, rest) = scratch.split_at_mut(n);
        let (smaller, rest) = rest.split_at_mut(n);
        let (f, rest) = rest.split_at_mut(n + 1);
        let (g, rest) = rest.split_at_mut(n + 1);
        let (d, e) = rest.split_at_mut(n + 1);
        // Both x and m − x are odd, and one's inverse is the other's, negated. The larger one is
        // inverted: modulo it, m is the smaller one, as the bound on the number of steps requires.
        larger.copy_from_slice(m);
        words::sub(larger, x);
        let negated = words::is_less(x, larger);
        smaller.copy_from_slice(x);
        ct::swap_if(Mask::from_bit(negated.value() & 1 ^ 1), larger, smaller);
        // t = 1/m mod larger, in `d`.
        let shape = Checked { limbs: larger, bits: modulus.bits };
        all_steps(shape, smaller, [&mut *f, g, &mut *d, &mut *e]);
        finish(larger, f, d)?;
        // (1 + m·(larger − t)) / larger: the division is exact, and the quotient is less than R, so
        // it is computed modulo R = 2^(64·n) from the lowest limb.
        let difference = &mut f[..n];
        difference.copy_from_slice(larger);
        words::sub(difference, &d[..n]);
        let quotient = &mut e[..n];
        quotient.fill(0);
        quotient[0] = 1;
        for (i, limb) in difference.iter().enumerate() {
            words.add_mul_limb(&mut quotient[i..], &m[..n - i], *limb);
        }
        let inverse = words::montgomery_n0(larger[0]).wrapping_neg();
        for i in 0..n {
            let digit = quotient[i].wrapping_mul(inverse);
            words.sub_mul_limb(&mut quotient[i..], &larger[..n - i], digit);
            quotient[i] = digit;
        }
        // For m = 2 the quotient is 3, otherwise it is less than m.
        words::reduce_once(0, quotient, m);
        // Negated if m − x was inverted.
        let negative = &mut f[..n];
        negative.copy_from_slice(m);
        words::sub(negative, quotient);
        ct::assign_if(negated, quotient, negative);
        result.copy_from_slice(quotient);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::{ProptestConfig, prop, proptest};
    use std::vec;
    use std::vec::Vec;

    use super::super::tests::{GUARD, hard_numbers, limb, number, with_guarded_scratch};
    use super::*;

    fn check_mul(a: &[Limb], b: &[Limb], modulus: &[Limb]) {
        if number(modulus) == BigUint::ZERO {
            return;
        }
        let n = words::trim_vartime(modulus).len();
        let mut result = vec![GUARD; n + 1];
        let needed = mul_any_scratch_limbs(a.len(), b.len(), n);
        let outcome =
            with_guarded_scratch(needed, |scratch| mul_any(&mut result, a, b, modulus, scratch));
        assert_eq!(outcome, Ok(()));
        let expected = number(a) * number(b) % number(modulus);
        assert_eq!(number(&result), expected, "{a:x?} · {b:x?} mod {modulus:x?}");
    }

    fn check_invert(x: &[Limb], modulus: &[Limb]) {
        if number(modulus) == BigUint::ZERO {
            return;
        }
        let n = words::trim_vartime(modulus).len();
        let mut result = vec![GUARD; n + 1];
        let outcome = with_guarded_scratch(invert_any_scratch_limbs(n), |scratch| {
            invert_any(&mut result, x, modulus, scratch)
        });
        let (x, modulus) = (number(x), number(modulus));
        match x.modinv(&modulus) {
            Some(expected) if x < modulus => {
                assert_eq!(outcome, Ok(()), "{x:x} mod {modulus:x}");
                assert_eq!(number(&result), expected, "{x:x} mod {modulus:x}");
            }
            None if modulus == BigUint::from(1_u8) && x < modulus => assert_eq!(outcome, Ok(())),
            _ => {
                assert_eq!(outcome, Err(Error::NotInvertible), "{x:x} mod {modulus:x}");
                assert!(result.iter().all(|limb| *limb == GUARD), "written in spite of an error");
            }
        }
    }

    /// Returns moduli of `n` limbs: hard ones, made even, times powers of two, powers of two, and
    /// twice odd numbers.
    fn moduli(n: usize) -> Vec<Vec<Limb>> {
        let mut moduli = Vec::new();
        for hard in hard_numbers(n) {
            for twos in [0, 1, 2, 63, 64, 65, 64 * n - 1] {
                let mut modulus = hard.clone();
                shift_right(&mut modulus, twos);
                modulus[0] |= 1;
                let odd = modulus.clone();
                modulus.fill(0);
                or_shifted(&mut modulus, &odd, twos);
                moduli.push(modulus);
            }
            moduli.push(hard);
        }
        moduli.sort();
        moduli.dedup();
        moduli
    }

    #[test]
    fn every_small_inverse_and_product() {
        for modulus in 1..130 {
            for x in 0..=modulus {
                check_invert(&[x], &[modulus]);
                for y in 0..=modulus + 2 {
                    check_mul(&[x], &[y], &[modulus]);
                }
            }
        }
    }

    #[test]
    fn hard_values() {
        for n in [1, 2, 3, 4, 9] {
            let factors = hard_numbers(n);
            for modulus in moduli(n) {
                for (i, x) in factors.iter().enumerate() {
                    check_invert(x, &modulus);
                    let mut odd = x.clone();
                    odd[0] |= 1;
                    check_invert(&odd, &modulus);
                    check_mul(x, &factors[(i + 1) % factors.len()], &modulus);
                    check_mul(x, x, &modulus);
                }
                let mut below = modulus.clone();
                for _ in 0..4 {
                    words::decrement(&mut below);
                    check_invert(&below, &modulus);
                    check_mul(&below, &below, &modulus);
                }
            }
        }
    }

    #[test]
    fn factors_of_any_length() {
        let ones = [Limb::MAX; 7];
        for modulus in [&[6, 0, 0][..], &[0, 0, 3], &[0, 1, 0], &[Limb::MAX - 1, Limb::MAX], &[1]] {
            for a in 0..=7 {
                for b in 0..=7 {
                    check_mul(&ones[..a], &ones[..b], modulus);
                }
            }
        }
    }

    #[test]
    fn errors_are_reported() {
        let mut scratch = [GUARD; 32];
        let mut result = [GUARD; 2];
        let needed = mul_any_scratch_limbs(1, 1, 2);
        let short = Error::ScratchTooSmall { needed: 8 * needed, given: 8 * (needed - 1) };
        assert_eq!(
            mul_any(&mut result, &[1], &[1], &[0, 0], &mut scratch),
            Err(Error::ModulusZero)
        );
        let outcome = mul_any(&mut result, &[1], &[1], &[2, 1], &mut scratch[..needed - 1]);
        assert_eq!(outcome, Err(short));
        let too_short = Error::ResultTooShort { needed: 2, given: 1 };
        let outcome = mul_any(&mut result[..1], &[1], &[1], &[2, 1], &mut scratch);
        assert_eq!(outcome, Err(too_short));
        assert_eq!(
            invert_any(&mut result, &[1, 0], &[0, 0], &mut scratch),
            Err(Error::ModulusZero)
        );
        let outcome = invert_any(&mut result[..1], &[1, 0], &[2, 1], &mut scratch);
        assert_eq!(outcome, Err(too_short));
        let needed = invert_any_scratch_limbs(2);
        let short = Error::ScratchTooSmall { needed: 8 * needed, given: 8 * (needed - 1) };
        let outcome = invert_any(&mut result, &[1, 0], &[2, 1], &mut scratch[..needed - 1]);
        assert_eq!(outcome, Err(short));
        // Another number of limbs than the modulus.
        let outcome = invert_any(&mut result, &[1], &[2, 1], &mut scratch);
        assert_eq!(outcome, Err(Error::NotInvertible));
        assert_eq!(result, [GUARD; 2]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn random_values(
            triples in prop::collection::vec((limb(), limb(), limb()), 1..7),
            twos in 0_usize..200,
        ) {
            let a: Vec<Limb> = triples.iter().map(|triple| triple.0).collect();
            let b: Vec<Limb> = triples.iter().map(|triple| triple.1).collect();
            let odd: Vec<Limb> = triples.iter().map(|triple| triple.2).collect();
            let mut modulus = vec![0; odd.len()];
            or_shifted(&mut modulus, &odd, twos);
            check_mul(&a, &b, &modulus);
            check_invert(&a, &modulus);
            let mut x = a;
            x[0] |= 1;
            check_invert(&x, &modulus);
        }
    }
}
