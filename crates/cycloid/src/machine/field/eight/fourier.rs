//! The layers of a Fourier transform modulo the scalar prime of BLS12-381, for backends whose
//! factors are limbs.
//!
//! The transform is linear, so its values stay integers as they are in memory, in limbs of 52 bits.
//! Only its factors are in Montgomery form.
//!
//! **Bounds.** The values before layer i, from 0 to 3, are below (2^(i+1) − 1)·r, so below 2²⁵⁹. A
//! product with a factor below 1.2·2²⁵⁵ is below 1.6r, and without a factor it is the value itself.
//! So it is below 2^(i+1)·r, which a difference starts with, and after the last layer values are
//! below 31r, less than 2²⁶⁰. Limbs are signed and below 2⁶⁰ in magnitude; a value that is
//! multiplied is carried first.

use super::super::super::hint::hidden;
use super::super::super::lanes::vector::Vectors;
use super::super::super::lanes::{LANE_LIMB_BITS, LANES, LIMB_MASK, Lanes};
use super::super::super::words::Limb;
use super::super::wide::POINTS;
use super::super::{Bls12Scalar, Prime};
use super::Shape;
use super::columns::{self, carry, each, lanes};
use super::residue::complement;

/// The limbs of a value.
const M: usize = 5;

/// r.
const PRIME: [Limb; M] = <Bls12Scalar as Shape<M>>::LIMBS;

/// 2²⁶⁰ − r.
const COMPLEMENT: [Limb; M] = complement(&PRIME);

/// ⌊2⁵² / (⌊r / 2²⁰⁸⌋ + 1)⌋.
const RECIPROCAL: Limb = (1 << LANE_LIMB_BITS) / (PRIME[M - 1] + 1);

/// Computes K layers; see `Wide::butterflies`.
#[inline(always)]
pub(super) fn layers<V: Vectors, const K: u32>(
    v: V,
    points: &mut [[Lanes; M]; POINTS],
    factors: &[[Lanes; M]; POINTS],
    one: bool,
) {
    const { assert!(1 << K <= POINTS) }
    for layer in 0..K {
        let apart = 1 << layer;
        let offset = PRIME.map(|limb| limb << (layer + 1));
        let mut pairs = (0..1 << K).filter(|i| i & apart == 0);
        while let Some(first) = pairs.next() {
            if one && first % apart == 0 {
                butterfly_without_factor(v, points, [first, first + apart], &offset);
                continue;
            }
            let factor = |low: usize| &factors[apart + low % apart];
            // Two at a time, because each waits for its own sums.
            match pairs.clone().next().filter(|low| !one || low % apart != 0) {
                Some(second) => {
                    let _ = pairs.next();
                    let at = [[first, first + apart], [second, second + apart]];
                    butterflies(v, points, at, [factor(first), factor(second)], &offset);
                }
                None => {
                    butterflies(v, points, [[first, first + apart]], [factor(first)], &offset);
                }
            }
        }
    }
}

/// Computes (a, b) ← (a + b·w, a − b·w).
#[inline(always)]
fn butterflies<V: Vectors, const N: usize>(
    v: V,
    points: &mut [[Lanes; M]; POINTS],
    at: [[usize; 2]; N],
    factors: [&[Lanes; M]; N],
    offset: &[Limb; M],
) {
    const { assert!(N <= 2) }
    let mut carried = [[Lanes::ZERO; M]; N];
    let mut columns =
        [columns::start::<V, M>(v, &columns::Starts::<V, Bls12Scalar, M>::PRODUCT); N];
    each!(V, n < N <= 2 => {
        let mut limbs = load(v, &points[at[n][1]]);
        carry(v, &mut limbs);
        carried[n] = lanes(v, &limbs);
    });
    each!(V, i < 5 => each!(V, n < N <= 2 => {
        columns::add_row::<V, M>(v, &mut columns[n], hidden(&carried[n]), &factors[n][i], i);
        if i > 0 {
            Bls12Scalar::clear(v, &mut columns[n], i - 1);
        }
    }));
    each!(V, n < N <= 2 => {
        Bls12Scalar::clear(v, &mut columns[n], M - 1);
        let product = columns::from(v, &columns[n], M);
        finish(v, points, at[n], &product, offset);
    });
}

