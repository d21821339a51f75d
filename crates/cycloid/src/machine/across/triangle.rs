//! The triangles of products: rows of one number times windows of another.
//!
//! A step processes its vectors in *tiles*, whose columns are in registers, from the lowest up. The
//! number of digits is N, or `Product::n` if N is 0.

use core::ops::Range;

use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::kernel::{
    Finish, Product, SKIPPED, Writer, ZERO, carry, into_factors, rows, unroll, windows,
};
use super::vector::DigitVectors;
use super::{DIGIT_BITS, padding, vectors};

/// The maximum number of vectors in a tile.
pub(super) const MAX_TILE: usize = 6;

/// The maximum number of rows per loop iteration, and of sums per column.
const TURN: usize = 4;

/// Evaluates the expression for each tile of a number of vectors, with the constant W as its width,
/// chosen from those given in rising order, and `tile` as its first vector. There are as few tiles
/// as possible, as equal as possible.
macro_rules! by_tile {
    ($vectors:expr, $tile:ident, $W:ident => $body:expr, $($width:literal)*) => {{
        let vectors: usize = $vectors;
        let count = vectors.div_ceil(*[$($width),*].last().expect("a width is given"));
        let mut $tile = 0;
        for i in 0..count {
            let width = (vectors + i) / count;
            match width {
                $($width => {
                    const $W: usize = $width;
                    $body
                })*
                _ => unreachable!("these are the widths of such numbers"),
            }
            $tile += width;
        }
    }};
}
pub(super) use by_tile;

/// Sums of low and of high halves in W vectors of columns.
///
/// Rows are added to several sums in turn, so that an addition need not wait for the preceding one;
/// there are as many sums as fit into the registers.
pub(super) struct Sums<V: DigitVectors, const W: usize> {
    low: [[V::Word; W]; TURN],
    high: [[V::Word; W]; TURN],
}

impl<V: DigitVectors, const W: usize> Sums<V, W> {
    /// Number of sums in use: with low and high, 8 to 24 registers.
    const SETS: usize = if W <= 2 { 4 } else { 2 };

    /// Returns zero, or the correction for the excess of as many rows as each vector will get.
    #[inline(always)]
    fn new(v: V, rows: impl Fn(usize) -> usize) -> Self {
        const { assert!(W > 0 && W <= MAX_TILE) };
        let zero = [[v.splat(0); W]; TURN];
        let mut sums = Self { low: zero, high: zero };
        if V::CONVERTS {
            unroll!(J < W => {
                let rows = (rows(J) as Limb).wrapping_neg();
                sums.low[0][J] = v.splat(V::EXCESS.0.wrapping_mul(rows));
                sums.high[0][J] = v.splat(V::EXCESS.1.wrapping_mul(rows));
            });
        }
        sums
    }

    /// Adds `rows` times windows to the vectors `FROM..TO`. For the first row, the windows are at
    /// index `first` for vector `FROM`, and 8 further on for each next vector; for each next row,
    /// one index lower.
    #[inline(always)]
    fn add<const FROM: usize, const TO: usize>(
        &mut self,
        v: V,
        rows: &[Limb],
        windows: &[Lanes],
        first: usize,
    ) {
        if FROM >= TO {
            return;
        }
        if !V::IN_REGISTERS {
            return self.add_in_memory(v, rows, windows, first, FROM..TO);
        }
        assert!(rows.len() <= first + 1 && first + LANES * (TO - FROM - 1) < windows.len());
        let mut first = first;
        let mut rows = rows;
        while let Some((turn, rest)) = rows.split_first_chunk::<TURN>() {
            unroll!(SET < TURN => {
                // SAFETY: see below.
                unsafe { self.add_row::<SET, FROM, TO>(v, &turn[SET], windows, first - SET) }
            });
            rows = rest;
            first = first.wrapping_sub(TURN);
        }
        unroll!(SET < TURN => {
            if let Some(row) = rows.get(SET) {
                // SAFETY: the check above covers the highest index, that of the first row and the
                // last vector, and ensures that the lowest, `first` + 1 minus the number of rows,
                // is not negative.
                unsafe { self.add_row::<SET, FROM, TO>(v, row, windows, first - SET) }
            }
        });
    }

