//! P-256 in formulas: sums and differences of products without carries, and with few folds.
//!
//! A [`Sum`] has five signed columns: column i counts 2^(52·i). A [`Factor`] has five words, whose
//! low 52 bits are the limbs of a number; only factors are multiplied, and only a sum that becomes a
//! factor is carried. A product is a sum: the upper columns after Montgomery reduction.
//!
//! **Bounds** are multiples of 2²⁵². The bound of p is 16, that of R = 2²⁶⁰ is 256. If a and b are
//! below A and B, their product is below A·B / 256 + 16. A factor must be from 0 to below 256, so
//! each difference gets a multiple of p. An element is below 128, and a [folded](folded) number is
//! below 17. The comments at the formulas have the bound of each number.
//!
//! Products are computed two at a time, because each has chains of sums in a few columns, and there
//! are registers for the columns of two.
//!
//! For backends whose factors are the limbs themselves ([`Vectors::CONVERTS`] is false).

use super::super::super::lanes::vector::Vectors;
use super::super::super::lanes::{LANE_LIMB_BITS, Lanes};
use super::super::super::words::Limb;
use super::super::{CurveArithmetic, P256, Prime};
use super::columns::{Columns, MAX_COLUMNS, add_rows, carry, each};
use super::{Shape, across};

/// The limbs of a number.
const M: usize = 5;

type Element = [Lanes; M];

/// Signed columns, below 2⁶⁰ in magnitude.
type Sum<V> = [<V as Vectors>::Word; M];

/// Words whose low 52 bits are limbs.
type Factor<V> = [<V as Vectors>::Word; M];

/// Returns `count`·p = `count`·(2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶ − 1) as signed columns.
const fn multiple(count: Limb) -> [Limb; M] {
    [count.wrapping_neg(), count << 44, 0, count << 36, (count << 48) - (count << 16)]
}

/// Doubles a point `times` times: the formula of `CurveArithmetic::double_times`.
#[inline(always)]
fn double<V: Vectors>(v: V, [x, y, z]: &[Element; 3], times: usize) -> [Element; 3] {
    // X and Y are below 17, Z below 128, also after a doubling.
    let mut x = folded(v, load(v, x));
    let mut y = folded(v, load(v, y));
    let mut z = load(v, z);
    for _ in 0..times {
        let [zz, yy] = squares(v, [&z, &y]); // 80, 18
        let yy = factor(v, yy);
        let less = factor(v, sub(v, &plus(v, &x, &multiple(6)), &zz)); // 113
        let more = factor(v, add(v, &x, &zz)); // 97
        let [m, s] = products(v, [[&less, &more], [&x, &yy]], [&multiple(0), &multiple(1)]);
        // 3·(X − Z²)·(X + Z²): 177. 4·X·Y² + 4p: 4·(18 + 16) = 136.
        let m = factor(v, add(v, &add(v, &m, &m), &m));
        let s = scaled::<V, 2>(v, &s);
        // X₃ = M² − 2·S, plus 17p so that it is positive: below 139 + 272.
        let (mm, yyyy) = square_and_columns(v, &m, &yy, &multiple(17));
        let x3 = folded(v, sub(v, &mm, &add(v, &s, &s)));
        // M·(S − X₃) − 8·Y⁴ + p, where S − X₃ is below 136: below 95 + 32. 2·Y·Z: below 49.
        let difference = factor(v, sub(v, &s, &x3));
        let mut columns = [start(v, &multiple(1)), start(v, &multiple(0))];
        each!(V, j < 5 => {
            columns[0][j] = v.sub(columns[0][j], v.shift_left::<3>(yyyy[j]));
            columns[0][M + j] = v.sub(columns[0][M + j], v.shift_left::<3>(yyyy[M + j]));
        });
        let [y3, z3] = add_products(v, [[&m, &difference], [&y, &z]], columns);
        x = x3;
        y = folded(v, y3);
        z = factor(v, add(v, &z3, &z3));
    }
    [store(v, &x), store(v, &y), store(v, &z)]
}

