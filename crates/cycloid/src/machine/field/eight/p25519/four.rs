//! Four numbers in a vector, for the formulas of one point: the ladder of one number, and sums on
//! edwards25519.
//!
//! A formula is a sequence of stages, each four products whose factors are sums, differences and
//! results of the previous ones. So each vector holds one limb of four values, each stage waits for
//! the one before, and latency counts.
//!
//! Limbs have 52 bits, so that low and high halves of products share columns. That leaves no room
//! for carries that do not wait for each other; but a carry goes up one limb in two cycles, and the
//! products of the lower limbs are computed meanwhile.
//!
//! **Bounds**, with units of 2⁵². A product reads the low 52 bits of the limbs 0 to 3 of a factor,
//! and limb 4 is below 2⁵¹. The columns of a product above the fourth are folded into the others,
//! since 2²⁶⁰ is 32·19 = 608:
//!
//! - The column 9 is the high half of the product of the limbs 4, below 2⁵⁰. 2⁴⁶⁸ is 19·2²¹³, so it
//!   adds 19 times its part from bit 42 of its multiple by 19 on, below 2¹³, to the column 0, and the
//!   rest, below 2⁴⁷, to the column 4.
//! - The columns 5 to 8 are below 10, 8, 6 and 4 units. Each is carried into the next one; what is
//!   carried out of the column 8 is below 4. Then 608 times each adds less than a unit to one column
//!   and less than 608 to the next.
//! - The column 4 is below 11 units before that. Its part from bit 47 on, below 2⁹, is folded.
//!
//! So the columns 0 to 3 of a product are below 11 units, and the column 4 below 2⁴⁸ + 2¹², plus
//! what they started with.

mod edwards;
mod ladder;

use super::super::super::super::lanes::four::{FOUR, FourVectors, Quad, quad, transposed};
use super::super::super::super::lanes::{LANE_LIMB_BITS, LIMB_MASK};
use super::super::super::super::words::Limb;
use super::super::columns::each;
use super::TOP_BITS;
pub(in super::super) use edwards::edwards_sum_of_one_vartime;
pub(in super::super) use ladder::ladder_of_one;

/// A limb, or a column, of each of four numbers.
type Limbs<V> = [<V as FourVectors>::Word; 5];

/// The columns of a product.
type Columns<V> = [<V as FourVectors>::Word; 9];

/// 19·2¹⁰, whose product with the column 9 has the part from bit 42 on as its high half.
const NINETEEN_SHIFTED: Limb = 19 << 10;

/// Returns m·p with columns of `units` units and less, for even m: the columns 0 to 3 are less than
/// 2⁸ below that, and the column 4 is m·2⁴⁷ − `units`.
const fn offset(multiple: Limb, units: Limb) -> [Limb; 5] {
    assert!(19 * multiple < 1 << 8 && units < 1 << 7);
    let column = units << LANE_LIMB_BITS;
    [
        column - 19 * multiple,
        column - units,
        column - units,
        column - units,
        (multiple << TOP_BITS) - units,
    ]
}

/// The initial columns of a product.
struct Start<V: FourVectors>(Limbs<V>);

impl<V: FourVectors> Start<V> {
    /// Loads offsets. The last column is shifted, as the folded column 9 is before it is added.
    #[inline(always)]
    fn load(v: V, offsets: &[Quad; 5]) -> Self {
        let mut columns = load(v, offsets);
        columns[4] = v.shift_left::<5>(columns[4]);
        Self(columns)
    }

    #[inline(always)]
    fn none(v: V) -> Self {
        Self([v.splat(0); 5])
    }
}

