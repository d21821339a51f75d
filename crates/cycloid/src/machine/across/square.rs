//! The triangles of a square, in which every product of different digits is computed once.

use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::kernel::{ZERO, carry, unroll};
use super::product::Carried;
use super::vector::DigitVectors;
use super::vectors;

/// Sums of each kind, to which products are added in turn.
const SETS: usize = 4;

/// Sixteen columns of a square, from column 2·`left` + 1 on, in two vectors; `high` has the high
/// halves of the even columns before, twice.
///
/// Column 2t + 1 is twice the sum of a_(t−e)·a_(t+1+e) over e ≥ 0, column 2t + 2 likewise that of
/// a_(t−e)·a_(t+2+e), and the square of a_(t+1). So in lanes of t the odd columns are sums of
/// windows times windows, and so are the even ones; the lanes change places at the end.
#[inline(always)]
fn columns<V: DigitVectors>(
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
    let steps = (first + 1).min(n as isize - 1 - left);
    let excess = |excess: Limb| v.splat(excess.wrapping_mul(steps as Limb).wrapping_neg());
    let zero = v.splat(0);
    let mut odd = [(zero, zero); SETS];
    if V::CONVERTS {
        odd[0] = (excess(V::EXCESS.0), excess(V::EXCESS.1));
    }
    let mut even = odd;
    // SAFETY: the indices of windows on the left are `first` − e for e below `steps`, not
    // negative and below n + 7; those on the right are at most `first` + 1 + `steps` ≤ n + 7.
    let window = |index: isize| unsafe { v.load_factor(windows.get_unchecked(index as usize)) };
    let middle = window(first + 1);
    let mut right = middle;
    let mut e = 0;
    macro_rules! step {
        ($set:ident) => {
            let left = window(first - e);
            odd[$set] = v.mul_add(odd[$set].0, odd[$set].1, left, right);
            right = window(first + 2 + e);
            even[$set] = v.mul_add(even[$set].0, even[$set].1, left, right);
            e += 1;
        };
    }
    while e + SETS as isize <= steps {
        unroll!(SET < SETS => { step!(SET); });
    }
    // The last few.
    unroll!(SET < SETS - 1 => {
        if e < steps {
            step!(SET);
        }
    });
    debug_assert_eq!(e, steps);
    let twice = |sets: [(V::Word, V::Word); SETS]| {
        let sum = |a: (V::Word, V::Word), b: (V::Word, V::Word)| (v.add(a.0, b.0), v.add(a.1, b.1));
        let all = sum(sum(sets[0], sets[1]), sum(sets[2], sets[3]));
        sum(all, all)
    };
    let (odd, even) = (twice(odd), twice(even));
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
pub(super) fn low<V: DigitVectors>(
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
        let (_, upper) = columns(v, left, n, windows, &mut high);
        (digit, before) = carry(v, upper, before);
        v.store_factor(digits, v.factor(digit));
        left += LANES as isize;
    }
    for pair in pairs.as_chunks_mut::<2>().0 {
        let (lower, upper) = columns(v, left, n, windows, &mut high);
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

/// The high part of a square: `result`; `high` has the high halves from the low part.
#[inline(always)]
pub(super) fn high<V: DigitVectors>(
    v: V,
    result: &mut [Lanes],
    high: &Lanes,
    n: usize,
    windows: &[Lanes],
) {
    assert_eq!(result.len(), vectors(n));
    let mut high = v.load(high);
    let mut left = (n / 2) as isize;
    for pair in result.chunks_mut(2) {
        let (lower, upper) = columns(v, left, n, windows, &mut high);
        v.store(&mut pair[0], lower);
        if let Some(pair) = pair.get_mut(1) {
            v.store(pair, upper);
        }
        left += LANES as isize;
    }
}