    /// The same without unrolling, for cases where unrolling gains nothing.
    #[inline(never)]
    fn add_in_memory(
        &mut self,
        v: V,
        rows: &[Limb],
        windows: &[Lanes],
        first: usize,
        vectors: Range<usize>,
    ) {
        for (i, row) in rows.iter().enumerate() {
            let row = v.broadcast(row);
            for (place, j) in vectors.clone().enumerate() {
                let window = v.load_factor(&windows[first - i + LANES * place]);
                (self.low[0][j], self.high[0][j]) =
                    v.mul_add(self.low[0][j], self.high[0][j], window, row);
            }
        }
    }

    /// # Safety
    /// `first` and `first` + 8·(TO − FROM − 1) are indices of `windows`.
    #[inline(always)]
    unsafe fn add_row<const SET: usize, const FROM: usize, const TO: usize>(
        &mut self,
        v: V,
        row: &Limb,
        windows: &[Lanes],
        first: usize,
    ) {
        let row = v.broadcast(row);
        let set = SET % Self::SETS;
        unroll!(J < TO => {
            if J >= FROM {
                // SAFETY: as promised.
                let window = unsafe { windows.get_unchecked(first + LANES * (J - FROM)) };
                let window = v.load_factor(window);
                (self.low[set][J], self.high[set][J]) =
                    v.mul_add(self.low[set][J], self.high[set][J], window, row);
            }
        });
    }

    #[inline(always)]
    fn sum(v: V, sets: &[[V::Word; W]; TURN], j: usize) -> V::Word {
        let sum = v.add(sets[0][j], sets[1][j]);
        if Self::SETS == 4 { v.add(sum, v.add(sets[2][j], sets[3][j])) } else { sum }
    }

    /// Returns the columns of a vector, given the high halves of the preceding vector, and its own
    /// high halves.
    #[inline(always)]
    fn columns(&self, v: V, j: usize, high_before: V::Word) -> (V::Word, V::Word) {
        let (low, high) = (Self::sum(v, &self.low, j), Self::sum(v, &self.high, j));
        let moved = v.join::<7>(high_before, high);
        (v.add(v.add(low, moved), moved), high)
    }
}

/// Computes a tile of the lower columns of a product, from column −`skipped` on: W vectors from
/// vector `tile` on, each passed to `taker` as soon as it is complete.
#[inline(always)]
fn lower<V: DigitVectors, const W: usize>(
    v: V,
    skipped: usize,
    tile: usize,
    rows: &[Limb],
    windows: &[Lanes],
    high: &mut V::Word,
    taker: &mut impl Finish<V>,
) {
    let n = rows.len();
    // Vector k contains the columns up to 8k + 7 − skipped; rows up to that number contribute.
    let end = |j: usize| LANES * (tile + j + 1) - skipped;
    let mut sums = Sums::<V, W>::new(v, |j| end(j).min(n));
    sums.add::<0, W>(v, &rows[..end(0).min(n)], windows, end(0) - 1);
    macro_rules! finish {
        ($j:literal) => {
            let columns;
            (columns, *high) = sums.columns(v, $j, *high);
            taker.finish(tile + $j, columns);
        };
    }
    finish!(0);
    macro_rules! block {
        ($($j:literal)*) => {
            $(if $j < W {
                sums.add::<$j, W>(v, &rows[end($j) - LANES..end($j).min(n)], windows, ZERO);
                finish!($j);
            })*
        };
    }
    block!(1 2 3 4 5);
}

