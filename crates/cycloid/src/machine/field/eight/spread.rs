//! Coefficients of one element side by side: see [`Spread`].
//!
//! Only for backends that multiply limbs as integers.

use super::super::super::hint::hidden_each_time;
use super::super::super::lanes::vector::Vectors;
use super::super::super::lanes::{LANES, Lanes, load};
use super::super::super::words::Limb;
use super::super::spread::{Combination, MAX_TERMS, Order, Term};
use super::super::{Bls12Base, Prime, Spread};
use super::Shape;
use super::base::{M, P, add_complement, add_high, clear_both, high};
use super::columns::{self, Columns, MAX_COLUMNS, carry, each, lanes};
use super::cyclotomic;
use super::residue::shifted;

/// Adds the products of one order to the columns.
#[inline(always)]
fn add_products<V: Vectors>(
    v: V,
    columns: &mut Columns<V>,
    left: [&[Lanes; M]; 2],
    right: [&[Lanes; M]; 2],
    order: &Order,
) {
    let (of_left, of_right) = (v.load(&order.left), v.load(&order.right));
    let mut limbs = [v.splat(0); M];
    each!(V, j < M => {
        limbs[j] = v.permute_two(of_left, v.load(&left[0][j]), v.load(&left[1][j]));
    });
    each!(V, i < M => {
        let row = v.permute_two(of_right, v.load(&right[0][i]), v.load(&right[1][i]));
        let row = v.limb_factor(row);
        each!(V, j < M => {
            let (low, high) = (i + j, high(i + j + 1));
            (columns[low], columns[high]) =
                v.mul_add(columns[low], columns[high], v.limb_factor(limbs[j]), row);
        });
    });
}

/// Implements [`Spread::lane_products`].
///
/// A column receives at most 6·16 halves of products below 2⁵².
#[inline(always)]
fn lane_products<V: Vectors>(
    v: V,
    left: [&[Lanes; M]; 2],
    right: [&[Lanes; M]; 2],
    orders: &[Order],
) -> [Lanes; 2 * M] {
    let columns = columns_of_products(v, left, right, orders);
    let mut out = [Lanes::ZERO; 2 * M];
    each!(V, j < M => {
        v.store(&mut out[2 * j], columns[2 * j]);
        v.store(&mut out[2 * j + 1], columns[2 * j + 1]);
    });
    out
}

/// Implements [`Spread::products_by_lane`].
#[inline(always)]
fn products_by_lane<V: Vectors>(
    v: V,
    left: [&[Lanes; M]; 2],
    right: [&[Lanes; M]; 3],
    lane: usize,
    orders: &[Order; 3],
) -> [Lanes; 2 * M] {
    let mut columns = [v.splat(0); MAX_COLUMNS];
    for (order, right) in orders.iter().zip(&right) {
        // Otherwise the compiler would keep copies of all factors on the stack.
        let left = [hidden_each_time(left[0]), hidden_each_time(left[1])];
        let of_left = v.load(&order.left);
        let mut limbs = [v.splat(0); M];
        each!(V, j < M => {
            limbs[j] = v.permute_two(of_left, v.load(&left[0][j]), v.load(&left[1][j]));
        });
        each!(V, i < M => {
            let row = v.limb_factor(v.splat(right[i].0[lane]));
            each!(V, j < M => {
                let (low, high) = (i + j, high(i + j + 1));
                (columns[low], columns[high]) =
                    v.mul_add(columns[low], columns[high], v.limb_factor(limbs[j]), row);
            });
        });
    }
    add_high(v, &mut columns);
    let mut out = [Lanes::ZERO; 2 * M];
    each!(V, j < M => {
        v.store(&mut out[2 * j], columns[2 * j]);
        v.store(&mut out[2 * j + 1], columns[2 * j + 1]);
    });
    out
}