/// Computes (a, b) ← (a + b, a − b).
#[inline(always)]
fn butterfly_without_factor<V: Vectors>(
    v: V,
    points: &mut [[Lanes; M]; POINTS],
    at: [usize; 2],
    offset: &[Limb; M],
) {
    let product = load(v, &points[at[1]]);
    finish(v, points, at, &product, offset);
}

#[inline(always)]
fn finish<V: Vectors>(
    v: V,
    points: &mut [[Lanes; M]; POINTS],
    [low, high]: [usize; 2],
    product: &[V::Word; M],
    offset: &[Limb; M],
) {
    let a = load(v, &points[low]);
    each!(V, j < 5 => {
        v.store(&mut points[low][j], v.add(a[j], product[j]));
        v.store(&mut points[high][j], v.add(v.sub(a[j], product[j]), v.splat(offset[j])));
    });
}

#[inline(always)]
fn load<V: Vectors>(v: V, limbs: &[Lanes; M]) -> [V::Word; M] {
    let mut words = [v.splat(0); M];
    each!(V, j < 5 => words[j] = v.load(&limbs[j]));
    words
}

/// Returns integers of four words as limbs.
#[inline(always)]
pub(super) fn import<V: Vectors>(v: V, words: [&[Limb; 4]; LANES]) -> [Lanes; M] {
    let mut rows = [v.splat(0); 4];
    each!(V, k < 4 => rows[k] = v.load_halves([words[2 * k], words[2 * k + 1]]));
    let mut parts = [v.splat(0); 4];
    each!(V, i < 4 => {
        let i = i as Limb;
        let order = v.load(&Lanes([i, 4 + i, 8 + i, 12 + i, 0, 0, 0, 0]));
        let (first, second) =
            (v.permute_two(order, rows[0], rows[1]), v.permute_two(order, rows[2], rows[3]));
        let halves = v.load(&Lanes([0, 1, 2, 3, 8, 9, 10, 11]));
        parts[i as usize] = v.permute_two(halves, first, second);
    });
    let [p0, p1, p2, p3] = parts;
    let mask = v.splat(LIMB_MASK);
    let limbs = [
        v.low(p0),
        v.or_masked(v.shift_right::<52>(p0), v.shift_left::<12>(p1), mask),
        v.or_masked(v.shift_right::<40>(p1), v.shift_left::<24>(p2), mask),
        v.or_masked(v.shift_right::<28>(p2), v.shift_left::<36>(p3), mask),
        v.shift_right::<16>(p3),
    ];
    lanes(v, &limbs)
}

