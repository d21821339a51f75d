//! Squares in the cyclotomic subgroup of Fp12, with the coefficients side by side.
//!
//! Granger and Scott (Faster squaring in the cyclotomic subgroup of sixth degree extensions, 2010)
//! reduce such a square to three squares (a + b·t)² of Fp4, with t² = ξ, in which
//! c₀ = a² + ξ·b² and c₁ = (a + b)² − a² − b². The lanes 0, 1 and 3 of the two vectors, of real and
//! of imaginary parts, hold the three a; the lanes 4, 5 and 2 the b that belong to them. Squares of
//! Fp2 are (x + y)·(x − y) and 2·x·y, so three products of vectors compute all of them: of real
//! parts, of imaginary parts, and both of (a + b)².

use super::super::super::hint::hidden;
use super::super::super::lanes::Lanes;
use super::super::super::lanes::vector::Vectors;
use super::super::super::words::Limb;
use super::base::{M, P, add_complement, multiply, reduce_both};
use super::columns::{carry, each};

/// The lanes of b.
const B: u8 = 0b11_0100;

/// The other lanes.
const A: u8 = !B;

/// The lanes of a and b exchanged.
const EXCHANGED: Lanes = Lanes([4, 5, 3, 2, 0, 1, 6, 7]);

/// Where the imaginary part of each coefficient of the square comes from.
const IMAGINARY: Lanes = Lanes([0, 3, 1, 5, 4, 2, 6, 7]);

/// Where its real part comes from: the same, with the lanes of a and b exchanged.
const REAL: Lanes = Lanes([4, 2, 5, 1, 0, 3, 6, 7]);

/// The coefficient that is ξ·c₁.
const XI: u8 = 0b1000;

/// The coefficients that are 3c − 2z; the others are 3c + 2z.
const LESS: u8 = 0b111;

const fn multiple(times: Limb) -> [Limb; M] {
    let (mut limbs, mut j) = (P, 0);
    while j < M {
        limbs[j] *= times;
        j += 1;
    }
    limbs
}

/// Twice the prime.
const TWICE: [Limb; M] = multiple(2);

/// Repeats the body for each column.
macro_rules! each_column {
    ($V:ident, $c:ident => $body:block) => {
        each!($V, pair < 8 => {
            {
                let $c: usize = 2 * pair;
                $body
            }
            {
                let $c: usize = 2 * pair + 1;
                $body
            }
        })
    };
}

/// Squares both parts of an element `times` times.
///
/// Between squares, the real parts x of the coefficients are 2p more, so that they exceed the
/// imaginary parts y, and limbs are signed and taken modulo 2⁴¹⁶: the carries of all factors
/// together take less time.
#[inline(always)]
pub(super) fn square<V: Vectors>(v: V, parts: &mut [[Lanes; M]; 2], times: usize) {
    let [real, imaginary] = parts;
    each!(V, j < M => {
        let more = v.add(v.load(&real[j]), v.splat(TWICE[j]));
        v.store(&mut real[j], more);
    });
    // Memory for all squares, because setting it to zero takes time.
    let mut of = [[[Lanes::ZERO; M]; 2]; 3];
    let mut sums = [[[Lanes::ZERO; 2 * M]; 2]; 3];
    for _ in 0..times {
        factors(v, real, imaginary, &mut of);
        products(v, hidden(&of), &mut sums);
        combine(v, &of[0], hidden(&sums[2]), real, imaginary);
    }
    let (mut x, mut y) = ([v.splat(0); M], [v.splat(0); M]);
    each!(V, j < M => {
        x[j] = v.sub(v.load(&real[j]), v.splat(TWICE[j]));
        y[j] = v.load(&imaginary[j]);
    });
    normalize(v, &mut x);
    normalize(v, &mut y);
    store(v, real, &x);
    store(v, imaginary, &y);
}

/// Stores limbs.
#[inline(always)]
fn store<V: Vectors>(v: V, to: &mut [Lanes; M], limbs: &[V::Word; M]) {
    each!(V, j < M => v.store(&mut to[j], limbs[j]));
}

/// Carries, modulo 2⁴¹⁶.
#[inline(always)]
fn normalize<V: Vectors>(v: V, limbs: &mut [V::Word; M]) {
    carry(v, limbs);
    limbs[M - 1] = v.low(limbs[M - 1]);
}

/// Carries for factors, which are the low bits of their words.
#[inline(always)]
fn carry_factor<V: Vectors>(v: V, limbs: &mut [V::Word; M]) {
    each!(V, j < M => if j + 1 < M {
        limbs[j + 1] = v.add(limbs[j + 1], v.shift_right_signed::<52>(limbs[j]));
    });
}

