//! Products and squares as columns, and the building blocks of all column reductions.
//!
//! All columns of a product are in registers, two for each limb, and so are the factors if they
//! have few limbs. **No column overflows:** it receives at most 2·11 halves of products, which are
//! below 2⁵²; each reduction proves the bound of its own contributions. The initial value of a
//! column cancels the excess of the halves (see `lanes::vector`).

use core::marker::PhantomData;

use super::super::super::hint::hidden;
use super::super::super::lanes::vector::Vectors;
use super::super::super::lanes::{LANE_LIMB_BITS, LIMB_MASK, Lanes};
use super::super::super::words::Limb;
use super::Shape;

/// The maximum number of columns of a product.
pub(super) const MAX_COLUMNS: usize = 22;

/// The 2M columns of a product; those beyond are unused.
pub(super) type Columns<V> = [<V as Vectors>::Word; MAX_COLUMNS];

/// The maximum number of factors in registers besides the columns.
const FACTORS_IN_REGISTERS: usize = 5;

/// Repeats the body for each constant `j` below a constant of at most 11; without a loop if vectors
/// are in registers, so that arrays indexed with `j` are too.
///
/// The compiler reads as many copies of the body as the constant may be: a literal or `<=` says that
/// there are fewer, which matters where such repetitions are nested.
macro_rules! each {
    ($V:ident, $j:ident < 4 => $body:expr) => { each!(@ $V, $j, 4, $body, 0 1 2 3) };
    ($V:ident, $j:ident < 5 => $body:expr) => { each!(@ $V, $j, 5, $body, 0 1 2 3 4) };
    ($V:ident, $j:ident < $count:ident <= 2 => $body:expr) => {
        each!(@ $V, $j, $count, $body, 0 1)
    };
    ($V:ident, $j:ident < 2 => $body:expr) => { each!(@ $V, $j, 2, $body, 0 1) };
    ($V:ident, $j:ident < 3 => $body:expr) => { each!(@ $V, $j, 3, $body, 0 1 2) };
    ($V:ident, $j:ident < $count:expr => $body:expr) => {
        each!(@ $V, $j, $count, $body, 0 1 2 3 4 5 6 7 8 9 10)
    };
    (@ $V:ident, $j:ident, $count:expr, $body:expr, $($value:literal)*) => {
        if $V::IN_REGISTERS {
            $(if $value < $count {
                let $j: usize = $value;
                $body;
            })*
        } else {
            for $j in 0..$count {
                $body;
            }
        }
    };
}
pub(super) use each;

/// Returns a·b.
#[inline(always)]
pub(super) fn mul<V: Vectors, P: Shape<M>, const M: usize>(
    v: V,
    a: &[Lanes; M],
    b: &[Lanes; M],
) -> [Lanes; M] {
    let mut columns = start::<V, M>(v, &Starts::<V, P, M>::PRODUCT);
    add_product::<V, P, M, true>(v, &mut columns, a, b);
    lanes(v, &P::reduce(v, &mut columns))
}

/// Returns the columns of a·b.
#[inline(always)]
pub(super) fn product<V: Vectors, P: Shape<M>, const M: usize>(
    v: V,
    a: &[Lanes; M],
    b: &[Lanes; M],
) -> Columns<V> {
    let mut columns = start::<V, M>(v, &Starts::<V, P, M>::UNREDUCED);
    add_product::<V, P, M, false>(v, &mut columns, a, b);
    columns
}

/// Adds a·b to the columns; if they are to be reduced, clears each of the lower M when it is
/// complete and the next row, which need not wait for that, has been added.
#[inline(always)]
fn add_product<V: Vectors, P: Shape<M>, const M: usize, const REDUCE: bool>(
    v: V,
    columns: &mut Columns<V>,
    a: &[Lanes; M],
    b: &[Lanes; M],
) {
    let mut room = [Lanes::ZERO; M];
    let factors = factors(v, a, &mut room);
    each!(V, i < M => {
        add_row(v, columns, factors, &b[i], i);
        if REDUCE && i > 0 {
            P::clear(v, columns, i - 1);
        }
    });
    if REDUCE {
        P::clear(v, columns, M - 1);
    }
}

