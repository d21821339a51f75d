//! Steps on Edwards curves compared with the same on integers.

use super::*;

type Point = [BigUint; 4];

/// Adds as "add-2008-hwcd-3" does, to X, Y, Z and T, the point of Y + X, Y − X, 2d·T and twice its
/// Z, which may be missing.
fn sum(
    [x, y, z, t]: &Point,
    addend: &[BigUint; 3],
    twice_z: Option<&BigUint>,
    p: &BigUint,
) -> Point {
    let [sum, difference, product] = addend;
    let (a, b) = ((p + y - x) * difference % p, (y + x) * sum % p);
    let (c, d) = (t * product % p, twice_z.map_or_else(|| 2u8 * z, |twice_z| z * twice_z) % p);
    let [e, f, g, h] = [p + &b - &a, p + &d - &c, d + c, b + a];
    [&e * &f % p, &g * &h % p, f * g % p, e * h % p]
}

fn double([x, y, z, _]: &Point, p: &BigUint) -> Point {
    let (a, b, c) = (x * x % p, y * y % p, 2u8 * z * z % p);
    let (h, g) = (&a + &b, p + &a - &b);
    let e = p + p + &h - (x + y).pow(2) % p;
    let f = c + &g;
    [&e * &f % p, &g * &h % p, f * g % p, e * h % p]
}

fn negated([sum, difference, product]: &[BigUint; 3], p: &BigUint) -> [BigUint; 3] {
    [difference.clone(), sum.clone(), p - product % p]
}

/// Compares sums and doubles.
pub(super) fn sums<P: Prime, A: CurveArithmetic<P>>(f: A, samples: &[BigUint], places: [usize; 7]) {
    let p = integer(P::MODULUS);
    let ([x, y, z, t, a, b, c], integers) = chosen::<P, A, 7>(f, samples, places);
    let (point, addend) = ([x, y, z, t], [a, b, c]);
    let parts = |w| {
        let [x, y, z, t, a, b, c] = integers(w);
        ([x, y, z, t], [a, b, c])
    };
    let is_negative = |w: usize| (places[0] ^ places[1] ^ w) & 1 == 1;
    let expected = |w| {
        let (point, addend) = parts(w);
        let addend = if is_negative(w) { negated(&addend, &p) } else { addend };
        sum(&point, &addend, None, &p)
    };
    let negative = f.mask(|w| Mask::from_bit(is_negative(w).into()));
    check_all::<P, A, 4>(f, "sum", &f.add_edwards(&point, &addend, negative), expected);

    let mut doubled = point;
    f.double_edwards(&mut doubled, 1);
    check_all::<P, A, 4>(f, "double", &doubled, |w| double(&parts(w).0, &p));
    if places[0] == places[1] {
        // After a difference, coordinates are as large as they can be.
        let mut larger = [f.negate(&x), f.double(&y), f.negate(&z), t];
        let integers = |w| {
            let [x, y, z, t] = parts(w).0;
            [&p - x, 2u8 * y % &p, &p - z, t]
        };
        f.double_edwards(&mut larger, 3);
        let thrice = |w| (0..3).fold(integers(w), |point, _| double(&point, &p));
        check_all::<P, A, 4>(f, "doubles", &larger, thrice);
    }

    // Another of the coordinates is twice the addend's Z.
    for (twice_z, is_negative, with_t) in
        [(None, false, true), (None, true, false), (Some(&t), false, false), (Some(&t), true, true)]
    {
        let mut point = point;
        f.add_edwards_vartime(&mut point, &addend, twice_z, is_negative, with_t);
        let expected = |w| {
            let (point, addend) = parts(w);
            let addend = if is_negative { negated(&addend, &p) } else { addend };
            sum(&point, &addend, twice_z.map(|_| &point[3]), &p)
        };
        let expected_coordinates = |w| {
            let [x, y, z, t] = expected(w);
            [x, y, z, if with_t { t } else { BigUint::ZERO }]
        };
        if !with_t {
            point[3] = A::ZERO;
        }
        check_all::<P, A, 4>(f, "sum of public points", &point, expected_coordinates);
    }
}

/// Compares two sums with looked up addends, for one index of a row in each number, and its sign.
pub(super) fn lookups<P: Prime, A: CurveArithmetic<P>>(f: A, samples: &[BigUint], start: usize) {
    let p = integer(P::MODULUS);
    let n = samples.len();
    let constants: Vec<BigUint> = (0..16 * 3).map(|i| &samples[(start + 5 * i) % n] % &p).collect();
    let row = table::<P, A>(&constants, 3);
    let places = core::array::from_fn(|i| start + i * i + 1);
    let ([x, y, z, t, a, b, c], integers) = chosen::<P, A, 7>(f, samples, places);
    let (mut point, mut addend) = ([x, y, z, t], [a, b, c]);
    let choice = |w: usize, step: usize| {
        let choice = start + 11 * w + 5 * step;
        (choice % 16, (choice >> 4 ^ choice ^ step) & 1 == 1)
    };
    for step in 0..2 {
        let index = f.word(|w| choice(w, step).0 as Limb);
        let negative = f.mask(|w| Mask::from_bit(choice(w, step).1.into()));
        f.add_edwards_then_look_up(&mut point, &mut addend, &row, index, negative);
    }
    let expected = |w| {
        let [x, y, z, t, a, b, c] = integers(w);
        let (mut point, mut addend) = ([x, y, z, t], [a, b, c]);
        for step in 0..2 {
            point = sum(&point, &addend, None, &p);
            let (index, is_negative) = choice(w, step);
            addend = core::array::from_fn(|i| constants[3 * index + i].clone());
            if is_negative {
                addend = negated(&addend, &p);
            }
        }
        (point, addend)
    };
    check_all::<P, A, 4>(f, "sum before a lookup", &point, |w| expected(w).0);
    check_all::<P, A, 3>(f, "addend looked up", &addend, |w| expected(w).1);
}