/// Adds a point in affine coordinates: the formula of `CurveArithmetic::add_affine`.
#[inline(always)]
fn add_affine<V: Vectors>(
    v: V,
    [x1, y1, z1]: &[Element; 3],
    [x2, y2]: &[Element; 2],
) -> [Element; 5] {
    // All are below 128.
    let [x1, y1, z1] = [load(v, x1), load(v, y1), load(v, z1)];
    let [x2, y2] = [load(v, x2), load(v, y2)];
    let [zz] = squares(v, [&z1]); // 80
    let zz = factor(v, zz);
    // H = x₂·Z² − X₁ + 9p: below 200 before it is folded.
    let [u2, zzz] = products(v, [[&x2, &zz], [&z1, &zz]], [&multiple(9), &multiple(0)]);
    let h = folded(v, sub(v, &u2, &x1));
    let zzz = factor(v, zzz); // 56
    // R = y₂·Z³ − Y₁ + 9p: below 188 before it is folded. Z₃ = Z·H: 25.
    let [s2, z3] = products(v, [[&y2, &zzz], [&z1, &h]], [&multiple(9), &multiple(0)]);
    let r = folded(v, sub(v, &s2, &y1));
    let [hh, rr] = squares(v, [&h, &r]); // 18, 18
    let hh = factor(v, hh);
    let [hhh, product] = products(v, [[&h, &hh], [&x1, &hh]], [&multiple(0); 2]); // 18, 25
    // X₃ = R² − H³ − 2·X₁·H² + 5p: below 98.
    let twice = add(v, &product, &product);
    let x3 = factor(v, sub(v, &plus(v, &sub(v, &rr, &hhh), &multiple(5)), &twice));
    let hhh = factor(v, hhh);
    // X₁·H² − X₃ + 7p: below 137. R·(X₁·H² − X₃) − Y₁·H³ + p: below 10 + 32.
    let x3 = masked(v, &x3);
    let difference = factor(v, sub(v, &plus(v, &product, &multiple(7)), &x3));
    let y3 = difference_of_products(v, [&r, &difference], [&y1, &hhh], &multiple(1));
    let (y3, z3) = (factor(v, y3), factor(v, z3));
    [store(v, &x3), store(v, &y3), store(v, &z3), store(v, &h), store(v, &r)]
}

#[inline(always)]
fn load<V: Vectors>(v: V, limbs: &Element) -> Factor<V> {
    let mut words = [v.splat(0); M];
    each!(V, j < 5 => words[j] = v.load(&limbs[j]));
    words
}

#[inline(always)]
fn store<V: Vectors>(v: V, factor: &Factor<V>) -> Element {
    let mut limbs = [Lanes::ZERO; M];
    each!(V, j < 5 => v.store(&mut limbs[j], v.low(factor[j])));
    limbs
}

/// Returns the words with their low 52 bits only.
#[inline(always)]
fn masked<V: Vectors>(v: V, factor: &Factor<V>) -> Factor<V> {
    let mut words = [v.splat(0); M];
    each!(V, j < 5 => words[j] = v.low(factor[j]));
    words
}

#[inline(always)]
fn add<V: Vectors>(v: V, a: &Sum<V>, b: &Sum<V>) -> Sum<V> {
    let mut sum = *a;
    each!(V, j < 5 => sum[j] = v.add(a[j], b[j]));
    sum
}

#[inline(always)]
fn sub<V: Vectors>(v: V, a: &Sum<V>, b: &Sum<V>) -> Sum<V> {
    let mut difference = *a;
    each!(V, j < 5 => difference[j] = v.sub(a[j], b[j]));
    difference
}

/// Returns a plus a constant.
#[inline(always)]
fn plus<V: Vectors>(v: V, a: &Sum<V>, constant: &[Limb; M]) -> Sum<V> {
    let mut sum = *a;
    each!(V, j < 5 => {
        if constant[j] != 0 {
            sum[j] = v.add(a[j], v.splat(constant[j]));
        }
    });
    sum
}

