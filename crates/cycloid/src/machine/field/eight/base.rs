//! The base prime of BLS12-381, for formulas on vectors that reduce sums of products.
//!
//! Only for backends whose factors are limbs.

use super::super::super::lanes::Lanes;
use super::super::super::lanes::vector::Vectors;
use super::super::super::words::Limb;
use super::super::Bls12Base;
use super::Shape;
use super::columns::{self, Columns, MAX_COLUMNS, each};
use super::residue::complement;

/// The limbs of a residue.
pub(super) const M: usize = 8;

/// The prime.
pub(super) const P: [Limb; M] = <Bls12Base as Shape<M>>::LIMBS;

/// 2⁴¹⁶ − p.
const COMPLEMENT: [Limb; M] = complement(&P);

/// ⌊2⁵² / (⌊p / 2³⁶⁴⌋ + 1)⌋: the reciprocal of the top limb, rounded down.
const RECIPROCAL: Limb = (1 << 52) / (P[M - 1] + 1);

/// The maximum difference of a top limb before carries from its value after them.
const SLACK: Limb = 64;

/// Returns the residues of sums in columns, with signed limbs. Sums are below 2⁷⁷³ in magnitude, so
/// a residue is between −2³⁵⁷ and 1.001p.
#[inline(always)]
pub(super) fn reduce_both<V: Vectors>(v: V, sums: [&[Lanes; 2 * M]; 2]) -> [[V::Word; M]; 2] {
    let mut parts = [[v.splat(0); MAX_COLUMNS]; 2];
    each!(V, c < 9 => [parts[0][c], parts[1][c]] = [v.load(&sums[0][c]), v.load(&sums[1][c])]);
    each!(V, i < M => {
        if i + 1 < M {
            let c = M + i + 1;
            [parts[0][c], parts[1][c]] = [v.load(&sums[0][c]), v.load(&sums[1][c])];
        }
        clear_both(v, &mut parts, i);
    });
    [columns::from(v, &parts[0], M), columns::from(v, &parts[1], M)]
}

/// Clears a column of both parts, because a row waits for the one before it.
#[inline(always)]
pub(super) fn clear_both<V: Vectors>(v: V, [first, second]: &mut [Columns<V>; 2], i: usize) {
    Bls12Base::clear(v, first, i);
    Bls12Base::clear(v, second, i);
}

/// Returns the columns of left·right, plus `start` from column M on. Factors are the low 52 bits of
/// the words.
#[inline(always)]
pub(super) fn multiply<V: Vectors>(
    v: V,
    start: &[Limb; M],
    left: &[Lanes; M],
    right: &[Lanes; M],
) -> Columns<V> {
    let mut columns = [v.splat(0); MAX_COLUMNS];
    let mut limbs = [v.factor(v.splat(0)); M];
    each!(V, j < M => {
        columns[M + j] = v.splat(start[j]);
        limbs[j] = v.factor(v.load(&left[j]));
    });
    each!(V, i < M => {
        let row = v.factor(v.load(&right[i]));
        each!(V, j < M => {
            (columns[i + j], columns[high(i + j + 1)]) =
                v.mul_add(columns[i + j], columns[high(i + j + 1)], limbs[j], row);
        });
    });
    add_high(v, &mut columns);
    columns
}

/// Returns the column that the high half of a product is added to instead of column `c`.
///
/// A column in the middle receives two halves in each row, one after the other, which takes as long
/// as the products of the row. So high halves have columns of their own there, which
/// [`add_high`] adds.
#[inline(always)]
pub(super) const fn high(c: usize) -> usize {
    const { assert!(2 * M + 6 <= MAX_COLUMNS) }
    if 5 <= c && c <= 10 { c + 11 } else { c }
}

/// Adds the columns of high halves to the others.
#[inline(always)]
pub(super) fn add_high<V: Vectors>(v: V, columns: &mut Columns<V>) {
    each!(V, j < 6 => columns[5 + j] = v.add(columns[5 + j], columns[2 * M + j]));
}

/// Subtracts t·p from x, which is from p to 64p, modulo 2⁴¹⁶ and without carries, for a t that is at
/// most ⌊x / p⌋ − `MORE`.
///
/// With top limb x₇ before carries, x / 2³⁶⁴ is more than x₇ − 64 and less than x₇ + 65, and t is
/// ⌊(x₇ − 64)·⌊2⁵² / 106,514⌋ / 2⁵²⌋, where p / 2³⁶⁴ is between 106,513 and 106,514. For x below
/// 64p, t is more than x / p − 1.002. The complement of p modulo 2⁴¹⁶ makes all products positive.
#[inline(always)]
pub(super) fn add_complement<V: Vectors, const MORE: Limb>(v: V, sum: &mut [V::Word; M]) {
    let top = v.factor(v.sub(sum[M - 1], v.splat(SLACK + MORE * (P[M - 1] + 1))));
    let t = v.mul_add_high(v.splat(0), top, v.limb_factor(v.splat(RECIPROCAL)));
    let t = v.limb_factor(t);
    let mut above = v.splat(0);
    each!(V, j < M => {
        let limb = v.limb_factor(v.splat(COMPLEMENT[j]));
        if j + 1 < M {
            (sum[j], sum[j + 1]) = v.mul_add(sum[j], sum[j + 1], limb, t);
        } else {
            (sum[j], above) = v.mul_add(sum[j], above, limb, t);
        }
    });
    let _ = above;
}