/// Computes a tile of the upper columns of a product, from column `from` on: W vectors from vector
/// `tile` on. The window at 0 has the index `zero`.
#[inline(always)]
fn upper<V: DigitVectors, const W: usize>(
    v: V,
    from: usize,
    tile: usize,
    rows: &[Limb],
    windows: &[Lanes],
    zero: usize,
) -> Sums<V, W> {
    let n = rows.len();
    // Row i contributes to the vector that starts with column c if c − i ≤ n − 1.
    let column = |j: usize| from + LANES * (tile + j);
    let start = |j: usize| (column(j) + 1).saturating_sub(n).min(n);
    let mut sums = Sums::<V, W>::new(v, |j| n - start(j));
    let first = |j: usize| column(0) + zero - start(j);
    macro_rules! block {
        ($($j:literal)*) => {
            $(if $j + 1 < W {
                let rows = &rows[start($j)..start($j + 1)];
                sums.add::<0, { $j + 1 }>(v, rows, windows, first($j));
            })*
        };
    }
    block!(0 1 2 3 4);
    sums.add::<0, W>(v, &rows[start(W - 1)..], windows, first(W - 1));
    sums
}

/// Computes a tile of the lower half of T = a·b, and the windows of a with the first tile.
#[inline(always)]
pub(super) fn multiply_low<V: DigitVectors, const N: usize, const W: usize>(
    p: &mut Product<'_, V>,
    a: &[Lanes],
    b: &[Lanes],
    tile: usize,
) {
    let (v, n) = (p.v, if N == 0 { p.n } else { N });
    let vectors = vectors(n);
    let all = &mut p.windows[..LANES * (vectors + 1)];
    let factors = &mut p.factors[..vectors];
    if tile == 0 {
        windows(v, all, factors, &a[..vectors]);
        if V::CONVERTS {
            into_factors(v, factors, &b[..vectors]);
        }
    }
    let rows = rows::<V>(b, factors, 0, n);
    let (t, low) = (&mut p.t[..2 * vectors], &mut p.low[..vectors]);
    let mut writer = Writer::new(v, t, low, v.load(&p.carry));
    let mut high = v.load(&p.high);
    lower::<V, W>(v, SKIPPED, tile, rows, all, &mut high, &mut writer);
    v.store(&mut p.carry, writer.carry);
    v.store(&mut p.high, high);
}

/// Computes a tile of the upper half of T = a·b.
#[inline(always)]
pub(super) fn multiply_high<V: DigitVectors, const N: usize, const W: usize>(
    p: &mut Product<'_, V>,
    b: &[Lanes],
    tile: usize,
) {
    let (v, n) = (p.v, if N == 0 { p.n } else { N });
    let vectors = vectors(n);
    let windows = &p.windows[..LANES * (vectors + 1)];
    let rows = rows::<V>(b, &p.factors[..vectors], 0, n);
    let sums = upper::<V, W>(v, LANES * vectors - SKIPPED, tile, rows, windows, ZERO);
    let (t, low) = (&mut p.t[..2 * vectors], &mut p.low[..vectors]);
    let mut writer = Writer::new(v, t, low, v.load(&p.carry));
    let mut high = v.load(&p.high);
    unroll!(J < W => {
        let columns;
        (columns, high) = sums.columns(v, J, high);
        writer.finish(vectors + tile + J, columns);
    });
    v.store(&mut p.high, high);
}

/// Computes a tile of the quotient q = T · (−1 / modulus) mod R.
#[inline(always)]
pub(super) fn quotient<V: DigitVectors, const N: usize, const W: usize>(
    p: &mut Product<'_, V>,
    tile: usize,
) {
    let (v, n) = (p.v, if N == 0 { p.n } else { N });
    let vectors = vectors(n);
    let rows = rows::<V>(&p.t[..vectors], &p.low[..vectors], SKIPPED, n);
    let quotient = &mut p.factors[..vectors];
    if tile == 0 {
        (p.high, p.carry) = (Lanes::ZERO, Lanes::ZERO);
    }
    let mut taker = QuotientWriter { v, quotient, carry: v.load(&p.carry) };
    let mut high = v.load(&p.high);
    lower::<V, W>(v, padding(n), tile, rows, &p.inverse[..n], &mut high, &mut taker);
    // The carry of the last tile is a multiple of R.
    v.store(&mut p.carry, taker.carry);
    v.store(&mut p.high, high);
}

