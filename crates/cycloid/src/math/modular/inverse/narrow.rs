//! The steps of safegcd for processors with words of 32 bits: 27 at a time on the low words, and
//! nine of these at a time with f, g and their rows of the matrix in one word each.
//!
//! The numbers are those of the form for 64 bits, two words a limb. Those of four limbs, the length
//! of the commonest curves, have a form of their own: limbs of 27 bits.

use super::steps;
use crate::machine::words::{self, Limb};

/// Steps with packed rows.
const PACKED: usize = 9;

/// Steps on low words before the full numbers are updated.
const BATCH: usize = 3 * PACKED;

const LOW_BITS: u32 = (1 << BATCH) - 1;
const _: () = assert!(BATCH == words::ROW_BITS as usize);

/// The effect of n steps on (f, g): (f, g) ← (u·f + v·g, q·f + r·g) / 2ⁿ, where |u| + |v| and |q| +
/// |r| are at most 2ⁿ.
#[derive(Clone, Copy)]
struct Matrix {
    u: i32,
    v: i32,
    q: i32,
    r: i32,
}

/// Returns the function that computes all steps, the same for all lengths.
#[cfg_attr(not(target_pointer_width = "32"), expect(dead_code))]
pub(super) const fn for_length(_limbs: usize) -> super::AllBatches {
    of_any_length
}

/// Computes all steps; see [`AllBatches`](super::AllBatches).
pub(super) fn of_any_length(bits: usize, m: &[Limb], x: &[Limb], [f, g, d, e]: [&mut [Limb]; 4]) {
    let n = m.len();
    f[..n].copy_from_slice(m);
    f[n] = 0;
    g[..n].copy_from_slice(x);
    g[n] = 0;
    d.fill(0);
    e.fill(0);
    e[0] = 1;
    // −1/m modulo 2³²; its low 27 bits are used.
    let m0 = words::montgomery_n0(m[0]) as u32;
    let mut zeta = -1;
    for _ in 0..steps(bits).div_ceil(BATCH) {
        let matrix = batch(&mut zeta, f[0] as u32, g[0] as u32);
        transform(&matrix, f, g);
        transform_modulo(&matrix, d, e, m, m0);
    }
}

/// The limbs of numbers that [`all_short_batches`] is for, and the limbs of 27 bits of such a
/// number and a sign.
pub(super) const SHORT: usize = 4;
const SHORT_ROWS: usize = 10;

/// Computes all steps for [`SHORT`] limbs; returns f and d of [`all_steps`](super::all_steps).
pub(super) fn all_short_batches(bits: usize, m: &[Limb], x: &[Limb]) -> [[Limb; SHORT + 1]; 2] {
    let mut pairs: [_; SHORT_ROWS] = core::array::from_fn(|i| [row_limb(m, i), row_limb(x, i)]);
    let mut triples: [_; SHORT_ROWS] = core::array::from_fn(|i| [0, 0, row_limb(m, i)]);
    triples[0][1] = 1;
    // −1/m modulo 2³²; its low 27 bits are used.
    let m0 = words::montgomery_n0(m[0]) as u32;
    let mut zeta = -1;
    for _ in 0..steps(bits).div_ceil(BATCH) {
        let [low_f, low_g] = pairs[0].map(i32::cast_unsigned);
        let Matrix { u, v, q, r } = batch(&mut zeta, low_f, low_g);
        words::transform_rows(&[u, v, q, r], &mut pairs);
        let [signs_d, signs_e, _] = triples[SHORT_ROWS - 1].map(|limb| limb >> 31);
        let [low_d, low_e, low_m] = triples[0];
        let multiple = |a: i32, b: i32| {
            let start = (a & signs_d) + (b & signs_e);
            let low = [(a, low_d), (b, low_e), (start, low_m)];
            multiple_of_modulus(start, low, m0)
        };
        let (k, l) = (multiple(u, v), multiple(q, r));
        words::transform_rows_modulo(&[u, v, k, q, r, l], &mut triples);
    }
    [from_rows(pairs.map(|[f, _]| f)), from_rows(triples.map(|[d, ..]| d))]
}

/// Returns the 27 bits of a number from bit 27·`i` on.
fn row_limb(number: &[Limb], i: usize) -> i32 {
    let (limb, bit) = (i * BATCH / 64, i * BATCH % 64);
    let above = number.get(limb + 1).map_or(0, |above| above << (63 - bit) << 1);
    ((number[limb] >> bit | above) as u32 & LOW_BITS).cast_signed()
}

