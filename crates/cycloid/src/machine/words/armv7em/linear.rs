//! A number times one limb, added to another or subtracted from it.

use core::arch::naked_asm;

use super::{Armv7em, Limb};

/// Computes `accumulator += a · x`; returns the limb carried out.
///
/// # Safety
/// `accumulator` and `a` have `limbs` limbs each, at least one; they do not overlap.
#[unsafe(naked)]
unsafe extern "C" fn add(
    accumulator: *mut Limb,
    a: *const Limb,
    low: u32,
    high: u32,
    limbs: usize,
) -> Limb {
    naked_asm!(
        "push {{r4-r8, lr}}",
        "ldr r4, [sp, #24]",
        "mov r5, #0",
        "mov r6, #0",
        "22:",
        row!("r1" "r0" "0"; "r7" "r8"; ["r2" "r3"] ["r5" "r6"]),
        row!("r1" "r0" "4"; "r7" "r8"; ["r2" "r3"] ["r6" "r5"]),
        "adds r0, #8",
        "adds r1, #8",
        "subs r4, #1",
        "bne 22b",
        "mov r0, r5",
        "mov r1, r6",
        "pop {{r4-r8, pc}}",
    )
}

/// Computes `accumulator −= a · x`; returns the limb borrowed.
///
/// At most (B² − 1)·(B² − 1) + (B² − 1) < B⁴, so the last limb and the last borrow add up to a limb.
///
/// # Safety
/// As for [`add`].
#[unsafe(naked)]
unsafe extern "C" fn sub(
    accumulator: *mut Limb,
    a: *const Limb,
    low: u32,
    high: u32,
    limbs: usize,
) -> Limb {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldr r4, [sp, #36]",
        "mov r5, #0",
        "mov r6, #0",
        // Carry flag = no borrow.
        "subs r12, r5, r6",
        "22:",
        "ldm r1!, {{r7, r8}}",
        "ldm r0, {{r9, r10}}",
        "mov r11, #0",
        "mov r12, #0",
        "umaal r11, r5, r2, r7",
        "umaal r6, r5, r3, r7",
        "umaal r12, r6, r2, r8",
        "umaal r5, r6, r3, r8",
        "sbcs r9, r9, r11",
        "sbcs r10, r10, r12",
        "stm r0!, {{r9, r10}}",
        "sub r4, r4, #1",
        "teq r4, #0",
        "bne 22b",
        "sbc r4, r4, r4",
        "rsb r4, r4, #0",
        "adds r0, r5, r4",
        "adc r1, r6, #0",
        "pop {{r4-r11, pc}}",
    )
}

/// Computes `accumulator += a · x`; see [`Words::add_mul_limb`](super::Words::add_mul_limb).
pub(super) fn add_mul_limb(_: Armv7em, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
    run(add, accumulator, a, x)
}

/// Computes `accumulator −= a · x`; see [`Words::sub_mul_limb`](super::Words::sub_mul_limb).
pub(super) fn sub_mul_limb(_: Armv7em, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
    run(sub, accumulator, a, x)
}

/// [`add`] or [`sub`].
type Kernel = unsafe extern "C" fn(*mut Limb, *const Limb, u32, u32, usize) -> Limb;

#[inline(always)]
fn run(kernel: Kernel, accumulator: &mut [Limb], a: &[Limb], x: Limb) -> Limb {
    assert_eq!(accumulator.len(), a.len());
    if a.is_empty() {
        return 0;
    }
    let (low, high) = (x as u32, (x >> 32) as u32);
    // SAFETY: the callers' tokens prove UMAAL; both have the same length, which is not 0, and
    // `accumulator` is uniquely borrowed.
    unsafe { kernel(accumulator.as_mut_ptr(), a.as_ptr(), low, high, a.len()) }
}
