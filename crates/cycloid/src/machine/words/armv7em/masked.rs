//! Sums, differences and comparison with the least code, for the feature `small`: two kernels for
//! all of them.

use core::arch::naked_asm;

use super::super::super::ct::Mask;
use super::{Armv7em, Limb};

/// Computes `a −= (b & mask) ^ flip`, less 1 if `flip` is all ones, where b continues with zeros;
/// returns the borrow, 0 or all ones. With all ones as `flip` that is a sum: −(!b) − 1 = b, and it
/// borrows if there is no carry.
///
/// # Safety
/// `a` has `a_limbs` limbs, and `b` has `b_limbs` or as many as `a`.
#[unsafe(naked)]
unsafe extern "C" fn combine(
    a: *mut Limb,
    a_limbs: usize,
    b: *const Limb,
    b_limbs: usize,
    mask: u32,
    flip: u32,
) -> u32 {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "ldrd r12, lr, [sp, #20]",
        // Carry flag = no borrow. Moves, loads, logic and branches keep it.
        "rsbs r4, lr, #0",
        "22:",
        "cbz r1, 24f",
        "ldrd r4, r5, [r0]",
        "movs r6, #0",
        "movs r7, #0",
        "cbz r3, 23f",
        "ldrd r6, r7, [r2], #8",
        "sub r3, r3, #1",
        "23:",
        "and r6, r6, r12",
        "and r7, r7, r12",
        "eor r6, r6, lr",
        "eor r7, r7, lr",
        "sbcs r4, r6",
        "sbcs r5, r7",
        "strd r4, r5, [r0], #8",
        "sub r1, r1, #1",
        "b 22b",
        "24:",
        "sbcs r0, r0",
        "pop {{r4-r7, pc}}",
    )
}

/// Returns the borrow of `a − b`, 0 or all ones.
///
/// # Safety
/// Both have `limbs` limbs.
#[unsafe(naked)]
unsafe extern "C" fn borrow(a: *const Limb, b: *const Limb, limbs: usize) -> u32 {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "cmp r0, r0",
        "22:",
        "cbz r2, 23f",
        "ldrd r4, r5, [r0], #8",
        "ldrd r6, r7, [r1], #8",
        "sbcs r4, r6",
        "sbcs r5, r7",
        "sub r2, r2, #1",
        "b 22b",
        "23:",
        "sbcs r0, r0",
        "pop {{r4-r7, pc}}",
    )
}

#[inline(always)]
fn run(_: Armv7em, a: &mut [Limb], b: &[Limb], mask: u32, flip: u32) -> u32 {
    // SAFETY: the kernel reads no more of `b` than there is, and writes `a`, uniquely borrowed.
    unsafe { combine(a.as_mut_ptr(), a.len(), b.as_ptr(), b.len(), mask, flip) }
}

/// Computes `a += b`, where `b` is not longer than `a`; returns the carry.
#[inline]
pub fn add(a: &mut [Limb], b: &[Limb]) -> Limb {
    debug_assert!(b.len() <= a.len());
    Limb::from(run(Armv7em::of_this_target(), a, b, u32::MAX, u32::MAX).wrapping_add(1))
}

/// Computes `a −= b`, where `b` is not longer than `a`; returns the borrow.
#[inline]
pub fn sub(a: &mut [Limb], b: &[Limb]) -> Limb {
    debug_assert!(b.len() <= a.len());
    Limb::from(run(Armv7em::of_this_target(), a, b, u32::MAX, 0).wrapping_neg())
}

/// Computes `a += b` if `mask` is true; equal lengths; returns the carry.
#[inline]
pub fn add_if(mask: Mask, a: &mut [Limb], b: &[Limb]) -> Limb {
    debug_assert_eq!(a.len(), b.len());
    let borrow = run(Armv7em::of_this_target(), a, b, mask.value() as u32, u32::MAX);
    Limb::from(borrow.wrapping_add(1))
}

/// Computes `a −= b` if `mask` is true; equal lengths; returns the borrow.
#[inline]
pub fn sub_if(mask: Mask, a: &mut [Limb], b: &[Limb]) -> Limb {
    debug_assert_eq!(a.len(), b.len());
    let borrow = run(Armv7em::of_this_target(), a, b, mask.value() as u32, 0);
    Limb::from(borrow.wrapping_neg())
}

/// Computes `a −= 1`; returns the borrow.
#[inline]
pub fn decrement(a: &mut [Limb]) -> Limb {
    sub(a, &[1])
}

/// Returns whether `a < b`; equal lengths.
#[inline]
pub fn is_less(a: &[Limb], b: &[Limb]) -> Mask {
    debug_assert_eq!(a.len(), b.len());
    // SAFETY: both have that many limbs.
    let borrow = unsafe { borrow(a.as_ptr(), b.as_ptr(), a.len().min(b.len())) };
    Mask::from_bit(Limb::from(borrow & 1))
}

/// Computes `a mod b` for `carry · 2^(64·n) + a < 2b`, the last step of a modular reduction. Equal
/// lengths.
pub fn reduce_once(carry: Limb, a: &mut [Limb], b: &[Limb]) {
    let below = is_less(a, b).value() & (carry ^ 1);
    sub_if(Mask::from_bit(below & 1 ^ 1), a, b);
}
