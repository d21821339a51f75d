//! The steps of a Montgomery multiplication, written once for all backends.
//!
//! **Columns.** Column c of a product collects the low halves of the digit products a_i·b_j with
//! i + j = c, and twice the high halves of those with i + j = c − 1: a product has 104 bits, which
//! fall apart at bit 52, and a column weighs 2⁵¹ times the one before. Eight neighbouring columns
//! stand in a vector. Vectors with the columns of a low part end with column n − 1, so their
//! first lanes, `padding(n)` many, are columns below zero; those of a high part begin with
//! column n.
//!
//! **Windows.** The window at u of a number is the vector of its digits u to u + 7, digits outside
//! the number being zero. Eight neighbouring columns, from c on, of what row i adds are b_i times
//! the window of a at c − i: so with all windows in memory no product needs a shuffle. They stand
//! in order, the window at u at index u + 7.
//!
//! **Carries.** A column s becomes a digit by one step for all columns at once: its low 51 bits
//! plus what lies above the low 51 bits of the column before. That leaves digits below
//! 2⁵¹ + 2¹³, and no second step is needed, because factors may have 52 bits.
//!
//! **No column overflows.** The halves are below 2⁵² and, with factors below 2⁵¹ + 2¹³, below
//! 2⁵⁰ + 2¹³. At most n low and n high halves of the product and as many of the reduction come
//! together in a column, with one carry: less than 2n·2⁵² + 4n·(2⁵⁰ + 2¹³) + 2¹³ < 3n·2⁵² + 2²⁸,
//! which is below 2⁶⁴ for n ≤ 1365; and what lies above the low 51 bits is below 2¹³.

use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::vector::{Carried, DigitVectors};
use super::{DIGIT_BITS, padding, vectors};

/// The most vectors of columns that stand in registers at a time, twice two of each.
pub(super) const MAX_TILE: usize = 6;

/// The index of the window at 0.
const ZERO: usize = LANES - 1;

/// The body for each constant `j` from 0 to below a constant of at most [`MAX_TILE`], one after
/// the other without a loop, so that arrays that are indexed with `j` become registers.
macro_rules! unroll {
    ($j:ident < $count:expr => $body:expr) => {
        unroll!($j, $count, $body, 0 1 2 3 4 5)
    };
    ($j:ident, $count:expr, $body:expr, $($value:literal)*) => {
        $(if $value < $count {
            const $j: usize = $value;
            $body;
        })*
    };
}

/// Sums of low and of high halves in W vectors of columns. Two of each, for rows in turn, so that
/// an addition need not wait for the one just before.
struct Sums<V: DigitVectors, const W: usize> {
    low: [[V::Word; W]; 2],
    high: [[V::Word; W]; 2],
}

impl<V: DigitVectors, const W: usize> Sums<V, W> {
    /// Zero, or what makes up for the excess of as many rows as each vector will get.
    #[inline(always)]
    fn new(v: V, rows: impl Fn(usize) -> usize) -> Self {
        let zero = [v.splat(0); W];
        let mut sums = Self {
            low: [zero; 2],
            high: [zero; 2],
        };
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
        let (pairs, last) = rows.as_chunks::<2>();
        for (i, pair) in pairs.iter().enumerate() {
            self.add_row::<0, FROM, TO>(v, &pair[0], windows, first - 2 * i);
            self.add_row::<1, FROM, TO>(v, &pair[1], windows, first - 2 * i - 1);
        }
        if let [row] = last {
            self.add_row::<0, FROM, TO>(v, row, windows, first + 1 - rows.len());
        }
    }

    #[inline(always)]
    fn add_row<const SET: usize, const FROM: usize, const TO: usize>(
        &mut self,
        v: V,
        row: &Limb,
        windows: &[Lanes],
        first: usize,
    ) {
        let row = v.broadcast(row);
        unroll!(J < TO => {
            if J >= FROM {
                // SAFETY: `add` has checked the highest index, that of the first row and the last
                // vector, and that the lowest is not negative.
                let window = unsafe { windows.get_unchecked(first + LANES * (J - FROM)) };
                let window = v.load_factor(window);
                (self.low[SET][J], self.high[SET][J]) =
                    v.mul_add(self.low[SET][J], self.high[SET][J], window, row);
            }
        });
    }

    /// The columns of a vector, given the high halves of the vector before; and its own.
    #[inline(always)]
    fn columns(&self, v: V, j: usize, high_before: V::Word) -> (V::Word, V::Word) {
        let low = v.add(self.low[0][j], self.low[1][j]);
        let high = v.add(self.high[0][j], self.high[1][j]);
        let moved = v.join::<7>(high_before, high);
        (v.add(v.add(low, moved), moved), high)
    }
}

