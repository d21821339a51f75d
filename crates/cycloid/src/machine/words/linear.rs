//! Functions linear in the length: shifts, comparison, and additions of single limbs.

use super::super::ct::Mask;
use super::{LIMB_BITS, Limb};

/// Returns `a + b + carry`, and the carry out.
#[inline(always)]
pub fn add_carry(a: Limb, b: Limb, carry: Limb) -> (Limb, Limb) {
    let (sum, c1) = a.overflowing_add(b);
    let (sum, c2) = sum.overflowing_add(carry);
    (sum, Limb::from(c1) | Limb::from(c2))
}

/// Returns `a − b − borrow`, and the borrow out.
#[inline(always)]
pub fn sub_borrow(a: Limb, b: Limb, borrow: Limb) -> (Limb, Limb) {
    let (difference, b1) = a.overflowing_sub(b);
    let (difference, b2) = difference.overflowing_sub(borrow);
    (difference, Limb::from(b1) | Limb::from(b2))
}

/// Computes `a = 2a`; returns the bit shifted out.
#[inline]
pub fn double(a: &mut [Limb]) -> Limb {
    let mut carry = 0;
    for a in a {
        let out = *a >> (LIMB_BITS - 1);
        *a = *a << 1 | carry;
        carry = out;
    }
    carry
}

/// Returns whether every limb is zero.
#[inline]
pub fn is_zero(a: &[Limb]) -> Mask {
    Mask::is_zero(a.iter().fold(0, |any, limb| any | limb))
}

/// Compares `a` and `b`; equal lengths.
pub fn compare_vartime(a: &[Limb], b: &[Limb]) -> core::cmp::Ordering {
    debug_assert_eq!(a.len(), b.len());
    a.iter().rev().cmp(b.iter().rev())
}

/// Returns `a` without its leading zero limbs.
pub fn trim_vartime(a: &[Limb]) -> &[Limb] {
    let used = a.iter().rposition(|limb| *limb != 0).map_or(0, |top| top + 1);
    &a[..used]
}

/// Returns the number of bits of `a` without leading zeros; 0 for zero.
pub fn bit_length_vartime(a: &[Limb]) -> usize {
    let a = trim_vartime(a);
    a.last().map_or(0, |top| a.len() * LIMB_BITS - top.leading_zeros() as usize)
}