/// Converts columns to digits, as factors.
struct QuotientWriter<'a, V: DigitVectors> {
    v: V,
    quotient: &'a mut [Lanes],
    carry: V::Word,
}

impl<V: DigitVectors> Finish<V> for QuotientWriter<'_, V> {
    #[inline(always)]
    fn finish(&mut self, vector: usize, columns: V::Word) {
        let digits;
        (digits, self.carry) = carry(self.v, columns, self.carry);
        self.v.store_factor(&mut self.quotient[vector], self.v.factor(digits));
    }
}

/// The state passed from one tile of [`reduce`] to the next.
pub(super) struct Reduction {
    /// High halves of the last vector.
    high: Lanes,
    /// Columns of the last vector; all but two are still needed.
    last: Lanes,
    /// The part above the digits of the last vector.
    carry: Lanes,
}

impl Reduction {
    pub(super) const START: Self =
        Self { high: Lanes::ZERO, last: Lanes::ZERO, carry: Lanes::ZERO };
}

/// Computes a tile of `result` = (T + q·modulus) / R; each tile leaves its last vector to the next.
///
/// The lower columns of q·modulus are not computed: they make those of T a multiple of R. Their
/// carry follows from column n − 1 alone. Let s be that column of T + q·modulus, including the high
/// halves of column n − 2 but without the carries of lower columns. The lower columns would carry
/// some c < 2⁵¹ into it and make s + c a multiple of 2⁵¹, so column n receives s / 2⁵¹ rounded up.
/// That is why the columns begin with n − 2 here.
#[inline(always)]
pub(super) fn reduce<V: DigitVectors, const N: usize, const W: usize>(
    p: &Product<'_, V>,
    result: &mut [Lanes],
    tile: usize,
    state: &mut Reduction,
) {
    let (v, n) = (p.v, if N == 0 { p.n } else { N });
    let vectors = vectors(n);
    let result = &mut result[..vectors];
    let t = &Lanes::as_limbs(&p.t[..2 * vectors])[n + SKIPPED - 2..];
    let quotient = &Lanes::as_limbs(&p.factors[..vectors])[padding(n)..];
    let sums = upper::<V, W>(v, n - 2, tile, quotient, &p.modulus[..n + 1], 1);
    let mut high = v.load(&state.high);
    let mut last = v.load(&state.last);
    let mut before = v.load(&state.carry);
    unroll!(J < W => {
        let (sum, t) = (sums.columns(v, J, high), &t[LANES * (tile + J)..]);
        high = sum.1;
        let sum = v.add(sum.0, v.load_digits(t.first_chunk().expect("T has 16 columns a vector")));
        if J > 0 || tile > 0 {
            let digits;
            (digits, before) = carry(v, v.join::<2>(last, sum), before);
            v.store(&mut result[tile + J - 1], digits);
        } else {
            let rounded_up = v.carry(v.add(sum, v.splat((1 << DIGIT_BITS) - 1)));
            // Moved to the last lane, the position of a preceding vector's carry.
            before = v.join::<2>(rounded_up, rounded_up);
        }
        last = sum;
    });
    if tile + W == vectors {
        // Only two columns of one more vector are needed, and only one can be nonzero.
        let moved = v.join::<7>(high, v.splat(0));
        let mut beyond = v.add(moved, moved);
        if LANES * vectors == n + 1 {
            let t = v.load_digits(t.last_chunk().expect("T has 16 columns a vector"));
            beyond = v.add(beyond, v.join::<6>(t, v.splat(0)));
        }
        let (digits, _) = carry(v, v.join::<2>(last, beyond), before);
        v.store(&mut result[vectors - 1], digits);
    }
    v.store(&mut state.high, high);
    v.store(&mut state.last, last);
    v.store(&mut state.carry, before);
}
