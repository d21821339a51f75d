//! Inversion modulo an odd number in constant time: safegcd (Bernstein and Yang, Fast constant-time
//! gcd computation and modular inversion, 2019), with the half-integer start δ = 1/2 that shortens
//! it (Wuille, 2021), sixty steps at a time on the low words only.

use super::{Checked, Error, checked_scratch, split_result};
use crate::machine::ct::{self, Mask};
use crate::machine::words::{self, Limb};

/// Steps that are done on low words before the numbers themselves are touched. The entries of the
/// transition matrix stay within 2⁶⁰, so that two products with 64-bit limbs and a carry fit into
/// 128 bits with a sign.
const BATCH: usize = 60;

const LOW_BITS: Limb = (1 << BATCH) - 1;

/// Limbs of scratch that [`invert`] needs for a modulus of `n` limbs.
pub const fn invert_scratch_limbs(n: usize) -> usize {
    4 * (n + 1)
}

/// `result = 1 / x mod modulus` in constant time.
///
/// Little-endian limbs; `x` has as many limbs as `modulus` and is less; `result` has at least as
/// many as the modulus without its leading zeros, and is padded with zeros. `scratch` has at least
/// [`invert_scratch_limbs`] for that length and is wiped. Time depends on the length in bits of
/// the modulus only. Modulo 1, the result is 0.
///
/// # Errors
/// [`Error::NotInvertible`] where `x` and the modulus have a common divisor, or `x` is not less
/// than the modulus, and that becomes known; otherwise as the module says. Nothing is written to
/// `result` then.
pub fn invert(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    with_checked(result, x, modulus, scratch, |result, modulus, x, [f, g, d, e]| {
        all_steps(modulus, x, [&mut *f, g, &mut *d, e]);
        let m = modulus.limbs;
        let n = m.len();
        let negative = Mask::from_bit(f[n] >> 63);
        negate_if(negative, f);
        negate_if(negative, d);
        let excess = f[1..].iter().fold(f[0] ^ 1, |any, limb| any | limb);
        if !Mask::is_zero(excess).reveal() {
            return Err(Error::NotInvertible);
        }
        // From (−2m, 2m) to [0, m).
        for _ in 0..2 {
            let negative = Mask::from_bit(d[n] >> 63);
            let (low, top) = d.split_at_mut(n);
            top[0] = top[0].wrapping_add(words::add_if(negative, low, m));
        }
        for _ in 0..2 {
            subtract_if_not_less(d, m);
        }
        result.copy_from_slice(&d[..n]);
        Ok(())
    })
}

/// `result` = the greatest common divisor of `x` and an odd `modulus`, in constant time; lengths,
/// range of `x` and scratch as for [`invert`].
///
/// # Errors
/// [`Error::NotInvertible`] where `x` is not less than the modulus, and that becomes known;
/// otherwise as the module says.
pub fn gcd(
    result: &mut [Limb],
    x: &[Limb],
    modulus: &[Limb],
    scratch: &mut [Limb],
) -> Result<(), Error> {
    with_checked(result, x, modulus, scratch, |result, modulus, x, [f, g, d, e]| {
        all_steps(modulus, x, [&mut *f, g, d, e]);
        negate_if(Mask::from_bit(f[modulus.limbs.len()] >> 63), f);
        result.copy_from_slice(&f[..result.len()]);
        Ok(())
    })
}

/// Checks what [`invert`] and [`gcd`] are given, cuts the scratch into four numbers that are longer
/// than the modulus by a limb, and wipes it afterwards.
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

/// `f` = ±gcd, and `d` = ±1 / x mod modulus, with the same sign, where that is 1.
///
/// All four are numbers in two's complement. f and g start as modulus and x; g ends as 0.
/// Throughout, d·x ≡ f and e·x ≡ g modulo the modulus, up to the power of two that each step
/// divides by, and d and e stay between −2m and m.
fn all_steps(modulus: Checked<'_>, x: &[Limb], [f, g, d, e]: [&mut [Limb]; 4]) {
    let m = modulus.limbs;
    let n = m.len();
    f[..n].copy_from_slice(m);
    f[n] = 0;
    g[..n].copy_from_slice(x);
    g[n] = 0;
    d.fill(0);
    e.fill(0);
    e[0] = 1;
    // −1/m modulo 2⁶⁴, of which the low 60 bits are used.
    let m0 = words::montgomery_n0(m[0]);
    let mut zeta = -1;
    for _ in 0..steps(modulus.bits).div_ceil(BATCH) {
        let matrix = divsteps(&mut zeta, f[0], g[0]);
        transform(&matrix, f, g);
        transform_modulo(&matrix, d, e, m, m0);
    }
}

/// Steps after which g is 0 for every pair of numbers of at most `bits` bits.
const fn steps(bits: usize) -> usize {
    (45907 * bits + 26313) / 19929 + 1
}

/// What a batch of steps does to (f, g): (f, g) ← (u·f + v·g, q·f + r·g) / 2⁶⁰.
struct Matrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