/// Returns a number in two's complement.
fn from_rows(limbs: [i32; SHORT_ROWS]) -> [Limb; SHORT + 1] {
    let mut number = [0; SHORT + 1];
    for (i, row) in limbs.into_iter().enumerate() {
        let (limb, bit) = (i * BATCH / 64, i * BATCH % 64);
        // All but the highest are nonnegative.
        let row = i64::from(row);
        number[limb] |= row.cast_unsigned() << bit;
        number[limb + 1] |= (row >> (63 - bit) >> 1).cast_unsigned();
    }
    number
}

/// Computes [`BATCH`] steps. After each group, as many of the highest bits of the low words are
/// wrong: of 27 bits, nine remain after eighteen steps for the last nine.
fn batch(zeta: &mut i32, f: u32, g: u32) -> Matrix {
    let (mut f, mut g) = (f, g);
    let mut all = Matrix { u: 1, v: 0, q: 0, r: 1 };
    for _ in 0..BATCH / PACKED {
        let last = packed(zeta, f, g);
        let row = |a: i32, b: i32| {
            let low =
                a.cast_unsigned().wrapping_mul(f).wrapping_add(b.cast_unsigned().wrapping_mul(g));
            low >> PACKED
        };
        (f, g) = (row(last.u, last.v), row(last.q, last.r));
        all = Matrix {
            u: last.u * all.u + last.v * all.q,
            v: last.u * all.v + last.v * all.r,
            q: last.q * all.u + last.r * all.q,
            r: last.q * all.v + last.r * all.r,
        };
    }
    all
}

/// Computes [`PACKED`] steps, which depend on the lowest bits of f and g alone. f is odd.
///
/// A row is packed as f + u·2¹⁰ + v·2²⁰, where f is less than 2⁹ in magnitude, and u and v start as
/// −2⁹ for 1 and are halved with f; see [`divsteps`](super::super::divsteps). A sum of two rows is
/// less than 2³¹ in magnitude.
fn packed(zeta: &mut i32, f: u32, g: u32) -> Matrix {
    const LOW: u32 = (1 << PACKED) - 1;
    let f = (f & LOW).cast_signed() - (1 << 19);
    let g = (g & LOW).cast_signed() - (1 << 29);
    let (after, f, g) = words::divsteps_narrow::<PACKED>(*zeta, f, g);
    *zeta = after;
    let entries = |row: i32| {
        let rounded = row + (1 << 9);
        (-((rounded << 12) >> 22), -((rounded + (1 << 19)) >> 20))
    };
    let ((u, v), (q, r)) = (entries(f), entries(g));
    Matrix { u, v, q, r }
}

/// A factor in two's complement, applied as −a·x = a·(¬x + 1), so that products of words are
/// unsigned.
#[derive(Clone, Copy)]
struct Factor {
    magnitude: u32,
    negative: u32,
}

impl Factor {
    #[inline(always)]
    fn new(factor: i32) -> Self {
        Self { magnitude: factor.unsigned_abs(), negative: (factor >> 31).cast_unsigned() }
    }

    /// Returns the carry before the first word.
    #[inline(always)]
    fn start(self) -> u64 {
        u64::from(self.magnitude & self.negative)
    }

    /// Returns the product with a word.
    #[inline(always)]
    fn by(self, word: u32) -> u64 {
        u64::from(self.magnitude) * u64::from(word ^ self.negative)
    }
}

/// A sum of up to three products, added word by word modulo the numbers' whole length, and divided
/// by 2²⁷.
///
/// Factors are at most 2²⁸ in magnitude, so that the products for one word and the carry are less
/// than 2⁶².
struct Row {
    sum: u64,
    previous: u32,
}

impl Row {
    #[inline(always)]
    fn new(start: u64) -> Self {
        Self { sum: start, previous: 0 }
    }

    /// Adds the next word's products; returns the quotient's word below it.
    #[inline(always)]
    fn push(&mut self, products: u64) -> u32 {
        self.sum += products;
        let word = self.sum as u32;
        self.sum >>= 32;
        let quotient = self.previous >> BATCH | word << (32 - BATCH);
        self.previous = word;
        quotient
    }

    /// Returns the highest word of the quotient, which contains the sign.
    #[inline(always)]
    fn highest(&self) -> u32 {
        (self.previous.cast_signed() >> BATCH).cast_unsigned()
    }
}

