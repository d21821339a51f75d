//! Steps of Montgomery's ladder on one number.
//!
//! With the names of RFC 7748, section 5, a step is
//!
//! | stage | products |
//! |---|---|
//! | 1 | C·B, D·A, A², B² |
//! | 2 | S², R², W², E² for S = D·A + C·B, R = C·B − D·A, W = A² + B², E = A² − B² |
//! | 3 | x₁·R² and E·W, twice each, plus (2·a24 + 1)·E² |
//!
//! with X₃ = S², 4·X₂ = W² − E² and 4·Z₂ = 2·(E·W + (2·a24 + 1)·E²). Then all products of stage 2
//! are squares, and the small number waits for no other stage. Each Z is there twice, to be added to
//! its X and subtracted from it.

use super::super::super::super::super::lanes::four::{FOUR, FourVectors};
use super::super::super::super::super::words::{LIMB_BITS, Limb};
use super::super::super::columns::each;
use super::{
    Limbs, Start, carried, carry, integer, integers, limbs, load, offset, product, quad, square,
    transposed,
};

/// 8·p, with columns of 48 units: more than what is subtracted from three products.
const OFFSET: [Limb; 5] = offset(8, 48);

const NONE: [Limb; 5] = [0; 5];

/// Computes steps of Montgomery's ladder on one number; see `CurveArithmetic::ladder_of_one`.
#[inline(always)]
pub(in super::super::super) fn ladder_of_one<V: FourVectors>(
    v: V,
    x1: &[Limb; 4],
    [x2, z2, x3, z3]: &[[Limb; 4]; 4],
    steps: usize,
    swaps: &[Limb; 4],
    a24: Limb,
) -> [[Limb; 4]; 4] {
    let small = 2 * a24 + 1;
    let constants = Constants {
        start: Start::load(v, const { &transposed(&[OFFSET, NONE, OFFSET, NONE]) }),
        none: Start::none(v),
        x1: load(v, &transposed(&[limbs(x1); FOUR])),
        small: quad(v, [0, 0, small, small]),
        doublings: quad(v, [0, 0, 1, 1]),
        kept: [quad(v, [0, 1, 2, 3]), quad(v, [3, 2, 2, 3])],
        swapped: [quad(v, [0, 1, 0, 1]), quad(v, [3, 2, 0, 1])],
    };
    let [x2, z2, x3, z3] = [x2, z2, x3, z3].map(limbs);
    let state =
        transposed(&[sum(&x3, &z3), difference(&x3, &z3), sum(&x2, &z2), difference(&x2, &z2)]);
    let mut state = carry(v, &load(v, &state));
    let mut left = steps;
    while left > 0 {
        let (limb, bits) = ((left - 1) / LIMB_BITS, (left - 1) % LIMB_BITS + 1);
        // The next bit at the top of every lane.
        let mut swaps = v.splat(swaps[limb] << (LIMB_BITS - bits));
        for _ in 0..bits {
            state = step(v, &constants, &state, v.top_bits(swaps));
            swaps = v.shift_left::<1>(swaps);
        }
        left -= bits;
    }
    let [c, d, a, b] = integers(v, &state).map(|number| limbs(&number));
    [
        integer(sum(&a, &b)),
        integer(difference(&a, &b)),
        integer(sum(&c, &d)),
        integer(difference(&c, &d)),
    ]
}

/// Returns a + b.
fn sum(a: &[Limb; 5], b: &[Limb; 5]) -> [Limb; 5] {
    core::array::from_fn(|j| a[j] + b[j])
}

/// Returns a − b plus a multiple of the prime, for limbs of 52 bits, the last one of 47.
fn difference(a: &[Limb; 5], b: &[Limb; 5]) -> [Limb; 5] {
    const OFFSET: [Limb; 5] = offset(2, 2);
    core::array::from_fn(|j| a[j] + OFFSET[j] - b[j])
}

struct Constants<V: FourVectors> {
    /// [`OFFSET`] in the lanes 0 and 2.
    start: Start<V>,
    none: Start<V>,
    /// x₁ in every lane.
    x1: Limbs<V>,
    /// 2·a24 + 1 in the lanes 2 and 3.
    small: V::Word,
    /// 0, 0, 1 and 1.
    doublings: V::Word,
    /// The lanes of the factors of stage 1, if the points are not swapped.
    kept: [V::Word; 2],
    /// The same if they are.
    swapped: [V::Word; 2],
}

