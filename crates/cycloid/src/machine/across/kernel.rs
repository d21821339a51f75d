//! Montgomery multiplication across lanes: the steps that products and squares share, written once
//! for all backends. `triangle` contains those of products, `square` those of a square.
//!
//! **Columns.** Column c of a product collects the low halves of the digit products a_i·b_j with
//! i + j = c, and twice the high halves of those with i + j = c − 1: a product has 104 bits, split
//! at bit 52, and a column weighs 2⁵¹ times the preceding one. A vector holds eight neighbouring
//! columns. Only their adjacency matters, so each step begins with the column that suits it;
//! columns below zero are zero.
//!
//! **Windows.** The window at u of a number is the vector of its digits u to u + 7, with zeros for
//! digits outside the number. In eight neighbouring columns from c on, row i adds b_i times the
//! window of a at c − i. With all windows in memory, no product needs a shuffle. Windows are stored
//! in order, the one at u at index u + 7.
//!
//! **Carries.** One step turns all columns into digits at once: each digit is the low 51 bits of
//! its column plus the bits above the low 51 of the preceding column. That leaves digits below 2⁵¹
//! + 2¹³. No second step is needed, because factors may have 52 bits.
//!
//! **No column overflows.** Low halves are below 2⁵² and, with factors below 2⁵¹ + 2¹³, high ones
//! below 2⁵⁰ + 2¹³. A column collects at most n low and n high halves of the product, as many of
//! the reduction, and one carry: less than 2n·2⁵² + 4n·(2⁵⁰ + 2¹³) + 2¹³, below 3n·2⁵² + 2²⁸ and so
//! below 2⁶⁴ for n ≤ 1365. The bits above the low 51 are a number below 2¹³.

use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::vector::DigitVectors;
use super::{Modulus, montgomery_work_lanes, vectors};

/// The index of the window at 0.
pub(super) const ZERO: usize = LANES - 1;

/// Lanes before digit 0 of a product, so that a tile of a square starts with an odd column.
pub(super) const SKIPPED: usize = 1;

/// Repeats the body for each constant `j` below a constant of at most 6, without a loop, so that
/// arrays indexed with `j` stay in registers.
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

/// A product in progress: T = a·b, or a².
pub(super) struct Product<'a, V> {
    pub(super) v: V,
    pub(super) n: usize,
    /// Windows of the modulus, from −1 on.
    pub(super) modulus: &'a [Lanes],
    /// Windows of −1 / modulus.
    pub(super) inverse: &'a [Lanes],
    /// Windows of a.
    pub(super) windows: &'a mut [Lanes],
    /// T from column −[`SKIPPED`] on: digits in the lower half, columns in the upper half.
    pub(super) t: &'a mut [Lanes],
    /// The lower half of T, as factors.
    pub(super) low: &'a mut [Lanes],
    /// b as factors; later the quotient as factors, from column −`padding` on.
    pub(super) factors: &'a mut [Lanes],
    /// High halves of the lower half's last vector.
    pub(super) high: Lanes,
    /// The part above the digits of that vector.
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

/// Computes `windows` of `number` at −7 to n + padding: eight for each of its vectors and eight
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

/// Converts the vectors of `number` to factors, in `room`.
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

/// Splits columns into digits and returns the carries.
#[inline(always)]
pub(super) fn carry<V: DigitVectors>(
    v: V,
    columns: V::Word,
    before: V::Word,
) -> (V::Word, V::Word) {
    let carry = v.carry(columns);
    (v.add(v.digit(columns), v.join::<7>(before, carry)), carry)
}

/// A consumer of complete columns, vector by vector from the lowest up.
pub(super) trait Finish<V: DigitVectors> {
    fn finish(&mut self, vector: usize, columns: V::Word);
}

/// Consumes the columns of T, vector by vector from the lowest up: converts the lower half to
/// digits, as words and as factors, and leaves the upper half as columns.
pub(super) struct Writer<'a, V: DigitVectors> {
    v: V,
    t: &'a mut [Lanes],
    low: &'a mut [Lanes],
    /// The carry of the last vector.
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

/// Returns `n` factors of a number with digits in `digits`, and with factors in `factors` if digits
/// are not factors themselves; digit 0 is in lane `first`.
#[inline(always)]
pub(super) fn rows<'a, V: DigitVectors>(
    digits: &'a [Lanes],
    factors: &'a [Lanes],
    first: usize,
    n: usize,
) -> &'a [Limb] {
    &Lanes::as_limbs(if V::CONVERTS { factors } else { digits })[first..first + n]
}

/// Computes a tile of `out = table[index]`, W vectors from vector `tile` on, reading that part of
/// all entries.
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
