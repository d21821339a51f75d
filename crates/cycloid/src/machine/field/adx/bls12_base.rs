//! The base prime of BLS12-381 in Montgomery form, R = 2³⁸⁴.
//!
//! p is less than 2³⁸¹, so the window of a row and a step has three spare bits.

use super::dense::Modulus;
use super::{Bls12Base, Limb, Prime, Returned};
use core::arch::naked_asm;

pub(super) static MODULUS: Modulus<6> = Modulus::of(Bls12Base::MODULUS);

/// 2p.
static TWICE: [Limb; 6] = {
    let (mut twice, mut carry, mut i) = ([0; 6], 0, 0);
    while i < 6 {
        twice[i] = Bls12Base::MODULUS[i] << 1 | carry;
        carry = Bls12Base::MODULUS[i] >> 63;
        i += 1;
    }
    twice
};

/// Limbs 2 to 5 of twice the number at `[rcx]`, written to `[rsp]`.
macro_rules! double_6 {
    () => {
        concat!(
            load!("rcx" [1 2 3 4 5] "rax" "r8" "r9" "r10" "r11"),
            "add rax, rax\n",
            "adc r8, r8\n",
            "adc r9, r9\n",
            "adc r10, r10\n",
            "adc r11, r11\n",
            store!("rsp" [2 3 4 5] "r8" "r9" "r10" "r11"),
        )
    };
}