/// Returns the product of two factors, plus `start`, and plus the factor and the small number in
/// `more`, below 2¹⁸.
///
/// The order of the operations is by the time at which their operands are ready and their result
/// is needed: the lowest limbs are first, and the next stage begins with the columns 0 and 4.
#[inline(always)]
fn product<V: FourVectors>(
    v: V,
    a: &Limbs<V>,
    b: &Limbs<V>,
    start: &Start<V>,
    more: Option<(&Limbs<V>, V::Word)>,
) -> Limbs<V> {
    let zero = v.splat(0);
    let (c608, c19, c19_shifted) = (v.splat(608), v.splat(19), v.splat(NINETEEN_SHIFTED));
    // Several sums a column, so that not too many products wait for each other.
    let Start([s0, s1, s2, s3, s4]) = *start;
    let mut sums: Columns<V> = [s0, s1, s2, s3, zero, zero, zero, zero, zero];
    let (mut others, mut high_sums, mut other_high_sums) = ([zero; 9], [zero; 9], [zero; 9]);
    macro_rules! low {
        ($columns:ident: $($i:literal $j:literal),+) => {
            $($columns[$i + $j] = v.mul_add_low($columns[$i + $j], a[$i], b[$j]);)+
        };
    }
    macro_rules! high {
        ($columns:ident: $($i:literal $j:literal),+) => {
            $($columns[$i + $j + 1] = v.mul_add_high($columns[$i + $j + 1], a[$i], b[$j]);)+
        };
    }
    macro_rules! low_more {
        ($columns:ident: $i:literal) => {
            if let Some((c, small)) = more {
                $columns[$i] = v.mul_add_low($columns[$i], c[$i], small);
            }
        };
    }
    macro_rules! high_more {
        ($columns:ident: $i:literal) => {
            if let Some((c, small)) = more {
                $columns[$i + 1] = v.mul_add_high($columns[$i + 1], c[$i], small);
            }
        };
    }
    high!(sums: 0 0);
    high!(high_sums: 1 1);
    low!(sums: 1 1);
    high!(sums: 0 1);
    high!(high_sums: 1 0);
    high_more!(sums: 0);
    high_more!(high_sums: 1);
    high!(high_sums: 1 2);
    high!(other_high_sums: 2 1);
    low!(sums: 2 2);
    high!(high_sums: 2 2);
    low!(sums: 1 2, 2 1);
    high_more!(high_sums: 2);
    high!(high_sums: 0 3);
    high!(other_high_sums: 3 0);
    low!(others: 1 3);
    high!(other_high_sums: 1 3);
    low!(sums: 3 1);
    high!(high_sums: 3 1);
    high_more!(other_high_sums: 3);
    low!(sums: 2 3);
    low!(others: 3 2);
    high!(high_sums: 2 3, 3 2);
    let ninth = v.mul_add_high(zero, a[4], b[4]);
    low!(sums: 0 4);
    high!(high_sums: 0 4);
    low!(others: 4 0);
    high!(other_high_sums: 4 0);
    low!(sums: 1 4);
    low!(others: 4 1);
    low_more!(others: 4);
    high_more!(other_high_sums: 4);
    let ninth_above = v.mul_add_high(zero, ninth, c19_shifted);
    high_sums[4] = v.add(high_sums[4], other_high_sums[4]);
    low!(sums: 3 3);
    high!(high_sums: 3 3);
    sums[4] = v.add(sums[4], others[4]);
    sums[5] = v.add(sums[5], others[5]);
    high_sums[5] = v.add(high_sums[5], other_high_sums[5]);
    low!(sums: 0 0);
    high!(high_sums: 1 4);
    low!(sums: 2 4, 4 2);
    low_more!(sums: 0);
    let fourth = v.add(sums[4], high_sums[4]);
    let fifth = v.add(sums[5], high_sums[5]);
    let above = v.add(v.shift_right::<TOP_BITS>(fourth), ninth_above);
    high!(high_sums: 4 1);
    sums[0] = v.mul_add_low(sums[0], fifth, c608);
    let above = v.mul_add_low(zero, above, c19);
    let fourth = v.and(fourth, v.splat((1 << TOP_BITS) - 1));
    low!(sums: 0 1, 1 0);
    low_more!(sums: 1);
    low!(sums: 3 4, 4 3);
    let carry = v.shift_right::<52>(fifth);
    high_sums[6] = v.add(high_sums[6], carry);
    sums[1] = v.mul_add_high(sums[1], fifth, c608);
    high!(high_sums: 2 4, 4 2);
    let sixth = v.add(sums[6], high_sums[6]);
    low!(sums: 0 2);
    high!(high_sums: 0 2);
    low!(high_sums: 2 0);
    high!(high_sums: 2 0);
    low_more!(sums: 2);
    sums[0] = v.add(sums[0], above);
    low!(high_sums: 4 4);
    let carry = v.shift_right::<52>(sixth);
    sums[2] = v.add(sums[2], high_sums[2]);
    sums[1] = v.mul_add_low(sums[1], sixth, c608);
    low!(sums: 0 3, 3 0);
    low_more!(sums: 3);
    sums[7] = v.add(sums[7], carry);
    high!(high_sums: 3 4, 4 3);
    let seventh = v.add(sums[7], high_sums[7]);
    sums[2] = v.mul_add_high(sums[2], sixth, c608);
    sums[3] = v.add(sums[3], high_sums[3]);
    let carry = v.shift_right::<52>(seventh);
    let ninth_below = v.mul_add_low(s4, ninth, c19_shifted);
    sums[2] = v.mul_add_low(sums[2], seventh, c608);
    let eighth = v.add(high_sums[8], carry);
    sums[3] = v.mul_add_high(sums[3], seventh, c608);
    let fourth = v.add(fourth, v.shift_right::<5>(ninth_below));
    let fourth = v.mul_add_high(fourth, eighth, c608);
    sums[3] = v.mul_add_low(sums[3], eighth, c608);
    let fourth = v.mul_add_low(fourth, v.shift_right::<52>(eighth), c608);
    [sums[0], sums[1], sums[2], sums[3], fourth]
}

