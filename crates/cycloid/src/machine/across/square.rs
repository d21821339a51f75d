//! The triangles of a square, computing every product of different digits once.

use super::super::lanes::{LANES, Lanes};
use super::super::words::Limb;
use super::kernel::{Finish, Product, Writer, ZERO, unroll, windows};
use super::vector::DigitVectors;
use super::vectors;

/// Number of sums of each kind, to which products are added in turn.
const SETS: usize = 2;

/// Products of each kind per loop iteration.
const TURN: usize = 4;

/// Computes the lower half of T = a², or the upper half if `UPPER`; see `triangle` for N.
///
/// A tile is two vectors of T. If the number of vectors is odd, the middle tile counts as lower.
#[inline(always)]
pub(super) fn square<V: DigitVectors, const N: usize, const UPPER: bool>(
    p: &mut Product<'_, V>,
    a: &[Lanes],
) {
    let (v, n) = (p.v, if N == 0 { p.n } else { N });
    let vectors = vectors(n);
    let all = &mut p.windows[..LANES * (vectors + 1)];
    if !UPPER {
        windows(v, all, &mut p.factors[..vectors], &a[..vectors]);
    }
    let (t, low) = (&mut p.t[..2 * vectors], &mut p.low[..vectors]);
    let mut writer = Writer::new(v, t, low, v.load(&p.carry));
    let mut high = v.load(&p.high);
    // A macro, because a closure would not be compiled for the instructions of the backend.
    macro_rules! tile {
        ($tile:expr) => {
            let tile = $tile;
            let (lower, upper) = columns(v, tile, n, all, &mut high);
            writer.finish(2 * tile, lower);
            writer.finish(2 * tile + 1, upper);
        };
    }
    let middle = vectors.div_ceil(2);
    let (first, count) = if UPPER { (middle, vectors - middle) } else { (0, middle) };
    if N != 0 && count <= 3 {
        unroll!(TILE < count => { tile!(first + TILE); });
    } else {
        for i in first..first + count {
            tile!(i);
        }
    }
    v.store(&mut p.carry, writer.carry);
    v.store(&mut p.high, high);
}

/// Computes a tile of a square: sixteen columns from 16·`tile` − 1 on, in two vectors; `high`
/// contains the high halves of the preceding even columns.
///
/// Column 2t + 1 is twice the sum of a_(t−e)·a_(t+1+e) over e ≥ 0; column 2t + 2 is likewise that
/// of a_(t−e)·a_(t+2+e), plus the square of a_(t+1). So in lanes of t, from 8·`tile` − 1 on, both
/// odd and even columns are sums of windows times windows; the lanes are interleaved at the end.
#[inline(always)]
fn columns<V: DigitVectors>(
    v: V,
    tile: usize,
    n: usize,
    windows: &[Lanes],
    high: &mut V::Word,
) -> (V::Word, V::Word) {
    assert!(LANES * tile <= n && windows.len() >= n + LANES);
    // With t the first: the window at t − e contains digits of the number while t − e ≥ −7, the one
    // at t + 1 + e while t + 1 + e ≤ n − 1.
    let first = LANES * tile + ZERO - 1;
    let steps = (first + 1).min(n - LANES * tile);
    let zero = v.splat(0);
    let (mut odd, mut even) = ([(zero, zero); SETS], [(zero, zero); SETS]);
    if V::CONVERTS {
        // The even sums are doubled after they received one excess per step; the square adds one
        // more.
        let half = (V::EXCESS.0 / 2, V::EXCESS.1 / 2);
        let times = 0u64.wrapping_sub(2 * steps as Limb);
        let [low, high] = [half.0.wrapping_mul(times), half.1.wrapping_mul(times)];
        odd[0] = (v.splat(low), v.splat(high));
        even[0] = (v.splat(low.wrapping_sub(half.0)), v.splat(high.wrapping_sub(half.1)));
    }
    // Macros, because closures would not be compiled for the instructions of the backend.
    macro_rules! window {
        ($index:expr) => {
            // SAFETY: the indices of windows on the left are `first` − e for e below `steps`,
            // those on the right are at most `first` + 1 + `steps` ≤ n + 7.
            v.load_factor(unsafe { windows.get_unchecked($index) })
        };
    }
    macro_rules! twice {
        ($a:expr) => {{
            let a = $a;
            v.add(a, a)
        }};
    }
    let middle = window!(first + 1);
    let mut right = middle;
    let mut e = 0;
    macro_rules! step {
        ($step:ident) => {
            let (left, set) = (window!(first - e), $step % SETS);
            odd[set] = v.mul_add(odd[set].0, odd[set].1, left, right);
            right = window!(first + 2 + e);
            even[set] = v.mul_add(even[set].0, even[set].1, left, right);
            e += 1;
        };
    }
    while e + TURN <= steps {
        unroll!(STEP < TURN => { step!(STEP); });
    }
    unroll!(STEP < TURN - 1 => {
        if e < steps {
            step!(STEP);
        }
    });
    debug_assert_eq!(e, steps);
    let (odd_low, odd_high) = (v.add(odd[0].0, odd[1].0), v.add(odd[0].1, odd[1].1));
    let (even_low, even_high) = (v.add(even[0].0, even[1].0), v.add(even[0].1, even[1].1));
    // Low halves: twice those of the products, once that of the square. High halves: twice that.
    let even_low = twice!(v.add(even_low, twice!(odd_high)));
    let (even_columns, even_high) = v.mul_add(even_low, twice!(even_high), middle, middle);
    let odd_columns = twice!(v.add(odd_low, v.join::<7>(*high, even_high)));
    *high = even_high;
    v.interleave(odd_columns, even_columns)
}
