//! The symbol of Jacobi.

use crate::machine::words::{self, LIMB_BITS, Limb};

/// Limbs of scratch for [`symbol_vartime`] with a modulus of `n` limbs.
pub(crate) const fn scratch_limbs(n: usize) -> usize {
    2 * n
}

/// The symbol of Jacobi of `x` over `modulus`, which is odd and has as many limbs: 1, −1, or 0 where
/// they have a common factor. Over a prime it is Legendre's: 1 for squares but 0. Time depends on
/// the values. `scratch` has [`scratch_limbs`].
pub(crate) fn symbol_vartime(x: &[Limb], modulus: &[Limb], scratch: &mut [Limb]) -> i32 {
    let n = modulus.len();
    let (mut a, b) = scratch.split_at_mut(n);
    let mut b = &mut b[..n];
    a.copy_from_slice(x);
    b.copy_from_slice(modulus);
    let mut negative = 0;
    while words::bit_length_vartime(a) > 0 {
        while a[0] & 1 == 0 {
            // (2/b) is −1 for b = 3 or 5 modulo 8.
            negative ^= (b[0] >> 1 ^ b[0] >> 2) & 1;
            for i in 0..n {
                a[i] = a[i] >> 1 | a.get(i + 1).map_or(0, |next| next << (LIMB_BITS - 1));
            }
        }
        if words::compare_vartime(a, b).is_lt() {
            // Reciprocity: the sign changes where both are 3 modulo 4.
            negative ^= (a[0] & b[0]) >> 1 & 1;
            core::mem::swap(&mut a, &mut b);
        }
        words::sub(a, b);
    }
    if words::trim_vartime(b) != [1] {
        0
    } else if negative == 0 {
        1
    } else {
        -1
    }
}