/// Adds row i of up to two products of five limbs, product by product: each has chains of sums in a
/// few columns, and there are registers for the columns of two.
#[inline(always)]
pub(super) fn add_rows<V: Vectors, const N: usize, const COLUMNS: usize>(
    v: V,
    columns: &mut [[V::Word; COLUMNS]; N],
    factors: [[&[V::Word; 5]; 2]; N],
    i: usize,
) {
    const { assert!(N <= 2) }
    each!(V, j < 5 => {
        each!(V, n < N <= 2 => {
            let [a, b] = factors[n];
            (columns[n][i + j], columns[n][i + j + 1]) = v.mul_add(
                columns[n][i + j],
                columns[n][i + j + 1],
                v.factor(a[j]),
                v.factor(b[i]),
            );
        });
    });
}

/// Adds row i of a product, `factors` times a limb, to the columns from i on.
#[inline(always)]
pub(super) fn add_row<V: Vectors, const M: usize>(
    v: V,
    columns: &mut Columns<V>,
    factors: &[Lanes; M],
    limb: &Lanes,
    i: usize,
) {
    let row = v.limb_factor(v.load(limb));
    let factors = if M > FACTORS_IN_REGISTERS { hidden(factors) } else { factors };
    each!(V, j < M => {
        (columns[i + j], columns[i + j + 1]) =
            v.mul_add(columns[i + j], columns[i + j + 1], v.load_factor(&factors[j]), row);
    });
}

/// Returns a². Products of different limbs are added once and the columns doubled; then the squares
/// of limbs are added.
#[inline(always)]
pub(super) fn square<V: Vectors, P: Shape<M>, const M: usize>(v: V, a: &[Lanes; M]) -> [Lanes; M] {
    if P::MONTGOMERY && !V::CONVERTS {
        return square_and_clear::<V, P, M>(v, a);
    }
    let mut columns = start::<V, M>(v, &Starts::<V, P, M>::SQUARE);
    let mut room = [Lanes::ZERO; M];
    let factors = factors(v, a, &mut room);
    each!(V, i < M => {
        let factors = if M > FACTORS_IN_REGISTERS { hidden(factors) } else { factors };
        let row = v.load_factor(&factors[i]);
        each!(V, j < M => {
            if j > i {
                (columns[i + j], columns[i + j + 1]) =
                    v.mul_add(columns[i + j], columns[i + j + 1], v.load_factor(&factors[j]), row);
            }
        });
    });
    each!(V, j < M => {
        columns[j] = v.add(columns[j], columns[j]);
        columns[M + j] = v.add(columns[M + j], columns[M + j]);
    });
    each!(V, i < M => {
        let limb = v.load_factor(&factors[i]);
        let (low, high) = v.mul_add(columns[2 * i], columns[2 * i + 1], limb, limb);
        (columns[2 * i], columns[2 * i + 1]) = (low, high);
        if 2 * i < M {
            P::clear(v, &mut columns, 2 * i);
        }
        if 2 * i + 1 < M {
            P::clear(v, &mut columns, 2 * i + 1);
        }
    });
    lanes(v, &P::reduce(v, &mut columns))
}

