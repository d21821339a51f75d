//! Sums of public multiples on edwards25519, with the coordinates of one point in four lanes: X, Y,
//! Z and T (Hisil, Wong, Carter, Dawson, Twisted Edwards curves revisited, 2008, section 4).
//!
//! A doubling and an addition are twice four products each. The coordinates of a sum are columns,
//! and Y has the offset.

use super::super::super::super::super::lanes::vector::Vectors;
use super::super::super::super::super::lanes::{LANES, Lanes};
use super::super::super::super::super::words::Limb;
use super::super::super::columns::each;
use super::{Limbs, carry, combined, integer, lanes, load, offsets, product, upper};

/// The odd multiples of a point in a table, for digits from −15 to 15.
const ENTRIES: usize = 8;

/// Limbs of a stored point for one number: y + x, y − x and 2d·x·y.
const STORED: usize = 12;

const ZERO: [Limb; 4] = [0; 4];
const ONE: [Limb; 4] = [1, 0, 0, 0];
const TWO: [Limb; 4] = [2, 0, 0, 0];

/// Adds multiples of points; see `CurveArithmetic::edwards_sum_of_one_vartime`.
#[inline(always)]
pub(in super::super::super) fn edwards_sum_of_one_vartime<V: Vectors>(
    v: V,
    twice_d: &[Limb; 4],
    terms: [(&[[Limb; 4]; 4], &[i8]); 2],
    stored_terms: [(&[Limb], &[i8]); 2],
) -> [[Limb; 4]; 4] {
    let twice_d = load(v, &lanes(&[&ONE, &ONE, twice_d, &ONE]));
    let mut tables = [[[Lanes::ZERO; 5]; ENTRIES]; 2];
    for (table, ([x, y, z, t], _)) in tables.iter_mut().zip(terms) {
        let point = load(v, &lanes(&[x, y, z, t]));
        fill(v, table, &with_offset(v, &point), &twice_d);
    }
    let mut sum = with_offset(v, &load(v, &lanes(&[&ZERO, &ONE, &ONE, &ZERO])));
    let all = [terms[0].1, terms[1].1, stored_terms[0].1, stored_terms[1].1];
    let used = all.iter().filter_map(|digits| digits.iter().rposition(|digit| *digit != 0)).max();
    let mut is_first = true;
    for bit in (0..=used.unwrap_or(0)).rev() {
        if !is_first {
            sum = double(v, &sum);
        }
        is_first = false;
        for (table, (_, digits)) in tables.iter().zip(terms) {
            let digit = digits.get(bit).copied().unwrap_or(0);
            if digit != 0 {
                let entry = &table[usize::from(digit.unsigned_abs() / 2)];
                sum = add(v, &sum, &load(v, entry), digit < 0);
            }
        }
        for (table, digits) in stored_terms {
            let digit = digits.get(bit).copied().unwrap_or(0);
            if digit != 0 {
                let at = usize::from(digit.unsigned_abs() / 2) * STORED;
                let [more, less, product] =
                    [0, 4, 8].map(|i| core::array::from_fn::<Limb, 4, _>(|j| table[at + i + j]));
                let entry = lanes(&[&less, &more, &product, &TWO]);
                sum = add(v, &sum, &load(v, &entry), digit < 0);
            }
        }
    }
    let factors = carry(v, &sum);
    let mut limbs = [Lanes::ZERO; 5];
    each!(V, j < 5 => v.store(&mut limbs[j], factors[j]));
    core::array::from_fn(|lane| integer(limbs.map(|limb| limb.0[lane])))
}

#[inline(always)]
fn with_offset<V: Vectors>(v: V, point: &Limbs<V>) -> Limbs<V> {
    let offset = load(v, const { &offsets(0b0010) });
    let mut columns = [v.splat(0); 5];
    each!(V, j < 5 => columns[j] = v.add(point[j], offset[j]));
    columns
}