/// [`BATCH`] division steps, of which each sees the lowest bit only. `zeta` is −(δ + 1/2).
fn divsteps(zeta: &mut i64, f: Limb, g: Limb) -> Matrix {
    let (mut f, mut g) = (f, g);
    // As residues modulo 2⁶⁴; the true values have a sign and at most 60 bits.
    let (mut u, mut v, mut q, mut r) = (1u64, 0u64, 0u64, 1u64);
    for _ in 0..BATCH {
        // f is odd. Where δ > 0 (ζ negative) and g is odd: (f, g) ← (g, (g − f)/2), δ ← 1 − δ.
        // Otherwise g ← (g + (g mod 2)·f)/2, δ ← 1 + δ.
        let positive = (*zeta >> 63).cast_unsigned();
        let odd = (g & 1).wrapping_neg();
        let signed = |x: u64| (x ^ positive).wrapping_sub(positive);
        g = g.wrapping_add(signed(f) & odd);
        q = q.wrapping_add(signed(u) & odd);
        r = r.wrapping_add(signed(v) & odd);
        let swap = positive & odd;
        *zeta = (*zeta ^ swap.cast_signed()).wrapping_sub(1);
        // g is g − f by now, so adding it to f gives the old g.
        f = f.wrapping_add(g & swap);
        u = u.wrapping_add(q & swap);
        v = v.wrapping_add(r & swap);
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    Matrix { u: u.cast_signed(), v: v.cast_signed(), q: q.cast_signed(), r: r.cast_signed() }
}

/// A sum of products that comes limb by limb, divided by 2⁶⁰ on the way out.
///
/// |a| + |b| ≤ 2⁶⁰ for the two factors of a row, so a limb's sum is below 2¹²⁴, and with a third
/// factor below 2⁶⁰ and the carry below 2¹²⁶: it fits into 127 bits.
#[derive(Default)]
struct Row {
    carry: i128,
    previous: Limb,
}

impl Row {
    /// Takes the next limb's sum; gives the limb of the quotient below it.
    fn push(&mut self, sum: i128) -> Limb {
        let total = self.carry + sum;
        let limb = total as Limb;
        self.carry = total >> 64;
        let quotient = self.previous >> BATCH | limb << (64 - BATCH);
        self.previous = limb;
        quotient
    }

    /// The highest limb of the quotient, with its sign.
    fn finish(mut self) -> Limb {
        self.push(0)
    }
}

/// `factor · limb`, the limb without sign.
fn product(factor: i64, limb: Limb) -> i128 {
    i128::from(factor) * i128::from(limb)
}

/// `factor · limb`, the limb with its sign: the highest of a number in two's complement.
fn signed_product(factor: i64, limb: Limb) -> i128 {
    i128::from(factor) * i128::from(limb.cast_signed())
}

/// `(f, g) = matrix · (f, g) / 2⁶⁰`, which divides exactly.
fn transform(matrix: &Matrix, f: &mut [Limb], g: &mut [Limb]) {
    let top = f.len() - 1;
    let (mut row_f, mut row_g) = (Row::default(), Row::default());
    for i in 0..=top {
        let product = |a: i64, limb: Limb| {
            if i < top { product(a, limb) } else { signed_product(a, limb) }
        };
        let quotient_f = row_f.push(product(matrix.u, f[i]) + product(matrix.v, g[i]));
        let quotient_g = row_g.push(product(matrix.q, f[i]) + product(matrix.r, g[i]));
        if i > 0 {
            f[i - 1] = quotient_f;
            g[i - 1] = quotient_g;
        }
    }
    f[top] = row_f.finish();
    g[top] = row_g.finish();
}

/// `(d, e) = matrix · (d, e) / 2⁶⁰ mod modulus`, where d and e stay between −2m and m.
///
/// A negative one counts as itself plus m, so that both are between −m and m; then a row gives at
/// most 2⁶⁰·m in magnitude, and what makes it divisible by 2⁶⁰ is a multiple −k·m, 0 ≤ k < 2⁶⁰.
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
        // low + k·m ≡ 0 for k ≡ low · (−1/m); taken negative, k − 2⁶⁰ or 0 … −(2⁶⁰ − 1).
        let k = low.wrapping_neg().wrapping_mul(m0) & LOW_BITS;
        start - k.cast_signed()
    };
    let (k_d, k_e) = (multiple(matrix.u, matrix.v), multiple(matrix.q, matrix.r));
    let (mut row_d, mut row_e) = (Row::default(), Row::default());
    for i in 0..=n {
        let sum = |a: i64, b: i64, k: i64| {
            if i < n {
                product(a, d[i]) + product(b, e[i]) + product(k, m[i])
            } else {
                signed_product(a, d[i]) + signed_product(b, e[i])
            }
        };
        let quotient_d = row_d.push(sum(matrix.u, matrix.v, k_d));
        let quotient_e = row_e.push(sum(matrix.q, matrix.r, k_e));
        if i > 0 {
            d[i - 1] = quotient_d;
            e[i - 1] = quotient_e;
        }
    }
    d[n] = row_d.finish();
    e[n] = row_e.finish();
}

/// `a = −a` in two's complement where `mask` is true.
fn negate_if(mask: Mask, a: &mut [Limb]) {
    let mut carry = mask.value() & 1;
    for limb in a {
        let (sum, over) = (*limb ^ mask.value()).overflowing_add(carry);
        *limb = sum;
        carry = Limb::from(over);
    }
}

/// `a −= m` where that is not negative, for `a` not negative and longer by one limb.
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
    fn errors_are_told() {
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