/// Implements [`Spread::reduced_lane_products`]; factors and sums are not negative.
#[inline(always)]
fn reduced_lane_products<V: Vectors>(
    v: V,
    left: [&[Lanes; M]; 2],
    right: [&[Lanes; M]; 2],
    orders: &[Order],
) -> [Lanes; M] {
    let mut columns = columns_of_products(v, left, right, orders);
    each!(V, i < M => Bls12Base::clear(v, &mut columns, i));
    let mut limbs = columns::from(v, &columns, M);
    carry(v, &mut limbs);
    lanes(v, &limbs)
}

#[inline(always)]
fn columns_of_products<V: Vectors>(
    v: V,
    left: [&[Lanes; M]; 2],
    right: [&[Lanes; M]; 2],
    orders: &[Order],
) -> Columns<V> {
    let mut columns = [v.splat(0); MAX_COLUMNS];
    for order in orders {
        // Otherwise the compiler would keep copies of all factors on the stack.
        let left = [hidden_each_time(left[0]), hidden_each_time(left[1])];
        let right = [hidden_each_time(right[0]), hidden_each_time(right[1])];
        add_products(v, &mut columns, left, right, order);
    }
    add_high(v, &mut columns);
    columns
}

/// Implements [`Spread::reduce_complex`].
///
/// Sums are below 2¹²·p² < 2⁷⁷⁴ in magnitude, so p·2³⁹⁶ makes both parts nonnegative, and adds less
/// than 2³⁶² to the residue, to which a sum adds as little.
#[inline(always)]
fn reduce_complex<V: Vectors>(v: V, sums: [&[Lanes; 2 * M]; 3]) -> [[Lanes; M]; 2] {
    // A column is loaded by the first row that adds to it.
    let mut parts = [[v.splat(0); MAX_COLUMNS]; 2];
    each!(V, c < 9 => [parts[0][c], parts[1][c]] = complex_column(v, sums, c));
    each!(V, i < M => {
        if i + 1 < M {
            let c = M + i + 1;
            [parts[0][c], parts[1][c]] = complex_column(v, sums, c);
        }
        clear_both(v, &mut parts, i);
    });
    let [first, second] = &parts;
    let (mut first, mut second) = (columns::from(v, first, M), columns::from(v, second, M));
    carry(v, &mut first);
    carry(v, &mut second);
    [lanes(v, &first), lanes(v, &second)]
}

/// Returns a column of both parts.
#[inline(always)]
fn complex_column<V: Vectors>(
    v: V,
    [real, imaginary, both]: [&[Lanes; 2 * M]; 3],
    c: usize,
) -> [V::Word; 2] {
    const OFFSET: [Limb; MAX_COLUMNS] = shifted(&Bls12Base::MODULUS, 396);
    let (real, imaginary, both) = (v.load(&real[c]), v.load(&imaginary[c]), v.load(&both[c]));
    let [first, second] = [v.sub(real, imaginary), v.sub(v.sub(both, real), imaginary)];
    if OFFSET[c] == 0 {
        return [first, second];
    }
    let offset = v.splat(OFFSET[c]);
    [v.add(first, offset), v.add(second, offset)]
}

/// Returns a combination plus a multiple of the prime that makes it p or more, with signed limbs
/// below 2⁵⁸ in magnitude.
#[inline(always)]
fn combination<V: Vectors, C: Combination<N>, const N: usize>(
    v: V,
    vectors: [&[Lanes; M]; N],
) -> [V::Word; M] {
    let mut sum = [v.splat(0); M];
    each!(V, j < M => sum[j] = v.splat(const { offset::<C, N>() }[j]));
    const { assert!(C::TERMS.len() <= MAX_TERMS) }
    add_term::<V, C, N, 0>(v, &mut sum, vectors);
    add_term::<V, C, N, 1>(v, &mut sum, vectors);
    add_term::<V, C, N, 2>(v, &mut sum, vectors);
    add_term::<V, C, N, 3>(v, &mut sum, vectors);
    add_term::<V, C, N, 4>(v, &mut sum, vectors);
    add_term::<V, C, N, 5>(v, &mut sum, vectors);
    sum
}