/// Writes the multiples of a point by 1, 3, 5, … as addends.
#[inline(always)]
fn fill<V: Vectors>(v: V, table: &mut [[Lanes; 5]; ENTRIES], point: &Limbs<V>, twice_d: &Limbs<V>) {
    let twice = addend(v, &double(v, point), twice_d);
    let mut odd = *point;
    for (i, entry) in table.iter_mut().enumerate() {
        if i != 0 {
            odd = add(v, &odd, &twice, false);
        }
        let addend = addend(v, &odd, twice_d);
        each!(V, j < 5 => v.store(&mut entry[j], addend[j]));
    }
}

#[inline(always)]
fn index<V: Vectors>(v: V, lanes: [Limb; LANES]) -> V::Word {
    v.load(&Lanes(lanes))
}

/// Returns a point as an addend: the factors Y − X, Y + X, 2d·T and 2Z; `twice_d` is 1, 1, 2d and
/// 1.
#[inline(always)]
fn addend<V: Vectors>(v: V, point: &Limbs<V>, twice_d: &Limbs<V>) -> Limbs<V> {
    let first = index(v, [1, 1, 3, 2, 4, 4, 4, 4]);
    let second = index(v, [0, 0, 4, 2, 4, 4, 4, 4]);
    let factors = carry(v, &combined(v, point, first, second, 0b0001));
    carry(v, &product(v, &factors, twice_d, &[v.splat(0); 5]))
}

/// Adds an addend, or subtracts it if `is_negative`: "add-2008-hwcd-3".
#[inline(always)]
fn add<V: Vectors>(v: V, point: &Limbs<V>, addend: &Limbs<V>, is_negative: bool) -> Limbs<V> {
    // Y − X, Y + X, T and Z.
    let first = index(v, [1, 1, 3, 2, 4, 4, 4, 4]);
    let second = index(v, [0, 0, 4, 4, 4, 4, 4, 4]);
    let factors = carry(v, &combined(v, point, first, second, 0b0001));
    // The opposite addend has the first two exchanged, and the other sign of C, which exchanges F
    // and G.
    let order = [[0, 1, 2, 3, 4, 4, 4, 4], [1, 0, 2, 3, 4, 4, 4, 4]][usize::from(is_negative)];
    let order = index(v, order);
    let mut other = [v.splat(0); 5];
    each!(V, j < 5 => other[j] = v.permute(addend[j], order));
    // A, B, C and D.
    let products = product(v, &factors, &other, &load(v, const { &offsets(0b1010) }));
    // E = B − A, G = D + C, F = D − C, E and F, H = B + A, G, H.
    let first = index(v, [1, 3, 3, 1, 3, 1, 3, 1]);
    let second = index(v, [0, 2, 2, 0, 2, 0, 2, 0]);
    let subtract = if is_negative { 0b0100_1011 } else { 0b0001_1101 };
    let factors = carry(v, &combined(v, &products, first, second, subtract));
    finish(v, &factors)
}

/// Doubles by "dbl-2008-hwcd" with E = 2·X·Y, and the signs of F and H flipped.
///
/// B and Z² have the offset. F = A − B + 2·Z² has it twice and less it once, and the products in it
/// are below 127 units: it is nonnegative and below 510 units.
#[inline(always)]
fn double<V: Vectors>(v: V, point: &Limbs<V>) -> Limbs<V> {
    let factors = carry(v, point);
    let left = index(v, [0, 1, 2, 0, 4, 4, 4, 4]);
    let right = index(v, [0, 1, 2, 1, 4, 4, 4, 4]);
    let (mut first, mut second) = ([v.splat(0); 5], [v.splat(0); 5]);
    each!(V, j < 5 => {
        first[j] = v.permute(factors[j], left);
        second[j] = v.permute(factors[j], right);
    });
    // A = X², B = Y², Z² and X·Y.
    let products = product(v, &first, &second, &load(v, const { &offsets(0b0110) }));
    // E, G = B − A, F = A − B + 2·Z², E and F, H = A + B, G, H.
    let first = index(v, [3, 1, 0, 3, 0, 0, 1, 0]);
    let second = index(v, [3, 0, 1, 3, 1, 1, 0, 1]);
    let mut sums = combined(v, &products, first, second, 0b0101_0110);
    let square = index(v, [4, 4, 2, 4, 2, 4, 4, 4]);
    each!(V, j < 5 => {
        let square = v.permute(products[j], square);
        sums[j] = v.add(v.add(sums[j], square), square);
    });
    finish(v, &carry(v, &sums))
}

