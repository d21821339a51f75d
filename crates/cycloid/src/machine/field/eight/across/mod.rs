//! Multiples of one point, with four values of a formula in a vector.
//!
//! Each prime has limbs of fewer than 52 bits, so that sums of a few numbers are factors without
//! carries. A word holds 64 bits: the low and the high halves of products, 52 bits each, are
//! collected apart, and a carry takes one step, since no limb waits for another.
//!
//! **Bounds** are multiples of a prime's [unit](Across::UNIT), both of the limbs and of the number.
//! A limb is *carried* if it exceeds a full one by less than 2²³. A *reduced* number has carried
//! limbs, and a bound of 1.1 units. Coordinates of points have carried limbs, and are below 256
//! units; see [`Across::COORDINATE`]. The comments at the formulas have the bound of each factor.

mod p256;
mod p384;
mod p521;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;

use super::super::super::lanes::four::{FOUR, FourVectors, Quad, quad, transposed};
use super::super::super::words::{LIMB_BITS, Limb};
use super::super::Prime;
use super::super::curve::{Addition, MULTIPLES_OF_ONE as MULTIPLES, MultiplesOfOne};
use super::super::form::doubled;
use super::columns::each;

/// The low or the high halves in the columns of a product: those at the places of a factor's limbs,
/// then those above.
type Columns<V, const N: usize> = [[<V as FourVectors>::Word; N]; 2];

/// A prime, and its numbers as N limbs.
pub(super) trait Across<const N: usize>: Prime {
    /// Bits of a limb.
    const RADIX_BITS: usize;

    /// A multiple of the prime. Twice as much exceeds a reduced number in each limb.
    const UNIT: [Limb; N];

    /// A multiple of the prime that exceeds every coordinate in each limb, with limbs of at most
    /// three units.
    const COORDINATE: [Limb; N];

    /// The number 1 in the form of factors.
    const ONE: [Limb; N];

    /// The initial columns of a product.
    const START: [[Limb; N]; 2] = [[0; N]; 2];

    /// Returns carried limbs of a number whose limbs are below 2⁶⁴.
    fn carry<V: FourVectors>(v: V, limbs: &[V::Word; N]) -> [V::Word; N];

    /// Makes factors of numbers below 64 units.
    #[inline(always)]
    fn factor<V: FourVectors>(_: V, limbs: &[V::Word; N]) -> [V::Word; N] {
        *limbs
    }

    /// Reduces column i of a product into those above; it is complete with the carry from the one
    /// below, which becomes that to the one above.
    fn reduce<V: FourVectors>(
        v: V,
        i: usize,
        columns: &mut [Columns<V, N>; 2],
        carry: &mut V::Word,
    );

    /// Returns the limbs of a product, not carried, after all steps of [`reduce`](Self::reduce).
    fn sum<V: FourVectors>(v: V, columns: &[Columns<V, N>; 2], carry: V::Word) -> [V::Word; N];

    /// Returns factors from integers.
    fn enter<V: FourVectors>(v: V, integers: &[V::Word; N]) -> [V::Word; N];

    /// Returns integers, reduced, from factors.
    fn leave<V: FourVectors>(v: V, factors: &[V::Word; N]) -> [V::Word; N];

    /// Returns an integer below 2^[`BITS`](Prime::BITS) from the limbs of a reduced one.
    fn integer(limbs: [Limb; N]) -> Self::Words;
}