/// Returns the square of a factor, plus `start`, and does something else while it waits.
///
/// The products of different limbs below the fourth are added once and doubled; those with limb 4
/// have its double as a factor.
#[inline(always)]
fn square<V: FourVectors>(
    v: V,
    a: &Limbs<V>,
    start: &Start<V>,
    meanwhile: impl FnOnce(),
) -> Limbs<V> {
    let zero = v.splat(0);
    let (c608, c19, c19_shifted) = (v.splat(608), v.splat(19), v.splat(NINETEEN_SHIFTED));
    let Start([s0, s1, s2, s3, s4]) = *start;
    let mut sums: Columns<V> = [s0, s1, s2, s3, zero, zero, zero, zero, zero];
    let (mut once, mut once_high) = ([zero; 9], [zero; 9]);
    macro_rules! low {
        ($columns:ident: $($i:literal $j:literal),+) => {
            $($columns[$i + $j] = v.mul_add_low($columns[$i + $j], a[$i], a[$j]);)+
        };
    }
    macro_rules! high {
        ($columns:ident: $($i:literal $j:literal),+) => {
            $($columns[$i + $j + 1] = v.mul_add_high($columns[$i + $j + 1], a[$i], a[$j]);)+
        };
    }
    low!(sums: 0 0);
    high!(sums: 0 0);
    low!(once: 0 1);
    high!(once: 0 1);
    low!(sums: 1 1);
    high!(sums: 1 1);
    high!(once_high: 1 2, 0 2);
    low!(sums: 2 2);
    let mut fifth_squares = v.mul_add_high(zero, a[2], a[2]);
    low!(once: 0 2, 1 2);
    high!(once_high: 0 3);
    low!(once: 1 3);
    high!(once_high: 1 3);
    low!(once: 2 3);
    high!(once_high: 2 3);
    let ninth = v.mul_add_high(zero, a[4], a[4]);
    let twice = v.shift_left::<1>(a[4]);
    sums[4] = v.mul_add_low(sums[4], a[0], twice);
    fifth_squares = v.mul_add_high(fifth_squares, a[0], twice);
    sums[5] = v.mul_add_low(sums[5], a[1], twice);
    let fourth = v.add(once[4], once_high[4]);
    let fifth = v.add(once[5], once_high[5]);
    low!(once: 0 3);
    low!(sums: 3 3);
    let ninth_above = v.mul_add_high(zero, ninth, c19_shifted);
    let ninth_below = v.mul_add_low(s4, ninth, c19_shifted);
    let fourth = v.shift_left::<1>(fourth);
    let fifth = v.shift_left::<1>(fifth);
    let sixth = v.shift_left::<1>(once_high[6]);
    let first = v.shift_left::<1>(once[1]);
    sums[6] = v.mul_add_high(sums[6], a[1], twice);
    high!(sums: 3 3);
    let fourth = v.add(fourth, sums[4]);
    let fifth = v.add(fifth, fifth_squares);
    let fifth = v.add(fifth, sums[5]);
    let above = v.add(v.shift_right::<TOP_BITS>(fourth), ninth_above);
    let sixth = v.mul_add_low(sixth, a[2], twice);
    sums[0] = v.mul_add_low(sums[0], fifth, c608);
    let above = v.mul_add_low(zero, above, c19);
    let fourth = v.and(fourth, v.splat((1 << TOP_BITS) - 1));
    meanwhile();
    sums[1] = v.add(sums[1], first);
    let carry = v.shift_right::<52>(fifth);
    sums[7] = v.mul_add_high(sums[7], a[2], twice);
    let sixth = v.add(sums[6], sixth);
    sums[1] = v.mul_add_high(sums[1], fifth, c608);
    sums[7] = v.mul_add_low(sums[7], a[3], twice);
    let fourth = v.add(fourth, v.shift_right::<5>(ninth_below));
    let sixth = v.add(sixth, carry);
    let second = v.shift_left::<1>(once[2]);
    let third = v.add(once[3], once_high[3]);
    sums[0] = v.add(sums[0], above);
    sums[1] = v.mul_add_low(sums[1], sixth, c608);
    sums[8] = v.mul_add_high(sums[8], a[3], twice);
    low!(sums: 4 4);
    let third = v.shift_left::<1>(third);
    sums[2] = v.add(sums[2], second);
    let carry = v.shift_right::<52>(sixth);
    let seventh = v.add(sums[7], carry);
    sums[2] = v.mul_add_high(sums[2], sixth, c608);
    let carry = v.shift_right::<52>(seventh);
    sums[3] = v.add(sums[3], third);
    sums[2] = v.mul_add_low(sums[2], seventh, c608);
    sums[3] = v.mul_add_high(sums[3], seventh, c608);
    let eighth = v.add(sums[8], carry);
    let fourth = v.mul_add_high(fourth, eighth, c608);
    sums[3] = v.mul_add_low(sums[3], eighth, c608);
    let fourth = v.mul_add_low(fourth, v.shift_right::<52>(eighth), c608);
    [sums[0], sums[1], sums[2], sums[3], fourth]
}