/// `windows` = those of `number` at −7 to n + padding: eight for each of its vectors and eight
/// more. `room` has as many vectors as `number`.
#[inline(always)]
pub(super) fn windows<V: DigitVectors>(
    v: V,
    windows: &mut [Lanes],
    room: &mut [Lanes],
    number: &[Lanes],
) {
    let number = if V::CONVERTS {
        into_factors(v, room, number)
    } else {
        number
    };
    let mut before = v.splat(0);
    let (windows, _) = windows.as_chunks_mut::<LANES>();
    assert_eq!(windows.len(), number.len() + 1);
    let (last, windows) = windows
        .split_last_mut()
        .expect("one more than the number has vectors");
    for (windows, vector) in windows.iter_mut().zip(number) {
        let vector = v.load(vector);
        store_windows(v, windows, before, vector);
        before = vector;
    }
    store_windows(v, last, before, v.splat(0));
}

#[inline(always)]
fn store_windows<V: DigitVectors>(
    v: V,
    windows: &mut [Lanes; LANES],
    before: V::Word,
    vector: V::Word,
) {
    v.store(&mut windows[0], v.join::<1>(before, vector));
    v.store(&mut windows[1], v.join::<2>(before, vector));
    v.store(&mut windows[2], v.join::<3>(before, vector));
    v.store(&mut windows[3], v.join::<4>(before, vector));
    v.store(&mut windows[4], v.join::<5>(before, vector));
    v.store(&mut windows[5], v.join::<6>(before, vector));
    v.store(&mut windows[6], v.join::<7>(before, vector));
    v.store(&mut windows[7], vector);
}

/// The vectors of `number` as factors, in `room`.
#[inline(always)]
pub(super) fn into_factors<'a, V: DigitVectors>(
    v: V,
    room: &'a mut [Lanes],
    number: &[Lanes],
) -> &'a [Lanes] {
    let room = &mut room[..number.len()];
    for (room, vector) in room.iter_mut().zip(number) {
        v.store_factor(room, v.factor(v.load(vector)));
    }
    room
}

/// Makes digits of columns and hands on what is carried.
#[inline(always)]
fn carry<V: DigitVectors>(v: V, columns: V::Word, before: V::Word) -> (V::Word, V::Word) {
    let carry = v.carry(columns);
    (v.add(v.digit(columns), v.join::<7>(before, carry)), carry)
}