/// Returns a·2^BITS.
#[inline(always)]
fn scaled<V: Vectors, const BITS: u32>(v: V, a: &Sum<V>) -> Sum<V> {
    let mut product = *a;
    each!(V, j < 5 => product[j] = v.shift_left::<BITS>(a[j]));
    product
}

/// Carries a sum from 0 to below 2²⁶⁰.
#[inline(always)]
fn factor<V: Vectors>(v: V, mut sum: Sum<V>) -> Factor<V> {
    each!(V, j < 4 => {
        let carry = v.shift_right_signed::<{ LANE_LIMB_BITS as u32 }>(sum[j]);
        sum[j + 1] = v.add(sum[j + 1], carry);
    });
    sum
}

/// Returns a nonnegative sum, less t times p, with limbs of 52 bits.
///
/// t is the part of the top column from bit 256 on, at most 2⁵. The other columns are below 2⁶⁰, so
/// the sum less t·2²⁵⁶ is between −2²¹⁷ and 2²⁵⁶ + 2²¹⁷. If it is negative, then t is not 0, so t·(2²⁵⁶
/// − p) exceeds 2²²³. The result is below 2²⁵⁶ + 2²³⁰.
#[inline(always)]
fn folded<V: Vectors>(v: V, mut sum: Sum<V>) -> Factor<V> {
    P256::fold::<V, 0>(v, &mut sum);
    carry(v, &mut sum);
    sum
}

/// Returns columns with a multiple of p in the upper half.
#[inline(always)]
fn start<V: Vectors>(v: V, upper: &[Limb; M]) -> Columns<V> {
    let mut columns = [v.splat(0); MAX_COLUMNS];
    each!(V, j < 5 => columns[M + j] = v.splat(upper[j]));
    columns
}

#[inline(always)]
fn upper<V: Vectors>(v: V, columns: &Columns<V>) -> Sum<V> {
    let mut sum = [v.splat(0); M];
    each!(V, j < 5 => sum[j] = columns[M + j]);
    sum
}

/// Returns products plus multiples of p.
#[inline(always)]
fn products<V: Vectors>(
    v: V,
    factors: [[&Factor<V>; 2]; 2],
    starts: [&[Limb; M]; 2],
) -> [Sum<V>; 2] {
    // Without a closure, which would not be compiled for the caller's instructions.
    add_products(v, factors, [start(v, starts[0]), start(v, starts[1])])
}

/// Returns products plus columns.
#[inline(always)]
fn add_products<V: Vectors>(
    v: V,
    factors: [[&Factor<V>; 2]; 2],
    mut columns: [Columns<V>; 2],
) -> [Sum<V>; 2] {
    each!(V, i < 5 => {
        add_rows(v, &mut columns, factors, i);
        if i > 0 {
            each!(V, n < 2 => P256::clear(v, &mut columns[n], i - 1));
        }
    });
    each!(V, n < 2 => P256::clear(v, &mut columns[n], 4));
    [upper(v, &columns[0]), upper(v, &columns[1])]
}

/// Returns a·b − c·d plus a multiple of p.
#[inline(always)]
fn difference_of_products<V: Vectors>(
    v: V,
    first: [&Factor<V>; 2],
    second: [&Factor<V>; 2],
    multiple: &[Limb; M],
) -> Sum<V> {
    let mut columns = [start(v, multiple), start(v, &[0; M])];
    each!(V, i < 5 => {
        add_rows(v, &mut columns, [first, second], i);
        columns[0][i] = v.sub(columns[0][i], columns[1][i]);
        if i > 0 {
            P256::clear(v, &mut columns[0], i - 1);
        }
    });
    each!(V, j < 5 => columns[0][M + j] = v.sub(columns[0][M + j], columns[1][M + j]));
    P256::clear(v, &mut columns[0], 4);
    upper(v, &columns[0])
}