/// Returns a², column by column, so that the lower columns are cleared while the products of the
/// upper ones are added. The products of different limbs have columns of their own, to be doubled.
#[inline(always)]
fn square_and_clear<V: Vectors, P: Shape<M>, const M: usize>(v: V, a: &[Lanes; M]) -> [Lanes; M] {
    let mut columns = start::<V, M>(v, &Starts::<V, P, M>::REDUCTION);
    let mut once = [v.splat(0); MAX_COLUMNS];
    each!(V, i < M => {
        add_column::<V, M>(v, &mut once, a, i);
        add_column::<V, M>(v, &mut once, a, M + i);
        let k = if i.is_multiple_of(2) { i / 2 } else { (M + i) / 2 };
        let limb = v.load_factor(&hidden(a)[k]);
        (columns[2 * k], columns[2 * k + 1]) =
            v.mul_add(columns[2 * k], columns[2 * k + 1], limb, limb);
        if i > 0 {
            columns[i - 1] = v.add(columns[i - 1], v.add(once[i - 1], once[i - 1]));
            P::clear(v, &mut columns, i - 1);
        }
    });
    columns[M - 1] = v.add(columns[M - 1], v.add(once[M - 1], once[M - 1]));
    P::clear(v, &mut columns, M - 1);
    each!(V, j < M => {
        columns[M + j] = v.add(columns[M + j], v.add(once[M + j], once[M + j]));
    });
    lanes(v, &P::reduce(v, &mut columns))
}

/// Adds the products of different limbs whose low halves belong to column `c`.
#[inline(always)]
fn add_column<V: Vectors, const M: usize>(
    v: V,
    columns: &mut Columns<V>,
    a: &[Lanes; M],
    c: usize,
) {
    let a = hidden(a);
    each!(V, j < M => {
        if j < c && 2 * j < c && c - j < M {
            let (low, high) = v.mul_add(
                columns[c],
                columns[c + 1],
                v.load_factor(&a[j]),
                v.load_factor(&a[c - j]),
            );
            (columns[c], columns[c + 1]) = (low, high);
        }
    });
}

/// Returns the limbs as factors.
#[inline(always)]
fn factors<'a, V: Vectors, const M: usize>(
    v: V,
    limbs: &'a [Lanes; M],
    room: &'a mut [Lanes; M],
) -> &'a [Lanes; M] {
    if !V::CONVERTS {
        return limbs;
    }
    each!(V, j < M => v.store_factor(&mut room[j], v.limb_factor(v.load(&limbs[j]))));
    room
}

#[inline(always)]
pub(super) fn start<V: Vectors, const M: usize>(v: V, starts: &[Limb; MAX_COLUMNS]) -> Columns<V> {
    let mut columns = [v.splat(0); MAX_COLUMNS];
    each!(V, j < M => {
        columns[j] = v.splat(starts[j]);
        columns[M + j] = v.splat(starts[M + j]);
    });
    columns
}

/// Adds columns.
const fn sum(a: &[Limb; MAX_COLUMNS], b: &[Limb; MAX_COLUMNS]) -> [Limb; MAX_COLUMNS] {
    let mut sum = *a;
    let mut c = 0;
    while c < MAX_COLUMNS {
        sum[c] = sum[c].wrapping_add(b[c]);
        c += 1;
    }
    sum
}

/// The initial values of columns.
pub(super) struct Starts<V, P, const M: usize>(PhantomData<(V, P)>);

impl<V: Vectors, P: Shape<M>, const M: usize> Starts<V, P, M> {
    /// For the products of two numbers only.
    const UNREDUCED: [Limb; MAX_COLUMNS] = {
        let mut starts = [0u64; MAX_COLUMNS];
        let mut c = 0;
        while c < 2 * M {
            let lows = if c < M { c + 1 } else { 2 * M - 1 - c } as Limb;
            let highs = if c <= M { c } else { 2 * M - c } as Limb;
            starts[c] = (V::EXCESS.0.wrapping_mul(lows))
                .wrapping_add(V::EXCESS.1.wrapping_mul(highs))
                .wrapping_neg();
            c += 1;
        }
        starts
    };

    /// For products and their reduction.
    pub(super) const PRODUCT: [Limb; MAX_COLUMNS] = sum(&Self::UNREDUCED, &Self::REDUCTION);

