//! The power of the feature `small`: a base of at most twice the modulus' length, and windows of two
//! bits. Compiled in any case, so that the tests compare it with [`pow`](super::pow) on every
//! backend.

use super::Products;
use super::modulus::Modulus;
use super::montgomery::Montgomery;
use crate::machine::ct::{self, Mask};
use crate::machine::words::{self, Backend, LIMB_BITS, Limb, Words};

/// Bits of a window; they divide a limb.
const WIDTH: usize = 2;

/// Entries of the table: the powers of the base but the one with exponent 0.
const ENTRIES: usize = (1 << WIDTH) - 1;

/// Returns the limbs of scratch of [`pow_compact`] for a modulus of `n` limbs.
pub(crate) const fn pow_compact_scratch_limbs(n: usize) -> usize {
    words::montgomery_work_limbs(n) + (ENTRIES + 1) * n
}

/// Computes `result = base^exponent mod modulus` in constant time, for a base less than R · modulus,
/// R = 2^(64·n), of at most twice the limbs of the modulus, which is more than 1. Every bit of the
/// exponent's limbs counts. `result` has n limbs, `scratch` [`pow_compact_scratch_limbs`]; it is not
/// wiped.
pub(crate) fn pow_compact(
    result: &mut [Limb],
    base: &[Limb],
    exponent: &[Limb],
    modulus: &Modulus<'_>,
    scratch: &mut [Limb],
) {
    Backend::best().run(Pow { result, base, exponent, modulus, scratch });
}

struct Pow<'a> {
    result: &'a mut [Limb],
    base: &'a [Limb],
    exponent: &'a [Limb],
    modulus: &'a Modulus<'a>,
    scratch: &'a mut [Limb],
}

impl words::Task for Pow<'_> {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let Self { result, base, exponent, modulus, scratch } = self;
        let n = result.len();
        let r_squared = modulus.r_squared();
        let (work, rest) = scratch.split_at_mut(words::montgomery_work_limbs(n));
        let (table, rest) = rest.split_at_mut(ENTRIES * n);
        let entry = &mut rest[..n];
        let mut residues = Montgomery::new(words, modulus.limbs(), None, work);
        // Entry i is the power i + 1; the first factor 1/R is that of the reduction.
        residues.divide_wide_by_r(&mut table[..n], base);
        residues.mul(&mut table[..n], r_squared);
        residues.mul(&mut table[..n], r_squared);
        for i in 1..ENTRIES {
            let (known, next) = table.split_at_mut(i * n);
            next[..n].copy_from_slice(&known[..n]);
            residues.mul(&mut next[..n], &known[(i - 1) * n..]);
        }
        // R² / R = R, which represents 1.
        residues.divide_wide_by_r(result, r_squared);
        for limb in exponent.iter().rev() {
            let mut limb = *limb;
            for _ in 0..LIMB_BITS / WIDTH {
                let digit = limb >> (LIMB_BITS - WIDTH);
                limb <<= WIDTH;
                for _ in 0..WIDTH {
                    residues.square(result);
                }
                // An index outside the table for the digit 0, whose product is dropped.
                residues.lookup(entry, table, &(digit as usize).wrapping_sub(1));
                residues.mul(entry, result);
                ct::assign_if(!Mask::is_zero(digit), result, entry);
            }
        }
        let power = &mut table[..n];
        power.copy_from_slice(result);
        residues.divide_wide_by_r(result, power);
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::super::{Exponent, pow, pow_minimum_scratch_limbs};
    use super::*;

    #[test]
    fn powers_are_those_of_every_backend() {
        for n in 1..6 {
            for seed in 0..6 {
                let limb = |i: u64| match seed {
                    0 => 0,
                    1 => Limb::MAX,
                    _ => (i + 7 * seed).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                };
                let mut m: vec::Vec<Limb> = (0..n as u64).map(|i| limb(i + 50)).collect();
                m[0] |= 1;
                m[n - 1] |= 1 << 63;
                let mut r_squared = vec![0; n];
                let mut scratch = vec![0; pow_minimum_scratch_limbs(n).max(100)];
                let modulus = Modulus::prepare(&m, &mut r_squared, &mut scratch).unwrap();
                for length in [n, 2 * n - 1, 2 * n] {
                    let mut base: vec::Vec<Limb> = (0..length as u64).map(limb).collect();
                    // Less than R times the modulus.
                    base[length - 1] >>= 1;
                    let exponent: vec::Vec<Limb> = (9..9 + n as u64).map(limb).collect();
                    let mut expected = vec![1; n];
                    let of = Exponent::new(&exponent);
                    pow(&mut expected, &base, &of, &modulus, &mut scratch).unwrap();
                    for backend in Backend::available() {
                        let mut result = vec![2; n];
                        backend.run(Pow {
                            result: &mut result,
                            base: &base,
                            exponent: &exponent,
                            modulus: &modulus,
                            scratch: &mut vec![3; pow_compact_scratch_limbs(n)],
                        });
                        assert_eq!(result, expected, "{backend:?} {n} {seed} {length}");
                    }
                }
            }
        }
    }
}
