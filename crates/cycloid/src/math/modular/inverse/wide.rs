//! The steps of safegcd for processors with words of 64 bits: sixty at a time on the low words, and
//! twenty of these at a time with f, g and their matrix in two words.

use super::super::divsteps::{DIVSTEPS, Matrix, divsteps};
use super::steps;
use crate::machine::words::{self, Limb};

/// Number of steps on low words before the full numbers are updated. The entries of the transition
/// matrix stay within 2⁶⁰, so two products with 64-bit limbs plus a carry fit into 128 bits with a
/// sign.
const BATCH: usize = 3 * DIVSTEPS;

const LOW_BITS: Limb = (1 << BATCH) - 1;

/// Returns the function that computes all steps (see [`AllBatches`](super::AllBatches)) for moduli
/// of `limbs` limbs. For the lengths of the elliptic curves, its loops over limbs are unrolled.
#[inline(always)]
pub(super) const fn for_length(limbs: usize) -> super::AllBatches {
    match limbs {
        4 => of_length::<4, 5>,
        6 => of_length::<6, 7>,
        9 => of_length::<9, 10>,
        _ => of_any_length,
    }
}

fn of_length<const N: usize, const M: usize>(
    bits: usize,
    m: &[Limb],
    x: &[Limb],
    numbers: [&mut [Limb]; 4],
) {
    let numbers = numbers.map(exactly_mut::<M>);
    on_lengths(steps(bits).div_ceil(BATCH), exactly::<N>(m), exactly::<N>(x), numbers);
}

/// Computes all steps for moduli of any length.
pub(super) fn of_any_length(bits: usize, m: &[Limb], x: &[Limb], numbers: [&mut [Limb]; 4]) {
    on_lengths(steps(bits).div_ceil(BATCH), m, x, numbers);
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
fn on_lengths<N: AsRef<[Limb]> + ?Sized, M: AsMut<[Limb]> + ?Sized>(
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
