//! 2²⁵⁵ − 19 in formulas: sums and differences of products without carries.
//!
//! The formulas of a curve use most results only in sums and differences, and carries take about as
//! long as a quarter of a product. So there are two types. A [`Sum`] has five columns of 64 bits,
//! which are added and subtracted column by column, and bounds on its columns that the compiler
//! checks. A [`Factor`] has limbs of 52 bits; only factors are multiplied, and only a sum that
//! becomes a factor is carried. Products are sums.
//!
//! **Bounds**, in units of 2⁵². Limb 4 of a factor is below 2⁴⁷ + 2¹². A column of a product of
//! factors has at most five low and four high halves of products of limbs, each below a unit. The
//! five columns above are folded into it, since 2²⁶⁰ is 32·19 = 608:
//!
//! - They are carried first, all but the top one. That is the high half of the product of two limbs
//!   4, and a carry below 16: less than 2⁴² + 2⁹.
//! - 608 times the low 52 bits of each adds less than a unit to one column, and less than 608 to the
//!   next. For the top one, the product is below 2⁵² itself, so nothing is added to a next one.
//!
//! That is less than eleven units in all. A product with an [`Element`], whose limb 4 is below 2⁴⁹,
//! has a top column below 2⁴⁶ + 2⁹. So 608 times that has a high half below 2⁴, which is folded once
//! more.
//!
//! Differences stay nonnegative, because the minuend starts with [`OFFSET`], which is 0 modulo the
//! prime.
//!
//! For backends whose factors are the limbs themselves ([`Vectors::CONVERTS`] is false).

mod edwards;
mod four;
mod ladder;
#[cfg(test)]
mod tests;

use super::super::super::lanes::Lanes;
use super::super::super::lanes::vector::Vectors;
use super::super::super::words::Limb;
use super::columns::{add_rows, each};
pub(super) use edwards::{add, double};
pub(super) use four::{edwards_sum_of_one_vartime, ladder_of_one};
pub(super) use ladder::ladder;

/// 2⁹·p, with columns from 15 to 16 units.
const OFFSET: [Limb; 5] =
    [(1 << 56) - (19 << 9), (1 << 56) - 16, (1 << 56) - 16, (1 << 56) - 16, (1 << 56) - 16];

/// No offset.
const NONE: [Limb; 5] = [0; 5];

/// A product, and one that starts with [`OFFSET`].
type Product<V> = Sum<V, 0, 11>;
type Minuend<V> = Sum<V, 15, 27>;

/// The bits of limb 4 below bit 255 of a number.
const TOP_BITS: u32 = 47;

/// Five limbs of 52 bits, the words' low ones, which a product uses; limb 4 is below 2⁴⁷ + 2¹² with
/// all its bits.
struct Factor<V: Vectors>([V::Word; 5]);

/// Five columns from `FROM` units to below `TO` units: column i counts 2^(52·i).
struct Sum<V: Vectors, const FROM: u64, const TO: u64>([V::Word; 5]);

/// Five limbs of 52 bits with all bits of their words; limb 4 is below 2⁴⁹.
struct Element<V: Vectors>([V::Word; 5]);

impl<V: Vectors> Element<V> {
    #[inline(always)]
    fn load(v: V, limbs: &[Lanes; 5]) -> Self {
        let mut words = [v.splat(0); 5];
        each!(V, j < 5 => words[j] = v.load(&limbs[j]));
        Self(words)
    }

    #[inline(always)]
    fn sum(&self) -> Sum<V, 0, 1> {
        Sum(self.0)
    }

    /// Returns the elements of a in the lanes whose bit is 1, those of b in the others.
    #[inline(always)]
    fn select(v: V, bits: u8, a: &Self, b: &Self) -> Self {
        let mut words = [v.splat(0); 5];
        each!(V, j < 5 => words[j] = v.select(bits, a.0[j], b.0[j]));
        Self(words)
    }

    /// Returns a·b.
    #[inline(always)]
    fn mul(&self, v: V, b: &Self) -> Product<V> {
        let [product] = products::<V, 1, true>(v, [[&self.0, &b.0]], [&NONE]);
        Sum(product)
    }
}

impl<V: Vectors> Clone for Factor<V> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<V: Vectors> Copy for Factor<V> {}

impl<V: Vectors, const FROM: u64, const TO: u64> Sum<V, FROM, TO> {
    /// Loads limbs of 52 bits: an element, whose limb 4 is below 2⁴⁹.
    #[inline(always)]
    fn load(v: V, limbs: &[Lanes; 5]) -> Self {
        const { assert!(FROM == 0 && TO >= 1) }
        let mut columns = [v.splat(0); 5];
        each!(V, j < 5 => columns[j] = v.load(&limbs[j]));
        Self(columns)
    }

