//! Multiples of one point on P-521, with four values of a formula in a vector.
//!
//! Limbs have 48 bits, so that sums of a few numbers are factors without carries. A word holds 64
//! bits: the low and the high halves of products, 52 bits each, are collected apart, and carries
//! take one step, since no limb waits for another.
//!
//! 2⁵²⁸ is 2⁷: a column above the tenth is added to the one eleven below, times 2⁷.
//!
//! **Bounds**, with units of 2⁴⁸. A limb is *carried* if it is below 2⁴⁸ + 2²³. A factor's limbs are
//! below 5 units; those of two factors may also be below a and b units, where a·b is at most 25 and
//! both are at most 15. The high half of a product is then below 25·2⁴⁴, and counts 2⁴ times.
//! Products from the eleventh column on also count 2⁷ times. Eleven low and eleven high halves belong
//! to a column and the one eleven above it together. So with an initial value below 2⁵³ a column is
//! below 2⁷·11·(2⁵² + 25·2⁴⁸) + 2⁵³ < 2⁶⁴.

use super::super::super::lanes::four::{FOUR, FourVectors, Quad};
use super::super::super::words::{LIMB_BITS, Limb};
use super::super::curve::MULTIPLES_OF_ONE as MULTIPLES;
use super::columns::each;

/// Limbs of a coordinate as an integer.
const WORDS: usize = 9;

/// A coordinate as an integer below 2⁵²¹.
type Words = [Limb; WORDS];

/// The number of limbs.
const N: usize = 11;

/// Bits of a limb.
const BITS: u32 = 48;

/// A limb of each of four numbers.
type Limbs<V> = [<V as FourVectors>::Word; N];

/// The low and the high halves of products, by column.
type Halves<V> = [<V as FourVectors>::Word; 2 * N];

/// Returns a multiple of a point, by odd digits from the lowest one on; see
/// `CurveArithmetic::multiple_of_one`.
#[inline(always)]
pub(super) fn multiple_of_one<V: FourVectors>(
    v: V,
    multiples: &[[Words; 2]; MULTIPLES],
    digits: &[u8],
    window: usize,
) -> [Words; 3] {
    let table = Table::new(multiples);
    let mut sum = [v.splat(0); N];
    for (i, digit) in digits.iter().rev().enumerate() {
        let addend = table.look_up(v, *digit);
        sum = if i == 0 { affine(v, &addend) } else { add(v, &sum, &addend) };
        for _ in 0..window {
            sum = double(v, &sum);
        }
    }
    coordinates(v, &sum)
}

/// Returns a sum of multiples of public points; see `CurveArithmetic::sum_of_one_vartime`.
#[inline(always)]
pub(super) fn sum_of_one_vartime<V: FourVectors>(
    v: V,
    terms: [(&[[Words; 2]; MULTIPLES], &[i8]); 2],
) -> [Words; 3] {
    let (mut sum, mut is_empty) = ([v.splat(0); N], true);
    let places = terms.iter().map(|(_, digits)| digits.len()).max().unwrap_or(0);
    for place in (0..places).rev() {
        if !is_empty {
            sum = double(v, &sum);
        }
        for (multiples, digits) in &terms {
            let digit = digits.get(place).copied().unwrap_or(0);
            if digit == 0 {
                continue;
            }
            let [x, y] = multiples[usize::from(digit.unsigned_abs() / 2)].each_ref().map(limbs);
            let y = if digit < 0 { negative(&y) } else { y };
            let addend = load(v, &transposed(&[x, y, [0; N], [0; N]]));
            sum = if is_empty { affine(v, &addend) } else { add(v, &sum, &addend) };
            is_empty = false;
        }
    }
    coordinates(v, &sum)
}

/// Returns −y plus a multiple of the prime, for carried limbs.
fn negative(y: &[Limb; N]) -> [Limb; N] {
    core::array::from_fn(|j| const { offset(2) }[j] - y[j])
}

/// The odd multiples of a point, for secret digits: x and y of the first eight in the lanes 0 and 1,
/// those of the others in the lanes 2 and 3.
struct Table([[Quad; N]; MULTIPLES / 2]);