/// Returns two times the prime, and as many times as the negative factors of a lane add up to.
const fn offset<C: Combination<N>, const N: usize>() -> [Limb; M] {
    let (mut most, mut lane) = (0, 0);
    while lane < LANES {
        let (mut total, mut negative, mut term) = (0, 0, 0);
        while term < C::TERMS.len() {
            let Term { times, some, .. } = C::TERMS[term];
            if some >> lane & 1 == 1 {
                total += times.unsigned_abs() as Limb;
                negative += if times < 0 { times.unsigned_abs() as Limb } else { 0 };
            }
            term += 1;
        }
        assert!(total <= 40 && negative <= 20);
        most = if negative > most { negative } else { most };
        lane += 1;
    }
    let mut offset = [0; M];
    let mut j = 0;
    while j < M {
        offset[j] = (2 + most) * P[j];
        j += 1;
    }
    offset
}

#[inline(always)]
fn add_term<V: Vectors, C: Combination<N>, const N: usize, const T: usize>(
    v: V,
    sum: &mut [V::Word; M],
    vectors: [&[Lanes; M]; N],
) {
    let term = const { if T < C::TERMS.len() { C::TERMS[T] } else { Term::EMPTY } };
    if term.some == 0 {
        return;
    }
    let [first, second] = term.vectors.map(|i| vectors[i]);
    let order = v.load(&term.lanes);
    each!(V, j < M => {
        let first = v.load(&first[j]);
        let lanes = if !term.in_place {
            v.permute_two_some(term.some, order, first, v.load(&second[j]))
        } else if term.some != u8::MAX {
            v.only(term.some, first)
        } else {
            first
        };
        let multiple = match term.times.unsigned_abs() {
            1 => lanes,
            2 => v.shift_left::<1>(lanes),
            3 => v.add(lanes, v.shift_left::<1>(lanes)),
            4 => v.shift_left::<2>(lanes),
            8 => v.shift_left::<3>(lanes),
            _ => v.add(v.shift_left::<2>(lanes), v.shift_left::<3>(lanes)),
        };
        sum[j] = if term.times < 0 { v.sub(sum[j], multiple) } else { v.add(sum[j], multiple) };
    });
}

/// Implements [`Spread::factors`].
#[inline(always)]
fn factors<V: Vectors, C: Combination<N>, const N: usize>(
    v: V,
    vectors: [&[Lanes; M]; N],
) -> [Lanes; M] {
    let mut sum = combination::<V, C, N>(v, vectors);
    carry(v, &mut sum);
    lanes(v, &sum)
}

/// Implements [`Spread::combine`].
#[inline(always)]
fn combine<V: Vectors, C: Combination<N>, const N: usize>(
    v: V,
    vectors: [&[Lanes; M]; N],
) -> [Lanes; M] {
    let mut sum = combination::<V, C, N>(v, vectors);
    subtract_multiple(v, &mut sum);
    lanes(v, &sum)
}

/// Subtracts t·p from x, which is from p to 64p, for a t that is at most ⌊x / p⌋.
#[inline(always)]
fn subtract_multiple<V: Vectors>(v: V, sum: &mut [V::Word; M]) {
    add_complement::<V, 0>(v, sum);
    carry(v, sum);
    sum[M - 1] = v.low(sum[M - 1]);
}