/// Writes values below 31r, reduced, as words.
///
/// With top limb x₄, t = ⌊x₄·⌊2⁵² / (⌊r/2²⁰⁸⌋ + 1)⌋ / 2⁵²⌋ is at most ⌊x/r⌋ and more than x/r −
/// 1.001. So x − t·r is below 2r.
#[inline(always)]
pub(super) fn export<V: Vectors>(v: V, element: &[Lanes; M], words: &mut [[Limb; 4]]) {
    let mut limbs = load(v, element);
    carry(v, &mut limbs);
    let t =
        v.mul_add_high(v.splat(0), v.limb_factor(limbs[M - 1]), v.limb_factor(v.splat(RECIPROCAL)));
    let t = v.limb_factor(t);
    each!(V, j < 5 => {
        let limb = v.limb_factor(v.splat(COMPLEMENT[j]));
        if j + 1 < M {
            (limbs[j], limbs[j + 1]) = v.mul_add(limbs[j], limbs[j + 1], limb, t);
        } else {
            limbs[j] = v.mul_add_low(limbs[j], limb, t);
        }
    });
    carry(v, &mut limbs);
    limbs[M - 1] = v.low(limbs[M - 1]);
    let mut less = limbs;
    each!(V, j < 5 => less[j] = v.sub(limbs[j], v.splat(PRIME[j])));
    carry(v, &mut less);
    let negative = v.shift_right_signed::<63>(less[M - 1]);
    each!(V, j < 5 => limbs[j] = v.choose(negative, limbs[j], less[j]));
    let [x0, x1, x2, x3, x4] = limbs;
    let parts = [
        v.add(x0, v.shift_left::<52>(x1)),
        v.add(v.shift_right::<12>(x1), v.shift_left::<40>(x2)),
        v.add(v.shift_right::<24>(x2), v.shift_left::<28>(x3)),
        v.add(v.shift_right::<36>(x3), v.shift_left::<16>(x4)),
    ];
    each!(V, k < 4 => {
        let (k, [p0, p1, p2, p3]) = (k as Limb, parts);
        let order = v.load(&Lanes([2 * k, 8 + 2 * k, 0, 0, 2 * k + 1, 9 + 2 * k, 0, 0]));
        let (first, second) = (v.permute_two(order, p0, p1), v.permute_two(order, p2, p3));
        let pairs = v.load(&Lanes([0, 1, 8, 9, 4, 5, 12, 13]));
        let mut row = Lanes::ZERO;
        v.store(&mut row, v.permute_two(pairs, first, second));
        let Lanes([a, b, c, d, e, f, g, h]) = row;
        let k = 2 * k as usize;
        words[k] = [a, b, c, d];
        words[k + 1] = [e, f, g, h];
    });
    const { assert!(LANES == 8 && Bls12Scalar::MODULUS.len() == 4) }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use num_bigint::BigUint;

    use super::super::super::super::lanes::Portable;
    use super::super::tests::{Source, integer};
    use super::*;

    /// Four layers of values that are r − 1 or arbitrary, with the greatest and arbitrary factors.
    #[test]
    fn values_and_factors_at_their_bounds() {
        let (r, mut source) = (integer(&PRIME), Source(22));
        let montgomery = BigUint::from(1u8) << (LANE_LIMB_BITS * M);
        let inverse = montgomery.modpow(&(&r - 2u8), &r);
        let word = |integer: &BigUint, i: usize| integer.iter_u64_digits().nth(i).unwrap_or(0);
        for round in 0..60 {
            let one = round % 2 == 0;
            // The greatest factor is 1.2·2²⁵⁵.
            let mut factor =
                || -> [Lanes; M] {
                    core::array::from_fn(|j| {
                        let to = if j + 1 < M { 1 << LANE_LIMB_BITS } else { (12 << 47) / 10 };
                        Lanes(core::array::from_fn(|lane| {
                            if lane < 2 { to - 1 } else { source.word(0, to) }
                        }))
                    })
                };
            let factors: [_; POINTS] = core::array::from_fn(|_| factor());
            let mut expected: Vec<[BigUint; LANES]> = Vec::new();
            let mut points: [_; POINTS] = core::array::from_fn(|_| {
                let values: [BigUint; LANES] = core::array::from_fn(|lane| {
                    let limbs: [Limb; M] = core::array::from_fn(|_| source.word(0, 1 << 52));
                    if lane % 4 == 0 { &r - 1u8 } else { integer(&limbs) % &r }
                });
                let words = values.each_ref().map(|value| [0, 1, 2, 3].map(|i| word(value, i)));
                expected.push(values);
                import(Portable, words.each_ref())
            });
            layers::<_, 4>(Portable, &mut points, &factors, one);
            for layer in 0..4 {
                let apart = 1 << layer;
                for low in (0..POINTS).filter(|i| i & apart == 0) {
                    let factors = &factors[apart + low % apart];
                    let (lower, upper) = expected.split_at_mut(low + apart);
                    for (lane, (a, b)) in lower[low].iter_mut().zip(&mut upper[0]).enumerate() {
                        let product = if one && low % apart == 0 {
                            b.clone()
                        } else {
                            &*b * integer(&factors.map(|limb| limb.0[lane])) * &inverse % &r
                        };
                        *b = (&*a + &r - &product) % &r;
                        *a = (&*a + product) % &r;
                    }
                }
            }
            for (point, expected) in points.iter().zip(&expected) {
                let mut words = [[0; 4]; LANES];
                export(Portable, point, &mut words);
                for (words, expected) in words.iter().zip(expected) {
                    assert_eq!(*words, [0, 1, 2, 3].map(|i| word(expected, i)));
                }
            }
        }
    }
}
