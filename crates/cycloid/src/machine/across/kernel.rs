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
use super::vector::DigitVectors;

/// The most vectors of columns that stand in registers at a time.
pub(super) const MAX_TILE: usize = 6;

/// The index of the window at 0.
pub(super) const ZERO: usize = LANES - 1;

/// The body for each constant `j` from 0 to below a constant of at most [`MAX_TILE`], one after
/// the other without a loop, so that arrays that are indexed with `j` become registers.
macro_rules! unroll {
    ($j:ident < $count:expr => $body:expr) => {
        $crate::machine::across::kernel::unroll!($j, $count, $body, 0 1 2 3 4 5)
    };
    ($j:ident, $count:expr, $body:expr, $($value:literal)*) => {
        $(if $value < $count {
            const $j: usize = $value;
            $body;
        })*
    };
}
pub(super) use unroll;

/// `windows` = those of `number` at −7 to n + padding: eight for each of its vectors and eight
/// more. `room` has as many vectors as `number`.
#[inline(always)]
pub(super) fn windows<V: DigitVectors>(
    v: V,
    windows: &mut [Lanes],
    room: &mut [Lanes],
    number: &[Lanes],
) {
    let number = if V::CONVERTS { into_factors(v, room, number) } else { number };
    let mut before = v.splat(0);
    let (windows, _) = windows.as_chunks_mut::<LANES>();
    assert_eq!(windows.len(), number.len() + 1);
    let (last, windows) = windows.split_last_mut().expect("one more than the number has vectors");
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
pub(super) fn carry<V: DigitVectors>(
    v: V,
    columns: V::Word,
    before: V::Word,
) -> (V::Word, V::Word) {
    let carry = v.carry(columns);
    (v.add(v.digit(columns), v.join::<7>(before, carry)), carry)
}