/// Computes a step on the factors C, D, A and B, in the names of RFC 7748, section 5. The points
/// are swapped first if `swap` is all ones in every lane, and not if it is zero.
///
/// **Bounds.** The columns with [`OFFSET`] are 48 units above the others, less a little, and a
/// product has 11 units. So differences of products are nonnegative, and those that have the double
/// of another one subtracted, too. In limb 4 the offset is 2⁵⁰ − 48, and three products are below
/// 3·(2⁴⁸ + 2¹²). All factors stay below 2⁵⁰ + 3·(2⁴⁸ + 2¹²) + 2⁷ < 2⁵¹ there.
#[inline(always)]
fn step<V: FourVectors>(
    v: V,
    constants: &Constants<V>,
    state: &Limbs<V>,
    swap: V::Word,
) -> Limbs<V> {
    let Constants { start, none, x1, small, doublings, kept, swapped } = constants;
    let zero = v.splat(0);
    let [first, second] = [0, 1].map(|i| v.choose(swap, swapped[i], kept[i]));
    let (mut left, mut right) = ([zero; 5], [zero; 5]);
    each!(V, j < 5 => {
        left[j] = v.permute(state[j], first);
        right[j] = v.permute(state[j], second);
    });
    // C·B, D·A, A² and B².
    let products = product(v, &left, &right, start, None);
    // S, R, W and E.
    let mut sums = [zero; 5];
    each!(V, j < 5 => {
        sums[j] = sums_and_differences(v, v.swap_pairs(products[j]), products[j]);
        if j > 0 {
            sums[j] = carried(v, sums[j], sums[j - 1]);
        }
    });
    let mut left = [zero; 5];
    let squares = square(v, &sums, start, || {
        // x₁, x₁, W and W.
        each!(V, j < 5 => left[j] = v.even::<0b1100>(x1[j], sums[j]));
    });
    // R², R², E² and E², and R², R², E and E.
    let (mut odd, mut factors, mut right) = ([zero; 5], [zero; 5], [zero; 5]);
    each!(V, j < 5 => {
        odd[j] = v.odd::<0b1111>(zero, squares[j]);
        factors[j] = if j == 0 { odd[j] } else { carried(v, odd[j], factors[j - 1]) };
        right[j] = v.odd::<0b1100>(factors[j], sums[j]);
    });
    // X₃ twice, and X₂ twice.
    let mut x = [zero; 5];
    each!(V, j < 5 => {
        let even = v.even::<0b1111>(zero, squares[j]);
        x[j] = v.sub_some::<0b1100>(even, even, odd[j]);
    });
    // Z₃ twice, and Z₂ twice.
    let z = product(v, &left, &right, none, Some((&factors, *small)));
    let mut state = [zero; 5];
    each!(V, j < 5 => {
        state[j] = sums_and_differences(v, x[j], v.shift_left_each(z[j], *doublings));
        if j > 0 {
            state[j] = carried(v, state[j], state[j - 1]);
        }
    });
    state
}

/// Returns a + b in the lanes 0 and 2, a − b in the lanes 1 and 3.
#[inline(always)]
fn sums_and_differences<V: FourVectors>(v: V, a: V::Word, b: V::Word) -> V::Word {
    v.sub_some::<0b1010>(v.add(a, b), a, b)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::super::tests::{Source, prime};
    use super::super::tests::{TOP, factor, read};
    use super::*;
    use crate::machine::lanes::Portable;

    #[test]
    fn steps_from_factors_at_their_bounds() {
        let (p, mut source) = (prime(), Source(8));
        for round in 0..400 {
            let state = factor(&mut source);
            let a24 = if round % 3 == 0 { (1 << 17) - 1 } else { 121_665 };
            let mut x1 = factor(&mut source);
            x1.iter_mut().for_each(|limb| *limb = [limb[0] & ((1 << 52) - 1); FOUR]);
            x1[4] = [x1[4][0] & ((1 << 47) - 1); FOUR];
            let small = 2 * a24 + 1;
            let constants = Constants {
                start: Start::load(Portable, &transposed(&[OFFSET, NONE, OFFSET, NONE])),
                none: Start::none(Portable),
                x1,
                small: [0, 0, small, small],
                doublings: [0, 0, 1, 1],
                kept: [[0, 1, 2, 3], [3, 2, 2, 3]],
                swapped: [[0, 1, 0, 1], [3, 2, 0, 1]],
            };
            let is_swapped = source.next() >> 40 & 1 == 1;
            let swap = if is_swapped { [Limb::MAX; FOUR] } else { [0; FOUR] };
            let next = step(Portable, &constants, &state, swap);
            assert!(next[4].iter().all(|limb| *limb < TOP));
            let [mut c, mut d, mut a, mut b] = core::array::from_fn(|lane| read(&state, lane) % &p);
            if is_swapped {
                (a, b, c, d) = (c, d, a, b);
            }
            let (da, cb) = (d * &a % &p, c * &b % &p);
            let (aa, bb) = (&a * &a % &p, &b * &b % &p);
            let e = &p + &aa - &bb;
            let difference: BigUint = &p + &da - &cb;
            let x3 = (da + cb).pow(2) % &p;
            let z3 = read(&x1, 0) * difference.pow(2) % &p;
            let x2: BigUint = 4u8 * (&aa * &bb) % &p;
            let z2: BigUint = 4u8 * (&e * (&aa + a24 * &e)) % &p;
            let expected = [&x3 + &z3, &p + &x3 - &z3, &x2 + &z2, &p + &x2 - &z2];
            for (lane, expected) in expected.into_iter().enumerate() {
                assert_eq!(read(&next, lane) % &p, expected % &p, "{lane}");
            }
        }
    }

    #[test]
    fn the_first_step_is_from_any_integers() {
        let (p, mut source) = (prime(), Source(13));
        for _ in 0..100 {
            let [x1, x2, z2, x3, z3] = core::array::from_fn(|_| {
                core::array::from_fn(|i| if i == 3 { source.next() >> 1 } else { source.next() })
            });
            let found = ladder_of_one(Portable, &x1, &[x2, z2, x3, z3], 0, &[0; 4], 121_665);
            let value = |words: &[Limb; 4]| {
                words.iter().rev().fold(BigUint::ZERO, |sum, word| (sum << 64) + *word)
            };
            // Twice the coordinates.
            for (found, given) in found.iter().zip([x2, z2, x3, z3]) {
                assert!(value(found).bits() <= 255);
                assert_eq!(value(found) % &p, 2u8 * value(&given) % &p);
            }
        }
    }
}