impl Table {
    fn new(multiples: &[[Words; 2]; MULTIPLES]) -> Self {
        Self(core::array::from_fn(|i| {
            let ([x0, y0], [x1, y1]) = (&multiples[i], &multiples[i + MULTIPLES / 2]);
            transposed(&[x0, y0, x1, y1].map(limbs))
        }))
    }

    /// Returns the multiple of a digit, x and y in the lanes 0 and 1: the low four bits of the digit
    /// are the index, and bit 4 says whether the multiple is negated. Every entry is read.
    #[inline(always)]
    fn look_up<V: FourVectors>(&self, v: V, digit: u8) -> Limbs<V> {
        let digit = Limb::from(digit);
        let mut found = [v.splat(0); N];
        for (i, entry) in (0..).zip(&self.0) {
            // The top bit is 1 for the index alone.
            let is_index = v.top_bits(v.splat((digit & 7 ^ i).wrapping_sub(1)));
            each!(V, j < 11 => found[j] = v.choose(is_index, v.load(&entry[j]), found[j]));
        }
        let half = digit >> 2 & 2;
        let lanes = quad(v, [half, half | 1, half, half | 1]);
        let is_negative = v.top_bits(v.splat(digit << (LIMB_BITS - 5)));
        let offset = load(v, const { &offsets([0, 2, 0, 2]) });
        each!(V, j < 11 => {
            let kept = v.permute(found[j], lanes);
            let negated = v.sub_some::<0b1010>(kept, offset[j], kept);
            found[j] = v.choose(is_negative, negated, kept);
        });
        found
    }
}

/// Returns a point in affine coordinates, x and y in the lanes 0 and 1, as X, Y, Y + Z and Z².
#[inline(always)]
fn affine<V: FourVectors>(v: V, point: &Limbs<V>) -> Limbs<V> {
    let (lanes, ones) = (quad(v, [0, 1, 1, 1]), quad(v, [0, 0, 1, 1]));
    let zero = v.splat(0);
    let mut sums = [zero; N];
    each!(V, j < 11 => {
        let point = v.permute(point[j], lanes);
        let point = v.add_some::<0b1000>(point, zero, zero);
        sums[j] = if j == 0 { v.add(point, ones) } else { point };
    });
    carry(v, &sums)
}

/// Returns X, Y and Z of a point given by X, Y, Y + Z and Z².
#[inline(always)]
fn coordinates<V: FourVectors>(v: V, point: &Limbs<V>) -> [Words; 3] {
    let (offset, lanes) = (load(v, const { &offsets([0, 0, 2, 0]) }), quad(v, [1; 4]));
    let mut sums = [v.splat(0); N];
    each!(V, j < 11 => {
        let sum = v.add(point[j], offset[j]);
        sums[j] = v.sub_some::<0b0100>(sum, sum, v.permute(point[j], lanes));
    });
    let sums = carry(v, &sums);
    let mut quads = [Quad([0; FOUR]); N];
    each!(V, j < 11 => v.store(&mut quads[j], sums[j]));
    core::array::from_fn(|lane| integer(quads.map(|quad| quad.0[lane])))
}

/// Returns the limbs of a number below 2⁵²⁸.
fn limbs(words: &Words) -> [Limb; N] {
    core::array::from_fn(|j| {
        let (word, shift) = (j * BITS as usize / LIMB_BITS, j * BITS as usize % LIMB_BITS);
        let above = words.get(word + 1).map_or(0, |above| above << 1 << (LIMB_BITS - 1 - shift));
        (words[word] >> shift | above) & ((1 << BITS) - 1)
    })
}

/// Returns an integer below 2⁵²¹ from carried limbs. The first pass leaves less than 2⁵²¹ + 2¹⁶; if
/// that has bit 521, the rest is short.
fn integer(mut limbs: [Limb; N]) -> Words {
    for _ in 0..2 {
        for j in 0..N - 1 {
            limbs[j + 1] += limbs[j] >> BITS;
            limbs[j] &= (1 << BITS) - 1;
        }
        limbs[0] += limbs[N - 1] >> 41;
        limbs[N - 1] &= (1 << 41) - 1;
    }
    let mut words = [0; WORDS];
    for (j, limb) in limbs.iter().enumerate() {
        let (word, shift) = (j * BITS as usize / LIMB_BITS, j * BITS as usize % LIMB_BITS);
        words[word] |= limb << shift;
        if shift > LIMB_BITS - BITS as usize {
            words[word + 1] = limb >> (LIMB_BITS - shift);
        }
    }
    words
}