/// Returns the factors of the products: x and 2y; x + y and x − y; and x + y and x − y of a + b in
/// the lanes of a, 2x and y of a + b in the lanes of b. The first two are carried.
#[inline(always)]
fn factors<V: Vectors>(v: V, x: &[Lanes; M], y: &[Lanes; M], of: &mut [[[Lanes; M]; 2]; 3]) {
    let exchanged = v.load(&EXCHANGED);
    let zero = [v.splat(0); M];
    let (mut real, mut twice, mut sum, mut difference) = (zero, zero, zero, zero);
    let (mut left, mut right) = (zero, zero);
    each!(V, j < M => {
        let (x, y) = (v.load(&x[j]), v.load(&y[j]));
        real[j] = x;
        twice[j] = v.add(y, y);
        sum[j] = v.add(x, y);
        difference[j] = v.sub(x, y);
        let x = v.add(x, v.permute(x, exchanged));
        let y = v.add(y, v.permute(y, exchanged));
        left[j] = v.add_some(A, v.add(x, x), x, y);
        right[j] = v.sub_some(A, y, x, y);
    });
    normalize(v, &mut real);
    normalize(v, &mut twice);
    carry_factor(v, &mut sum);
    carry_factor(v, &mut difference);
    carry_factor(v, &mut left);
    carry_factor(v, &mut right);
    store(v, &mut of[0][0], &real);
    store(v, &mut of[0][1], &twice);
    store(v, &mut of[1][0], &sum);
    store(v, &mut of[1][1], &difference);
    store(v, &mut of[2][0], &left);
    store(v, &mut of[2][1], &right);
}

/// Multiples of the prime that the columns of the products start with, from column M on.
const STARTS: [Limb; 3] = [5, 4, 11];

/// Returns the columns of the imaginary parts of c₀ in the lanes of a, and of c₁ in the lanes of b;
/// of the real parts in the others, where their terms are.
///
/// For coefficients below 1.002p, x is below 3.002p, x + y is below 4.004p, x − y from 0.998p to
/// 3.002p, and those of a + b are at most twice as much, or 12.01p: the sums are between −25p² and
/// 73p², plus the starts: of the real parts 3p in the lanes of a and of b, of the imaginary
/// ones 14p and p.
#[inline(always)]
fn products<V: Vectors>(
    v: V,
    factors: &[[[Lanes; M]; 2]; 3],
    [imaginary, both, sums]: &mut [[[Lanes; 2 * M]; 2]; 3],
) {
    let exchanged = v.load(&EXCHANGED);
    let [[real, twice], [sum, difference], [left, right]] = factors;
    // Of the imaginary parts of the squares: those of the lane, and those of both.
    let columns = multiply(v, &multiple(STARTS[0]), real, twice);
    each_column!(V, c => {
        let exchanged = v.permute(columns[c], exchanged);
        v.store(&mut imaginary[0][c], columns[c]);
        v.store(&mut imaginary[1][c], v.add(columns[c], exchanged));
    });
    let imaginary = hidden(imaginary);
    let columns = multiply(v, &multiple(STARTS[1]), sum, difference);
    each_column!(V, c => {
        let exchanged = v.permute(columns[c], exchanged);
        let real = v.add(columns[c], exchanged);
        let [one, sum] = [v.load(&imaginary[0][c]), v.load(&imaginary[1][c])];
        v.store(&mut both[0][c], v.sub_some(B, real, real, one));
        v.store(&mut both[1][c], v.add_some(A, sum, sum, exchanged));
    });
    let both = hidden(both);
    let columns = multiply(v, &multiple(STARTS[2]), left, right);
    each_column!(V, c => {
        let [real, imaginary] = [v.load(&both[0][c]), v.load(&both[1][c])];
        v.store(&mut sums[0][c], v.sub_some(A, real, columns[c], real));
        v.store(&mut sums[1][c], v.sub_some(B, imaginary, columns[c], imaginary));
    });
}

/// Reduces the sums and returns 3c ± 2z, from x and 2y of the coefficients z.
///
/// With the starts of the columns, the real part of ξ·c₁ is from 0.9p to 3.1p. So the real parts of
/// the result are from 2.9p to 19p, and the imaginary ones from 0.9p to 46p. In each part, limb 6
/// consists of at most three halves of products of the reduction, and of products with the top
/// limbs, which are less than 2⁴⁵. So the lower limbs of the result are less than 3·2·4·2⁵² / 2⁵²
/// of its top limb.
#[inline(always)]
fn combine<V: Vectors>(
    v: V,
    [x, twice_y]: &[[Lanes; M]; 2],
    [real, imaginary]: &[[Lanes; 2 * M]; 2],
    to_x: &mut [Lanes; M],
    to_y: &mut [Lanes; M],
) {
    let (of_real, of_imaginary) = (v.load(&REAL), v.load(&IMAGINARY));
    let [mut real, mut imaginary] = reduce_both(v, [real, imaginary]);
    each!(V, j < M => {
        let (x, twice_y) = (v.load(&x[j]), v.load(&twice_y[j]));
        let (r, i) = (v.permute(real[j], of_real), v.permute(imaginary[j], of_imaginary));
        let (r, i) = (v.sub_some(XI, r, r, i), v.add_some(XI, i, i, r));
        let half = v.sub_some(LESS, v.add(r, x), r, x);
        real[j] = v.add(r, v.add(half, half));
        let thrice = v.add(v.add(i, i), i);
        imaginary[j] = v.sub_some(LESS, v.add(thrice, twice_y), thrice, twice_y);
    });
    add_complement::<V, 2>(v, &mut real);
    add_complement::<V, 0>(v, &mut imaginary);
    store(v, to_x, &real);
    store(v, to_y, &imaginary);
}
