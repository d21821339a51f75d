//! Four numbers in a vector, for the formulas of one point: the ladder of one number, and sums on
//! edwards25519.
//!
//! A step of the ladder is three times four products, whose factors are sums, differences and
//! results of the previous ones. So each vector holds one limb of four values, in the lanes 0 to 3.
//! Each product waits for the one before, and latency counts: limbs have 51 bits, so that carries
//! do not wait for each other, and low and high halves of products have columns of their own. The
//! lanes 4 to 7 hold the second factors until they move down.
//!
//! **Bounds**, with units of 2⁵². A factor's limbs are below 2⁵¹ + 2¹⁵, so a low half of a product
//! of limbs is below a unit, and a high half below 2⁵⁰ + 2¹⁶. It counts twice, because limbs have
//! 51 bits. The columns 5 to 9 of a product are below 6.6, 5.1, 3.6, 2.1 and 0.6 units. 19 times
//! each of them, since 2²⁵⁵ is 19, plus the columns 0 to 4, which are below 1, 2.6, 4.1, 5.6 and 7.1
//! units, are below 127 units, and with [`OFFSET`] below 255. Sums of two such are below 510 units,
//! and differences are nonnegative if the minuend has the offset.

mod edwards;

use super::super::super::super::lanes::vector::Vectors;
use super::super::super::super::lanes::{LANES, Lanes};
use super::super::super::super::words::{LIMB_BITS, Limb};
use super::super::columns::each;
pub(in super::super) use edwards::edwards_sum_of_one_vartime;

/// Bits of a limb.
const BITS: u32 = 51;

const MASK: Limb = (1 << BITS) - 1;

/// A limb, or a column, of each of four numbers.
type Limbs<V> = [<V as Vectors>::Word; 5];

/// 2⁸·p, with columns from 127 to 128 units.
const OFFSET: [Limb; 5] = [(MASK - 18) << 8, MASK << 8, MASK << 8, MASK << 8, MASK << 8];

/// Returns [`OFFSET`] in the lanes whose bit is 1.
const fn offsets(bits: u8) -> [Lanes; 5] {
    let mut offsets = [Lanes::ZERO; 5];
    let mut j = 0;
    while j < 5 {
        let mut lane = 0;
        while lane < LANES {
            offsets[j].0[lane] = if bits >> lane & 1 == 1 { OFFSET[j] } else { 0 };
            lane += 1;
        }
        j += 1;
    }
    offsets
}

/// The lanes of X₃ and X₂, of D·A and A², have the offset.
const OFFSETS: [Lanes; 5] = offsets(0b0101);

/// Computes steps of Montgomery's ladder on one number; see `CurveArithmetic::ladder_of_one`.
#[inline(always)]
pub(in super::super) fn ladder_of_one<V: Vectors>(
    v: V,
    x1: &[Limb; 4],
    [x2, z2, x3, z3]: &[[Limb; 4]; 4],
    steps: usize,
    swaps: &[Limb; 4],
    a24: Limb,
) -> [[Limb; 4]; 4] {
    let zero = [0; 4];
    let one = [1, 0, 0, 0];
    let constants = Constants {
        offsets: load(v, &OFFSETS),
        factors: load(v, &lanes(&[&one, x1, &one, &zero])),
        a24: v.load(&Lanes([0, 0, 0, 0, 0, 0, 0, a24])),
    };
    let mut points = load(v, &lanes(&[x3, z3, x2, z2]));
    each!(V, j < 5 => points[j] = v.add(points[j], constants.offsets[j]));
    let mut left = steps;
    while left > 0 {
        let (limb, bits) = ((left - 1) / LIMB_BITS, (left - 1) % LIMB_BITS + 1);
        // The next bit at the top of every lane.
        let mut swaps = v.splat(swaps[limb] << (LIMB_BITS - bits));
        for _ in 0..bits {
            let swap = v.shift_right_signed::<{ LIMB_BITS as u32 - 1 }>(swaps);
            points = step(v, &constants, &points, swap);
            swaps = v.shift_left::<1>(swaps);
        }
        left -= bits;
    }
    let factors = carry(v, &points);
    let mut limbs = [Lanes::ZERO; 5];
    each!(V, j < 5 => v.store(&mut limbs[j], factors[j]));
    [2, 3, 0, 1].map(|lane| integer(limbs.map(|limb| limb.0[lane])))
}

