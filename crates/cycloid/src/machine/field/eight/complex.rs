//! Products and squares of numbers a₀ + a₁·i with i² = −1 modulo the base prime of BLS12-381, both
//! parts row by row: a row waits for the one before it, and the other part fills the time.
//!
//! Only for backends whose factors are limbs.
//!
//! **Bounds.** Factors are below 2³⁸⁴. A part is [`OFFSET`], which is between 2⁷⁷⁶ and 2⁷⁷⁷, plus one
//! product, plus or minus another. So its residue is below p + 2³⁶². A column receives at most 3·16
//! halves of products.

use super::super::super::hint::hidden;
use super::super::super::lanes::Lanes;
use super::super::super::lanes::vector::Vectors;
use super::super::super::words::Limb;
use super::super::{Bls12Base, Prime};
use super::Shape;
use super::base::{M, clear_both};
use super::columns::{self, Columns, MAX_COLUMNS, carry, each, lanes};
use super::residue::shifted;

/// A multiple of the prime that exceeds the product of two factors.
const OFFSET: [Limb; MAX_COLUMNS] = shifted(&Bls12Base::MODULUS, 396);

/// Returns a·b.
///
/// The real part is a₀·b₀ + a₁·c − 2⁴¹⁶·a₁ + a₁ for the complement c = 2⁴¹⁶ − 1 − b₁.
#[inline(always)]
pub(super) fn mul<V: Vectors>(v: V, a: &[[Lanes; M]; 2], b: &[[Lanes; M]; 2]) -> [[Lanes; M]; 2] {
    let mut parts = [[v.splat(0); MAX_COLUMNS]; 2];
    let [a0, a1] = a;
    each!(V, j < M => {
        let limb = v.load(&a1[j]);
        parts[0][j] = v.add(limb, v.splat(OFFSET[j]));
        parts[0][M + j] = v.sub(v.splat(OFFSET[M + j]), limb);
    });
    each!(V, i < M => {
        let (a0, a1) = (hidden(a0), hidden(a1));
        let (b0, b1) = (v.load(&b[0][i]), v.load(&b[1][i]));
        let complement = v.factor(v.not(b1));
        let (b0, b1) = (v.limb_factor(b0), v.limb_factor(b1));
        let [real, imaginary] = &mut parts;
        each!(V, j < M => {
            let (a0, a1) = (v.load_factor(&a0[j]), v.load_factor(&a1[j]));
            (real[i + j], real[i + j + 1]) = v.mul_add(real[i + j], real[i + j + 1], a0, b0);
            (imaginary[i + j], imaginary[i + j + 1]) =
                v.mul_add(imaginary[i + j], imaginary[i + j + 1], a0, b1);
            (real[i + j], real[i + j + 1]) =
                v.mul_add(real[i + j], real[i + j + 1], a1, complement);
            (imaginary[i + j], imaginary[i + j + 1]) =
                v.mul_add(imaginary[i + j], imaginary[i + j + 1], a1, b0);
        });
        clear_both(v, &mut parts, i);
    });
    reduced(v, &parts)
}

/// Returns a², by (a₀ + a₁)·(a₀ − a₁) and 2·a₀·a₁.
#[inline(always)]
pub(super) fn square<V: Vectors>(v: V, a: &[[Lanes; M]; 2]) -> [[Lanes; M]; 2] {
    /// At least the bound of a residue.
    const TWICE: [Limb; M] = super::residue::double(&<Bls12Base as Shape<M>>::LIMBS);
    let [a0, a1] = a;
    let mut sums = [[v.splat(0); M]; 3];
    each!(V, j < M => {
        let (a0, a1) = (v.load(&a0[j]), v.load(&a1[j]));
        sums[0][j] = v.add(a0, a1);
        sums[1][j] = v.add(v.sub(a0, a1), v.splat(TWICE[j]));
        sums[2][j] = v.add(a0, a0);
    });
    let mut factors = [[Lanes::ZERO; M]; 3];
    each!(V, n < 3 => {
        carry(v, &mut sums[n]);
        factors[n] = lanes(v, &sums[n]);
    });
    let mut parts = [[v.splat(0); MAX_COLUMNS]; 2];
    each!(V, i < M => {
        let [sum, difference, twice] = hidden(&factors);
        let row = [v.load_factor(&difference[i]), v.load_factor(&hidden(a1)[i])];
        let [real, imaginary] = &mut parts;
        each!(V, j < M => {
            let (sum, twice) = (v.load_factor(&sum[j]), v.load_factor(&twice[j]));
            (real[i + j], real[i + j + 1]) = v.mul_add(real[i + j], real[i + j + 1], sum, row[0]);
            (imaginary[i + j], imaginary[i + j + 1]) =
                v.mul_add(imaginary[i + j], imaginary[i + j + 1], twice, row[1]);
        });
        clear_both(v, &mut parts, i);
    });
    reduced(v, &parts)
}