/// Returns E·F, G·H, F·G and E·H from E, G, F, E and F, H, G, H.
#[inline(always)]
fn finish<V: Vectors>(v: V, factors: &Limbs<V>) -> Limbs<V> {
    product(v, factors, &upper(v, factors), &load(v, const { &offsets(0b0010) }))
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::super::tests::{Source, prime};
    use super::super::tests::{UNIT, limbs, value};
    use super::*;
    use crate::machine::lanes::Portable;

    /// Returns coordinates at the bounds of their columns.
    fn point(source: &mut Source) -> Limbs<Portable> {
        let (offset, none) = ((127 * UNIT, 255 * UNIT), (0, 127 * UNIT));
        let mut point = limbs(source, [none, offset, none, none, none, none, none, none]);
        point.iter_mut().for_each(|limb| limb[4..].fill(0));
        point
    }

    fn check(sum: &Limbs<Portable>, [e, f, g, h]: [BigUint; 4]) {
        let p = prime();
        let expected = [&e * &f % &p, &g * &h % &p, f * g % &p, e * h % &p];
        for (lane, expected) in expected.into_iter().enumerate() {
            let (from, to) = if lane == 1 { (127, 255) } else { (0, 127) };
            assert!(sum.iter().all(|c| c[lane] >= from * UNIT && c[lane] < to * UNIT));
            assert_eq!(value(sum, lane) % &p, expected, "{lane}");
        }
        assert!(sum.iter().all(|column| column[4..] == [0; 4]));
    }

    #[test]
    fn doubles_of_coordinates_at_their_bounds() {
        let (p, mut source) = (prime(), Source(9));
        for _ in 0..500 {
            let point = point(&mut source);
            let [x, y, z, _] = core::array::from_fn(|lane| value(&point, lane));
            let (a, b, c) = (&x * &x % &p, &y * &y % &p, 2u8 * &z * &z % &p);
            let e = 2u8 * x * y % &p;
            let expected = [e, c + &p + &a - &b, &p + &b - &a, a + b];
            check(&double(Portable, &point), expected);
        }
    }

    #[test]
    fn sums_of_coordinates_at_their_bounds() {
        let (p, mut source) = (prime(), Source(10));
        let twice_d = BigUint::from(7u8).modpow(&BigUint::from(99u8), &p);
        let mut words = [0; 4];
        for (word, digit) in words.iter_mut().zip(twice_d.iter_u64_digits()) {
            *word = digit;
        }
        let factor = load(Portable, &lanes(&[&ONE, &ONE, &words, &ONE]));
        for round in 0..500 {
            let (point, other) = (point(&mut source), point(&mut source));
            let is_negative = round % 2 == 1;
            let addend = addend(Portable, &other, &factor);
            let [x, y, z, t] = core::array::from_fn(|lane| value(&point, lane) % &p);
            let [mut x2, y2, z2, mut t2] = core::array::from_fn(|lane| value(&other, lane) % &p);
            if is_negative {
                (x2, t2) = (&p - x2, &p - t2);
            }
            let a = (&p + &y - &x) * (&p + &y2 - &x2) % &p;
            let b = (y + x) * (y2 + x2) % &p;
            let (c, d) = (t * t2 * &twice_d % &p, 2u8 * z * z2 % &p);
            let expected = [&p + &b - &a, &p + &d - &c, d + c, b + a];
            check(&add(Portable, &point, &addend, is_negative), expected);
        }
    }
}