/// Returns a multiple of the prime with limbs of `units` units, less 1 to 128 times that.
const fn offset(units: Limb) -> [Limb; N] {
    let mut limbs = [units * ((1 << BITS) - 1); N];
    limbs[0] = units * ((1 << BITS) - 128);
    limbs
}

/// Returns vectors with one number in each lane.
const fn transposed(numbers: &[[Limb; N]; FOUR]) -> [Quad; N] {
    let mut quads = [Quad([0; FOUR]); N];
    let mut j = 0;
    while j < N {
        let mut lane = 0;
        while lane < FOUR {
            quads[j].0[lane] = numbers[lane][j];
            lane += 1;
        }
        j += 1;
    }
    quads
}

/// Returns offsets of as many units as each lane has.
const fn offsets(units: [Limb; FOUR]) -> [Quad; N] {
    transposed(&[offset(units[0]), offset(units[1]), offset(units[2]), offset(units[3])])
}

#[inline(always)]
fn load<V: FourVectors>(v: V, quads: &[Quad; N]) -> Limbs<V> {
    let mut words = [v.splat(0); N];
    each!(V, j < 11 => words[j] = v.load(&quads[j]));
    words
}

/// Returns carried limbs of numbers whose limbs are below 2⁶⁴.
#[inline(always)]
fn carry<V: FourVectors>(v: V, limbs: &Limbs<V>) -> Limbs<V> {
    let mask = v.splat((1 << BITS) - 1);
    let mut carried = [v.splat(0); N];
    carried[0] = v.shift_left::<7>(v.shift_right::<BITS>(limbs[N - 1]));
    each!(V, j < 10 => carried[j + 1] = v.shift_right::<BITS>(limbs[j]));
    each!(V, j < 11 => carried[j] = v.add(carried[j], v.and(limbs[j], mask)));
    carried
}

/// Returns carried limbs of the sum of columns.
#[inline(always)]
fn reduce<V: FourVectors>(v: V, low: &Halves<V>, high: &Halves<V>) -> Limbs<V> {
    let mut limbs = [v.splat(0); N];
    each!(V, j < 11 => {
        // The high halves of the column below count for this one.
        let above = v.add(low[j + N], v.shift_left::<4>(high[j + N]));
        let sum = v.add(low[j], v.shift_left::<4>(high[j]));
        limbs[j] = v.add(sum, v.shift_left::<7>(above));
    });
    carry(v, &limbs)
}

/// Returns the products of factors, with carried limbs.
#[inline(always)]
fn product<V: FourVectors>(v: V, a: &Limbs<V>, b: &Limbs<V>) -> Limbs<V> {
    let zero = v.splat(0);
    let (mut low, mut high): (Halves<V>, Halves<V>) = ([zero; 2 * N], [zero; 2 * N]);
    each!(V, i < 11 => {
        each!(V, j < 11 => low[i + j] = v.mul_add_low(low[i + j], a[i], b[j]));
        each!(V, j < 11 => high[i + j + 1] = v.mul_add_high(high[i + j + 1], a[i], b[j]));
    });
    reduce(v, &low, &high)
}

/// Returns the squares of factors, plus `start`, with carried limbs. The products of different limbs
/// have the double of one as a factor.
#[inline(always)]
fn square<V: FourVectors>(v: V, a: &Limbs<V>, start: Option<&Limbs<V>>) -> Limbs<V> {
    let zero = v.splat(0);
    let (mut low, mut high): (Halves<V>, Halves<V>) = ([zero; 2 * N], [zero; 2 * N]);
    if let Some(start) = start {
        each!(V, j < 11 => low[j] = start[j]);
    }
    let mut twice = *a;
    each!(V, j < 11 => twice[j] = v.add(a[j], a[j]));
    each!(V, i < 11 => {
        low[2 * i] = v.mul_add_low(low[2 * i], a[i], a[i]);
        high[2 * i + 1] = v.mul_add_high(high[2 * i + 1], a[i], a[i]);
        each!(V, j < 11 => {
            if j > i {
                low[i + j] = v.mul_add_low(low[i + j], a[i], twice[j]);
                high[i + j + 1] = v.mul_add_high(high[i + j + 1], a[i], twice[j]);
            }
        });
    });
    reduce(v, &low, &high)
}