/// Returns squares.
#[inline(always)]
fn squares<V: Vectors, const N: usize>(v: V, factors: [&Factor<V>; N]) -> [Sum<V>; N] {
    let mut columns = doubled_columns(v, factors);
    each!(V, i < 5 => {
        each!(V, n < N <= 2 => {
            add_square(v, &mut columns[n], factors[n], i);
            clear_below(v, &mut columns[n], i);
        });
    });
    let mut sums = [[v.splat(0); M]; N];
    each!(V, n < N <= 2 => sums[n] = upper(v, &columns[n]));
    sums
}

/// Returns the square of a plus a multiple of p, and the columns of the square of b.
#[inline(always)]
fn square_and_columns<V: Vectors>(
    v: V,
    a: &Factor<V>,
    b: &Factor<V>,
    multiple: &[Limb; M],
) -> (Sum<V>, Columns<V>) {
    let [mut first, mut second] = doubled_columns(v, [a, b]);
    each!(V, i < 5 => {
        add_square(v, &mut first, a, i);
        add_square(v, &mut second, b, i);
        clear_below(v, &mut first, i);
    });
    (plus(v, &upper(v, &first), multiple), second)
}

/// Returns twice the products of different limbs.
#[inline(always)]
fn doubled_columns<V: Vectors, const N: usize>(v: V, factors: [&Factor<V>; N]) -> [Columns<V>; N] {
    const { assert!(N <= 2) }
    let mut columns = [[v.splat(0); MAX_COLUMNS]; N];
    each!(V, i < 5 => {
        each!(V, j < 5 => {
            if j > i {
                each!(V, n < N <= 2 => {
                    (columns[n][i + j], columns[n][i + j + 1]) = v.mul_add(
                        columns[n][i + j],
                        columns[n][i + j + 1],
                        v.factor(factors[n][j]),
                        v.factor(factors[n][i]),
                    );
                });
            }
        });
    });
    each!(V, n < N <= 2 => each!(V, j < 9 => {
        if j > 0 {
            columns[n][j] = v.add(columns[n][j], columns[n][j]);
        }
    }));
    columns
}

/// Adds the square of limb i.
#[inline(always)]
fn add_square<V: Vectors>(v: V, columns: &mut Columns<V>, factor: &Factor<V>, i: usize) {
    let limb = v.factor(factor[i]);
    (columns[2 * i], columns[2 * i + 1]) =
        v.mul_add(columns[2 * i], columns[2 * i + 1], limb, limb);
}

/// Clears the columns that the square of limb i has completed.
#[inline(always)]
fn clear_below<V: Vectors>(v: V, columns: &mut Columns<V>, i: usize) {
    if 2 * i < M {
        P256::clear(v, columns, 2 * i);
    }
    if 2 * i + 1 < M {
        P256::clear(v, columns, 2 * i + 1);
    }
}

/// Implements the steps of the curve for backends whose factors are limbs: a token, the instructions
/// of steps on eight numbers, and those of the sum of one.
macro_rules! steps {
    ($token:ty, ($($features:literal)?), $features_of_one:tt) => {
        // SAFETY of every call below: the token proves the instructions that the function is
        // compiled for.
        #[allow(unused_unsafe, reason = "a function without special instructions is safe")]
        impl CurveArithmetic<P256> for $token {
            #[inline(always)]
            fn double_times(self, point: &[Element; 3], times: usize) -> [Element; 3] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn double_times(v: $token, point: &[Element; 3], times: usize) -> [Element; 3] {
                    double(v, point, times)
                }
                // SAFETY: see above.
                unsafe { double_times(self, point, times) }
            }

            #[inline(always)]
            fn add_affine(self, point: &[Element; 3], addend: &[Element; 2]) -> [Element; 5] {
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                fn sum(v: $token, point: &[Element; 3], addend: &[Element; 2]) -> [Element; 5] {
                    add_affine(v, point, addend)
                }
                // SAFETY: see above.
                unsafe { sum(self, point, addend) }
            }

            across::of_one!($token, $features_of_one, P256 6);
        }
    };
}