struct Constants<V: Vectors> {
    /// [`OFFSETS`].
    offsets: Limbs<V>,
    /// 1, x₁, 1 and 0.
    factors: Limbs<V>,
    /// a24 in lane 7.
    a24: V::Word,
}

/// Computes a step on X₃, Z₃, X₂ and Z₂, in the names of RFC 7748, section 5. The points are
/// swapped first if `swap` is all ones in every lane, and not if it is zero.
#[inline(always)]
fn step<V: Vectors>(v: V, constants: &Constants<V>, points: &Limbs<V>, swap: V::Word) -> Limbs<V> {
    let index = |lanes: [Limb; LANES]| v.load(&Lanes(lanes));
    // D, C, A, B and A, B, A, B from X and Z.
    let x = v.choose(swap, index([2, 2, 0, 0, 0, 0, 0, 0]), index([0, 0, 2, 2, 2, 2, 2, 2]));
    let z = v.choose(swap, index([3, 3, 1, 1, 1, 1, 1, 1]), index([1, 1, 3, 3, 3, 3, 3, 3]));
    let factors = carry(v, &combined(v, points, x, z, 0b1010_1001));
    // D·A, C·B, A² and B², and zero in the other lanes.
    let products = product(v, &factors, &upper(v, &factors), &constants.offsets);

    // The sum and the difference of the first two, A², E, and sum, difference, B², a24.
    let first = index([0, 0, 2, 2, 0, 0, 3, 4]);
    let second = index([1, 1, 4, 3, 1, 1, 4, 4]);
    let mut sums = combined(v, &products, first, second, 0b0010_1010);
    sums[0] = v.add(sums[0], constants.a24);
    let factors = carry(v, &sums);
    // X₃, the square of the difference, X₂ and a24·E.
    let mut next = product(v, &factors, &upper(v, &factors), &[v.splat(0); 5]);

    // Times 1, x₁, 1 and E, after A² has been added to a24·E.
    let aa = index([4, 4, 4, 2, 4, 4, 4, 4]);
    let mut left = constants.factors;
    each!(V, j < 5 => {
        next[j] = v.add(next[j], v.permute(products[j], aa));
        left[j] = v.select(0b1000, factors[j], left[j]);
    });
    product(v, &left, &carry(v, &next), &constants.offsets)
}

/// Returns sums of lanes in `first` and in `second`, or differences in the lanes whose bit in
/// `subtract` is 1, which is public.
#[inline(always)]
fn combined<V: Vectors>(
    v: V,
    columns: &Limbs<V>,
    first: V::Word,
    second: V::Word,
    subtract: u8,
) -> Limbs<V> {
    let mut combined = [v.splat(0); 5];
    each!(V, j < 5 => {
        let (a, b) = (v.permute(columns[j], first), v.permute(columns[j], second));
        combined[j] = v.add_or_sub(a, b, subtract);
    });
    combined
}

#[inline(always)]
fn upper<V: Vectors>(v: V, limbs: &Limbs<V>) -> Limbs<V> {
    let mut upper = [v.splat(0); 5];
    each!(V, j < 5 => upper[j] = v.upper_half(limbs[j]));
    upper
}

/// Returns columns below 510 units as a factor: a carry is below 2¹⁰, and 19 times one below 2¹⁵.
#[inline(always)]
fn carry<V: Vectors>(v: V, columns: &Limbs<V>) -> Limbs<V> {
    let mut factor = [v.splat(0); 5];
    each!(V, j < 5 => factor[j] = v.and(columns[j], v.splat(MASK)));
    let above = v.limb_factor(v.shift_right::<BITS>(columns[4]));
    factor[0] = v.mul_add_low(factor[0], above, v.limb_factor(v.splat(19)));
    each!(V, j < 4 => {
        factor[j + 1] = v.add(factor[j + 1], v.shift_right::<BITS>(columns[j]));
    });
    factor
}