/// One tile of the low part of `rows` times a number: `digits`, W vectors from vector `tile` on,
/// as factors. Tiles follow one another from the lowest up.
#[inline(always)]
pub(super) fn low_product<V: DigitVectors, const W: usize>(
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
    let first = LANES * tile + ZERO - padding;
    sums.add::<0, W>(v, &rows[..rows_of(0)], windows, first);
    macro_rules! finish {
        ($j:literal) => {
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

/// One tile of the high part of `rows` times a number, from column n − `below` on: W vectors from
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

/// One tile of the high part of `rows` times a number: `columns`, W vectors from vector `tile` on.
/// Tiles follow one another; `high` has the high halves of the vector before.
#[inline(always)]
pub(super) fn high_product<V: DigitVectors, const W: usize>(
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

/// Sixteen columns of a square, from column 2·`left` + 1 on, in two vectors; `high` has the high
/// halves of the even columns before, twice.
///
/// Column 2t + 1 is twice the sum of a_(t−e)·a_(t+1+e) over e ≥ 0, column 2t + 2 likewise that of
/// a_(t−e)·a_(t+2+e), and the square of a_(t+1). So in lanes of t the odd columns are sums of
/// windows times windows, and so are the even ones; the lanes change places at the end.
#[inline(always)]
pub(super) fn square_columns<V: DigitVectors>(
    v: V,
    left: isize,
    n: usize,
    windows: &[Lanes],
    high: &mut V::Word,
) -> (V::Word, V::Word) {
    // The window at `left` − e has digits of the number while `left` − e ≥ −7, the one at
    // `left` + 1 + e while `left` + 1 + e ≤ n − 1.
    let first = left + ZERO as isize;
    assert!(first >= -1 && left < n as isize && windows.len() >= n + LANES);
    let steps = (first + 1).min(n as isize - 1 - left) as usize;
    let excess = (
        V::EXCESS.0.wrapping_mul(steps as Limb),
        V::EXCESS.1.wrapping_mul(steps as Limb),
    );
    let start = (
        v.splat(excess.0.wrapping_neg()),
        v.splat(excess.1.wrapping_neg()),
    );
    let zero = (v.splat(0), v.splat(0));
    let (mut odd, mut even) = ([start, zero], [start, zero]);
    // SAFETY: the indices of windows on the left are `first` − e for e below `steps`, not
    // negative and below n + 7; those on the right are at most `first` + 1 + `steps` ≤ n + 7.
    let window = |index: isize| unsafe { v.load_factor(windows.get_unchecked(index as usize)) };
    let middle = window(first + 1);
    let mut right = middle;
    let mut e = 0;
    while e + 1 < steps as isize {
        let lefts = [window(first - e), window(first - e - 1)];
        let rights = [window(first + 2 + e), window(first + 3 + e)];
        odd[0] = v.mul_add(odd[0].0, odd[0].1, lefts[0], right);
        even[0] = v.mul_add(even[0].0, even[0].1, lefts[0], rights[0]);
        odd[1] = v.mul_add(odd[1].0, odd[1].1, lefts[1], rights[0]);
        even[1] = v.mul_add(even[1].0, even[1].1, lefts[1], rights[1]);
        right = rights[1];
        e += 2;
    }
    if e < steps as isize {
        let left = window(first - e);
        odd[0] = v.mul_add(odd[0].0, odd[0].1, left, right);
        even[0] = v.mul_add(even[0].0, even[0].1, left, window(first + 2 + e));
    }
    let twice = |a, b| {
        let sum = v.add(a, b);
        v.add(sum, sum)
    };
    let odd = (twice(odd[0].0, odd[1].0), twice(odd[0].1, odd[1].1));
    let even = (twice(even[0].0, even[1].0), twice(even[0].1, even[1].1));
    let mut even = v.mul_add(even.0, even.1, middle, middle);
    if V::CONVERTS {
        even.0 = v.add(even.0, v.splat(V::EXCESS.0.wrapping_neg()));
        even.1 = v.add(even.1, v.splat(V::EXCESS.1.wrapping_neg()));
    }
    let doubled = (v.add(odd.1, odd.1), v.add(even.1, even.1));
    let odd_columns = v.add(odd.0, v.join::<7>(*high, doubled.1));
    let even_columns = v.add(even.0, doubled.0);
    *high = doubled.1;
    v.interleave(odd_columns, even_columns)
}

/// The low part of a square: `digits`, as factors.
#[inline(always)]
pub(super) fn low_square<V: DigitVectors>(
    v: V,
    digits: &mut [Lanes],
    carried: &mut Carried,
    n: usize,
    windows: &[Lanes],
) {
    assert_eq!(digits.len(), vectors(n));
    let tiles = digits.len().div_ceil(2);
    let mut high = v.splat(0);
    let mut before = v.splat(0);
    let mut digit = v.splat(0);
    // Sixteen columns each, the last of them up to column n − 1. Where the number of vectors is
    // odd, the lower vector of the first tile has only columns below zero.
    let (odd, pairs) = digits.split_at_mut(digits.len() % 2);
    let mut left = (n / 2) as isize - (LANES * tiles) as isize;
    if let [digits] = odd {
        let (_, upper) = square_columns(v, left, n, windows, &mut high);
        (digit, before) = carry(v, upper, before);
        v.store_factor(digits, v.factor(digit));
        left += LANES as isize;
    }
    for pair in pairs.as_chunks_mut::<2>().0 {
        let (lower, upper) = square_columns(v, left, n, windows, &mut high);
        (digit, before) = carry(v, lower, before);
        v.store_factor(&mut pair[0], v.factor(digit));
        (digit, before) = carry(v, upper, before);
        v.store_factor(&mut pair[1], v.factor(digit));
        left += LANES as isize;
    }
    v.store(&mut carried.high, high);
    v.store(&mut carried.carry, before);
    v.store(&mut carried.digit, digit);
}

/// The high part of a square: `columns`; `high` has the high halves from the low part.
#[inline(always)]
pub(super) fn high_square<V: DigitVectors>(
    v: V,
    columns: &mut [Lanes],
    high: &Lanes,
    n: usize,
    windows: &[Lanes],
) {
    assert_eq!(columns.len(), vectors(n));
    let mut high = v.load(high);
    let mut left = (n / 2) as isize;
    for pair in columns.chunks_mut(2) {
        let (lower, upper) = square_columns(v, left, n, windows, &mut high);
        v.store(&mut pair[0], lower);
        if let Some(pair) = pair.get_mut(1) {
            v.store(pair, upper);
        }
        left += LANES as isize;
    }
}

/// What one tile of [`reduce`] hands on to the next.
pub(super) struct Reduction {
    /// High halves of the last vector.
    high: Lanes,
    /// Columns of the last vector, two of which are still needed.
    last: Lanes,
    /// What lay above the digits of the last vector.
    carry: Lanes,
}

impl Reduction {
    pub(super) const START: Self = Self {
        high: Lanes::ZERO,
        last: Lanes::ZERO,
        carry: Lanes::ZERO,
    };
}

/// One tile of the reduction: `result` = `columns` plus the high part of `quotient` times the
/// modulus plus the carries of both low parts, W vectors from vector `tile` on, one later: each
/// ends with columns of the next. Tiles follow one another.
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

/// Evaluates the expression for each tile of a number of vectors, with the constant W as its size
/// and `tile` as its first vector. No tile has more than [`MAX_TILE`] vectors, and none has more
/// than one more than another.
macro_rules! by_tile {
    ($vectors:expr, $tile:ident, $W:ident => $body:expr) => {{
        let vectors: usize = $vectors;
        let tiles = vectors.div_ceil(kernel::MAX_TILE);
        let mut $tile = 0;
        for i in 0..tiles {
            let width = (vectors + i) / tiles;
            kernel::by_tile!(width, $W, $body, 1 2 3 4 5 6);
            $tile += width;
        }
    }};
    ($width:expr, $W:ident, $body:expr, $($value:literal)*) => {
        match $width {
            $($value => {
                const $W: usize = $value;
                $body
            })*
            _ => unreachable!("the largest tile is the last of these"),
        }
    };
}
pub(super) use by_tile;
