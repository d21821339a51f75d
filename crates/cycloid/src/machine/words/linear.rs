//! Functions linear in the length: addition, subtraction, shifts, comparison.

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

/// Computes `a += b`, where `b` is not longer than `a`; returns the carry.
#[inline]
pub fn add(a: &mut [Limb], b: &[Limb]) -> Limb {
    debug_assert!(b.len() <= a.len());
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = 0;
    for (a, b) in low.iter_mut().zip(b) {
        (*a, carry) = add_carry(*a, *b, carry);
    }
    for a in high {
        (*a, carry) = add_carry(*a, 0, carry);
    }
    carry
}

/// Computes `a −= b`, where `b` is not longer than `a`; returns the borrow.
#[inline]
pub fn sub(a: &mut [Limb], b: &[Limb]) -> Limb {
    debug_assert!(b.len() <= a.len());
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = 0;
    for (a, b) in low.iter_mut().zip(b) {
        (*a, borrow) = sub_borrow(*a, *b, borrow);
    }
    for a in high {
        (*a, borrow) = sub_borrow(*a, 0, borrow);
    }
    borrow
}

/// Computes `a += b` if `mask` is true; equal lengths; returns the carry.
#[inline]
pub fn add_if(mask: Mask, a: &mut [Limb], b: &[Limb]) -> Limb {
    debug_assert_eq!(a.len(), b.len());
    let mut carry = 0;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, carry) = add_carry(*a, mask.value() & *b, carry);
    }
    carry
}

/// Computes `a −= b` if `mask` is true; equal lengths; returns the borrow.
#[inline]
pub fn sub_if(mask: Mask, a: &mut [Limb], b: &[Limb]) -> Limb {
    debug_assert_eq!(a.len(), b.len());
    let mut borrow = 0;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, borrow) = sub_borrow(*a, mask.value() & *b, borrow);
    }
    borrow
}

/// Computes `a −= 1`; returns the borrow.
#[inline]
pub fn decrement(a: &mut [Limb]) -> Limb {
    let mut borrow = 1;
    for a in a {
        (*a, borrow) = sub_borrow(*a, 0, borrow);
    }
    borrow
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

/// Returns whether `a < b`; equal lengths.
#[inline]
pub fn is_less(a: &[Limb], b: &[Limb]) -> Mask {
    debug_assert_eq!(a.len(), b.len());
    let mut borrow = 0;
    for (a, b) in a.iter().zip(b) {
        (_, borrow) = sub_borrow(*a, *b, borrow);
    }
    Mask::from_bit(borrow)
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

/// Computes `a mod b` for `carry · 2^(64·n) + a < 2b`, the last step of a modular reduction. Equal
/// lengths.
#[inline]
pub fn reduce_once(carry: Limb, a: &mut [Limb], b: &[Limb]) {
    let below = is_less(a, b).value() & (carry ^ 1);
    sub_if(Mask::from_bit(below ^ 1), a, b);
}