    /// Returns the sum of both, which has to be within bounds that the caller chooses.
    #[inline(always)]
    fn add<const B_FROM: u64, const B_TO: u64, const SUM_FROM: u64, const SUM_TO: u64>(
        &self,
        v: V,
        b: &Sum<V, B_FROM, B_TO>,
    ) -> Sum<V, SUM_FROM, SUM_TO> {
        const { assert!(FROM + B_FROM >= SUM_FROM && TO + B_TO <= SUM_TO) }
        let mut columns = [v.splat(0); 5];
        each!(V, j < 5 => columns[j] = v.add(self.0[j], b.0[j]));
        Sum(columns)
    }

    /// Returns the difference of both.
    #[inline(always)]
    fn sub<const B_FROM: u64, const B_TO: u64>(
        &self,
        v: V,
        b: &Sum<V, B_FROM, B_TO>,
    ) -> Sum<V, 0, TO> {
        const { assert!(FROM >= B_TO) }
        let mut columns = [v.splat(0); 5];
        each!(V, j < 5 => columns[j] = v.sub(self.0[j], b.0[j]));
        Sum(columns)
    }

    /// Returns the same with wider bounds.
    #[inline(always)]
    fn widened<const WIDER_TO: u64>(self) -> Sum<V, 0, WIDER_TO> {
        const { assert!(WIDER_TO >= TO) }
        Sum(self.0)
    }

    /// Returns the sums of a in the lanes whose bit is 1, those of b in the others.
    #[inline(always)]
    fn select(v: V, bits: u8, a: &Self, b: &Self) -> Self {
        let mut columns = [v.splat(0); 5];
        each!(V, j < 5 => columns[j] = v.select(bits, a.0[j], b.0[j]));
        Self(columns)
    }

    /// Returns the same plus [`OFFSET`].
    #[inline(always)]
    fn minuend(&self, v: V) -> Minuend<V> {
        const { assert!(TO + 16 <= 27) }
        let mut columns = [v.splat(0); 5];
        each!(V, j < 5 => columns[j] = v.add(self.0[j], v.splat(OFFSET[j])));
        Sum(columns)
    }

    /// Returns the residue as a factor.
    ///
    /// The part from bit 255 on is below 32·`TO`; 19 times it is added at the bottom. Then a carry
    /// into a column is at most `TO`, and the one into limb 4 stays there.
    #[inline(always)]
    fn factor(&self, v: V) -> Factor<V> {
        const { assert!(TO < 1 << 10) }
        let [mut c0, mut c1, mut c2, mut c3, c4] = self.0;
        let above = v.shift_right::<TOP_BITS>(c4);
        let mut c4 = v.and(c4, v.splat((1 << TOP_BITS) - 1));
        c0 = v.mul_add_low(c0, v.limb_factor(above), v.limb_factor(v.splat(19)));
        c1 = v.add(c1, v.high(c0));
        c2 = v.add(c2, v.high(c1));
        c3 = v.add(c3, v.high(c2));
        c4 = v.add(c4, v.high(c3));
        Factor([c0, c1, c2, c3, c4])
    }
}

impl<V: Vectors> Factor<V> {
    /// Returns a·b.
    #[inline(always)]
    fn mul(&self, v: V, b: &Self) -> Product<V> {
        let [product] = products::<V, 1, false>(v, [[&self.0, &b.0]], [&NONE]);
        Sum(product)
    }

    /// Returns two products, side by side.
    #[inline(always)]
    fn mul_two(v: V, first: [&Self; 2], second: [&Self; 2]) -> (Product<V>, Minuend<V>) {
        let factors = [first, second].map(|pair| pair.map(|factor| &factor.0));
        let [first, second] = products::<V, 2, false>(v, factors, [&NONE, &OFFSET]);
        (Sum(first), Sum(second))
    }

    /// Returns two products with elements, side by side.
    #[inline(always)]
    fn mul_elements(
        v: V,
        (a, b): (&Self, &Element<V>),
        (c, d): (&Self, &Element<V>),
    ) -> (Product<V>, Minuend<V>) {
        let factors = [[&a.0, &b.0], [&c.0, &d.0]];
        let [first, second] = products::<V, 2, true>(v, factors, [&NONE, &OFFSET]);
        (Sum(first), Sum(second))
    }

    /// Returns two squares, side by side.
    #[inline(always)]
    fn square_two(v: V, first: &Self, second: &Self) -> (Product<V>, Minuend<V>) {
        let [first, second] = squares(v, [first, second], [&NONE, &OFFSET]);
        (Sum(first), Sum(second))
    }

