//! Sums and doubles on edwards25519 of eight points in extended coordinates X, Y, Z and T.

use super::super::super::super::lanes::Lanes;
use super::super::super::super::lanes::vector::Vectors;
use super::{Element, Factor, Minuend, Product, Sum};

type Elements<const N: usize> = [[Lanes; 5]; N];

/// Adds y + x, y − x and 2d·x·y, or subtracts them in the lanes whose bit in `negative` is 1; see
/// `CurveArithmetic::add_edwards`.
#[inline(always)]
pub(in super::super) fn add<V: Vectors>(
    v: V,
    point: &Elements<4>,
    [sum, difference, product]: &Elements<3>,
    negative: u8,
) -> Elements<4> {
    let [x, y, z, t] = point;
    let (sum, difference) = (Element::load(v, sum), Element::load(v, difference));
    let more = Element::select(v, negative, &difference, &sum);
    let less = Element::select(v, negative, &sum, &difference);
    let (x, y) = (Element::load(v, x).sum(), Element::load(v, y).sum());
    let y_less_x = y.minuend(v).sub(v, &x).factor(v);
    let y_plus_x = y.add::<_, _, 0, 2>(v, &x).factor(v);
    let (a, b) = Factor::mul_elements(v, (&y_less_x, &less), (&y_plus_x, &more));
    let e = b.sub(v, &a).factor(v);
    let h = b.add::<_, _, 0, 38>(v, &a).factor(v);
    let c = Element::load(v, t).mul(v, &Element::load(v, product));
    let z = Element::load(v, z).sum();
    let d = z.add::<_, _, 0, 2>(v, &z).minuend(v);
    let (difference, sum) = (d.sub(v, &c).widened(), d.add::<_, _, 0, 38>(v, &c));
    let f = Sum::select(v, negative, &sum, &difference).factor(v);
    let g = Sum::select(v, negative, &difference, &sum).factor(v);
    completed(v, &e, &f, &g, &h)
}

/// Doubles points `times` times, not 0; see `CurveArithmetic::double_edwards`.
#[inline(always)]
pub(in super::super) fn double<V: Vectors>(v: V, point: &mut Elements<4>, times: usize) {
    let [x, y, z, _] = &*point;
    let mut x: Sum<V, 0, 27> = Element::load(v, x).sum().widened();
    let mut y: Sum<V, 0, 27> = Element::load(v, y).sum().widened();
    let mut z: Sum<V, 0, 27> = Element::load(v, z).sum().widened();
    let mut left = times;
    loop {
        let sum = x.add::<_, _, 0, 54>(v, &y).factor(v);
        let (b, a) = Factor::square_two(v, &y.factor(v), &x.factor(v));
        let (both, c) = Factor::square_two(v, &sum, &z.factor(v));
        let h: Sum<V, 15, 38> = a.add(v, &b);
        let e = h.sub(v, &both).factor(v);
        let g = a.sub(v, &b);
        let f = c.add::<_, _, 0, 54>(v, &c).add::<_, _, 0, 81>(v, &g).factor(v);
        let (g, h) = (g.factor(v), h.factor(v));
        left -= 1;
        if left == 0 {
            *point = completed(v, &e, &f, &g, &h);
            return;
        }
        let (first, second) = Factor::mul_two(v, [&e, &f], [&g, &h]);
        (x, y) = (first.widened(), second.widened());
        z = f.mul(v, &g).widened();
    }
}

/// Returns E·F, G·H, F·G and E·H.
#[inline(always)]
fn completed<V: Vectors>(
    v: V,
    e: &Factor<V>,
    f: &Factor<V>,
    g: &Factor<V>,
    h: &Factor<V>,
) -> Elements<4> {
    let (x, y): (Product<V>, Minuend<V>) = Factor::mul_two(v, [e, f], [g, h]);
    let (x, y) = (x.factor(v).lanes(v), y.factor(v).lanes(v));
    let (z, t) = Factor::mul_two(v, [f, g], [e, h]);
    [x, y, z.factor(v).lanes(v), t.factor(v).lanes(v)]
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Source, prime};
    use super::*;
    use crate::machine::lanes::{LANES, Portable};

    /// Returns elements whose limbs are at their bounds.
    fn elements<const N: usize>(source: &mut Source) -> Elements<N> {
        core::array::from_fn(|_| {
            core::array::from_fn(|j| {
                let bits = if j == 4 { 49 } else { 52 };
                Lanes(core::array::from_fn(|_| source.word(0, 1 << bits)))
            })
        })
    }

    fn values<const N: usize>(elements: &Elements<N>, lane: usize) -> [BigUint; N] {
        elements.map(|limbs| {
            limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 52) + limb.0[lane]) % prime()
        })
    }

    fn check(found: &Elements<4>, lane: usize, [e, f, g, h]: [BigUint; 4]) {
        let p = prime();
        let expected = [&e * &f % &p, &g * &h % &p, f * g % &p, e * h % &p];
        assert_eq!(values(found, lane), expected);
        for limbs in found {
            let limbs = limbs.map(|limb| limb.0[lane]);
            assert!(limbs.iter().all(|limb| *limb < 1 << 52) && limbs[4] < (1 << 47) + (1 << 12));
        }
    }

    /// Compiled once, for any number of times.
    #[inline(never)]
    fn doubled(mut point: Elements<4>, times: usize) -> Elements<4> {
        double(Portable, &mut point, times);
        point
    }

    #[test]
    fn sums_of_elements_at_their_bounds() {
        let (p, mut source) = (prime(), Source(11));
        for _ in 0..500 {
            let (point, addend) = (elements(&mut source), elements(&mut source));
            let negative = source.word(0, 256) as u8;
            let sum = add(Portable, &point, &addend, negative);
            for lane in 0..LANES {
                let [x, y, z, t] = values(&point, lane);
                let [mut more, mut less, mut product] = values(&addend, lane);
                if negative >> lane & 1 == 1 {
                    (more, less, product) = (less, more, &p - product);
                }
                let (a, b) = ((&p + &y - &x) * less % &p, (y + x) * more % &p);
                let (c, d) = (t * product % &p, 2u8 * z);
                check(&sum, lane, [&p + &b - &a, &p + &d - &c, d + c, b + a]);
            }
        }
    }

    #[test]
    fn doubles_of_elements_at_their_bounds() {
        let (p, mut source) = (prime(), Source(12));
        for _ in 0..500 {
            let point = elements(&mut source);
            let (once, thrice) = (doubled(point, 1), doubled(point, 3));
            let one_by_one = doubled(once, 2);
            for lane in 0..LANES {
                let [x, y, z, _] = values(&point, lane);
                let (a, b, c) = (&x * &x % &p, &y * &y % &p, 2u8 * &z * &z % &p);
                let (g, h) = (&p + &a - &b, &a + &b);
                check(&once, lane, [&p - 2u8 * x * y % &p, c + &g, g, h]);
                assert_eq!(values(&thrice, lane), values(&one_by_one, lane));
            }
        }
    }
}
