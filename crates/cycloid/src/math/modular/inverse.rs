//! Constant-time inversion modulo an odd number: safegcd (Bernstein and Yang, Fast constant-time
//! gcd computation and modular inversion, 2019), with the half-integer start δ = 1/2, which needs
//! fewer steps (Wuille, 2021). Sixty steps at a time run on the low words only, and twenty of these
//! at a time run with f, g and their matrix in two words.

use super::divsteps::{DIVSTEPS, Matrix, divsteps};
use super::{Checked, Error, STACK_USE_WORDS, checked_scratch, split_result};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::{self, Limb};

/// Number of steps on low words before the full numbers are updated. The entries of the transition
/// matrix stay within 2⁶⁰, so two products with 64-bit limbs plus a carry fit into 128 bits with a
/// sign.
const BATCH: usize = 3 * DIVSTEPS;

const LOW_BITS: Limb = (1 << BATCH) - 1;

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
/// to
/// `result` then.
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
    with_checked(result, x, modulus, scratch, |result, modulus, x, [f, g, d, e]| {
        all_steps(modulus, x, [&mut *f, g, &mut *d, e]);
        finish(modulus.limbs, f, d)?;
        result.copy_from_slice(&d[..result.len()]);
        Ok(())
    })
}

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
    stack::clean(STACK_USE_WORDS, || {
        with_checked(result, x, modulus, scratch, |result, modulus, x, [f, g, d, e]| {
            all_steps(modulus, x, [&mut *f, g, d, e]);
            negate_if(Mask::from_bit(f[modulus.limbs.len()] >> 63), f);
            result.copy_from_slice(&f[..result.len()]);
            Ok(())
        })
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

/// Computes `f` = ±gcd, and `d` = ±1 / x mod modulus with the same sign, if the gcd is 1.
///
/// All four are numbers in two's complement. f and g start as modulus and x; g ends as 0. The
/// invariants are d·x ≡ f and e·x ≡ g modulo the modulus, up to the power of two that each step
/// divides by; d and e stay between −2m and m. x is at most the modulus.
pub(super) fn all_steps(modulus: Checked<'_>, x: &[Limb], [f, g, d, e]: [&mut [Limb]; 4]) {
    let m = modulus.limbs;
    let batches = steps(modulus.bits).div_ceil(BATCH);
    // For the lengths of the elliptic curves, the loops over limbs are unrolled.
    match m.len() {
        4 => all_batches(batches, exactly::<4>(m), exactly(x), [f, g, d, e].map(exactly_mut::<5>)),
        6 => all_batches(batches, exactly::<6>(m), exactly(x), [f, g, d, e].map(exactly_mut::<7>)),
        9 => all_batches(batches, exactly::<9>(m), exactly(x), [f, g, d, e].map(exactly_mut::<10>)),
        _ => all_batches(batches, m, x, [f, g, d, e]),
    }
}

/// Returns the limbs as an array, which has exactly this length.
fn exactly<const N: usize>(limbs: &[Limb]) -> &[Limb; N] {
    limbs.try_into().expect("the caller looked at the length")
}

/// Like [`exactly`], mutably.
fn exactly_mut<const N: usize>(limbs: &mut [Limb]) -> &mut [Limb; N] {
    limbs.try_into().expect("the caller looked at the length")
}

#[inline(always)]
fn all_batches<N: AsRef<[Limb]> + ?Sized, M: AsMut<[Limb]> + ?Sized>(
    batches: usize,
    m: &N,
    x: &N,
    [f, g, d, e]: [&mut M; 4],
) {
    let (m, x) = (m.as_ref(), x.as_ref());
    let (f, g, d, e) = (f.as_mut(), g.as_mut(), d.as_mut(), e.as_mut());
    let n = m.len();
    f[..n].copy_from_slice(m);
    f[n] = 0;
    g[..n].copy_from_slice(x);
    g[n] = 0;
    d.fill(0);
    e.fill(0);
    e[0] = 1;
    // −1/m modulo 2⁶⁴; its low 60 bits are used.
    let m0 = words::montgomery_n0(m[0]);
    let mut zeta = -1;
    for _ in 0..batches {
        let matrix = batch(&mut zeta, f[0], g[0]);
        transform(&matrix, f, g);
        transform_modulo(&matrix, d, e, m, m0);
    }
}

/// Returns the number of steps after which g is 0 for every pair of numbers of at most `bits` bits:
/// a line slightly above the convex-hull bounds of Wuille's safegcd-bounds (2021) for δ = 1/2,
/// which are 590 for 256 bits.
const fn steps(bits: usize) -> usize {
    (45907 * bits + 26313) / 19929 + 1
}

/// Computes [`BATCH`] division steps.
///
/// After some steps, as many of the highest bits of the low words are wrong: after 40 steps, 24
/// bits remain for the last 20. The product of the matrices of consecutive groups of steps is the
/// matrix of all steps, with the bounds of all.
#[inline(always)]
fn batch(zeta: &mut i64, f: Limb, g: Limb) -> Matrix {
    let (mut f, mut g) = (f, g);
    let mut all = divsteps(zeta, f, g);
    let mut last = all;
    for _ in 1..BATCH / DIVSTEPS {
        let row = |a: i64, b: i64| {
            let low =
                a.cast_unsigned().wrapping_mul(f).wrapping_add(b.cast_unsigned().wrapping_mul(g));
            low >> DIVSTEPS
        };
        (f, g) = (row(last.u, last.v), row(last.q, last.r));
        last = divsteps(zeta, f, g);
        all = Matrix {
            u: last.u * all.u + last.v * all.q,
            v: last.u * all.v + last.v * all.r,
            q: last.q * all.u + last.r * all.q,
            r: last.q * all.v + last.r * all.r,
        };
    }
    all
}

/// A factor in two's complement, applied as −a·x = a·(¬x + 1), so that products of limbs are
/// unsigned.
#[derive(Clone, Copy)]
struct Factor {
    magnitude: Limb,
    negative: Limb,
}

impl Factor {
    #[inline(always)]
    fn new(factor: i64) -> Self {
        let negative = (factor >> 63).cast_unsigned();
        Self { magnitude: factor.unsigned_abs(), negative }
    }

    /// Returns the carry before the first limb.
    #[inline(always)]
    fn start(self) -> u128 {
        u128::from(self.magnitude & self.negative)
    }

    /// Returns the product with a limb.
    #[inline(always)]
    fn by(self, limb: Limb) -> u128 {
        u128::from(self.magnitude) * u128::from(limb ^ self.negative)
    }

    /// Returns the product with the highest limb, which contains the sign.
    #[inline(always)]
    fn by_highest(self, limb: Limb) -> Limb {
        self.magnitude.wrapping_mul(limb ^ self.negative)
    }
}

/// A sum of up to three products, added limb by limb and divided by 2⁶⁰.
///
/// Factors are at most 2⁶¹ in magnitude, so the products for one limb are less than 3·2¹²⁵, and
/// less than 2¹²⁸ with the carry. The whole sum is less than 2⁶² in units of its highest limb,
/// which therefore contains the sign.
struct Row {
    sum: u128,
    previous: Limb,
}

impl Row {
    #[inline(always)]
    fn new(start: u128) -> Self {
        Self { sum: start, previous: 0 }
    }

    /// Adds the next limb's products; returns the quotient's limb below it.
    #[inline(always)]
    fn push(&mut self, products: u128) -> Limb {
        self.sum += products;
        let limb = self.sum as Limb;
        self.sum >>= 64;
        let quotient = self.previous >> BATCH | limb << (64 - BATCH);
        self.previous = limb;
        quotient
    }

    /// Adds the highest limb's products; returns the two highest limbs of the quotient.
    #[inline(always)]
    fn finish(self, products: Limb) -> [Limb; 2] {
        let limb = (self.sum as Limb).wrapping_add(products);
        let highest = (limb.cast_signed() >> BATCH).cast_unsigned();
        [self.previous >> BATCH | limb << (64 - BATCH), highest]
    }
}

/// Computes `(f, g) = matrix · (f, g) / 2⁶⁰`, which divides exactly. Both are from −m to m.
#[inline(always)]
fn transform(matrix: &Matrix, f: &mut [Limb], g: &mut [Limb]) {
    let n = f.len() - 1;
    let (u, v) = (Factor::new(matrix.u), Factor::new(matrix.v));
    let (q, r) = (Factor::new(matrix.q), Factor::new(matrix.r));
    let mut row_f = Row::new(u.start() + v.start());
    let mut row_g = Row::new(q.start() + r.start());
    for i in 0..n {
        let (limb_f, limb_g) = (f[i], g[i]);
        let quotient_f = row_f.push(u.by(limb_f) + v.by(limb_g));
        let quotient_g = row_g.push(q.by(limb_f) + r.by(limb_g));
        if i > 0 {
            f[i - 1] = quotient_f;
            g[i - 1] = quotient_g;
        }
    }
    let highest_f = u.by_highest(f[n]).wrapping_add(v.by_highest(g[n]));
    let highest_g = q.by_highest(f[n]).wrapping_add(r.by_highest(g[n]));
    [f[n - 1], f[n]] = row_f.finish(highest_f);
    [g[n - 1], g[n]] = row_g.finish(highest_g);
}

/// Computes `(d, e) = matrix · (d, e) / 2⁶⁰ mod modulus`, where d and e stay between −2m and m.
///
/// A negative number is replaced by itself plus m, so that both are between −m and m. A row then
/// gives at most 2⁶⁰·m in magnitude, and adding −k·m, 0 ≤ k < 2⁶⁰, makes it divisible by 2⁶⁰.
#[inline(always)]
fn transform_modulo(matrix: &Matrix, d: &mut [Limb], e: &mut [Limb], m: &[Limb], m0: Limb) {
    let n = m.len();
    let (negative_d, negative_e) = (d[n].cast_signed() >> 63, e[n].cast_signed() >> 63);
    let multiple = |a: i64, b: i64| {
        let start = (a & negative_d) + (b & negative_e);
        let low = a
            .cast_unsigned()
            .wrapping_mul(d[0])
            .wrapping_add(b.cast_unsigned().wrapping_mul(e[0]))
            .wrapping_add(start.cast_unsigned().wrapping_mul(m[0]));
        // low + k·m ≡ 0 for k ≡ low · (−1/m), chosen from −(2⁶⁰ − 1) to 0; this computes −k.
        let k = low.wrapping_neg().wrapping_mul(m0) & LOW_BITS;
        Factor::new(start - k.cast_signed())
    };
    let (k_d, k_e) = (multiple(matrix.u, matrix.v), multiple(matrix.q, matrix.r));
    let (u, v) = (Factor::new(matrix.u), Factor::new(matrix.v));
    let (q, r) = (Factor::new(matrix.q), Factor::new(matrix.r));
    let mut row_d = Row::new(u.start() + v.start() + k_d.start());
    let mut row_e = Row::new(q.start() + r.start() + k_e.start());
    for i in 0..n {
        let (limb_d, limb_e) = (d[i], e[i]);
        let quotient_d = row_d.push(u.by(limb_d) + v.by(limb_e) + k_d.by(m[i]));
        let quotient_e = row_e.push(q.by(limb_d) + r.by(limb_e) + k_e.by(m[i]));
        if i > 0 {
            d[i - 1] = quotient_d;
            e[i - 1] = quotient_e;
        }
    }
    let highest = |a: Factor, b: Factor, k: Factor| {
        a.by_highest(d[n]).wrapping_add(b.by_highest(e[n])).wrapping_add(k.by_highest(0))
    };
    let (highest_d, highest_e) = (highest(u, v, k_d), highest(q, r, k_e));
    [d[n - 1], d[n]] = row_d.finish(highest_d);
    [e[n - 1], e[n]] = row_e.finish(highest_e);
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

    fn check(x: &[Limb], modulus: &[Limb]) {
        let n = modulus.len();
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