/// Returns the residues of two sums of products, plus `offset`.
///
/// A column is loaded by the first row that adds to it.
#[inline(always)]
pub(super) fn reduce<V: Vectors>(
    v: V,
    wide: &[[Lanes; 2 * M]; 2],
    offset: &[Limb; MAX_COLUMNS],
) -> [[Lanes; M]; 2] {
    let mut parts = [[v.splat(0); MAX_COLUMNS]; 2];
    each!(V, c < 9 => each!(V, n < 2 => {
        parts[n][c] = v.add(v.load(&wide[n][c]), v.splat(offset[c]));
    }));
    each!(V, i < M => {
        if i + 1 < M {
            let c = M + 1 + i;
            each!(V, n < 2 => {
                parts[n][c] = v.add(v.load(&hidden(wide)[n][c]), v.splat(offset[c]));
            });
        }
        clear_both(v, &mut parts, i);
    });
    reduced(v, &parts)
}

/// Returns a + b without a fold, as a factor.
#[inline(always)]
pub(super) fn add_factor<V: Vectors>(v: V, a: &[Lanes; M], b: &[Lanes; M]) -> [Lanes; M] {
    let mut sum = [v.splat(0); M];
    each!(V, j < M => sum[j] = v.add(v.load(&a[j]), v.load(&b[j])));
    carry(v, &mut sum);
    lanes(v, &sum)
}

/// Returns the residues of columns whose low halves have been cleared.
#[inline(always)]
fn reduced<V: Vectors>(v: V, [real, imaginary]: &[Columns<V>; 2]) -> [[Lanes; M]; 2] {
    let (mut real, mut imaginary) = (columns::from(v, real, M), columns::from(v, imaginary, M));
    carry(v, &mut real);
    carry(v, &mut imaginary);
    [lanes(v, &real), lanes(v, &imaginary)]
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::super::super::super::lanes::{LANE_LIMB_BITS, LANES, LIMB_MASK, Portable};
    use super::super::tests::{Source, integer};
    use super::*;

    fn prime() -> BigUint {
        integer(&<Bls12Base as Shape<M>>::LIMBS)
    }

    fn value(element: &[Lanes; M], lane: usize) -> BigUint {
        integer(&element.map(|limb| limb.0[lane]))
    }

    /// Returns a number below `top`·2³⁶⁴ in each lane; the greatest one in the first.
    fn element(source: &mut Source, top: Limb) -> [Lanes; M] {
        core::array::from_fn(|j| {
            let to = if j + 1 < M { 1 << LANE_LIMB_BITS } else { top };
            Lanes(core::array::from_fn(|lane| if lane == 0 { to - 1 } else { source.word(0, to) }))
        })
    }

    /// Checks residues, times R, against integers.
    fn check(parts: &[[Lanes; M]; 2], expected: impl Fn(usize) -> [BigUint; 2]) {
        let (p, r) = (prime(), BigUint::from(1u8) << (LANE_LIMB_BITS * M));
        for lane in 0..LANES {
            for (part, expected) in parts.iter().zip(expected(lane)) {
                assert!(part.iter().all(|limb| limb.0[lane] <= LIMB_MASK));
                let residue = value(part, lane);
                assert!(residue < &p + (BigUint::from(1u8) << 370));
                assert_eq!(residue * &r % &p, expected % &p);
            }
        }
    }

    #[test]
    fn factors_at_their_bounds() {
        let (p, mut source) = (prime(), Source(20));
        // A multiple of the prime that exceeds a product of two factors.
        let above = &p << 390;
        for _ in 0..300 {
            let [a, b] = [0, 1].map(|_| [0, 1].map(|_| element(&mut source, 1 << 20)));
            check(&mul(Portable, &a, &b), |lane| {
                let [a0, a1, b0, b1] = [&a[0], &a[1], &b[0], &b[1]].map(|x| value(x, lane));
                [&a0 * &b0 + &above - &a1 * &b1, a0 * b1 + a1 * b0]
            });
            // A residue is below 1.5627·2³⁸¹.
            let a = [0, 1].map(|_| element(&mut source, (15_627 << 17) / 10_000));
            check(&square(Portable, &a), |lane| {
                let [a0, a1] = [&a[0], &a[1]].map(|x| value(x, lane));
                [&a0 * &a0 + &above - &a1 * &a1, a0 * a1 * 2u8]
            });
        }
    }

    #[test]
    fn sums_at_their_bounds() {
        let (p, mut source) = (prime(), Source(21));
        let exponent = 404;
        for round in 0..300 {
            // Sums of at most 1024 halves, added or subtracted, more than −p·2⁴⁰⁴ in all.
            let wide: [[Lanes; 2 * M]; 2] = core::array::from_fn(|_| {
                core::array::from_fn(|c| {
                    let most = match c {
                        14 => 1 << 54,
                        15 => 1 << 2,
                        _ => 1 << 62,
                    };
                    Lanes(core::array::from_fn(|_| {
                        let half = if round == 0 { most - 1 } else { source.word(0, most) };
                        if source.next() >> 40 & 1 == 0 { half } else { half.wrapping_neg() }
                    }))
                })
            });
            let offset = shifted(&Bls12Base::MODULUS, exponent);
            check(&reduce(Portable, &wide, &offset), |lane| {
                [0, 1].map(|part| {
                    let mut sums = [BigUint::ZERO, &p << exponent];
                    for (c, limb) in wide[part].iter().enumerate() {
                        let column = limb.0[lane] as i64;
                        let weighted = BigUint::from(column.unsigned_abs()) << (LANE_LIMB_BITS * c);
                        sums[usize::from(column >= 0)] += weighted;
                    }
                    let [less, more] = sums;
                    more - less
                })
            });
        }
    }
}
