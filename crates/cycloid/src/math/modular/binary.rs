//! Square and multiply, from the highest bit, skipping zero bits. Time depends on the exponent.

use super::{Exponent, Residues};
use crate::machine::words::Limb;

/// Returns the limbs of working memory for a modulus of `n` limbs: the base.
pub(super) const fn work_limbs(n: usize) -> usize {
    n
}

/// Computes `result = x^exponent`; `work` has [`work_limbs`].
pub(super) fn pow_vartime<R: Residues>(
    residues: &mut R,
    result: &mut [Limb],
    x: &[Limb],
    exponent: &Exponent<'_>,
    work: &mut [Limb],
) {
    let base = work;
    residues.enter(result, base, x);
    if let Some(top) = exponent.used_bits_vartime().checked_sub(1) {
        result.copy_from_slice(base);
        for position in (0..top).rev() {
            residues.square(result);
            if exponent.bit(position) == 1 {
                residues.mul(result, base);
            }
        }
    }
    residues.leave(result);
}
