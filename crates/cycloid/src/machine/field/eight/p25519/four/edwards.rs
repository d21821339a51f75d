//! Sums of public multiples on edwards25519, with the coordinates of one point in four lanes: Y, Z,
//! X and T (Hisil, Wong, Carter, Dawson, Twisted Edwards curves revisited, 2008, section 4).
//!
//! A doubling and an addition are two stages each. The coordinates of a sum are columns, and Y has
//! an offset.

use super::super::super::super::super::lanes::four::{FOUR, FourVectors, Quad};
use super::super::super::super::super::words::Limb;
use super::super::super::columns::each;
use super::{
    Limbs, Start, carried, carry, integers, limbs, load, offset, product, quad, square, transposed,
};

/// The odd multiples of a point in a table, for digits from −15 to 15.
const ENTRIES: usize = 8;

/// Limbs of a stored point for one number: y + x, y − x and 2d·x·y.
const STORED: usize = 12;

const ZERO: [Limb; 4] = [0; 4];
const ONE: [Limb; 4] = [1, 0, 0, 0];
const TWO: [Limb; 4] = [2, 0, 0, 0];

const NONE: [Limb; 5] = [0; 5];

/// 4·p, with columns of 16 units: more than a product, which has 11 units, and less than 2⁴⁸ + 2¹²
/// in the column 4, where the offset is 2⁴⁹ − 16.
const OFFSET: [Limb; 5] = offset(4, 16);

/// 12·p, with columns of 64 units: more than [`OFFSET`] and two products.
const LARGE_OFFSET: [Limb; 5] = offset(12, 64);

/// Adds multiples of points; see `CurveArithmetic::edwards_sum_of_one_vartime`.
#[inline(always)]
pub(in super::super::super) fn edwards_sum_of_one_vartime<V: FourVectors>(
    v: V,
    twice_d: &[Limb; 4],
    terms: [(&[[Limb; 4]; 4], &[i8]); 2],
    stored_terms: [(&[Limb], &[i8]); 2],
) -> [[Limb; 4]; 4] {
    let starts = Starts::new(v);
    let factors = quads([&ONE, &ONE, twice_d, &TWO]);
    let factors = load(v, &factors);
    let mut tables = [[[Quad([0; FOUR]); 5]; ENTRIES]; 2];
    for (table, ([x, y, z, t], _)) in tables.iter_mut().zip(&terms) {
        let point = with_offset(v, &load(v, &quads([y, z, x, t])));
        fill(v, &starts, table, &point, &factors);
    }
    let mut sum = with_offset(v, &load(v, &quads([&ONE, &ONE, &ZERO, &ZERO])));
    let all = [terms[0].1, terms[1].1, stored_terms[0].1, stored_terms[1].1];
    let used = all.iter().filter_map(|digits| digits.iter().rposition(|digit| *digit != 0)).max();
    let mut is_first = true;
    for bit in (0..=used.unwrap_or(0)).rev() {
        if !is_first {
            sum = double(v, &starts, &sum);
        }
        is_first = false;
        for (table, (_, digits)) in tables.iter().zip(&terms) {
            let digit = digits.get(bit).copied().unwrap_or(0);
            if digit != 0 {
                let entry = &table[usize::from(digit.unsigned_abs() / 2)];
                sum = add(v, &starts, &sum, &load(v, entry), digit < 0);
            }
        }
        for (table, digits) in &stored_terms {
            let digit = digits.get(bit).copied().unwrap_or(0);
            if digit != 0 {
                let at = usize::from(digit.unsigned_abs() / 2) * STORED;
                let [more, less, product] =
                    [0, 4, 8].map(|i| core::array::from_fn::<Limb, 4, _>(|j| table[at + i + j]));
                let entry = quads([&less, &more, &product, &TWO]);
                sum = add(v, &starts, &sum, &load(v, &entry), digit < 0);
            }
        }
    }
    let [y, z, x, t] = integers(v, &carry(v, &sum));
    [x, y, z, t]
}

/// The initial columns of the formulas' products.
struct Starts<V: FourVectors> {
    none: Start<V>,
    /// For Y in the order of a point.
    point: Start<V>,
    /// For Y², Z² and (X + Y)² of X², Y², Z² and (X + Y)².
    double: Start<V>,
    /// For B and D of A, B, C and D.
    add: Start<V>,
}

impl<V: FourVectors> Starts<V> {
    #[inline(always)]
    fn new(v: V) -> Self {
        Self {
            none: Start::none(v),
            point: Start::load(v, const { &transposed(&[OFFSET, NONE, NONE, NONE]) }),
            double: Start::load(v, const { &transposed(&[NONE, OFFSET, OFFSET, LARGE_OFFSET]) }),
            add: Start::load(v, const { &transposed(&[NONE, OFFSET, NONE, OFFSET]) }),
        }
    }
}