    /// For the contributions of a reduction.
    const REDUCTION: [Limb; MAX_COLUMNS] = {
        let mut starts = [0u64; MAX_COLUMNS];
        // Products with quotient limbs.
        let mut k = 0;
        while V::CONVERTS && k < P::QUOTIENT_PRODUCTS.len() {
            let mut c = P::QUOTIENT_PRODUCTS[k];
            let end = c + M;
            while c < end {
                starts[c] = starts[c].wrapping_sub(V::EXCESS.0);
                starts[c + 1] = starts[c + 1].wrapping_sub(V::EXCESS.1);
                c += 1;
            }
            k += 1;
        }
        // The halves of the product with the complement exceed those to be subtracted by 2⁵² −
        // 2^shift and 2^shift − 1.
        let mut k = 0;
        while !V::CONVERTS && k < P::COMPLEMENTS.len() {
            let mut c = P::COMPLEMENTS[k] / LANE_LIMB_BITS;
            let power = 1u64 << (P::COMPLEMENTS[k] % LANE_LIMB_BITS);
            let end = c + M;
            while c < end {
                starts[c] = starts[c].wrapping_sub(LIMB_MASK + 1 - power);
                starts[c + 1] = starts[c + 1].wrapping_sub(power - 1);
                c += 1;
            }
            k += 1;
        }
        let mut k = 0;
        while k < P::STARTS.len() {
            let (c, start) = P::STARTS[k];
            starts[c] = starts[c].wrapping_add(start);
            k += 1;
        }
        starts
    };

    const SQUARE: [Limb; MAX_COLUMNS] = Self::half(&Self::PRODUCT);

    /// Halves the initial values for columns that will be doubled. An odd unit in a column becomes
    /// 2⁵² in the one below.
    const fn half(starts: &[Limb; MAX_COLUMNS]) -> [Limb; MAX_COLUMNS] {
        let mut starts = *starts;
        let mut c = 2 * M - 1;
        while c > 0 {
            if starts[c] & 1 == 1 {
                starts[c - 1] = starts[c - 1].wrapping_add(1 << LANE_LIMB_BITS);
            }
            starts[c] /= 2;
            c -= 1;
        }
        assert!(starts[0] & 1 == 0);
        starts[0] /= 2;
        starts
    }
}

/// Returns the residue of columns that are signed sums of products, plus `offset`, a multiple of
/// the prime that makes the total nonnegative; folds `FOLDS` times.
#[inline(always)]
pub(super) fn reduce_columns<V: Vectors, P: Shape<M>, const M: usize, const FOLDS: usize>(
    v: V,
    wide: &[Lanes],
    offset: &[Limb; MAX_COLUMNS],
) -> [Lanes; M] {
    let starts = sum(&Starts::<V, P, M>::REDUCTION, offset);
    let mut columns = [v.splat(0); MAX_COLUMNS];
    each!(V, j < M => {
        columns[j] = v.add(v.load(&wide[j]), v.splat(starts[j]));
        columns[M + j] = v.add(v.load(&wide[M + j]), v.splat(starts[M + j]));
    });
    each!(V, j < M => P::clear(v, &mut columns, j));
    let mut limbs = P::reduce(v, &mut columns);
    for _ in 0..FOLDS {
        P::fold::<V, 0>(v, &mut limbs);
        carry(v, &mut limbs);
    }
    lanes(v, &limbs)
}