/// Returns the product of two factors, plus `start`.
///
/// The lowest limbs are last, because a carry leaves them last.
#[inline(always)]
fn product<V: Vectors>(v: V, a: &Limbs<V>, b: &Limbs<V>, start: &Limbs<V>) -> Limbs<V> {
    let mut low = [v.splat(0); 10];
    let mut high = [v.splat(0); 10];
    each!(V, j < 5 => low[j] = start[j]);
    each!(V, i < 5 => each!(V, j < 5 => {
        if i > 0 && j > 0 {
            add_product(v, &mut low, &mut high, (a[i], i), (b[j], j));
        }
    }));
    each!(V, j < 5 => {
        if j > 0 {
            add_product(v, &mut low, &mut high, (a[0], 0), (b[j], j));
            add_product(v, &mut low, &mut high, (a[j], j), (b[0], 0));
        }
    });
    add_product(v, &mut low, &mut high, (a[0], 0), (b[0], 0));
    let mut columns = [v.splat(0); 5];
    each!(V, j < 5 => {
        let upper = v.add(v.add(low[5 + j], high[5 + j]), high[5 + j]);
        let column = v.add(v.add(low[j], high[j]), v.add(high[j], upper));
        let more = v.add(v.shift_left::<4>(upper), v.shift_left::<1>(upper));
        columns[j] = v.add(column, more);
    });
    columns
}

/// Adds the product of limb i of a and limb j of b to its columns.
#[inline(always)]
fn add_product<V: Vectors>(
    v: V,
    low: &mut [V::Word; 10],
    high: &mut [V::Word; 10],
    (a, i): (V::Word, usize),
    (b, j): (V::Word, usize),
) {
    let (a, b) = (v.limb_factor(a), v.limb_factor(b));
    (low[i + j], high[i + j + 1]) = v.mul_add(low[i + j], high[i + j + 1], a, b);
}

#[inline(always)]
fn load<V: Vectors>(v: V, limbs: &[Lanes; 5]) -> Limbs<V> {
    let mut words = [v.splat(0); 5];
    each!(V, j < 5 => words[j] = v.load(&limbs[j]));
    words
}

/// Returns the limbs of four numbers below 2²⁵⁵.
fn lanes(numbers: &[&[Limb; 4]; 4]) -> [Lanes; 5] {
    let mut lanes = [Lanes::ZERO; 5];
    for (lane, [w0, w1, w2, w3]) in numbers.iter().enumerate() {
        lanes[0].0[lane] = w0 & MASK;
        lanes[1].0[lane] = (w0 >> 51 | w1 << 13) & MASK;
        lanes[2].0[lane] = (w1 >> 38 | w2 << 26) & MASK;
        lanes[3].0[lane] = (w2 >> 25 | w3 << 39) & MASK;
        lanes[4].0[lane] = w3 >> 12;
    }
    lanes
}