/// Returns the limbs of four numbers below 2²⁵⁵.
fn quads(numbers: [&[Limb; 4]; FOUR]) -> [Quad; 5] {
    transposed(&numbers.map(limbs))
}

#[inline(always)]
fn with_offset<V: FourVectors>(v: V, point: &Limbs<V>) -> Limbs<V> {
    let offset = load(v, const { &transposed(&[OFFSET, NONE, NONE, NONE]) });
    let mut columns = [v.splat(0); 5];
    each!(V, j < 5 => columns[j] = v.add(point[j], offset[j]));
    columns
}

/// Writes the multiples of a point by 1, 3, 5, … as addends.
#[inline(always)]
fn fill<V: FourVectors>(
    v: V,
    starts: &Starts<V>,
    table: &mut [[Quad; 5]; ENTRIES],
    point: &Limbs<V>,
    factors: &Limbs<V>,
) {
    let twice = addend(v, starts, &double(v, starts, point), factors);
    let mut odd = *point;
    for (i, entry) in table.iter_mut().enumerate() {
        if i != 0 {
            odd = add(v, starts, &odd, &twice, false);
        }
        let addend = addend(v, starts, &odd, factors);
        each!(V, j < 5 => v.store(&mut entry[j], addend[j]));
    }
}

/// Returns the factors Y − X, Y + X, T and Z of a point.
#[inline(always)]
fn addition_factors<V: FourVectors>(v: V, point: &Limbs<V>) -> Limbs<V> {
    let (first, second) = (quad(v, [0, 0, 3, 1]), quad(v, [2, 2, 2, 2]));
    let mut factors = [v.splat(0); 5];
    each!(V, j < 5 => {
        let (a, b) = (v.permute(point[j], first), v.permute(point[j], second));
        factors[j] = v.sub_some::<0b0001>(v.add_some::<0b0010>(a, a, b), a, b);
        if j > 0 {
            factors[j] = carried(v, factors[j], factors[j - 1]);
        }
    });
    factors
}

/// Returns a point as an addend: the factors Y − X, Y + X, 2d·T and 2Z; `factors` is 1, 1, 2d and
/// 2.
#[inline(always)]
fn addend<V: FourVectors>(
    v: V,
    starts: &Starts<V>,
    point: &Limbs<V>,
    factors: &Limbs<V>,
) -> Limbs<V> {
    carry(v, &product(v, &addition_factors(v, point), factors, &starts.none, None))
}

/// Adds an addend, or subtracts it if `is_negative`: "add-2008-hwcd-3".
#[inline(always)]
fn add<V: FourVectors>(
    v: V,
    starts: &Starts<V>,
    point: &Limbs<V>,
    addend: &Limbs<V>,
    is_negative: bool,
) -> Limbs<V> {
    let factors = addition_factors(v, point);
    // The opposite addend has the first two exchanged, and the other sign of C, which exchanges F
    // and G.
    let order = [[0, 1, 2, 3], [1, 0, 2, 3]][usize::from(is_negative)];
    let order = quad(v, order);
    let mut other = [v.splat(0); 5];
    each!(V, j < 5 => other[j] = v.permute(addend[j], order));
    // A, B, C and D.
    let products = product(v, &factors, &other, &starts.add, None);
    // H = B + A, E = B − A, D + C and D − C, which are G and F, or F and G.
    let mut sums = [v.splat(0); 5];
    each!(V, j < 5 => {
        let swapped = v.swap_pairs(products[j]);
        sums[j] = v.sub_some::<0b1010>(v.add(products[j], swapped), products[j], swapped);
        if j > 0 {
            sums[j] = carried(v, sums[j], sums[j - 1]);
        }
    });
    // G, G, F and E, and H, F, E and H.
    let (left, right) =
        if is_negative { ([3, 3, 2, 1], [0, 2, 1, 0]) } else { ([2, 2, 3, 1], [0, 3, 1, 0]) };
    let (left_order, right_order) = (quad(v, left), quad(v, right));
    let (mut left, mut right) = ([v.splat(0); 5], [v.splat(0); 5]);
    each!(V, j < 5 => {
        left[j] = v.permute(sums[j], left_order);
        right[j] = v.permute(sums[j], right_order);
    });
    product(v, &left, &right, &starts.point, None)
}