/// Computes `out = a · b / R mod p`, less than p.
///
/// `a` is less than 2³⁸¹, `b` any number below R, and one of them less than p. From W < 2³⁸³, a row
/// and a step leave (W + 2⁶⁴·a + 2⁶⁴·p) / 2⁶⁴ < 2³⁸³, and the final value is below a·b / R + p <
/// 2p.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are six limbs each, and `out` has room for six; it
/// may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        "mov rcx, rdx",
        "lea r15, [rip + {modulus}]",
        first_row!("[rcx]"; [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        step!(used "r15" [1 2 3 4 5 6] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        rows_and_steps!(["[rcx + 8]" "[rcx + 16]" "[rcx + 24]" "[rcx + 32]" "[rcx + 40]"]
            "r15" [0 1 2 3 4 5] [1 2 3 4 5 6] "r9" "r10" "r11" "r12" "r13" "r14" "r8"),
        subtract_modulus!("r15" [1 2 3 4 5 6] "r14" "r8" "r9" "r10" "r11" "r12";
            "rax" "rbx" "rcx" "rdx" "rsi" "rbp"),
        store!("rdi" [0 1 2 3 4 5] "rax" "rbx" "rcx" "rdx" "rsi" "rbp"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
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
/// Each row multiplies a limb by itself and by twice the limbs above it, so that a step can follow
/// each row; rows 0 to i are less than 2a times the lowest i + 1 limbs. A square of a number below
/// 2p is reduced to less than (2p)² / R + p < 2p, because p is less than R / 4, so the prime is
/// subtracted only at the end. Stack: 2a without its lowest two limbs, the remaining iterations,
/// `out`.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi" "rdx"),
        reserve!(48),
        "mov rcx, rsi",
        "lea r15, [rip + {modulus}]",
        ".p2align 4",
        "2:",
        double_6!(),
        first_square_row!([2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        step!(used "r15" [1 2 3 4 5 6] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        square_row!("rsp" "rbp"; 1 "[rcx + 16]"; [3 4 5] "r10" "r11" "r12" "r13" "r14" "r8"),
        step!(used "r15" [1 2 3 4 5 6] "r9" "r10" "r11" "r12" "r13" "r14" "r8"),
        square_row!("rsp" "rbp"; 2 "[rcx + 24]"; [4 5] "r12" "r13" "r14" "r8" "r9"),
        step!(used "r15" [1 2 3 4 5 6] "r10" "r11" "r12" "r13" "r14" "r8" "r9"),
        square_row!("rsp" "rbp"; 3 "[rcx + 32]"; [5] "r14" "r8" "r9" "r10"),
        step!(used "r15" [1 2 3 4 5 6] "r11" "r12" "r13" "r14" "r8" "r9" "r10"),
        square_row!("rsp" "rbp"; 4 "[rcx + 40]"; [] "r9" "r10" "r11"),
        step!(used "r15" [1 2 3 4 5 6] "r12" "r13" "r14" "r8" "r9" "r10" "r11"),
        last_square_row!(5 "r11" "r12"),
        step!(used "r15" [1 2 3 4 5 6] "r13" "r14" "r8" "r9" "r10" "r11" "r12"),
        "mov rcx, [rsp + 56]",
        "dec qword ptr [rsp + 48]",
        "jz 3f",
        store!("rcx" [0 1 2 3 4 5] "r14" "r8" "r9" "r10" "r11" "r12"),
        "jmp 2b",
        "3:",
        subtract_modulus!("r15" [1 2 3 4 5 6] "r14" "r8" "r9" "r10" "r11" "r12";
            "rax" "rbx" "rdi" "rdx" "rsi" "r13"),
        store!("rcx" [0 1 2 3 4 5] "rax" "rbx" "rdi" "rdx" "rsi" "r13"),
        release!(48),
        restore!("rdx"),
        restore!("rdi"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
    )
}

/// Computes `out = a · b`, twelve limbs.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are six limbs each, and `out` has room for twelve,
/// apart from both; it need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul_wide(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14"),
        "mov rcx, rdx",
        first_row!("[rcx]"; [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        store!("rdi" [0] "r8"),
        row!(fresh "[rcx + 8]"; [0 1 2 3 4 5] "r9" "r10" "r11" "r12" "r13" "r14" "r8"),
        store!("rdi" [1] "r9"),
        row!(fresh "[rcx + 16]"; [0 1 2 3 4 5] "r10" "r11" "r12" "r13" "r14" "r8" "r9"),
        store!("rdi" [2] "r10"),
        row!(fresh "[rcx + 24]"; [0 1 2 3 4 5] "r11" "r12" "r13" "r14" "r8" "r9" "r10"),
        store!("rdi" [3] "r11"),
        row!(fresh "[rcx + 32]"; [0 1 2 3 4 5] "r12" "r13" "r14" "r8" "r9" "r10" "r11"),
        store!("rdi" [4] "r12"),
        row!(fresh "[rcx + 40]"; [0 1 2 3 4 5] "r13" "r14" "r8" "r9" "r10" "r11" "r12"),
        store!("rdi" [5 6 7 8 9 10 11] "r13" "r14" "r8" "r9" "r10" "r11" "r12"),
        leave!("r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = wide / R mod p`, less than p, for twelve limbs at `wide` of a signed integer
/// less than 2p·R in magnitude.
///
/// The lower half is reduced by itself, to at most p, and the upper half added: from −2p to 3p.
/// Twice the prime is added to a negative value and subtracted from any other.
///
/// # Safety
/// The processor has BMI2 and ADX. `wide` is twelve limbs and `out` has room for six; it may be
/// where `wide` is, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn reduce_wide(wide: &[Limb; 12]) -> Returned<[Limb; 6]> {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14"),
        load!("rsi" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        "lea r14, [rip + {modulus}]",
        "xor ebp, ebp",
        steps!([0 1 2 3 4 5] "r14" [1 2 3 4 5 6] "r8" "r9" "r10" "r11" "r12" "r13"),
        "add r8, [rsi + 48]",
        "adc r9, [rsi + 56]",
        "adc r10, [rsi + 64]",
        "adc r11, [rsi + 72]",
        "adc r12, [rsi + 80]",
        "adc r13, [rsi + 88]",
        "mov r14, r13",
        "sar r14, 63",
        load!("rip + {twice}" [0 1 2 3 4 5] "rax" "rbx" "rcx" "rdx" "rsi" "rbp"),
        "and rax, r14",
        "and rbx, r14",
        "and rcx, r14",
        "and rdx, r14",
        "and rsi, r14",
        "and rbp, r14",
        "add r8, rax",
        "adc r9, rbx",
        "adc r10, rcx",
        "adc r11, rdx",
        "adc r12, rsi",
        "adc r13, rbp",
        subtract_modulus!("rip + {twice}" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13";
            "rax" "rbx" "rcx" "rdx" "rsi" "rbp"),
        subtract_modulus!("rip + {modulus}" [1 2 3 4 5 6] "rax" "rbx" "rcx" "rdx" "rsi" "rbp";
            "r8" "r9" "r10" "r11" "r12" "r13"),
        store!("rdi" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        "mov rax, rdi",
        leave!("r14" "r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
        twice = sym TWICE,
    )
}
