//! The scalar prime of BLS12-381 in Montgomery form, R = 2²⁵⁶.
//!
//! p is less than 2²⁵⁵, so the window of a row and a step has one spare bit.

use super::dense::Modulus;
use super::{Bls12Scalar, Limb, Prime};
use core::arch::naked_asm;

pub(super) static MODULUS: Modulus<4> = Modulus::of(Bls12Scalar::MODULUS);

/// Computes `out = a · b / R mod p`, less than p.
///
/// `a` is less than 2²⁵⁵, `b` any number below R, and one of them less than p. The value is less
/// than a + p after each step, less than 2⁶⁴·(a + p) < 2³²⁰ after another row and step, and finally
/// less than a·b / R + p < 2p.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are four limbs each, and `out` has room for four; it
/// may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13"),
        "mov rcx, rdx",
        "lea r13, [rip + {modulus}]",
        first_row!("[rcx]"; [0 1 2 3] "r8" "r9" "r10" "r11" "r12"),
        step!(used "r13" [1 2 3 4] "r8" "r9" "r10" "r11" "r12"),
        rows_and_steps!(["[rcx + 8]" "[rcx + 16]" "[rcx + 24]"]
            "r13" [0 1 2 3] [1 2 3 4] "r9" "r10" "r11" "r12" "r8"),
        subtract_modulus!("r13" [1 2 3 4] "r12" "r8" "r9" "r10"; "rax" "rbx" "rcx" "rdx"),
        store!("rdi" [0 1 2 3] "rax" "rbx" "rcx" "rdx"),
        leave!("r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
    )
}

/// Computes `out = a² / R mod p`, less than p; see [`square_times`].
///
/// # Safety
/// As for [`mul`].
#[inline(always)]
pub(super) unsafe fn square(out: *mut Limb, a: *const Limb) {
    // SAFETY: as for `mul`.
    unsafe { square_times(out, a, 1) };
}

/// Computes `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// The lower half of the square is reduced by itself, to at most p, and the upper half, less than
/// p, is added.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi"),
        load!("rsi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        "mov rsi, rdx",
        ".p2align 4",
        "2:",
        square_4!("r8" "r9" "r10" "r11"; "r8" "r12" "r13" "r14" "r15" "rcx" "rdi" "r11"),
        steps!([0 1 2 3] "rip + {modulus}" [1 2 3 4] "r8" "r12" "r13" "r14"),
        "add r8, r15",
        "adc r12, rcx",
        "adc r13, rdi",
        "adc r14, r11",
        subtract_modulus!("rip + {modulus}" [1 2 3 4]
            "r8" "r12" "r13" "r14"; "rax" "r9" "r10" "r11"),
        "mov r8, rax",
        "dec rsi",
        "jnz 2b",
        restore!("rdi"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
    )
}

/// Computes `out = a · b`, eight limbs.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are four limbs each, and `out` has room for eight,
/// apart from both; it need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul_wide(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12"),
        "mov rcx, rdx",
        first_row!("[rcx]"; [0 1 2 3] "r8" "r9" "r10" "r11" "r12"),
        store!("rdi" [0] "r8"),
        row!(fresh "[rcx + 8]"; [0 1 2 3] "r9" "r10" "r11" "r12" "r8"),
        store!("rdi" [1] "r9"),
        row!(fresh "[rcx + 16]"; [0 1 2 3] "r10" "r11" "r12" "r8" "r9"),
        store!("rdi" [2] "r10"),
        row!(fresh "[rcx + 24]"; [0 1 2 3] "r11" "r12" "r8" "r9" "r10"),
        store!("rdi" [3 4 5 6 7] "r11" "r12" "r8" "r9" "r10"),
        leave!("r12" "rbp" "rbx"),
    )
}

/// Computes `out = wide / R mod p`, less than p, for eight limbs at `wide` that are less than p·R.
///
/// The lower half is reduced by itself, to at most p, and the upper half, less than p, is added.
///
/// # Safety
/// The processor has BMI2 and ADX. `wide` is eight limbs and `out` has room for four; it may be
/// where `wide` is, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn reduce_wide(out: *mut Limb, wide: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp"),
        load!("rsi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        "lea rcx, [rip + {modulus}]",
        "xor ebp, ebp",
        steps!([0 1 2 3] "rcx" [1 2 3 4] "r8" "r9" "r10" "r11"),
        "add r8, [rsi + 32]",
        "adc r9, [rsi + 40]",
        "adc r10, [rsi + 48]",
        "adc r11, [rsi + 56]",
        subtract_modulus!("rcx" [1 2 3 4] "r8" "r9" "r10" "r11"; "rax" "rbx" "rdx" "rsi"),
        store!("rdi" [0 1 2 3] "rax" "rbx" "rdx" "rsi"),
        leave!("rbp" "rbx"),
        modulus = sym MODULUS,
    )
}