/// Implements the sum for a backend's token and a prime with its number of limbs.
macro_rules! of_one {
    ($token:ty, ($($features:literal)?), $prime:ident $limbs:literal) => {
        #[inline(always)]
        fn sum_of_one(
            self,
            points: &[&$crate::machine::field::MultiplesOfOne<$prime>],
            additions: &[$crate::machine::field::Addition],
        ) -> Option<[<$prime as Prime>::Words; 3]> {
            $(#[target_feature(enable = $features)])?
            #[inline(never)]
            fn sum(
                v: $token,
                points: &[&$crate::machine::field::MultiplesOfOne<$prime>],
                additions: &[$crate::machine::field::Addition],
            ) -> [<$prime as Prime>::Words; 3] {
                $crate::machine::field::eight::across::sum_of_one::<_, $prime, $limbs>(
                    v, points, additions,
                )
            }
            // SAFETY: the token proves the instructions that the function is compiled for.
            Some(unsafe { sum(self, points, additions) })
        }
    };
}
pub(super) use of_one;

/// Returns a sum of multiples of one or two points; see `CurveArithmetic::sum_of_one`.
#[inline(always)]
pub(super) fn sum_of_one<V: FourVectors, P: Across<N>, const N: usize>(
    v: V,
    points: &[&MultiplesOfOne<P>],
    additions: &[Addition],
) -> [P::Words; 3] {
    let mut tables = [const { Table::<P, N>::EMPTY }; 2];
    for (table, multiples) in tables.iter_mut().zip(points) {
        table.fill(v, multiples);
    }
    let mut sum = [v.splat(0); N];
    for (i, addition) in additions.iter().enumerate() {
        let addend = tables[usize::from(addition.point) % 2].look_up(v, addition.digit);
        sum = if i == 0 { affine::<V, P, N>(v, &addend) } else { add::<V, P, N>(v, &sum, &addend) };
        for _ in 0..addition.doublings {
            sum = double::<V, P, N>(v, &sum);
        }
    }
    coordinates::<V, P, N>(v, &sum)
}

/// The odd multiples of a point: x and y of the first eight in the lanes 0 and 1, those of the
/// others in the lanes 2 and 3.
struct Table<P, const N: usize> {
    entries: [[Quad; N]; MULTIPLES / 2],
    prime: PhantomData<P>,
}

impl<P: Across<N>, const N: usize> Table<P, N> {
    const EMPTY: Self = Self { entries: [[Quad([0; FOUR]); N]; MULTIPLES / 2], prime: PhantomData };

    #[inline(always)]
    fn fill<V: FourVectors>(&mut self, v: V, multiples: &MultiplesOfOne<P>) {
        for (i, entry) in self.entries.iter_mut().enumerate() {
            let ([x0, y0], [x1, y1]) = (&multiples[i], &multiples[i + MULTIPLES / 2]);
            let numbers = transposed(&[x0, y0, x1, y1].map(limbs::<P, N>));
            let factors = P::enter(v, &load(v, &numbers));
            *entry = stored(v, &factors);
        }
    }

    /// Returns the multiple of a digit, x and y in the lanes 0 and 1: the low four bits of the digit
    /// are the index, and bit 4 says whether the multiple is negated. Every entry is read.
    #[inline(always)]
    fn look_up<V: FourVectors>(&self, v: V, digit: u8) -> [V::Word; N] {
        let digit = Limb::from(digit);
        let mut found = [v.splat(0); N];
        for (i, entry) in (0..).zip(&self.entries) {
            // The top bit is 1 for the index alone.
            let is_index = v.top_bits(v.splat((digit & 7 ^ i).wrapping_sub(1)));
            each!(V, j < N => found[j] = v.choose(is_index, v.load(&entry[j]), found[j]));
        }
        let half = digit >> 2 & 2;
        let lanes = quad(v, [half, half | 1, half, half | 1]);
        let is_negative = v.top_bits(v.splat(digit << (LIMB_BITS - 5)));
        let offset = load(v, const { &offsets::<P, N>([0, 2, 0, 2]) });
        each!(V, j < N => {
            let kept = v.permute(found[j], lanes);
            let negated = v.sub_some::<0b1010>(kept, offset[j], kept);
            found[j] = v.choose(is_negative, negated, kept);
        });
        found
    }
}

/// Returns a point in affine coordinates, x and y in the lanes 0 and 1, as X, Y, Y + Z and Z².
#[inline(always)]
fn affine<V: FourVectors, P: Across<N>, const N: usize>(
    v: V,
    point: &[V::Word; N],
) -> [V::Word; N] {
    let lanes = quad(v, [0, 1, 1, 1]);
    let ones = load(v, const { &transposed(&[[0; N], [0; N], P::ONE, P::ONE]) });
    let zero = v.splat(0);
    let mut sums = [zero; N];
    each!(V, j < N => {
        let point = v.permute(point[j], lanes);
        let point = v.add_some::<0b1000>(point, zero, zero);
        sums[j] = v.add(point, ones[j]);
    });
    P::carry(v, &sums)
}

/// Returns X, Y and Z of a point given by X, Y, Y + Z and Z².
#[inline(always)]
fn coordinates<V: FourVectors, P: Across<N>, const N: usize>(
    v: V,
    point: &[V::Word; N],
) -> [P::Words; 3] {
    let lanes = quad(v, [1; 4]);
    let offset = load(v, const { &with_coordinates::<P, N>([0; 4], [0, 0, 1, 0]) });
    let mut sums = *point;
    each!(V, j < N => {
        let sum = v.add(point[j], offset[j]);
        sums[j] = v.sub_some::<0b0100>(sum, sum, v.permute(point[j], lanes));
    });
    let sums = P::leave(v, &sums);
    let quads = stored(v, &sums);
    core::array::from_fn(|lane| P::integer(quads.map(|quad| quad.0[lane])))
}

/// Returns the limbs of an integer.
fn limbs<P: Across<N>, const N: usize>(integer: &P::Words) -> [Limb; N] {
    let words = integer.as_ref();
    core::array::from_fn(|j| {
        let (word, shift) = (j * P::RADIX_BITS / LIMB_BITS, j * P::RADIX_BITS % LIMB_BITS);
        let at = |word: usize| words.get(word).copied().unwrap_or(0);
        let above = at(word + 1) << 1 << (LIMB_BITS - 1 - shift);
        (at(word) >> shift | above) & ((1 << P::RADIX_BITS) - 1)
    })
}

/// Returns the integer of limbs, each full or less.
fn joined<P: Across<N>, const N: usize>(limbs: &[Limb; N]) -> P::Words {
    let mut integer = <P::Words as super::super::Limbs>::ZERO;
    let words = integer.as_mut();
    for (j, limb) in limbs.iter().enumerate() {
        let (word, shift) = (j * P::RADIX_BITS / LIMB_BITS, j * P::RADIX_BITS % LIMB_BITS);
        if word < words.len() {
            words[word] |= limb << shift;
        }
        if shift > LIMB_BITS - P::RADIX_BITS && word + 1 < words.len() {
            words[word + 1] = limb >> (LIMB_BITS - shift);
        }
    }
    integer
}

/// Returns as many units as each lane has.
const fn offsets<P: Across<N>, const N: usize>(units: [Limb; FOUR]) -> [Quad; N] {
    with_coordinates::<P, N>(units, [0; FOUR])
}

/// Returns as many units, and as many times [`Across::COORDINATE`], as each lane has.
const fn with_coordinates<P: Across<N>, const N: usize>(
    units: [Limb; FOUR],
    coordinates: [Limb; FOUR],
) -> [Quad; N] {
    let mut numbers = [[0; N]; FOUR];
    let mut lane = 0;
    while lane < FOUR {
        let mut j = 0;
        while j < N {
            numbers[lane][j] = units[lane] * P::UNIT[j] + coordinates[lane] * P::COORDINATE[j];
            j += 1;
        }
        lane += 1;
    }
    transposed(&numbers)
}

#[inline(always)]
fn load<V: FourVectors, const N: usize>(v: V, quads: &[Quad; N]) -> [V::Word; N] {
    let mut words = [v.splat(0); N];
    each!(V, j < N => words[j] = v.load(&quads[j]));
    words
}

#[inline(always)]
fn stored<V: FourVectors, const N: usize>(v: V, words: &[V::Word; N]) -> [Quad; N] {
    let mut quads = [Quad([0; FOUR]); N];
    each!(V, j < N => v.store(&mut quads[j], words[j]));
    quads
}

/// Returns the columns of an empty product.
#[inline(always)]
fn start<V: FourVectors, P: Across<N>, const N: usize>(v: V) -> [Columns<V, N>; 2] {
    let zero = v.splat(0);
    let (mut low, high) = ([[zero; N]; 2], [[zero; N]; 2]);
    each!(V, j < N => {
        if P::START[0][j] != 0 {
            low[0][j] = v.splat(P::START[0][j]);
        }
        if P::START[1][j] != 0 {
            low[1][j] = v.splat(P::START[1][j]);
        }
    });
    [low, high]
}

/// Returns the products of factors, reduced.
#[inline(always)]
fn product<V: FourVectors, P: Across<N>, const N: usize>(
    v: V,
    a: &[V::Word; N],
    b: &[V::Word; N],
) -> [V::Word; N] {
    let (mut columns, mut carry) = (start::<V, P, N>(v), v.splat(0));
    each!(V, i < N => {
        each!(V, j < N => {
            let column = &mut columns[0][(i + j) / N][(i + j) % N];
            *column = v.mul_add_low(*column, a[i], b[j]);
        });
        each!(V, j < N => {
            let column = &mut columns[1][(i + j + 1) / N][(i + j + 1) % N];
            *column = v.mul_add_high(*column, a[i], b[j]);
        });
        P::reduce(v, i, &mut columns, &mut carry);
    });
    P::carry(v, &P::sum(v, &columns, carry))
}

/// Returns the products of factors and a constant, reduced.
#[inline(always)]
fn times<V: FourVectors, P: Across<N>, const N: usize>(
    v: V,
    factors: &[V::Word; N],
    constant: &[Limb; N],
) -> [V::Word; N] {
    let mut constants = *factors;
    each!(V, j < N => constants[j] = v.splat(constant[j]));
    product::<V, P, N>(v, factors, &constants)
}

/// Returns the squares of factors, plus `addend`, with carried limbs. The products of different
/// limbs have the double of one as a factor.
#[inline(always)]
fn square<V: FourVectors, P: Across<N>, const N: usize>(
    v: V,
    a: &[V::Word; N],
    addend: Option<&[V::Word; N]>,
) -> [V::Word; N] {
    let (mut columns, mut carry) = (start::<V, P, N>(v), v.splat(0));
    let mut twice = *a;
    each!(V, j < N => twice[j] = v.add(a[j], a[j]));
    each!(V, i < N => {
        {
            let column = &mut columns[0][2 * i / N][2 * i % N];
            *column = v.mul_add_low(*column, a[i], a[i]);
            let column = &mut columns[1][(2 * i + 1) / N][(2 * i + 1) % N];
            *column = v.mul_add_high(*column, a[i], a[i]);
        }
        each!(V, j < N => {
            if j > i {
                let column = &mut columns[0][(i + j) / N][(i + j) % N];
                *column = v.mul_add_low(*column, a[i], twice[j]);
                let column = &mut columns[1][(i + j + 1) / N][(i + j + 1) % N];
                *column = v.mul_add_high(*column, a[i], twice[j]);
            }
        });
        P::reduce(v, i, &mut columns, &mut carry);
    });
    let mut sum = P::sum(v, &columns, carry);
    if let Some(addend) = addend {
        each!(V, j < N => sum[j] = v.add(sum[j], addend[j]));
    }
    P::carry(v, &sum)
}

/// Returns twice a point: X, Y, Y + Z and Z², with the double of the usual Z. With M = 3·(X² − Z⁴),
/// S = 4·X·Y², X₃ = M² − 2·S and D = S − X₃, the new coordinates are 4·X₃, 8·(M·D − 8·Y⁴) and
/// 2·(2·Y·Z). Every product is a difference of squares.
#[inline(always)]
fn double<V: FourVectors, P: Across<N>, const N: usize>(
    v: V,
    point: &[V::Word; N],
) -> [V::Word; N] {
    let zero = v.splat(0);
    let squares = square::<V, P, N>(v, point, None);
    // X + Y², Y², m = X² − Z⁴ and 2·Y·Z = (Y + Z)² − Y² − Z².
    let (first, second) = (quad(v, [1, 1, 0, 2]), quad(v, [0, 0, 3, 1]));
    let offset = load(v, const { &with_coordinates::<P, N>([0, 0, 2, 1], [0, 0, 0, 1]) });
    let mut factors = [zero; N];
    let mut addend = load(v, const { &offsets::<P, N>([2, 0, 0, 0]) });
    let mut other_addend = addend;
    each!(V, j < N => {
        let mut t = v.add(v.permute(squares[j], first), offset[j]);
        t = v.sub_some::<0b1000>(t, t, point[j]);
        t = v.add_some::<0b0001>(t, t, point[j]);
        factors[j] = v.sub_some::<0b1100>(t, t, v.permute(squares[j], second));
        addend[j] = v.sub_some::<0b0001>(addend[j], addend[j], squares[j]);
    });
    // 2·X·Y² + Y⁴ = (X + Y²)² − X², Y⁴, m², (2·Y·Z)²; the first is below 3.1 units.
    let second_squares = square::<V, P, N>(v, &factors, Some(&addend));
    // e = 2·X·Y² in the lanes 0 to 2, and f = 3·m² and 9·m²; twice e less f, or f less four times e.
    let (shifts, more_shifts) = (quad(v, [1, 1, 2, 2]), quad(v, [1, 1, 3, 0]));
    let offset = load(v, const { &offsets::<P, N>([2, 2, 2, 0]) });
    let other_offset = load(v, const { &offsets::<P, N>([4, 4, 22, 0]) });
    let (lanes_0, lanes_1, lanes_2) = (quad(v, [0, 0, 0, 3]), quad(v, [1; 4]), quad(v, [2; 4]));
    let (mut sums, mut yyyy) = ([zero; N], [zero; N]);
    each!(V, j < N => {
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
        other_addend[j] = v.sub_some::<0b0001>(other_addend[j], other_addend[j], mm);
    });
    // m + D/3 with D/3 = S − 3·m², D/3, X₃ = 9·m² − 2·S and the new Z²: below 18, 15, 32, 5 units.
    let sums = P::factor(v, &sums);
    let third_squares = square::<V, P, N>(v, &sums, Some(&other_addend));
    let offset = load(v, const { &offsets::<P, N>([0, 28, 28, 0]) });
    let (lanes_x, lanes_3) = (quad(v, [2, 2, 2, 3]), quad(v, [3; 4]));
    let last_shifts = quad(v, [2, 2, 2, 0]);
    let lanes_0 = quad(v, [0; 4]);
    let mut double = [zero; N];
    each!(V, j < N => {
        // 2·M·D = 9·((m + D/3)² − m² − (D/3)²).
        let (p, q) = (v.permute(third_squares[j], lanes_0), v.permute(third_squares[j], lanes_1));
        let t = v.sub(p, q);
        let t = v.add(t, v.shift_left::<3>(t));
        let t = v.add(t, offset[j]);
        let t = v.sub(t, v.shift_left::<4>(yyyy[j]));
        let t = v.add_some::<0b1001>(t, v.permute(sums[j], lanes_x), zero);
        let t = v.shift_left_each(t, last_shifts);
        let z = v.permute(factors[j], lanes_3);
        double[j] = v.add_some::<0b0100>(t, t, v.add(z, z));
    });
    P::carry(v, &double)
}

/// Adds a point in affine coordinates, x and y in the lanes 0 and 1.
#[inline(always)]
fn add<V: FourVectors, P: Across<N>, const N: usize>(
    v: V,
    point: &[V::Word; N],
    addend: &[V::Word; N],
) -> [V::Word; N] {
    let zero = v.splat(0);
    let (lanes_0, lanes_1, lanes_z) = (quad(v, [0; 4]), quad(v, [1; 4]), quad(v, [3, 2, 2, 2]));
    let offset = load(v, const { &with_coordinates::<P, N>([0; 4], [0, 1, 1, 1]) });
    let (mut z, mut x1, mut y1) = ([zero; N], [zero; N], [zero; N]);
    each!(V, j < N => {
        x1[j] = v.permute(point[j], lanes_0);
        y1[j] = v.permute(point[j], lanes_1);
        let t = v.add(v.permute(point[j], lanes_z), offset[j]);
        z[j] = v.sub_some::<0b1110>(t, t, y1[j]);
    });
    // U₂ = x₂·Z², y₂·Z.
    let first = product::<V, P, N>(v, &z, addend);
    let (lanes_left, lanes_right) = (quad(v, [0, 1, 0, 1]), quad(v, [0, 0, 1, 1]));
    let offset = load(v, const { &with_coordinates::<P, N>([0; 4], [1, 0, 1, 0]) });
    let (mut left, mut right, mut next) = ([zero; N], [zero; N], [zero; N]);
    each!(V, j < N => {
        let t = v.add(v.permute(first[j], lanes_left), offset[j]);
        left[j] = v.sub_some::<0b0101>(t, t, x1[j]);
        right[j] = v.add_some::<0b0001>(v.permute(z[j], lanes_right), left[j], zero);
        // H and X.
        next[j] = v.add_some::<0b0001>(x1[j], left[j], zero);
    });
    // H², S₂, Z₃.
    let second = product::<V, P, N>(v, &left, &right);
    let lanes = quad(v, [0, 0, 1, 2]);
    let offset = load(v, const { &with_coordinates::<P, N>([0; 4], [0, 0, 1, 0]) });
    let mut r = [zero; N];
    each!(V, j < N => {
        let t = v.add(v.permute(second[j], lanes), offset[j]);
        r[j] = v.sub_some::<0b0100>(t, t, y1[j]);
        next[j] = v.add_some::<0b1100>(next[j], r[j], zero);
    });
    // H³, V = X·H², R², Z₃².
    let third = product::<V, P, N>(v, &next, &r);
    let lanes_2 = quad(v, [2; 4]);
    let offset = load(v, const { &offsets::<P, N>([2, 0, 0, 0]) });
    let (mut left, mut right, mut x) = ([zero; N], [zero; N], [zero; N]);
    let x_offset = load(v, const { &offsets::<P, N>([4, 2, 2, 0]) });
    each!(V, j < N => {
        let vv = v.permute(third[j], lanes_1);
        let rr = v.permute(third[j], lanes_2);
        let hhh = v.permute(third[j], lanes_0);
        let t = v.add(hhh, v.add(vv, vv));
        let t2 = v.add(v.add(t, vv), offset[j]);
        let t2 = v.sub_some::<0b0001>(t2, t2, rr);
        left[j] = v.add_some::<0b0010>(t2, hhh, zero);
        right[j] = v.add_some::<0b0001>(y1[j], v.permute(r[j], lanes_2), zero);
        x[j] = v.sub(v.add(x_offset[j], rr), t);
    });
    // R·(V − X₃), Y·H³; V − X₃ is below 6.4 units.
    let fourth = product::<V, P, N>(v, &left, &right);
    let mut sum = [zero; N];
    each!(V, j < N => {
        let p = v.add(v.permute(fourth[j], lanes_0), x_offset[j]);
        let t = v.sub(p, v.permute(fourth[j], lanes_1));
        let t = v.add_some::<0b0100>(t, t, v.permute(second[j], lanes_2));
        let t = v.add_some::<0b0001>(t, x[j], zero);
        sum[j] = v.add_some::<0b1000>(t, third[j], zero);
    });
    P::carry(v, &sum)
}

/// Returns the upper columns with the carry from below, for limbs of 46 bits: what a product has
/// left after Montgomery reduction.
#[inline(always)]
fn upper<V: FourVectors, const N: usize>(
    v: V,
    [low, high]: &[Columns<V, N>; 2],
    carry: V::Word,
) -> [V::Word; N] {
    let mut sum = low[1];
    each!(V, j < N => sum[j] = v.add(sum[j], v.shift_left::<6>(high[1][j])));
    sum[0] = v.add(sum[0], carry);
    sum
}

/// Returns the carries into the limbs: into each the excess of the one below, and zero into the first.
#[inline(always)]
fn carries<V: FourVectors, const BITS: u32, const N: usize>(
    v: V,
    limbs: &[V::Word; N],
) -> [V::Word; N] {
    let mut carries = [v.splat(0); N];
    each!(V, j < N => {
        if j + 1 < N {
            carries[j + 1] = v.shift_right::<BITS>(limbs[j]);
        }
    });
    carries
}

/// Returns carried limbs, except that the top one keeps its excess.
#[inline(always)]
fn carried<V: FourVectors, const BITS: u32, const N: usize>(
    v: V,
    limbs: &[V::Word; N],
) -> [V::Word; N] {
    let mask = v.splat((1 << BITS) - 1);
    let mut carried = carries::<V, BITS, N>(v, limbs);
    carried[0] = v.and(limbs[0], mask);
    each!(V, j < N => {
        if j > 0 {
            let rest = if j + 1 < N { v.and(limbs[j], mask) } else { limbs[j] };
            carried[j] = v.add(carried[j], rest);
        }
    });
    carried
}

/// Returns a multiple of a prime in limbs of `bits` bits, each but the top one at least `least` and
/// less than a full limb above it.
const fn multiple<const N: usize>(
    modulus: &[Limb],
    count: Limb,
    bits: usize,
    least: Limb,
) -> [Limb; N] {
    let mut limbs = [0; N];
    let (mut carry, mut j) = (0i128, 0);
    while j < N {
        let (word, shift) = (j * bits / LIMB_BITS, j * bits % LIMB_BITS);
        let low = if word < modulus.len() { modulus[word] >> shift } else { 0 };
        let high = if word + 1 < modulus.len() {
            modulus[word + 1] << 1 << (LIMB_BITS - 1 - shift)
        } else {
            0
        };
        let digit = ((low | high) & ((1 << bits) - 1)) as i128 * count as i128 + carry;
        let mut limb = digit & ((1 << bits) - 1);
        if j + 1 == N {
            limb = digit;
        } else if limb < least as i128 {
            limb += (least as i128 - limb + (1 << bits) - 1) >> bits << bits;
        }
        carry = (digit - limb) >> bits;
        limbs[j] = limb as Limb;
        j += 1;
    }
    limbs
}

/// Returns a power of two modulo a prime, in limbs of `bits` bits.
const fn power_of_two<const W: usize, const N: usize>(
    modulus: &[Limb; W],
    exponent: usize,
    bits: usize,
) -> [Limb; N] {
    let mut power = [0; W];
    power[0] = 1;
    let mut i = 0;
    while i < exponent {
        power = doubled(&power, modulus);
        i += 1;
    }
    multiple(&power, 1, bits, 0)
}
