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
use super::columns::{carry, each, lanes};
use super::spread::{M, P, multiply, reduce_both, subtract_multiple};

/// The lanes of b.
const B: u8 = 0b11_0100;

/// The other lanes.
const A: u8 = !B;

/// The lanes of a and b exchanged.
const EXCHANGED: Lanes = Lanes([4, 5, 3, 2, 0, 1, 6, 7]);

/// Where each coefficient of the square comes from.
const ORDER: Lanes = Lanes([0, 3, 1, 5, 4, 2, 6, 7]);

/// The lane in `ORDER` of ξ·c₁.
const XI: u8 = 0b1000;

/// The coefficients that are 3c − 2z; the others are 3c + 2z.
const LESS: u8 = 0b111;

/// Twice the prime.
const TWICE: [Limb; M] = multiple(2);

const fn multiple(times: Limb) -> [Limb; M] {
    let (mut limbs, mut j) = (P, 0);
    while j < M {
        limbs[j] *= times;
        j += 1;
    }
    limbs
}

/// Squares both parts of an element `times` times.
///
/// Coefficients z are below 1.002p, so x + y is below 2.004p, x − y + 2p from 0.998p to 3.002p, and
/// those of a + b are below twice as much: the sums of products are between −13p² and 25p².
#[inline(always)]
pub(super) fn square<V: Vectors>(v: V, parts: &mut [[Lanes; M]; 2], times: usize) {
    for _ in 0..times {
        let [real, imaginary] = factors(v, parts);
        let sums = sums(v, parts, hidden(&real), hidden(&imaginary));
        *parts = combine(v, parts, &sums);
    }
}

/// Returns the factors of the products: x + y and x − y of the coefficients; x + y and x − y of
/// a + b in the lanes of a, 2x and y in the lanes of b.
#[inline(always)]
fn factors<V: Vectors>(v: V, [x, y]: &[[Lanes; M]; 2]) -> [[[Lanes; M]; 2]; 2] {
    let exchanged = v.load(&EXCHANGED);
    let zero = [v.splat(0); M];
    let (mut sum, mut difference, mut left, mut right) = (zero, zero, zero, zero);
    each!(V, j < M => {
        let (x, y) = (v.load(&x[j]), v.load(&y[j]));
        sum[j] = v.add(x, y);
        difference[j] = v.sub(v.add(x, v.splat(TWICE[j])), y);
        let twice = v.add(x, x);
        let other = v.permute(v.blend(A, twice, sum[j]), exchanged);
        left[j] = v.add(v.blend(B, twice, sum[j]), other);
        let other = v.permute(v.blend(A, y, difference[j]), exchanged);
        right[j] = v.add(v.blend(B, y, difference[j]), other);
    });
    carry(v, &mut sum);
    carry(v, &mut difference);
    carry(v, &mut left);
    carry(v, &mut right);
    [[lanes(v, &sum), lanes(v, &difference)], [lanes(v, &left), lanes(v, &right)]]
}

/// Returns the columns of the parts of c₀ in the lanes of a, and of c₁ in the lanes of b.
#[inline(always)]
fn sums<V: Vectors>(
    v: V,
    [x, y]: &[[Lanes; M]; 2],
    [sum, difference]: &[[Lanes; M]; 2],
    [left, right]: &[[Lanes; M]; 2],
) -> [[Lanes; 2 * M]; 2] {
    let exchanged = v.load(&EXCHANGED);
    // Twice the imaginary parts of the squares of a and b: of the other one, and of both.
    let (mut other, mut both) = ([Lanes::ZERO; 2 * M], [Lanes::ZERO; 2 * M]);
    let columns = multiply(v, x, y);
    each!(V, c < 8 => {
        each!(V, h < 4 => { if h < 2 {
            let twice = v.add(columns[2 * c + h], columns[2 * c + h]);
            let exchanged = v.permute(twice, exchanged);
            v.store(&mut other[2 * c + h], exchanged);
            v.store(&mut both[2 * c + h], v.add(twice, exchanged));
        }});
    });
    // Of the real parts: of both, and what they contribute to the lanes of a.
    let (mut reals, mut first) = ([Lanes::ZERO; 2 * M], [[Lanes::ZERO; 2 * M]; 2]);
    let columns = multiply(v, sum, difference);
    let (other, both) = (hidden(&other), hidden(&both));
    each!(V, c < 8 => {
        each!(V, h < 4 => { if h < 2 {
            let c = 2 * c + h;
            let exchanged = v.permute(columns[c], exchanged);
            let sum = v.add(columns[c], exchanged);
            v.store(&mut reals[c], sum);
            v.store(&mut first[0][c], v.sub(sum, v.load(&other[c])));
            v.store(&mut first[1][c], v.add(exchanged, v.load(&both[c])));
        }});
    });
    let columns = multiply(v, left, right);
    let (reals, first) = (hidden(&reals), hidden(&first));
    let mut sums = [[Lanes::ZERO; 2 * M]; 2];
    each!(V, c < 8 => {
        each!(V, h < 4 => { if h < 2 {
            let c = 2 * c + h;
            let exchanged = v.permute(columns[c], exchanged);
            let real = v.sub_some(B, v.load(&first[0][c]), exchanged, v.load(&reals[c]));
            let imaginary = v.sub_some(B, v.load(&first[1][c]), columns[c], v.load(&both[c]));
            v.store(&mut sums[0][c], real);
            v.store(&mut sums[1][c], imaginary);
        }});
    });
    sums
}

/// Reduces the sums and returns 3c ± 2z.
///
/// The real parts of c get 4p more and the imaginary parts 2p, so that the real part of ξ·c₁ is
/// from 0.9p to 3.1p, and the result from 2p to 27p. In each part, limb 6 consists of at most three
/// halves of products of the reduction, and of products with the top limbs, which are less than
/// 2⁴⁵. So the lower limbs of the result are less than 3·2·4·2⁵² / 2⁵² of its top limb.
#[inline(always)]
fn combine<V: Vectors>(
    v: V,
    [x, y]: &[[Lanes; M]; 2],
    [real, imaginary]: &[[Lanes; 2 * M]; 2],
) -> [[Lanes; M]; 2] {
    const MORE: [[Limb; M]; 2] = [multiple(4), multiple(2)];
    let order = v.load(&ORDER);
    let [mut real, mut imaginary] = reduce_both(v, [hidden(real), hidden(imaginary)], &MORE);
    each!(V, j < M => {
        let (x, y) = (v.load(&x[j]), v.load(&y[j]));
        let (r, i) = (v.permute(real[j], order), v.permute(imaginary[j], order));
        let (r, i) = (v.sub_some(XI, r, r, i), v.add_some(XI, i, i, r));
        let (more, less) = (v.add(r, x), v.add(i, y));
        let x = v.sub_some(LESS, more, r, x);
        let y = v.sub_some(LESS, less, i, y);
        real[j] = v.add(r, v.add(x, x));
        imaginary[j] = v.add(i, v.add(y, y));
    });
    subtract_multiple(v, &mut real);
    subtract_multiple(v, &mut imaginary);
    [lanes(v, &real), lanes(v, &imaginary)]
}