/// Adds q·2^LEFT to the column `above` places above column i, and to the next, where q is the low
/// limb of column i, and i goes from 0 to M − 1 over successive calls; LEFT + RIGHT is 52.
///
/// Uses two products if they are cheap. Otherwise uses shifts; the part for the next column is
/// added together with that of the next quotient limb.
#[inline(always)]
pub(super) fn add_shifted<V: Vectors, const LEFT: u32, const RIGHT: u32, const M: usize>(
    v: V,
    columns: &mut Columns<V>,
    i: usize,
    above: usize,
) {
    const { assert!(LEFT + RIGHT == LANE_LIMB_BITS as u32) }
    let at = i + above;
    if V::CONVERTS {
        columns[at] = v.add(columns[at], shifted::<V, LEFT, RIGHT>(v, columns, i));
        if i + 1 == M {
            columns[at + 1] = v.add(columns[at + 1], v.shift_right::<RIGHT>(v.low(columns[i])));
        }
    } else {
        let power = v.limb_factor(v.splat(1 << LEFT));
        (columns[at], columns[at + 1]) =
            v.mul_add(columns[at], columns[at + 1], power, v.factor(columns[i]));
    }
}

/// Subtracts q·2^LEFT in the same way.
///
/// If products are cheap, adds those with the complement of q, for which the columns start with a
/// correction.
#[inline(always)]
pub(super) fn sub_shifted<V: Vectors, const LEFT: u32, const RIGHT: u32, const M: usize>(
    v: V,
    columns: &mut Columns<V>,
    i: usize,
    above: usize,
) {
    const { assert!(LEFT + RIGHT == LANE_LIMB_BITS as u32) }
    let at = i + above;
    if V::CONVERTS {
        columns[at] = v.sub(columns[at], shifted::<V, LEFT, RIGHT>(v, columns, i));
        if i + 1 == M {
            columns[at + 1] = v.sub(columns[at + 1], v.shift_right::<RIGHT>(v.low(columns[i])));
        }
    } else {
        let power = v.limb_factor(v.splat(1 << LEFT));
        (columns[at], columns[at + 1]) =
            v.mul_add(columns[at], columns[at + 1], power, v.factor(v.not(columns[i])));
    }
}

/// Returns the limb of the quotient times 2^LEFT that is made of quotient limb i and the one below.
#[inline(always)]
fn shifted<V: Vectors, const LEFT: u32, const RIGHT: u32>(
    v: V,
    columns: &Columns<V>,
    i: usize,
) -> V::Word {
    let low = v.shift_left::<LEFT>(columns[i]);
    if i == 0 {
        return v.low(low);
    }
    v.or_masked(v.shift_right::<RIGHT>(v.low(columns[i - 1])), low, v.splat(LIMB_MASK))
}

/// Converts signed columns to limbs; their sum is nonnegative and fits; the last limb may be long.
#[inline(always)]
pub(super) fn carry<V: Vectors, const M: usize>(v: V, limbs: &mut [V::Word; M]) {
    each!(V, j < M => {
        if j + 1 < M {
            let carry = v.shift_right_signed::<{ LANE_LIMB_BITS as u32 }>(limbs[j]);
            limbs[j + 1] = v.add(limbs[j + 1], carry);
            limbs[j] = v.low(limbs[j]);
        }
    });
}

/// The same for unsigned columns.
#[inline(always)]
pub(super) fn carry_unsigned<V: Vectors, const M: usize>(v: V, limbs: &mut [V::Word; M]) {
    each!(V, j < M => {
        if j + 1 < M {
            limbs[j + 1] = v.add(limbs[j + 1], v.high(limbs[j]));
            limbs[j] = v.low(limbs[j]);
        }
    });
}

/// Returns the columns from `at` on.
#[inline(always)]
pub(super) fn from<V: Vectors, const M: usize>(
    v: V,
    columns: &Columns<V>,
    at: usize,
) -> [V::Word; M] {
    let mut limbs = [v.splat(0); M];
    each!(V, j < M => limbs[j] = columns[at + j]);
    limbs
}

/// Converts vectors to their form in memory.
#[inline(always)]
pub(super) fn lanes<V: Vectors, const M: usize>(v: V, limbs: &[V::Word; M]) -> [Lanes; M] {
    let mut out = [Lanes::ZERO; M];
    each!(V, j < M => v.store(&mut out[j], limbs[j]));
    out
}