/// Returns limb j plus the carry from the limb below.
#[inline(always)]
fn carried<V: FourVectors>(v: V, limb: V::Word, below: V::Word) -> V::Word {
    v.add(limb, v.shift_right::<52>(below))
}

/// Returns columns as a factor. The limbs keep what they have carried into the next one, which a
/// product does not read.
#[inline(always)]
fn carry<V: FourVectors>(v: V, columns: &Limbs<V>) -> Limbs<V> {
    let mut factor = *columns;
    each!(V, j < 4 => factor[j + 1] = carried(v, factor[j + 1], factor[j]));
    factor
}

#[inline(always)]
fn load<V: FourVectors>(v: V, limbs: &[Quad; 5]) -> Limbs<V> {
    let mut words = [v.splat(0); 5];
    each!(V, j < 5 => words[j] = v.load(&limbs[j]));
    words
}

/// Returns the four numbers of factors, below 2²⁵⁵.
#[inline(always)]
fn integers<V: FourVectors>(v: V, factors: &Limbs<V>) -> [[Limb; 4]; FOUR] {
    let mut limbs = [Quad([0; FOUR]); 5];
    each!(V, j < 5 => v.store(&mut limbs[j], factors[j]));
    core::array::from_fn(|lane| {
        let [l0, l1, l2, l3, l4] = limbs.map(|limb| limb.0[lane]);
        integer([l0 & LIMB_MASK, l1 & LIMB_MASK, l2 & LIMB_MASK, l3 & LIMB_MASK, l4])
    })
}

/// Returns the limbs of a number below 2²⁵⁵.
const fn limbs(&[w0, w1, w2, w3]: &[Limb; 4]) -> [Limb; 5] {
    [
        w0 & LIMB_MASK,
        (w0 >> 52 | w1 << 12) & LIMB_MASK,
        (w1 >> 40 | w2 << 24) & LIMB_MASK,
        (w2 >> 28 | w3 << 36) & LIMB_MASK,
        w3 >> 16,
    ]
}

