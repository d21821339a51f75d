//! The triangles of products: rows of one number times windows of another.
//!
//! A step goes through its vectors in *tiles* of at most [`MAX_TILE`], whose columns stand in
//! registers, from the lowest up. What a tile hands on to the next is an argument that it changes.

use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::kernel::{MAX_TILE, ZERO, carry, unroll};
use super::vector::DigitVectors;
use super::{DIGIT_BITS, padding};

/// The most sums of one column.
const MAX_SETS: usize = 4;

/// Sums of low and of high halves in W vectors of columns.
///
/// Several of each, to which rows are added in turn, so that an addition need not wait for the one
/// just before; as many as fit into the registers.
struct Sums<V: DigitVectors, const W: usize> {
    low: [[V::Word; W]; MAX_SETS],
    high: [[V::Word; W]; MAX_SETS],
}

impl<V: DigitVectors, const W: usize> Sums<V, W> {
    /// Sums in use: with low and high, 8 to 24 registers.
    const SETS: usize = if W <= 2 { 4 } else { 2 };

    /// Zero, or what makes up for the excess of as many rows as each vector will get.
    #[inline(always)]
    fn new(v: V, rows: impl Fn(usize) -> usize) -> Self {
        const { assert!(W > 0 && W <= MAX_TILE) };
        let zero = [[v.splat(0); W]; MAX_SETS];
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

    /// Adds `rows` times windows to the vectors `FROM..TO`: for the first row those at index
    /// `first` for vector `FROM`, 8 further on for the next, and so on; one back for each row.
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
        assert!(rows.len() <= first + 1 && first + LANES * (TO - FROM - 1) < windows.len());
        let mut first = first;
        let mut rows = rows;
        while let Some((turn, rest)) = rows.split_first_chunk::<MAX_SETS>() {
            unroll!(SET < MAX_SETS => {
                // SAFETY: see below.
                unsafe { self.add_row::<SET, FROM, TO>(v, &turn[SET], windows, first - SET) }
            });
            rows = rest;
            first = first.wrapping_sub(MAX_SETS);
        }
        unroll!(SET < MAX_SETS => {
            if let Some(row) = rows.get(SET) {
                // SAFETY: the highest index, that of the first row and the last vector, has been
                // checked, and that the lowest, `first` + 1 less the number of rows, is not
                // negative.
                unsafe { self.add_row::<SET, FROM, TO>(v, row, windows, first - SET) }
            }
        });
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

    /// The columns of a vector, given the high halves of the vector before; and its own.
    #[inline(always)]
    fn columns(&self, v: V, j: usize, high_before: V::Word) -> (V::Word, V::Word) {
        let sum = |sets: &[[V::Word; W]; MAX_SETS]| {
            let sum = v.add(sets[0][j], sets[1][j]);
            if Self::SETS == 4 { v.add(sum, v.add(sets[2][j], sets[3][j])) } else { sum }
        };
        let (low, high) = (sum(&self.low), sum(&self.high));
        let moved = v.join::<7>(high_before, high);
        (v.add(v.add(low, moved), moved), high)
    }
}

/// What the low part of a product hands on, from tile to tile and to its high part: the last
/// vector of each.
#[derive(Clone, Copy)]
pub(super) struct Carried {
    /// High halves, which belong one column further up.
    pub(super) high: Lanes,
    /// What lay above the digits, which likewise does.
    pub(super) carry: Lanes,
    /// Digits.
    pub(super) digit: Lanes,
}

impl Carried {
    pub(super) const NOTHING: Self =
        Self { high: Lanes::ZERO, carry: Lanes::ZERO, digit: Lanes::ZERO };
}

/// A tile of the low part of `rows` times a number: `digits`, W vectors from vector `tile` on, as
/// factors.
#[inline(always)]
pub(super) fn low<V: DigitVectors, const W: usize>(
    v: V,
    digits: &mut [Lanes],
    tile: usize,
    carried: &mut Carried,
    rows: &[Limb],
    windows: &[Lanes],
) {
    let digits: &mut [Lanes; W] = digits.try_into().expect("a tile of W vectors");
    let padding = padding(rows.len());
    // Vector k has the columns up to 8k + 7 − padding, to which rows up to that one add.
    let rows_of = |j: usize| LANES * (tile + j + 1) - padding;
    let mut sums = Sums::<V, W>::new(v, rows_of);
    let mut high = v.load(&carried.high);
    let mut before = v.load(&carried.carry);
    let mut digit;
    sums.add::<0, W>(v, &rows[..rows_of(0)], windows, rows_of(0) - 1);
    macro_rules! finish {
        ($j:expr) => {
            let columns;
            (columns, high) = sums.columns(v, $j, high);
            (digit, before) = carry(v, columns, before);
            v.store_factor(&mut digits[$j], v.factor(digit));
        };
    }
    finish!(0);
    macro_rules! block {
        ($($j:literal)*) => {
            $(if $j < W {
                sums.add::<$j, W>(v, &rows[rows_of($j) - LANES..rows_of($j)], windows, ZERO);
                finish!($j);
            })*
        };
    }
    block!(1 2 3 4 5);
    v.store(&mut carried.high, high);
    v.store(&mut carried.carry, before);
    v.store(&mut carried.digit, digit);
}

/// A tile of the high part of `rows` times a number, from column n − `below` on: W vectors from
/// vector `tile` on. The window at 0 has the index `zero`.
#[inline(always)]
fn high_sums<V: DigitVectors, const W: usize>(
    v: V,
    tile: usize,
    below: usize,
    rows: &[Limb],
    windows: &[Lanes],
    zero: usize,
) -> Sums<V, W> {
    let n = rows.len();
    // To the vector that begins with column c = n − below + 8k, row i adds if c − i ≤ n − 1.
    let start = |j: usize| (LANES * (tile + j) + 1).saturating_sub(below);
    let mut sums = Sums::<V, W>::new(v, |j| n - start(j));
    let first = |j: usize| n + LANES * tile + zero - below - start(j);
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

/// A tile of the high part of `rows` times a number: `columns`, W vectors from vector `tile` on.
/// `high` has the high halves of the vector before.
#[inline(always)]
pub(super) fn high<V: DigitVectors, const W: usize>(
    v: V,
    columns: &mut [Lanes],
    tile: usize,
    high: &mut Lanes,
    rows: &[Limb],
    windows: &[Lanes],
) {
    let columns: &mut [Lanes; W] = columns.try_into().expect("a tile of W vectors");
    let sums = high_sums::<V, W>(v, tile, 0, rows, windows, ZERO);
    let mut before = v.load(high);
    unroll!(J < W => {
        let sum;
        (sum, before) = sums.columns(v, J, before);
        v.store(&mut columns[J], sum);
    });
    v.store(high, before);
}

/// What a tile of [`reduce`] hands on to the next.
pub(super) struct Reduction {
    /// High halves of the last vector.
    high: Lanes,
    /// Columns of the last vector, two of which are still needed.
    last: Lanes,
    /// What lay above the digits of the last vector.
    carry: Lanes,
}

impl Reduction {
    pub(super) const START: Self =
        Self { high: Lanes::ZERO, last: Lanes::ZERO, carry: Lanes::ZERO };
}

/// A tile of the reduction: `result` = `columns` plus the high part of `quotient` times the
/// modulus plus the carries of both low parts, W vectors from vector `tile` on, one later: each
/// ends with columns of the next.
///
/// The low part of the quotient times the modulus is minus the low part of the product, modulo R,
/// so it is not computed but for its last column, n − 1: with digit t of the product there, and
/// the high halves of column n − 2, the sum is v. All lower columns together would carry some
/// c < 2⁵¹ into it and make v + c a multiple of 2⁵¹: so what column n gets is v / 2⁵¹ rounded up.
/// That is why the columns begin with n − 2 here. The windows begin with that at −1.
#[inline(always)]
pub(super) fn reduce<V: DigitVectors, const W: usize>(
    v: V,
    result: &mut [Lanes],
    columns: &[Lanes],
    tile: usize,
    carried: &Carried,
    state: &mut Reduction,
    quotient: &[Limb],
    windows: &[Lanes],
) {
    let sums = high_sums::<V, W>(v, tile, 2, quotient, windows, 1);
    let mut high = v.load(&state.high);
    let mut last = v.load(&state.last);
    let mut before = v.load(&state.carry);
    unroll!(J < W => {
        let sum;
        (sum, high) = sums.columns(v, J, high);
        if J > 0 || tile > 0 {
            let moved = v.join::<2>(last, sum);
            let sum = v.add(moved, v.load(&columns[tile + J - 1]));
            let digit;
            (digit, before) = carry(v, sum, before);
            v.store(&mut result[tile + J - 1], digit);
        } else {
            let digits = v.load(&carried.digit);
            let column = v.add(sum, v.join::<6>(digits, digits));
            let rounded = v.carry(v.add(column, v.splat((1 << DIGIT_BITS) - 1)));
            // To the last lane, and the carry of the product to it: what a vector before would
            // hand on.
            before = v.add(v.join::<2>(rounded, rounded), v.load(&carried.carry));
        }
        last = sum;
    });
    if tile + W == columns.len() {
        // One more column: the high halves of the one before.
        let beyond = v.join::<7>(high, v.splat(0));
        let moved = v.join::<2>(last, v.add(beyond, beyond));
        let sum = v.add(moved, v.load(&columns[tile + W - 1]));
        let (digit, _) = carry(v, sum, before);
        v.store(&mut result[tile + W - 1], digit);
    }
    v.store(&mut state.high, high);
    v.store(&mut state.last, last);
    v.store(&mut state.carry, before);
}