/// Returns a vector of constants.
#[inline(always)]
fn quad<V: FourVectors>(v: V, lanes: [Limb; FOUR]) -> V::Word {
    v.load(&Quad(lanes))
}

/// Returns twice a point: X, Y, Y + Z and Z².
#[inline(always)]
fn double<V: FourVectors>(v: V, point: &Limbs<V>) -> Limbs<V> {
    let zero = v.splat(0);
    let squares = square(v, point, None);
    // X + YY, YY, M = XX − ZZ², Z₃ = (Y + Z)² − YY − ZZ.
    let (first, second) = (quad(v, [1, 1, 0, 2]), quad(v, [0, 0, 3, 1]));
    let offset = load(v, const { &offsets([0, 0, 2, 3]) });
    let mut factors = [zero; N];
    let mut start = load(v, const { &offsets([2, 0, 0, 0]) });
    let mut other_start = start;
    each!(V, j < 11 => {
        let mut t = v.add(v.permute(squares[j], first), offset[j]);
        t = v.sub_some::<0b1000>(t, t, point[j]);
        t = v.add_some::<0b0001>(t, t, point[j]);
        factors[j] = v.sub_some::<0b1100>(t, t, v.permute(squares[j], second));
        start[j] = v.sub_some::<0b0001>(start[j], start[j], squares[j]);
    });
    // (X + YY)² − XX, YYYY, MM, ZZ₃.
    let second_squares = square(v, &factors, Some(&start));
    let shifts = quad(v, [1, 1, 2, 2]);
    let more_shifts = quad(v, [1, 1, 3, 0]);
    let offset = load(v, const { &offsets([2, 2, 2, 0]) });
    let other_offset = load(v, const { &offsets([4, 4, 13, 0]) });
    let (lanes_0, lanes_1, lanes_2) = (quad(v, [0, 0, 0, 3]), quad(v, [1; 4]), quad(v, [2; 4]));
    let mut sums = [zero; N];
    let mut yyyy = [zero; N];
    each!(V, j < 11 => {
        yyyy[j] = v.permute(second_squares[j], lanes_1);
        let mm = v.permute(second_squares[j], lanes_2);
        let mut e = v.add(v.permute(second_squares[j], lanes_0), offset[j]);
        e = v.sub_some::<0b0111>(e, e, yyyy[j]);
        e = v.shift_left_each(e, shifts);
        let f = v.add(mm, v.shift_left_each(mm, more_shifts));
        let mut t = v.sub_some::<0b0011>(e, e, f);
        t = v.sub_some::<0b0100>(t, f, e);
        t = v.add(t, other_offset[j]);
        sums[j] = v.add_some::<0b0001>(t, t, v.permute(factors[j], lanes_2));
        other_start[j] = v.sub_some::<0b0001>(other_start[j], other_start[j], mm);
    });
    // M + D, D, X₃, 4·ZZ₃.
    let sums = carry(v, &sums);
    let third_squares = square(v, &sums, Some(&other_start));
    let offset = load(v, const { &offsets([0, 26, 26, 0]) });
    let (lanes_x, lanes_3) = (quad(v, [2, 2, 2, 3]), quad(v, [3; 4]));
    let last_shifts = quad(v, [2, 2, 2, 0]);
    let lanes_0 = quad(v, [0; 4]);
    let mut double = [zero; N];
    each!(V, j < 11 => {
        let (p, q) = (v.permute(third_squares[j], lanes_0), v.permute(third_squares[j], lanes_1));
        let t = v.sub_some::<0b1111>(p, p, q);
        let t = v.add(t, v.shift_left::<3>(t));
        let t = v.add(t, offset[j]);
        let y4 = v.shift_left::<4>(yyyy[j]);
        let t = v.sub_some::<0b1111>(t, t, y4);
        let t = v.add_some::<0b1001>(t, v.permute(sums[j], lanes_x), zero);
        let t = v.shift_left_each(t, last_shifts);
        let z = v.permute(factors[j], lanes_3);
        double[j] = v.add_some::<0b0100>(t, t, v.add(z, z));
    });
    carry(v, &double)
}

