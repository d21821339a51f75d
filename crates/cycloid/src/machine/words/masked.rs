//! Sums and differences, also by masks, and comparison, in time linear in the length.

use super::super::ct::Mask;
use super::{Limb, add_carry, sub_borrow};

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

/// Computes `a mod b` for `carry · 2^(64·n) + a < 2b`, the last step of a modular reduction. Equal
/// lengths.
#[inline]
pub fn reduce_once(carry: Limb, a: &mut [Limb], b: &[Limb]) {
    let below = is_less(a, b).value() & (carry ^ 1);
    sub_if(Mask::from_bit(below ^ 1), a, b);
}