    /// Returns the limbs as an element: the residue is below 2²⁵⁵ + 2²²⁰.
    #[inline(always)]
    fn lanes(&self, v: V) -> [Lanes; 5] {
        let mut lanes = [Lanes::ZERO; 5];
        each!(V, j < 5 => v.store(&mut lanes[j], v.low(self.0[j])));
        lanes
    }

    /// Returns the words of a where those of `mask` are all ones, the words of b where they are
    /// zero.
    #[inline(always)]
    fn choose(v: V, mask: V::Word, a: &Self, b: &Self) -> Self {
        let mut words = [v.splat(0); 5];
        each!(V, j < 5 => words[j] = v.choose(mask, a.0[j], b.0[j]));
        Self(words)
    }
}

/// Returns N products plus `starts`: two at a time, because each has chains of sums in a few
/// columns, and there are registers for the columns of two.
#[inline(always)]
fn products<V: Vectors, const N: usize, const LONG: bool>(
    v: V,
    factors: [[&[V::Word; 5]; 2]; N],
    starts: [&[Limb; 5]; N],
) -> [[V::Word; 5]; N] {
    const { assert!(N <= 2) }
    let mut columns = [[v.splat(0); 10]; N];
    each!(V, n < N <= 2 => each!(V, j < 5 => columns[n][j] = v.splat(starts[n][j])));
    each!(V, i < 5 => add_rows(v, &mut columns, factors, i));
    let mut folded = [[v.splat(0); 5]; N];
    each!(V, n < N <= 2 => folded[n] = fold::<V, LONG>(v, columns[n]));
    folded
}

/// Returns N squares plus `starts`, whose limbs from 1 on are even. Products of different limbs are
/// added once and the columns doubled; then the squares of limbs are added.
#[inline(always)]
fn squares<V: Vectors, const N: usize>(
    v: V,
    factors: [&Factor<V>; N],
    starts: [&[Limb; 5]; N],
) -> [[V::Word; 5]; N] {
    const { assert!(N <= 2) }
    let mut columns = [[v.splat(0); 10]; N];
    each!(V, n < N <= 2 => each!(V, j < 5 => {
        columns[n][j] = v.splat(if j == 0 { starts[n][j] } else { starts[n][j] / 2 });
    }));
    each!(V, i < 5 => {
        each!(V, j < 5 => {
            if j > i {
                each!(V, n < N <= 2 => {
                    let limbs = &factors[n].0;
                    (columns[n][i + j], columns[n][i + j + 1]) = v.mul_add(
                        columns[n][i + j],
                        columns[n][i + j + 1],
                        v.factor(limbs[j]),
                        v.factor(limbs[i]),
                    );
                });
            }
        });
    });
    each!(V, n < N <= 2 => each!(V, j < 9 => {
        if j > 0 {
            columns[n][j] = v.add(columns[n][j], columns[n][j]);
        }
    }));
    each!(V, i < 5 => {
        each!(V, n < N <= 2 => {
            let limb = v.factor(factors[n].0[i]);
            (columns[n][2 * i], columns[n][2 * i + 1]) =
                v.mul_add(columns[n][2 * i], columns[n][2 * i + 1], limb, limb);
        });
    });
    let mut folded = [[v.splat(0); 5]; N];
    each!(V, n < N <= 2 => folded[n] = fold::<V, false>(v, columns[n]));
    folded
}

/// Folds the columns of a product, also the high half of 608 times the top one if `LONG`.
#[inline(always)]
fn fold<V: Vectors, const LONG: bool>(v: V, mut columns: [V::Word; 10]) -> [V::Word; 5] {
    const { assert!(!V::CONVERTS) }
    let factor = v.limb_factor(v.splat(608));
    each!(V, j < 4 => {
        columns[6 + j] = v.add(columns[6 + j], v.high(columns[5 + j]));
    });
    each!(V, j < 4 => {
        let upper = v.factor(columns[5 + j]);
        (columns[j], columns[j + 1]) = v.mul_add(columns[j], columns[j + 1], upper, factor);
    });
    if LONG {
        let (low, high) = v.mul_add(columns[4], v.splat(0), v.factor(columns[9]), factor);
        columns[4] = low;
        columns[0] = v.mul_add_low(columns[0], v.limb_factor(high), factor);
    } else {
        columns[4] = v.mul_add_low(columns[4], v.factor(columns[9]), factor);
    }
    let mut folded = [v.splat(0); 5];
    each!(V, j < 5 => folded[j] = columns[j]);
    folded
}