/// Returns an integer below 2²⁵⁵ from the limbs of a factor. The first carries leave less than 2²⁵⁵
/// + 2²²⁰; if that has bit 255, the rest is short.
fn integer(mut limbs: [Limb; 5]) -> [Limb; 4] {
    for _ in 0..2 {
        for j in 0..4 {
            limbs[j + 1] += limbs[j] >> BITS;
            limbs[j] &= MASK;
        }
        limbs[0] += 19 * (limbs[4] >> BITS);
        limbs[4] &= MASK;
    }
    let [l0, l1, l2, l3, l4] = limbs;
    [l0 | l1 << 51, l1 >> 13 | l2 << 38, l2 >> 26 | l3 << 25, l3 >> 39 | l4 << 12]
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Source, prime};
    use super::*;
    use crate::machine::lanes::Portable;

    pub(super) const UNIT: Limb = 1 << 52;

    pub(super) fn value(limbs: &Limbs<Portable>, lane: usize) -> BigUint {
        limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << BITS) + limb[lane])
    }

    /// Returns limbs from `from` to below `to`, by lane.
    pub(super) fn limbs(source: &mut Source, bounds: [(Limb, Limb); LANES]) -> Limbs<Portable> {
        core::array::from_fn(|_| bounds.map(|(from, to)| source.word(from, to)))
    }

    #[test]
    fn the_offset_is_a_multiple_of_the_prime() {
        let lane = OFFSETS.map(|limbs| limbs.0);
        assert_eq!(value(&lane, 0), prime() << 8);
        assert_eq!(value(&lane, 2), prime() << 8);
        assert!(OFFSET.iter().all(|limb| (127 * UNIT..128 * UNIT).contains(limb)));
    }

    #[test]
    fn products_of_factors_at_their_bounds() {
        let (p, mut source) = (prime(), Source(6));
        let top = (1 << BITS) + (1 << 15);
        let offsets = load(Portable, &OFFSETS);
        for round in 0..500 {
            let [a, b] = core::array::from_fn(|_| {
                if round == 0 { [[top - 1; LANES]; 5] } else { limbs(&mut source, [(0, top); 8]) }
            });
            let product = product(Portable, &a, &b, &offsets);
            for lane in 0..LANES {
                let (from, to) = if lane == 0 || lane == 2 { (127, 255) } else { (0, 127) };
                assert!(product.iter().all(|c| c[lane] >= from * UNIT && c[lane] < to * UNIT));
                assert_eq!(value(&product, lane) % &p, value(&a, lane) * value(&b, lane) % &p);
            }
        }
    }

    #[test]
    fn columns_at_their_bounds_become_factors() {
        let (p, mut source) = (prime(), Source(7));
        for round in 0..500 {
            let to = if round % 2 == 0 { 510 * UNIT } else { UNIT / 2 };
            let columns = limbs(&mut source, [(0, to); 8]);
            let factor = carry(Portable, &columns);
            for lane in 0..LANES {
                assert!(factor.iter().all(|limb| limb[lane] < (1 << BITS) + (1 << 15)));
                let expected = value(&columns, lane) % &p;
                assert_eq!(value(&factor, lane) % &p, expected);
                let words = integer(factor.map(|limb| limb[lane]));
                let integer = words.iter().rev().fold(BigUint::ZERO, |sum, w| (sum << 64) + *w);
                assert!(integer.bits() <= 255);
                assert_eq!(integer % &p, expected);
                let again = lanes(&[&words, &[0; 4], &words, &[0; 4]]).map(|limb| limb.0);
                assert!(again.iter().all(|limb| limb[2] <= MASK && limb[3] == 0));
                assert_eq!(value(&again, 0) % &p, expected);
            }
        }
    }

    #[test]
    fn steps_from_columns_at_their_bounds() {
        let (p, mut source) = (prime(), Source(8));
        let (offset, none) = ((127 * UNIT, 255 * UNIT), (0, 127 * UNIT));
        for round in 0..400 {
            let points =
                limbs(&mut source, [offset, none, offset, none, offset, none, offset, none]);
            let factor = (0, 1 << BITS);
            let one: Limbs<Portable> = [[1, 0, 1, 0, 0, 0, 0, 0], [0; 8], [0; 8], [0; 8], [0; 8]];
            let mut factors = limbs(&mut source, [factor; 8]);
            for (limb, one) in factors.iter_mut().zip(one) {
                *limb = [one[0], limb[1], one[2], 0, 0, 0, 0, 0];
            }
            let a24 = if round % 3 == 0 { (1 << 17) - 1 } else { 121_665 };
            let constants = Constants {
                offsets: load(Portable, &OFFSETS),
                factors,
                a24: [0, 0, 0, 0, 0, 0, 0, a24],
            };
            let is_swapped = source.next() >> 40 & 1 == 1;
            let swap = if is_swapped { [Limb::MAX; LANES] } else { [0; LANES] };
            let next = step(Portable, &constants, &points, swap);
            let x1 = value(&factors, 1);
            let [mut x3, mut z3, mut x2, mut z2] =
                core::array::from_fn(|lane| value(&points, lane) % &p);
            if is_swapped {
                (x2, z2, x3, z3) = (x3, z3, x2, z2);
            }
            let (a, b, c, d) = (&x2 + &z2, &p + &x2 - &z2, &x3 + &z3, &p + &x3 - &z3);
            let (da, cb) = (d * &a % &p, c * &b % &p);
            let (aa, bb) = (&a * &a % &p, &b * &b % &p);
            let e = &p + &aa - &bb;
            let difference: BigUint = &p + &da - &cb;
            let expected = [
                (da + cb).pow(2) % &p,
                x1 * difference.pow(2) % &p,
                &aa * &bb % &p,
                &e * (&aa + a24 * &e) % &p,
            ];
            for (lane, expected) in expected.into_iter().enumerate() {
                let (from, to) = if lane % 2 == 0 { (127, 255) } else { (0, 127) };
                assert!(next.iter().all(|c| c[lane] >= from * UNIT && c[lane] < to * UNIT));
                assert_eq!(value(&next, lane) % &p, expected);
            }
        }
    }
}
