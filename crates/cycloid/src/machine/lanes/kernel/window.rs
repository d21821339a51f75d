//! The window of columns held in registers.

use core::cell::Cell;

use super::super::super::hint::hidden;
use super::super::Lanes;
use super::super::vector::Vectors;

/// Rows per loop iteration: the window moves by renaming within them. Divides every T.
pub(super) const ROWS: usize = 5;

/// Repeats the body for each constant `j` below a constant of at most [`MAX_BLOCK`], without a
/// loop, so that arrays indexed with `j` stay in registers.
macro_rules! unroll {
    ($j:ident < $count:expr => $body:expr) => {
        unroll!($j, $count, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    ($j:ident, $count:expr, $body:expr, $($value:literal)*) => {
        $(if $value < $count {
            let $j: usize = $value;
            #[allow(unused_assignments, reason = "what one turn leaves to the next, the last leaves")]
            {
                $body;
            }
        })*
    };
}
pub(super) use unroll;

#[inline(always)]
pub(super) fn load_window<V: Vectors, const T: usize>(v: V, columns: &[Lanes]) -> [V::Word; T] {
    let columns = columns.first_chunk::<T>().expect("a window is not longer than its columns");
    let mut window = [v.splat(0); T];
    unroll!(j < T => window[j] = v.load(&columns[j]));
    window
}

#[inline(always)]
pub(super) fn store_window<V: Vectors, const T: usize>(
    v: V,
    window: &[V::Word; T],
    columns: &mut [Lanes],
) {
    let columns: &mut [Lanes; T] = columns.try_into().expect("as many columns as the window has");
    unroll!(j < T => v.store(&mut columns[j], window[j]));
}

/// Adds `factors` times each of `rows`, while the window moves up over `columns` by one per row.
///
/// The window holds the first T of `columns` at the start and the last T at the end; the columns it
/// has left are in memory.
#[inline(always)]
pub(super) fn slide<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    columns: &mut [Lanes],
    factors: &[Lanes; T],
    rows: &[Lanes],
    factor: impl Fn(&Lanes) -> V::Factor + Copy,
) {
    debug_assert_eq!(columns.len(), rows.len() + T);
    let columns = Cell::from_mut(columns).as_slice_of_cells();
    let lowest = columns.as_chunks::<ROWS>().0;
    let next = columns[T..].as_chunks::<ROWS>().0;
    for ((lowest, next), rows) in lowest.iter().zip(next).zip(rows.as_chunks::<ROWS>().0) {
        unroll!(i < ROWS => {
            let mut top = v.load(&next[i].get());
            add_row::<V, T, 0>(v, window, &mut top, factors, factor(&rows[i]));
            lowest[i].set(lanes(v, window[0]));
            shift(window, top);
        });
    }
}

/// Converts a vector to its form in memory.
#[inline(always)]
fn lanes<V: Vectors>(v: V, word: V::Word) -> Lanes {
    let mut lanes = Lanes::ZERO;
    v.store(&mut lanes, word);
    lanes
}

/// Adds `factors` times `row`, from factor `FROM` on, to the T columns of the window and `top`.
#[inline(always)]
pub(super) fn add_row<V: Vectors, const T: usize, const FROM: usize>(
    v: V,
    window: &mut [V::Word; T],
    top: &mut V::Word,
    factors: &[Lanes; T],
    row: V::Factor,
) {
    // Otherwise the compiler would load the factors of a row once and then spill them for lack of
    // registers.
    let factors = hidden(factors);
    unroll!(j < T => {
        if j >= FROM {
            add_product(v, window, top, j, v.load_factor(&factors[j]), row);
        }
    });
}

/// Adds a product to column j of the window and to the one above it.
#[inline(always)]
pub(super) fn add_product<V: Vectors, const T: usize>(
    v: V,
    window: &mut [V::Word; T],
    top: &mut V::Word,
    j: usize,
    a: V::Factor,
    b: V::Factor,
) {
    if j + 1 < T {
        (window[j], window[j + 1]) = v.mul_add(window[j], window[j + 1], a, b);
    } else {
        (window[j], *top) = v.mul_add(window[j], *top, a, b);
    }
}

/// Moves the window up by one column.
#[inline(always)]
pub(super) fn shift<W: Copy, const T: usize>(window: &mut [W; T], top: W) {
    unroll!(j < T => window[j] = if j + 1 < T { window[j + 1] } else { top });
}