/// Implements `Spread` for a token.
macro_rules! spread {
    ($token:ty, $inline:meta, ($($features:literal)?)) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl Spread for $token {
            /// The words are integers times 2³⁸⁴, and lanes times 2⁴¹⁶.
            fn import_factors(
                self,
                words: &[<Bls12Base as Prime>::Words; LANES],
            ) -> [Lanes; M] {
                let mut factors = [Lanes::ZERO; M];
                for (lane, number) in words.iter().enumerate() {
                    load(&mut factors, lane, number);
                }
                factors
            }

            #[inline(always)]
            fn lane_products(
                self,
                left: [&[Lanes; M]; 2],
                right: [&[Lanes; M]; 2],
                orders: &[Order],
            ) -> [Lanes; 2 * M] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn sum(
                    v: $token,
                    left: [&[Lanes; M]; 2],
                    right: [&[Lanes; M]; 2],
                    orders: &[Order],
                ) -> [Lanes; 2 * M] {
                    lane_products(v, left, right, orders)
                }
                // SAFETY: see above.
                unsafe { sum(self, left, right, orders) }
            }

            #[inline(always)]
            fn products_by_lane(
                self,
                left: [&[Lanes; M]; 2],
                right: [&[Lanes; M]; 3],
                lane: usize,
                orders: &[Order; 3],
            ) -> [Lanes; 2 * M] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn sum(
                    v: $token,
                    left: [&[Lanes; M]; 2],
                    right: [&[Lanes; M]; 3],
                    lane: usize,
                    orders: &[Order; 3],
                ) -> [Lanes; 2 * M] {
                    products_by_lane(v, left, right, lane, orders)
                }
                // SAFETY: see above.
                unsafe { sum(self, left, right, lane, orders) }
            }

            #[inline(always)]
            fn reduced_lane_products(
                self,
                left: [&[Lanes; M]; 2],
                right: [&[Lanes; M]; 2],
                orders: &[Order],
            ) -> [Lanes; M] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn sum(
                    v: $token,
                    left: [&[Lanes; M]; 2],
                    right: [&[Lanes; M]; 2],
                    orders: &[Order],
                ) -> [Lanes; M] {
                    reduced_lane_products(v, left, right, orders)
                }
                // SAFETY: see above.
                unsafe { sum(self, left, right, orders) }
            }

            #[inline(always)]
            fn reduce_complex(self, sums: [&[Lanes; 2 * M]; 3]) -> [[Lanes; M]; 2] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn reduce(v: $token, sums: [&[Lanes; 2 * M]; 3]) -> [[Lanes; M]; 2] {
                    reduce_complex(v, sums)
                }
                // SAFETY: see above.
                unsafe { reduce(self, sums) }
            }

            #[inline(always)]
            fn square_cyclotomic(self, parts: &mut [[Lanes; M]; 2], times: usize) {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn square(v: $token, parts: &mut [[Lanes; M]; 2], times: usize) {
                    cyclotomic::square(v, parts, times);
                }
                // SAFETY: see above.
                unsafe { square(self, parts, times) }
            }

            #[inline(always)]
            fn combine<C: Combination<N>, const N: usize>(
                self,
                vectors: [&[Lanes; M]; N],
            ) -> [Lanes; M] {
                $(#[target_feature(enable = $features)])?
                #[inline]
                fn all<C: Combination<N>, const N: usize>(
                    v: $token,
                    vectors: [&[Lanes; M]; N],
                ) -> [Lanes; M] {
                    combine::<_, C, N>(v, vectors)
                }
                // SAFETY: see above.
                unsafe { all::<C, N>(self, vectors) }
            }

            #[inline(always)]
            fn factors<C: Combination<N>, const N: usize>(
                self,
                vectors: [&[Lanes; M]; N],
            ) -> [Lanes; M] {
                $(#[target_feature(enable = $features)])?
                #[inline]
                fn all<C: Combination<N>, const N: usize>(
                    v: $token,
                    vectors: [&[Lanes; M]; N],
                ) -> [Lanes; M] {
                    factors::<_, C, N>(v, vectors)
                }
                // SAFETY: see above.
                unsafe { all::<C, N>(self, vectors) }
            }
        }
    };
}

#[cfg(any(test, not(target_arch = "x86_64")))]
spread!(super::super::super::lanes::Portable, inline(never), ());

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod x86_64 {
    use super::super::super::super::cpu::Ifma;
    use super::*;

    spread!(Ifma, inline, ("avx512f,avx512dq,avx512ifma"));
}
