//! Montgomery's ladder: one multiplication and one squaring per bit, whatever the bit (Joye and
//! Yen, The Montgomery powering ladder, 2002). As constant-time as the underlying products.

use super::{Exponent, Residues};
use crate::machine::ct::{self, Mask};
use crate::machine::words::Limb;

/// Returns the limbs of working memory for a modulus of `n` limbs: the second power.
pub(super) const fn work_limbs(n: usize) -> usize {
    n
}

/// Computes `result = x^exponent`; `work` has [`work_limbs`].
pub(super) fn pow<R: Residues>(
    residues: &mut R,
    result: &mut [Limb],
    x: &[Limb],
    exponent: &Exponent<'_>,
    work: &mut [Limb],
) {
    // (low, high) = (xᵏ, xᵏ⁺¹), where k is the part of the exponent read so far. They are swapped
    // if the last bit read is 1, so that the squaring always applies to the first.
    let (low, high) = (result, work);
    residues.enter(low, high, x);
    let mut exchanged = 0;
    for position in (0..exponent.bits()).rev() {
        let bit = exponent.bit(position);
        ct::swap_if(Mask::from_bit(bit ^ exchanged), low, high);
        exchanged = bit;
        residues.mul(high, low);
        residues.square(low);
    }
    ct::swap_if(Mask::from_bit(exchanged), low, high);
    residues.leave(low);
}