/// Returns an integer below 2²⁵⁵ from limbs below 2⁵⁸. The first carries leave less than 2²⁵⁵ +
/// 2²²⁰; if that has bit 255, the rest is short.
fn integer(mut limbs: [Limb; 5]) -> [Limb; 4] {
    for _ in 0..2 {
        for j in 0..4 {
            limbs[j + 1] += limbs[j] >> LANE_LIMB_BITS;
            limbs[j] &= LIMB_MASK;
        }
        limbs[0] += 19 * (limbs[4] >> TOP_BITS);
        limbs[4] &= (1 << TOP_BITS) - 1;
    }
    for j in 0..4 {
        limbs[j + 1] += limbs[j] >> LANE_LIMB_BITS;
        limbs[j] &= LIMB_MASK;
    }
    let [l0, l1, l2, l3, l4] = limbs;
    [l0 | l1 << 52, l1 >> 12 | l2 << 40, l2 >> 24 | l3 << 28, l3 >> 36 | l4 << 16]
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Source, prime};
    use super::*;
    use crate::machine::lanes::Portable;

    pub(super) const UNIT: Limb = 1 << 52;

    /// The bound of limb 4 of a factor.
    pub(super) const TOP: Limb = 1 << 51;

    /// The bound of the column 4 of a product.
    pub(super) const PRODUCT_TOP: Limb = (1 << 48) + (1 << 12);

    pub(super) fn value(limbs: &Limbs<Portable>, lane: usize) -> BigUint {
        limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 52) + limb[lane])
    }

    /// Returns the number that a product reads of a factor, after a check of its bound.
    pub(super) fn read(factor: &Limbs<Portable>, lane: usize) -> BigUint {
        assert!(factor[4][lane] < TOP);
        let mut limbs = *factor;
        limbs[..4].iter_mut().for_each(|limb| limb[lane] &= LIMB_MASK);
        value(&limbs, lane)
    }

    /// Returns a factor, with bits that a product does not read.
    pub(super) fn factor(source: &mut Source) -> Limbs<Portable> {
        core::array::from_fn(|j| {
            core::array::from_fn(|_| match j {
                4 => source.word(0, TOP),
                _ => source.word(0, 1 << 52) | (source.next() & 0xff) << 52,
            })
        })
    }

    /// Checks the bounds of columns that started with an offset, or none.
    pub(super) fn check_bounds(columns: &Limbs<Portable>, lane: usize, offset: [Limb; 5]) {
        for (j, column) in columns.iter().enumerate() {
            let bound = if j == 4 { PRODUCT_TOP } else { 11 * UNIT };
            let from_offset = column[lane].checked_sub(offset[j]);
            assert!(from_offset.is_some_and(|column| column < bound), "{j} {lane}");
        }
    }

    #[test]
    fn offsets_are_multiples_of_the_prime() {
        for (multiple, units) in [(2, 16), (4, 16), (8, 48), (12, 64)] {
            let quads = transposed(&[offset(multiple, units); FOUR]).map(|quad| quad.0);
            assert_eq!(value(&quads, 3), prime() * multiple);
        }
    }

    #[test]
    fn products_of_factors_at_their_bounds() {
        let (p, mut source) = (prime(), Source(6));
        let offsets = [[0; 5], offset(8, 48), offset(4, 16), offset(12, 64)];
        let start = Start::load(Portable, &transposed(&offsets));
        for round in 0..1000 {
            let [a, b, c] = core::array::from_fn(|_| {
                let mut largest = [[Limb::MAX; FOUR]; 5];
                largest[4] = [TOP - 1; FOUR];
                if round == 0 { largest } else { factor(&mut source) }
            });
            let small: [_; FOUR] = core::array::from_fn(|_| source.word(0, 1 << 18));
            let products = product(Portable, &a, &b, &start, None);
            let with_more = product(Portable, &a, &b, &start, Some((&c, small)));
            let mut called = false;
            let squares = square(Portable, &a, &start, || called = true);
            assert!(called);
            for lane in 0..FOUR {
                let [a, b, c] = [&a, &b, &c].map(|factor| read(factor, lane));
                let results = [
                    (&products, &a * &b),
                    (&with_more, &a * b + c * small[lane]),
                    (&squares, &a * &a),
                ];
                for (columns, expected) in results {
                    check_bounds(columns, lane, offsets[lane]);
                    assert_eq!(value(columns, lane) % &p, expected % &p);
                }
            }
        }
    }

    #[test]
    fn columns_become_factors_and_integers() {
        let (p, mut source) = (prime(), Source(7));
        for round in 0..500 {
            let to = if round % 2 == 0 { 130 * UNIT } else { UNIT };
            let columns: Limbs<Portable> = core::array::from_fn(|j| {
                core::array::from_fn(|_| source.word(0, if j == 4 { TOP - 256 } else { to }))
            });
            let factor = carry(Portable, &columns);
            let found = integers(Portable, &factor);
            for (lane, words) in found.iter().enumerate() {
                let expected = value(&columns, lane);
                assert_eq!(read(&factor, lane), expected);
                let integer = words.iter().rev().fold(BigUint::ZERO, |sum, w| (sum << 64) + *w);
                assert!(integer.bits() <= 255);
                assert_eq!(integer % &p, &expected % &p);
                let again = transposed(&[limbs(words); FOUR]).map(|quad| quad.0);
                assert!(again.iter().all(|limb| limb[2] <= LIMB_MASK));
                assert_eq!(value(&again, 1) % &p, expected % &p);
            }
        }
    }
}