/// The words of a limb, the lower first.
#[inline(always)]
const fn halves(limb: Limb) -> [u32; 2] {
    [limb as u32, (limb >> 32) as u32]
}

#[inline(always)]
const fn limb(low: u32, high: u32) -> Limb {
    low as Limb | (high as Limb) << 32
}

/// Computes `(f, g) = matrix · (f, g) / 2²⁷`, which divides exactly. Both are from −m to m.
#[inline(never)]
fn transform(matrix: &Matrix, f: &mut [Limb], g: &mut [Limb]) {
    let (u, v) = (Factor::new(matrix.u), Factor::new(matrix.v));
    let (q, r) = (Factor::new(matrix.q), Factor::new(matrix.r));
    let mut row_f = Row::new(u.start() + v.start());
    let mut row_g = Row::new(q.start() + r.start());
    let (mut low_f, mut low_g) = (0, 0);
    for i in 0..f.len() {
        let ([f0, f1], [g0, g1]) = (halves(f[i]), halves(g[i]));
        let high_f = row_f.push(u.by(f0) + v.by(g0));
        let high_g = row_g.push(q.by(f0) + r.by(g0));
        if i > 0 {
            f[i - 1] = limb(low_f, high_f);
            g[i - 1] = limb(low_g, high_g);
        }
        low_f = row_f.push(u.by(f1) + v.by(g1));
        low_g = row_g.push(q.by(f1) + r.by(g1));
    }
    let n = f.len() - 1;
    f[n] = limb(low_f, row_f.highest());
    g[n] = limb(low_g, row_g.highest());
}

/// Returns `start` plus the multiple of the modulus that makes a sum divisible by 2²⁷: `low` are
/// the factors of the sum with the low words, `start` with that of the modulus, and `m0` is −1/m.
#[inline(always)]
fn multiple_of_modulus(start: i32, low: [(i32, i32); 3], m0: u32) -> i32 {
    let products = low.map(|(factor, word)| factor.wrapping_mul(word).cast_unsigned());
    let low = products.into_iter().fold(0, u32::wrapping_add);
    // low + k·m ≡ 0 for k ≡ low · (−1/m), chosen from −(2²⁷ − 1) to 0; this computes −k.
    let k = low.wrapping_neg().wrapping_mul(m0) & LOW_BITS;
    start - k.cast_signed()
}

/// Computes `(d, e) = matrix · (d, e) / 2²⁷ mod modulus`, where d and e stay between −2m and m, as
/// in the form for 64 bits.
#[inline(never)]
fn transform_modulo(matrix: &Matrix, d: &mut [Limb], e: &mut [Limb], m: &[Limb], m0: u32) {
    let n = m.len();
    let sign = |number: &[Limb]| (number[n].cast_signed() >> 63) as i32;
    let (negative_d, negative_e) = (sign(d), sign(e));
    let multiple = |a: i32, b: i32| {
        let start = (a & negative_d) + (b & negative_e);
        let low = [(a, d[0] as i32), (b, e[0] as i32), (start, m[0] as i32)];
        Factor::new(multiple_of_modulus(start, low, m0))
    };
    let (k_d, k_e) = (multiple(matrix.u, matrix.v), multiple(matrix.q, matrix.r));
    let (u, v) = (Factor::new(matrix.u), Factor::new(matrix.v));
    let (q, r) = (Factor::new(matrix.q), Factor::new(matrix.r));
    let mut row_d = Row::new(u.start() + v.start() + k_d.start());
    let mut row_e = Row::new(q.start() + r.start() + k_e.start());
    let (mut low_d, mut low_e) = (0, 0);
    for i in 0..=n {
        let ([d0, d1], [e0, e1]) = (halves(d[i]), halves(e[i]));
        let [m0, m1] = halves(if i < n { m[i] } else { 0 });
        let high_d = row_d.push(u.by(d0) + v.by(e0) + k_d.by(m0));
        let high_e = row_e.push(q.by(d0) + r.by(e0) + k_e.by(m0));
        if i > 0 {
            d[i - 1] = limb(low_d, high_d);
            e[i - 1] = limb(low_e, high_e);
        }
        low_d = row_d.push(u.by(d1) + v.by(e1) + k_d.by(m1));
        low_e = row_e.push(q.by(d1) + r.by(e1) + k_e.by(m1));
    }
    d[n] = limb(low_d, row_d.highest());
    e[n] = limb(low_e, row_e.highest());
}
