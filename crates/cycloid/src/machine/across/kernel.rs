//! The steps of a Montgomery multiplication, written once for all backends: what they have in
//! common. `triangle` has those of products, `square` those of a square.
//!
//! **Columns.** Column c of a product collects the low halves of the digit products a_i·b_j with
//! i + j = c, and twice the high halves of those with i + j = c − 1: a product has 104 bits, which
//! fall apart at bit 52, and a column weighs 2⁵¹ times the one before. Eight neighbouring columns
//! stand in a vector. Only neighbourhood counts, so each step begins with the column that suits
//! it; those below column zero are zero.
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
//! **No column overflows.** Low halves are below 2⁵² and, with factors below 2⁵¹ + 2¹³, high ones
//! below 2⁵⁰ + 2¹³. At most n low and n high halves of the product and as many of the reduction
//! come together in a column, with one carry: less than 2n·2⁵² + 4n·(2⁵⁰ + 2¹³) + 2¹³, below
//! 3n·2⁵² + 2²⁸ and so below 2⁶⁴ for n ≤ 1365; and what lies above the low 51 bits is below 2¹³.

use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::vector::DigitVectors;
use super::{Modulus, montgomery_work_lanes, vectors};

/// The index of the window at 0.
pub(super) const ZERO: usize = LANES - 1;

/// Lanes before digit 0 of a product, so that a tile of a square begins with an odd column.
pub(super) const SKIPPED: usize = 1;

/// The body for each constant `j` from 0 to below a constant of at most 6, one after the other
/// without a loop, so that arrays that are indexed with `j` become registers.
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

/// A product on its way through the steps: T = a·b, or a².
pub(super) struct Product<'a, V> {
    pub(super) v: V,
    pub(super) n: usize,
    /// Of the modulus, from −1 on.
    pub(super) modulus: &'a [Lanes],
    /// Of −1 / modulus.
    pub(super) inverse: &'a [Lanes],
    /// Of a.
    pub(super) windows: &'a mut [Lanes],
    /// T from column −[`SKIPPED`] on: digits in the lower half, columns in the upper.
    pub(super) t: &'a mut [Lanes],
    /// The lower half of T as factors.
    pub(super) low: &'a mut [Lanes],
    /// b as factors, then the quotient as factors from column −`padding` on.
    pub(super) factors: &'a mut [Lanes],
    /// High halves of the last vector of the lower half.
    pub(super) high: Lanes,
    /// What lay above the digits there.
    pub(super) carry: Lanes,
}

impl<'a, V: DigitVectors> Product<'a, V> {
    #[inline(always)]
    pub(super) fn new(work: &'a mut [Lanes], modulus: &'a Modulus<'a, V>) -> Self {
        let n = modulus.n;
        let vectors = vectors(n);
        let (windows, rest) = work[..montgomery_work_lanes(n)].split_at_mut(LANES * (vectors + 1));
        let (t, rest) = rest.split_at_mut(2 * vectors);
        let (low, factors) = rest.split_at_mut(vectors);
        Self {
            v: modulus.backend,
            n,
            modulus: modulus.windows,
            inverse: modulus.inverse,
            windows,
            t,
            low,
            factors,
            high: Lanes::ZERO,
            carry: Lanes::ZERO,
        }
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

/// Takes complete columns, vector by vector from the lowest up.
pub(super) trait Finish<V: DigitVectors> {
    fn finish(&mut self, vector: usize, columns: V::Word);
}

/// Takes the columns of T, vector by vector from the lowest up: makes digits of the lower half,
/// in words and as factors, and leaves the upper half as columns.
pub(super) struct Writer<'a, V: DigitVectors> {
    v: V,
    t: &'a mut [Lanes],
    low: &'a mut [Lanes],
    /// What the last vector carried.
    pub(super) carry: V::Word,
}

impl<'a, V: DigitVectors> Writer<'a, V> {
    #[inline(always)]
    pub(super) fn new(v: V, t: &'a mut [Lanes], low: &'a mut [Lanes], carry: V::Word) -> Self {
        Self { v, t, low, carry }
    }
}

impl<V: DigitVectors> Finish<V> for Writer<'_, V> {
    #[inline(always)]
    fn finish(&mut self, vector: usize, columns: V::Word) {
        let v = self.v;
        let half = self.low.len();
        if vector < half {
            let (digits, carry) = carry(v, columns, self.carry);
            self.carry = carry;
            v.store(&mut self.t[vector], digits);
            if V::CONVERTS {
                v.store_factor(&mut self.low[vector], v.factor(digits));
            }
        } else if vector == half {
            let carry = v.join::<7>(self.carry, v.splat(0));
            v.store(&mut self.t[vector], v.add(columns, carry));
        } else {
            v.store(&mut self.t[vector], columns);
        }
    }
}

/// `n` factors of a number whose digits are in `digits` and, where those are no factors, also as
/// factors in `factors`; digit 0 is in lane `first`.
#[inline(always)]
pub(super) fn rows<'a, V: DigitVectors>(
    digits: &'a [Lanes],
    factors: &'a [Lanes],
    first: usize,
    n: usize,
) -> &'a [Limb] {
    &Lanes::as_limbs(if V::CONVERTS { factors } else { digits })[first..first + n]
}

/// A tile of `out = table[index]`, W vectors from vector `tile` on, reading that part of all
/// entries.
#[inline(always)]
pub(super) fn select<V: DigitVectors, const W: usize>(
    v: V,
    out: &mut [Lanes],
    table: &[Lanes],
    tile: usize,
    index: usize,
) {
    let index = v.splat(index as Limb);
    let one = v.splat(1);
    let mut number = v.splat(0);
    let mut found = [v.splat(0); W];
    for entry in table.chunks_exact(out.len()) {
        let mask = v.equal(number, index);
        let entry = entry[tile..].first_chunk::<W>().expect("the tile is within the entry");
        unroll!(J < W => found[J] = v.or_masked(found[J], v.load(&entry[J]), mask));
        number = v.add(number, one);
    }
    let out = out[tile..].first_chunk_mut::<W>().expect("the tile is within the entry");
    unroll!(J < W => v.store(&mut out[J], found[J]));
}
