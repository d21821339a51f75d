//! Steps of Montgomery's ladder.

use super::super::super::super::hint::hidden;
use super::super::super::super::lanes::vector::Vectors;
use super::super::super::super::lanes::{LANES, Lanes};
use super::super::super::super::words::{LIMB_BITS, Limb};
use super::super::columns::each;
use super::{Factor, Minuend, Product, Sum};

/// The points of a ladder: (X₂ : Z₂) and (X₃ : Z₃).
struct State<V: Vectors> {
    x2: Minuend<V>,
    z2: Product<V>,
    x3: Minuend<V>,
    z3: Product<V>,
}

/// Computes `steps` steps of the ladder; see `CurveArithmetic::ladder`.
#[inline(always)]
pub(in super::super) fn ladder<V: Vectors>(
    v: V,
    x1: &[Lanes; 5],
    state: &mut [[Lanes; 5]; 4],
    steps: usize,
    swaps: &[[Limb; 4]],
    a24: Limb,
) {
    let x1 = Product::load(v, x1).factor(v);
    let [x2, z2, x3, z3] = &*state;
    let mut points = State {
        x2: Sum::<V, 0, 1>::load(v, x2).minuend(v),
        z2: Product::load(v, z2),
        x3: Sum::<V, 0, 1>::load(v, x3).minuend(v),
        z3: Product::load(v, z3),
    };
    let mut left = steps;
    while left > 0 {
        // The next bit of each number at the top of its lane. The limbs are loaded one by one; the
        // compiler would use masked loads, whose time is not known to be constant.
        let (limb, bits) = ((left - 1) / LIMB_BITS, (left - 1) % LIMB_BITS + 1);
        let lanes: [Limb; LANES] =
            core::array::from_fn(|lane| hidden(&swaps[lane])[limb] << (LIMB_BITS - bits));
        let mut swaps = v.load(&Lanes(lanes));
        for _ in 0..bits {
            let swap = v.shift_right_signed::<{ LIMB_BITS as u32 - 1 }>(swaps);
            points = step(v, &x1, &points, swap, a24);
            swaps = v.shift_left::<1>(swaps);
        }
        left -= bits;
    }
    *state = [
        points.x2.factor(v).lanes(v),
        points.z2.factor(v).lanes(v),
        points.x3.factor(v).lanes(v),
        points.z3.factor(v).lanes(v),
    ];
}

/// Computes a step, in the names of RFC 7748, section 5. The lanes with all ones in `swap` swap the
/// two points first.
///
/// The order of the products keeps apart those that depend on each other, so that a processor
/// computes two or three at a time.
#[inline(always)]
fn step<V: Vectors>(
    v: V,
    x1: &Factor<V>,
    State { x2, z2, x3, z3 }: &State<V>,
    swap: V::Word,
    a24: Limb,
) -> State<V> {
    let a = x2.add::<_, _, 0, 38>(v, z2).factor(v);
    let b = x2.sub(v, z2).factor(v);
    let c = x3.add::<_, _, 0, 38>(v, z3).factor(v);
    let d = x3.sub(v, z3).factor(v);
    let (cb, da) = Factor::mul_two(v, [&c, &b], [&d, &a]);
    let difference = da.sub(v, &cb).factor(v);
    let sum = da.add::<_, _, 0, 38>(v, &cb).factor(v);
    let (bb, aa) =
        Factor::square_two(v, &Factor::choose(v, swap, &d, &b), &Factor::choose(v, swap, &c, &a));
    let (square, x3) = Factor::square_two(v, &difference, &sum);
    let e = aa.sub(v, &bb).factor(v);
    let g = add_multiple(v, &aa, &e, a24).factor(v);
    let z3 = x1.mul(v, &square.factor(v));
    let (z2, x2) = Factor::mul_two(v, [&e, &g], [&aa.factor(v), &bb.factor(v)]);
    State { x2, z2, x3, z3 }
}

/// Returns a + small·b for small < 2¹⁷. Each column gets a low and a high half of a product; the
/// high half of the topmost one, below 2¹³, is folded, and adds less than 2²³.
#[inline(always)]
fn add_multiple<V: Vectors>(v: V, a: &Minuend<V>, b: &Factor<V>, small: Limb) -> Sum<V, 0, 30> {
    debug_assert!(small < 1 << 17);
    let small = v.limb_factor(v.splat(small));
    let mut columns = a.0;
    each!(V, j < 4 => {
        (columns[j], columns[j + 1]) =
            v.mul_add(columns[j], columns[j + 1], v.factor(b.0[j]), small);
    });
    let top = v.factor(b.0[4]);
    let (low, above) = v.mul_add(columns[4], v.splat(0), top, small);
    columns[4] = low;
    columns[0] = v.mul_add_low(columns[0], v.limb_factor(above), v.limb_factor(v.splat(608)));
    Sum(columns)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Source, checked, prime, value};
    use super::*;
    use crate::machine::lanes::Portable;

    #[test]
    fn steps_from_columns_at_their_bounds() {
        let (p, mut source) = (prime(), Source(4));
        let v = Portable;
        for a24 in [121_665, (1 << 17) - 1].repeat(200) {
            let x1 = source.factor();
            let state =
                State { x2: source.sum(), z2: source.sum(), x3: source.sum(), z3: source.sum() };
            let swap = core::array::from_fn(|_| (source.next() >> 33 & 1).wrapping_neg());
            let next = step(v, &x1, &state, swap, a24);
            for (lane, swap) in swap.into_iter().enumerate() {
                let x1 = value(&x1, lane);
                let (mut x2, mut z2) =
                    (checked(&state.x2, lane) % &p, checked(&state.z2, lane) % &p);
                let (mut x3, mut z3) =
                    (checked(&state.x3, lane) % &p, checked(&state.z3, lane) % &p);
                if swap != 0 {
                    (x2, z2, x3, z3) = (x3, z3, x2, z2);
                }
                let (a, b) = (&x2 + &z2, &p + &x2 - &z2);
                let (c, d) = (&x3 + &z3, &p + &x3 - &z3);
                let (da, cb) = (d * &a % &p, c * &b % &p);
                let (aa, bb) = (&a * &a % &p, &b * &b % &p);
                let e = &p + &aa - &bb;
                assert_eq!(checked(&next.x2, lane) % &p, &aa * &bb % &p);
                assert_eq!(checked(&next.z2, lane) % &p, &e * (&aa + a24 * &e) % &p);
                assert_eq!(checked(&next.x3, lane) % &p, (&da + &cb).pow(2) % &p);
                let difference: BigUint = &p + &da - &cb;
                assert_eq!(checked(&next.z3, lane) % &p, x1 * difference.pow(2) % &p);
            }
        }
    }

    #[test]
    fn multiples_of_factors_at_their_bounds() {
        let (p, mut source) = (prime(), Source(5));
        for small in [0, 1, 121_665, (1 << 17) - 1].repeat(100) {
            let (a, b) = (source.sum(), source.factor());
            let sum = add_multiple(Portable, &a, &b, small);
            for lane in 0..LANES {
                let expected = checked(&a, lane) + value(&b, lane) * small;
                assert_eq!(checked(&sum, lane) % &p, expected % &p);
            }
        }
    }
}