#[cfg(any(test, not(target_arch = "x86_64")))]
steps!(super::super::super::lanes::Portable, (), ());

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod x86_64 {
    use super::super::super::super::cpu::{Avx512, Ifma};
    use super::*;

    impl CurveArithmetic<P256> for Avx512 {}
    steps!(
        Ifma,
        ("avx512f,avx512dq,avx512ifma"),
        ("avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")
    );
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::tests::{Source, integer};
    use super::*;
    use crate::machine::field::Prime;
    use crate::machine::lanes::{LANES, Portable};

    /// Returns the prime, and 1/R.
    fn prime() -> [BigUint; 2] {
        let p = P256::MODULUS.iter().rev().fold(BigUint::ZERO, |sum, word| (sum << 64) + *word);
        let r: BigUint = BigUint::from(1u8) << 260;
        let inverse = r.modinv(&p).unwrap();
        [p, inverse]
    }

    /// Returns elements whose limbs are at their bounds.
    fn elements<const N: usize>(source: &mut Source) -> [Element; N] {
        core::array::from_fn(|_| {
            core::array::from_fn(|j| {
                let bits = if j == 4 { 51 } else { 52 };
                Lanes(core::array::from_fn(|_| source.word(0, 1 << bits)))
            })
        })
    }

    /// Returns the numbers of a lane, after a check of their bounds.
    fn values<const N: usize>(elements: &[Element; N], lane: usize) -> [BigUint; N] {
        elements.map(|limbs| {
            let limbs = limbs.map(|limb| limb.0[lane]);
            assert!(limbs.iter().all(|limb| *limb < 1 << 52) && limbs[4] < 1 << 51);
            integer(&limbs)
        })
    }

    #[test]
    fn doubles_of_elements_at_their_bounds() {
        let ([p, r], mut source) = (prime(), Source(21));
        let mul = |a: &BigUint, b: &BigUint| a * b % &p * &r % &p;
        let less = |a: &BigUint, b: &BigUint| (a + (&p - b % &p)) % &p;
        for _ in 0..300 {
            let point = elements(&mut source);
            let found = double(Portable, &point, 2);
            for lane in 0..LANES {
                let mut expected = values(&point, lane);
                for _ in 0..2 {
                    let [x, y, z] = &expected;
                    let (zz, yy) = (mul(z, z), mul(y, y));
                    let m = 3u8 * mul(&less(x, &zz), &(x + &zz));
                    let s = 4u8 * mul(x, &yy);
                    let x3 = less(&mul(&m, &m), &(2u8 * &s));
                    let y3 = less(&mul(&m, &less(&s, &x3)), &(8u8 * mul(&yy, &yy)));
                    expected = [x3, y3, 2u8 * mul(y, z) % &p];
                }
                assert_eq!(values(&found, lane).map(|value| value % &p), expected);
            }
        }
    }

    #[test]
    fn sums_of_elements_at_their_bounds() {
        let ([p, r], mut source) = (prime(), Source(22));
        let mul = |a: &BigUint, b: &BigUint| a * b % &p * &r % &p;
        let less = |a: &BigUint, b: &BigUint| (a + (&p - b % &p)) % &p;
        for _ in 0..500 {
            let (point, addend) = (elements(&mut source), elements(&mut source));
            let found = add_affine(Portable, &point, &addend);
            for lane in 0..LANES {
                let ([x1, y1, z1], [x2, y2]) = (values(&point, lane), values(&addend, lane));
                let zz = mul(&z1, &z1);
                let h = less(&mul(&x2, &zz), &x1);
                let r = less(&mul(&y2, &mul(&z1, &zz)), &y1);
                let (hh, rr) = (mul(&h, &h), mul(&r, &r));
                let (hhh, v) = (mul(&h, &hh), mul(&x1, &hh));
                let x3 = less(&rr, &(&hhh + 2u8 * &v));
                let y3 = less(&mul(&r, &less(&v, &x3)), &mul(&y1, &hhh));
                let expected = [x3, y3, mul(&z1, &h), h, r];
                assert_eq!(values(&found, lane).map(|value| value % &p), expected);
            }
        }
    }
}