/// Adds a point in affine coordinates, x and y in the lanes 0 and 1.
#[inline(always)]
fn add<V: FourVectors>(v: V, point: &Limbs<V>, addend: &Limbs<V>) -> Limbs<V> {
    let zero = v.splat(0);
    let (lanes_0, lanes_1, lanes_z) = (quad(v, [0; 4]), quad(v, [1; 4]), quad(v, [3, 2, 2, 2]));
    let offset = load(v, const { &offsets([0, 2, 2, 2]) });
    let (mut z, mut x1, mut y1) = ([zero; N], [zero; N], [zero; N]);
    each!(V, j < 11 => {
        x1[j] = v.permute(point[j], lanes_0);
        y1[j] = v.permute(point[j], lanes_1);
        let t = v.add(v.permute(point[j], lanes_z), offset[j]);
        z[j] = v.sub_some::<0b1110>(t, t, y1[j]);
    });
    // U₂ = x₂·ZZ, y₂·Z.
    let first = product(v, &z, addend);
    let (lanes_left, lanes_right) = (quad(v, [0, 1, 0, 1]), quad(v, [0, 0, 1, 1]));
    let offset = load(v, const { &offsets([2, 0, 2, 0]) });
    let (mut left, mut right, mut next) = ([zero; N], [zero; N], [zero; N]);
    each!(V, j < 11 => {
        let t = v.add(v.permute(first[j], lanes_left), offset[j]);
        left[j] = v.sub_some::<0b0101>(t, t, x1[j]);
        right[j] = v.add_some::<0b0001>(v.permute(z[j], lanes_right), left[j], zero);
        // H and X.
        next[j] = v.add_some::<0b0001>(x1[j], left[j], zero);
    });
    // HH, S₂, Z₃.
    let second = product(v, &left, &right);
    let lanes = quad(v, [0, 0, 1, 2]);
    let offset = load(v, const { &offsets([0, 0, 2, 0]) });
    let mut r = [zero; N];
    each!(V, j < 11 => {
        let t = v.add(v.permute(second[j], lanes), offset[j]);
        r[j] = v.sub_some::<0b0100>(t, t, y1[j]);
        next[j] = v.add_some::<0b1100>(next[j], r[j], zero);
    });
    // HHH, V, RR, ZZ₃.
    let third = product(v, &next, &r);
    let lanes_2 = quad(v, [2; 4]);
    let offset = load(v, const { &offsets([2, 0, 0, 0]) });
    let (mut left, mut right, mut x) = ([zero; N], [zero; N], [zero; N]);
    let x_offset = load(v, const { &offsets([4, 2, 2, 0]) });
    each!(V, j < 11 => {
        let vv = v.permute(third[j], lanes_1);
        let rr = v.permute(third[j], lanes_2);
        let two_v = v.add(vv, vv);
        // HHH
        let hhh = v.permute(third[j], lanes_0);
        let t = v.add(hhh, two_v);
        let t2 = v.add(v.add(t, vv), offset[j]);
        let t2 = v.sub_some::<0b0001>(t2, t2, rr);
        left[j] = v.add_some::<0b0010>(t2, hhh, zero);
        right[j] = v.add_some::<0b0001>(y1[j], v.permute(r[j], lanes_2), zero);
        let xx = v.add(x_offset[j], rr);
        x[j] = v.sub_some::<0b1111>(xx, xx, t);
    });
    // R·(V − X₃), Y·HHH
    let fourth = product(v, &left, &right);
    let mut sum = [zero; N];
    each!(V, j < 11 => {
        let p = v.add(v.permute(fourth[j], lanes_0), x_offset[j]);
        let t = v.sub_some::<0b1111>(p, p, v.permute(fourth[j], lanes_1));
        let t = v.add_some::<0b0100>(t, t, v.permute(second[j], lanes_2));
        let t = v.add_some::<0b0001>(t, x[j], zero);
        sum[j] = v.add_some::<0b1000>(t, third[j], zero);
    });
    carry(v, &sum)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::Source;
    use super::*;
    use crate::machine::lanes::Portable;

    const UNIT: Limb = 1 << BITS;

    /// The bound of carried limbs.
    const CARRIED: Limb = UNIT + (1 << 23);

    fn prime() -> BigUint {
        (BigUint::from(1u8) << 521) - 1u8
    }

    fn value(limbs: &Limbs<Portable>, lane: usize) -> BigUint {
        limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << BITS) + limb[lane])
    }

    fn limbs_below(source: &mut Source, bound: Limb) -> Limbs<Portable> {
        core::array::from_fn(|_| core::array::from_fn(|_| source.word(0, bound)))
    }

    fn check_carried(limbs: &Limbs<Portable>) {
        assert!(limbs.as_flattened().iter().all(|limb| *limb < CARRIED));
    }

    fn integer_of(words: &Words) -> BigUint {
        words.iter().rev().fold(BigUint::ZERO, |sum, word| (sum << LIMB_BITS) + *word)
    }

    /// Returns X, Y, Y + Z and Z², of any numbers X, Y and Z.
    fn point([x, y, z]: &[BigUint; 3]) -> Limbs<Portable> {
        let p = prime();
        let numbers = [x % &p, y % &p, (y + z) % &p, z * z % &p].map(|number| {
            let mask = BigUint::from(UNIT - 1);
            core::array::from_fn(|j| Limb::try_from(&number >> (48 * j) & &mask).unwrap())
        });
        load(Portable, &transposed(&numbers))
    }

    fn random(source: &mut Source) -> BigUint {
        value(&limbs_below(source, UNIT), 0) % prime()
    }

    #[test]
    fn offsets_are_multiples_of_the_prime() {
        let numbers = load(Portable, &offsets([0, 1, 2, 26]));
        for (lane, units) in [0u8, 1, 2, 26].into_iter().enumerate() {
            assert_eq!(value(&numbers, lane), prime() * 128u8 * units);
        }
    }

    #[test]
    fn products_of_factors_at_their_bounds() {
        let (p, mut source) = (prime(), Source(3));
        for round in 0..500 {
            let bounds = [[5, 5], [15, 1], [6, 4]][round % 3].map(|units| units * UNIT);
            let [a, b] = match round {
                0..3 => bounds.map(|bound| [[bound - 1; FOUR]; N]),
                _ => bounds.map(|bound| limbs_below(&mut source, bound)),
            };
            let factor = limbs_below(&mut source, 5 * UNIT);
            let factor = if round == 0 { [[5 * UNIT - 1; FOUR]; N] } else { factor };
            let start = limbs_below(&mut source, 32 * UNIT);
            let products = product(Portable, &a, &b);
            let squares = square(Portable, &factor, Some(&start));
            check_carried(&products);
            check_carried(&squares);
            for lane in 0..FOUR {
                let [a, b, factor, start] =
                    [&a, &b, &factor, &start].map(|limbs| value(limbs, lane));
                assert_eq!(value(&products, lane) % &p, a * b % &p);
                assert_eq!(value(&squares, lane) % &p, (&factor * &factor + start) % &p);
            }
        }
    }

    #[test]
    fn columns_become_carried_limbs_and_integers() {
        let (p, mut source) = (prime(), Source(4));
        for round in 0..500 {
            let bound = if round % 2 == 0 { Limb::MAX } else { CARRIED };
            let columns = limbs_below(&mut source, bound);
            let carried = carry(Portable, &columns);
            check_carried(&carried);
            for lane in 0..FOUR {
                let number = value(&columns, lane) % &p;
                assert_eq!(value(&carried, lane) % &p, number);
                let words = integer(carried.map(|limb| limb[lane]));
                assert!(words[WORDS - 1] < 1 << 9);
                assert_eq!(integer_of(&words) % &p, number);
                let quads = transposed(&[limbs(&words); FOUR]).map(|quad| quad.0);
                assert_eq!(value(&quads, lane), integer_of(&words));
            }
        }
    }

    /// Returns twice a point, with twice the Z of the usual formula.
    fn doubled(p: &BigUint, [x, y, z]: &[BigUint; 3]) -> [BigUint; 3] {
        let m = 3u8 * (x * x + p * p - z.pow(4) % p) % p;
        let yy = y * y % p;
        let s = 4u8 * x * &yy % p;
        let x3 = (&m * &m + 2u8 * (p - &s)) % p;
        let y3 = (m * (p + s - &x3) + 8u8 * (p * p - &yy * &yy)) % p;
        [4u8 * x3 % p, 8u8 * y3 % p, 4u8 * y * z % p]
    }

    fn added(p: &BigUint, [x, y, z]: &[BigUint; 3], [x2, y2]: &[BigUint; 2]) -> [BigUint; 3] {
        let h = (x2 * z * z + p - x) % p;
        let r = (y2 * z.pow(3) + p - y) % p;
        let hhh = h.pow(3) % p;
        let v = x * &h * &h % p;
        let x3 = (&r * &r + 3u8 * p - &hhh - 2u8 * &v) % p;
        let y3 = (r * (p + v - &x3) + p * p - y * hhh % p) % p;
        [x3, y3, z * h % p]
    }

    #[test]
    fn steps_on_any_numbers() {
        let (p, mut source) = (prime(), Source(5));
        for round in 0..300 {
            let numbers: [_; 5] = core::array::from_fn(|i| match (round + i) % 7 {
                0 => BigUint::ZERO,
                1 => &p - 1u8,
                _ => random(&mut source),
            });
            let [x, y, z, x2, y2] = numbers;
            let (coordinates_1, coordinates_2) = ([x, y, z], [x2, y2]);
            let sum = point(&coordinates_1);
            let addend = {
                let [x, y] = &coordinates_2;
                let mut addend = point(&[x.clone(), y.clone(), BigUint::ZERO]);
                if round % 2 == 0 {
                    let offset = load(Portable, &offsets([0, 2, 0, 0]));
                    for (limb, offset) in addend.iter_mut().zip(offset) {
                        limb[1] = offset[1] - limb[1];
                    }
                }
                addend
            };
            let coordinates_2 = core::array::from_fn(|lane| value(&addend, lane) % &p);
            let expected = [doubled(&p, &coordinates_1), added(&p, &coordinates_1, &coordinates_2)];
            let found = [double(Portable, &sum), add(Portable, &sum, &addend)];
            for (expected, found) in expected.iter().zip(&found) {
                check_carried(found);
                let [x, y, z] = expected;
                let all = [x % &p, y % &p, (y + z) % &p, z * z % &p];
                for (lane, number) in all.iter().enumerate() {
                    assert_eq!(value(found, lane) % &p, *number, "{round} {lane}");
                }
                let again = coordinates(Portable, found).map(|number| integer_of(&number) % &p);
                assert_eq!(again, *expected);
            }
        }
    }

    #[test]
    fn every_digit_is_found() {
        let (p, mut source) = (prime(), Source(6));
        let multiples: [[Words; 2]; MULTIPLES] = core::array::from_fn(|_| {
            [0, 1].map(|_| integer(limbs_below(&mut source, UNIT).map(|limb| limb[0])))
        });
        let table = Table::new(&multiples);
        for digit in 0..32 {
            let found = table.look_up(Portable, digit);
            let [x, y] = multiples[usize::from(digit & 15)].each_ref().map(integer_of);
            let y = if digit < 16 { y } else { &p - y };
            assert_eq!([0, 1].map(|lane| value(&found, lane) % &p), [x, y.clone()]);
            let point = affine(Portable, &found);
            check_carried(&point);
            assert_eq!(value(&point, 2) % &p, (y + 1u8) % &p);
            assert_eq!(value(&point, 3), BigUint::from(1u8));
        }
    }
}
