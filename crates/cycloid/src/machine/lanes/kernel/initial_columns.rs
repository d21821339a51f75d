//! Initial values of columns, which cancel the excess of a backend's products and contain the surplus
//! of columns that reduction clears.

use super::super::super::hint::hidden;
use super::super::super::words::Limb;
use super::super::vector::Vectors;
use super::super::{LANES, LIMB_MASK, Lanes, MAX_BLOCK};

/// The surplus with which a column that reduction clears starts.
///
/// It receives 1 more: from the carry below it, or at the start of the reduction. Reduction adds what
/// makes the value of the column a multiple of 2⁵², and with 2⁵² − 1 on top the bits above the low 52
/// are the quotient rounded up. With another 2⁵² the carry has a surplus of 1, which makes that of
/// the start even: a square's columns are doubled. The last carry's surplus is taken off at the end.
pub(super) const SURPLUS: Limb = 2 * LIMB_MASK;

/// Sets every column to its initial value: minus the excess that it will receive, and the surplus of
/// those below n, divided by `DIVISOR` (2 if it will be doubled).
#[inline(always)]
pub(super) fn start_columns<V: Vectors, const DIVISOR: Limb>(v: V, columns: &mut [Lanes]) {
    let n = columns.len() as Limb / 2;
    let halves = (V::EXCESS.0 / DIVISOR, V::EXCESS.1 / DIVISOR);
    let start = |c| excess(halves, n, c).wrapping_neg();
    // The excess is linear below n and from n on.
    let step = v.splat(excess(halves, n, 1).wrapping_sub(excess(halves, n, 0)));
    let (low, high) = columns.split_at_mut(n as usize);
    let mut below = v.splat(start(0).wrapping_add(SURPLUS / DIVISOR));
    // Hidden: the compiler would call a function that fills memory with zeros, which is slower.
    let mut above = v.load(hidden(&Lanes([start(n); LANES])));
    for column in low {
        v.store(column, below);
        below = v.sub(below, step);
    }
    for column in high {
        v.store(column, above);
        above = v.add(above, step);
    }
}

/// The initial columns of a product if T is n; see `start_columns`.
pub(super) struct Starts<V, const T: usize>(V);

impl<V: Vectors, const T: usize> Starts<V, T> {
    pub(super) const OF_COLUMNS: &[Limb; 2 * MAX_BLOCK] = &{
        let mut starts = [0; 2 * MAX_BLOCK];
        let mut c = 0;
        while c < 2 * T {
            let surplus = if c < T { SURPLUS } else { 0 };
            starts[c] = surplus.wrapping_sub(excess(V::EXCESS, T as Limb, c as Limb));
            c += 1;
        }
        starts
    };
}

/// Returns the excess that column `c` receives, if a low half has an excess of `low` and a high
/// half of `high`.
///
/// Multiplication adds the low halves of L(c) = min(c + 1, 2n − 1 − c) products, those a_i·b_j with
/// i + j = c, and the high halves of L(c − 1). Reduction does the same, except that it does not add
/// the low halves of products by limb 0 of the modulus: min(c, 2n − 1 − c) low halves.
const fn excess((low, high): (Limb, Limb), n: Limb, c: Limb) -> Limb {
    let (lows, highs) =
        if c < n { (2 * c + 1, 2 * c) } else { (2 * (2 * n - 1 - c), 2 * (2 * n - c)) };
    low.wrapping_mul(lows).wrapping_add(high.wrapping_mul(highs))
}
