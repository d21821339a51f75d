//! Sums and differences of six and of nine limbs.

use super::Limb;
use core::arch::asm;

/// Adds the prime of P-384 to `{r0}` … `{r5}` if the register `{mask}` is all ones, and nothing if
/// it is zero; `{p0}` and `{p1}` are the prime's lowest limbs.
macro_rules! add_p384_if {
    () => {
        concat!(
            "and {p0}, {mask}\n",
            "and {p1}, {mask}\n",
            "lea {p2}, [{mask} + {mask}]\n",
            "add {r0}, {p0}\n",
            "adc {r1}, {p1}\n",
            "adc {r2}, {p2}\n",
            "adc {r3}, {mask}\n",
            "adc {r4}, {mask}\n",
            "adc {r5}, {mask}\n",
        )
    };
}

const P384_0: Limb = 0x0000_0000_ffff_ffff;
const P384_1: Limb = 0xffff_ffff_0000_0000;

/// Returns a + b; both are less than the prime of P-384, and so is the result: their sum minus the
/// prime, plus the prime again if that is negative.
#[inline(always)]
pub(super) fn add_p384(a: &[Limb; 6], b: &[Limb; 6]) -> [Limb; 6] {
    let mut r = *a;
    let [r0, r1, r2, r3, r4, r5] = &mut r;
    // SAFETY: six limbs are read at `b`.
    unsafe {
        asm!(
            "add {r0}, [{mask}]",
            "adc {r1}, [{mask} + 8]",
            "adc {r2}, [{mask} + 16]",
            "adc {r3}, [{mask} + 24]",
            "adc {r4}, [{mask} + 32]",
            "adc {r5}, [{mask} + 40]",
            // The carry; if it is set, the prime must be subtracted, and that borrows.
            "mov {mask:e}, 0",
            "adc {mask}, 0",
            "sub {r0}, {p0}",
            "sbb {r1}, {p1}",
            "sbb {r2}, -2",
            "sbb {r3}, -1",
            "sbb {r4}, -1",
            "sbb {r5}, -1",
            "sbb {mask}, 0",
            add_p384_if!(),
            r0 = inout(reg) *r0,
            r1 = inout(reg) *r1,
            r2 = inout(reg) *r2,
            r3 = inout(reg) *r3,
            r4 = inout(reg) *r4,
            r5 = inout(reg) *r5,
            mask = inout(reg) b.as_ptr() => _,
            p0 = inout(reg) P384_0 => _,
            p1 = inout(reg) P384_1 => _,
            p2 = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    r
}

/// Returns a − b; both are less than the prime of P-384, and so is the result: their difference,
/// plus the prime if it is negative.
#[inline(always)]
pub(super) fn sub_p384(a: &[Limb; 6], b: &[Limb; 6]) -> [Limb; 6] {
    let mut r = *a;
    let [r0, r1, r2, r3, r4, r5] = &mut r;
    // SAFETY: six limbs are read at `b`.
    unsafe {
        asm!(
            "sub {r0}, [{mask}]",
            "sbb {r1}, [{mask} + 8]",
            "sbb {r2}, [{mask} + 16]",
            "sbb {r3}, [{mask} + 24]",
            "sbb {r4}, [{mask} + 32]",
            "sbb {r5}, [{mask} + 40]",
            "sbb {mask}, {mask}",
            add_p384_if!(),
            r0 = inout(reg) *r0,
            r1 = inout(reg) *r1,
            r2 = inout(reg) *r2,
            r3 = inout(reg) *r3,
            r4 = inout(reg) *r4,
            r5 = inout(reg) *r5,
            mask = inout(reg) b.as_ptr() => _,
            p0 = inout(reg) P384_0 => _,
            p1 = inout(reg) P384_1 => _,
            p2 = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    r
}

/// Returns a + b; both are less than 2⁵²¹ − 1, and so is the result.
///
/// a + b + 1 is less than 2⁵²². If it reaches 2⁵²¹, its lower 521 bits are the sum minus the prime;
/// otherwise the sum is less than the prime.
#[inline(always)]
pub(super) fn add_p521(a: &[Limb; 9], b: &[Limb; 9]) -> [Limb; 9] {
    let mut r = *a;
    let [r0, r1, r2, r3, r4, r5, r6, r7, r8] = &mut r;
    // SAFETY: nine limbs are read at `b`.
    unsafe {
        asm!(
            "stc",
            "adc {r0}, [{b}]",
            "adc {r1}, [{b} + 8]",
            "adc {r2}, [{b} + 16]",
            "adc {r3}, [{b} + 24]",
            "adc {r4}, [{b} + 32]",
            "adc {r5}, [{b} + 40]",
            "adc {r6}, [{b} + 48]",
            "adc {r7}, [{b} + 56]",
            "adc {r8}, [{b} + 64]",
            "cmp {r8}, 0x200",
            "sbb {r0}, 0",
            "sbb {r1}, 0",
            "sbb {r2}, 0",
            "sbb {r3}, 0",
            "sbb {r4}, 0",
            "sbb {r5}, 0",
            "sbb {r6}, 0",
            "sbb {r7}, 0",
            "sbb {r8}, 0",
            "and {r8:e}, 0x1ff",
            r0 = inout(reg) *r0,
            r1 = inout(reg) *r1,
            r2 = inout(reg) *r2,
            r3 = inout(reg) *r3,
            r4 = inout(reg) *r4,
            r5 = inout(reg) *r5,
            r6 = inout(reg) *r6,
            r7 = inout(reg) *r7,
            r8 = inout(reg) *r8,
            b = in(reg) b.as_ptr(),
            options(pure, readonly, nostack),
        );
    }
    r
}

/// Returns a − b; both are less than 2⁵²¹ − 1, and so is the result: the lower 521 bits of the
/// difference, minus 1 if it is negative.
#[inline(always)]
pub(super) fn sub_p521(a: &[Limb; 9], b: &[Limb; 9]) -> [Limb; 9] {
    let mut r = *a;
    let [r0, r1, r2, r3, r4, r5, r6, r7, r8] = &mut r;
    // SAFETY: nine limbs are read at `b`.
    unsafe {
        asm!(
            "sub {r0}, [{b}]",
            "sbb {r1}, [{b} + 8]",
            "sbb {r2}, [{b} + 16]",
            "sbb {r3}, [{b} + 24]",
            "sbb {r4}, [{b} + 32]",
            "sbb {r5}, [{b} + 40]",
            "sbb {r6}, [{b} + 48]",
            "sbb {r7}, [{b} + 56]",
            "sbb {r8}, [{b} + 64]",
            "sbb {r0}, 0",
            "sbb {r1}, 0",
            "sbb {r2}, 0",
            "sbb {r3}, 0",
            "sbb {r4}, 0",
            "sbb {r5}, 0",
            "sbb {r6}, 0",
            "sbb {r7}, 0",
            "sbb {r8}, 0",
            "and {r8:e}, 0x1ff",
            r0 = inout(reg) *r0,
            r1 = inout(reg) *r1,
            r2 = inout(reg) *r2,
            r3 = inout(reg) *r3,
            r4 = inout(reg) *r4,
            r5 = inout(reg) *r5,
            r6 = inout(reg) *r6,
            r7 = inout(reg) *r7,
            r8 = inout(reg) *r8,
            b = in(reg) b.as_ptr(),
            options(pure, readonly, nostack),
        );
    }
    r
}