/// Doubles by "dbl-2008-hwcd", with the signs of F and H flipped.
///
/// **Bounds.** G = Y² − X² has one offset, F = 2·Z² − G two less one, and H = X² + Y² one, so that
/// E = (X + Y)² − H has the large one less one. The column 4 of F is below 2·(2⁴⁹ + 2⁴⁸ + 2¹²) + 2⁴⁸
/// + 2¹², and that of E below 12·2⁴⁷ + 2⁴⁸ + 2¹²; both leave room for carries below 2⁵¹.
#[inline(always)]
fn double<V: FourVectors>(v: V, starts: &Starts<V>, point: &Limbs<V>) -> Limbs<V> {
    // X, Y, Z and X + Y.
    let (first, second) = (quad(v, [2, 0, 1, 2]), quad(v, [0, 0, 0, 0]));
    let mut factors = [v.splat(0); 5];
    each!(V, j < 5 => {
        let (a, y) = (v.permute(point[j], first), v.permute(point[j], second));
        factors[j] = v.add_some::<0b1000>(a, a, y);
        if j > 0 {
            factors[j] = carried(v, factors[j], factors[j - 1]);
        }
    });
    // X², Y², Z² and (X + Y)².
    let squares = square(v, &factors, &starts.double, || ());
    // H, G, F and E.
    let lower = quad(v, [0, 0, 1, 0]);
    let mut sums = [v.splat(0); 5];
    each!(V, j < 5 => {
        let a = squares[j];
        let swapped = v.swap_pairs(a);
        let sum = v.add_some::<0b0001>(v.add_some::<0b0100>(a, a, a), a, swapped);
        let sum = v.sub_some::<0b0010>(sum, a, swapped);
        sums[j] = v.sub_some::<0b1100>(sum, sum, v.permute(sum, lower));
        if j > 0 {
            sums[j] = carried(v, sums[j], sums[j - 1]);
        }
    });
    // G, F, E and H.
    let order = quad(v, [1, 2, 3, 0]);
    let mut rotated = [v.splat(0); 5];
    each!(V, j < 5 => rotated[j] = v.permute(sums[j], order));
    // Y = H·G, Z = G·F, X = F·E and T = E·H.
    product(v, &sums, &rotated, &starts.point, None)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::super::tests::{Source, prime};
    use super::super::tests::{PRODUCT_TOP, UNIT, check_bounds, value};
    use super::*;
    use crate::machine::lanes::Portable;

    /// Returns coordinates at the bounds of their columns.
    fn point(source: &mut Source) -> Limbs<Portable> {
        let mut point: Limbs<Portable> = core::array::from_fn(|j| {
            core::array::from_fn(|_| source.word(0, if j == 4 { PRODUCT_TOP } else { 11 * UNIT }))
        });
        for (column, offset) in point.iter_mut().zip(OFFSET) {
            column[0] += offset;
        }
        point
    }

    fn check(sum: &Limbs<Portable>, [e, f, g, h]: [BigUint; 4]) {
        let p = prime();
        let expected = [&g * &h % &p, &f * &g % &p, &e * f % &p, e * h % &p];
        for (lane, expected) in expected.into_iter().enumerate() {
            check_bounds(sum, lane, if lane == 0 { OFFSET } else { NONE });
            assert_eq!(value(sum, lane) % &p, expected, "{lane}");
        }
    }

    #[test]
    fn doubles_of_coordinates_at_their_bounds() {
        let (p, mut source) = (prime(), Source(9));
        let starts = Starts::new(Portable);
        for _ in 0..500 {
            let point = point(&mut source);
            let [y, z, x, _] = core::array::from_fn(|lane| value(&point, lane));
            let (a, b, c) = (&x * &x % &p, &y * &y % &p, 2u8 * &z * &z % &p);
            let e = 2u8 * x * y % &p;
            let expected = [e, c + &p + &a - &b, &p + &b - &a, a + b];
            check(&double(Portable, &starts, &point), expected);
        }
    }

    #[test]
    fn sums_of_coordinates_at_their_bounds() {
        let (p, mut source) = (prime(), Source(10));
        let starts = Starts::new(Portable);
        let twice_d = BigUint::from(7u8).modpow(&BigUint::from(99u8), &p);
        let mut words = [0; 4];
        for (word, digit) in words.iter_mut().zip(twice_d.iter_u64_digits()) {
            *word = digit;
        }
        let factors = load(Portable, &quads([&ONE, &ONE, &words, &TWO]));
        for round in 0..500 {
            let (point, other) = (point(&mut source), point(&mut source));
            let is_negative = round % 2 == 1;
            let addend = addend(Portable, &starts, &other, &factors);
            let [y, z, x, t] = core::array::from_fn(|lane| value(&point, lane) % &p);
            let [y2, z2, mut x2, mut t2] = core::array::from_fn(|lane| value(&other, lane) % &p);
            if is_negative {
                (x2, t2) = (&p - x2, &p - t2);
            }
            let a = (&p + &y - &x) * (&p + &y2 - &x2) % &p;
            let b = (y + x) * (y2 + x2) % &p;
            let (c, d) = (t * t2 * &twice_d % &p, 2u8 * z * z2 % &p);
            let expected = [&p + &b - &a, &p + &d - &c, d + c, b + a];
            check(&add(Portable, &starts, &point, &addend, is_negative), expected);
        }
    }
}
