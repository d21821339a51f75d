//! Sums of two products modulo the base prime of BLS12-381 with one reduction, and the same of
//! numbers a₀ + a₁·i with i² = −1. Added row by row, the products share the steps of the reduction.

use core::arch::naked_asm;

use super::bls12_base::MODULUS;
use super::bls12_complex::Complex;
use super::{Limb, Returned};

/// For each given limb `$i`: adds the limbs of a times limb `$i` at `[rcx]` and those of c, at
/// `[rdi]`, times limb `$i` at the address in `[rsp]`, and then a step; the window's top limb is
/// fresh.
macro_rules! rows_of_two_and_steps {
    ([] $($window:literal)+) => { "" };
    ([$i:literal $($more:literal)*] $low:literal $($rest:literal)+) => {
        concat!(
            row!(fresh "rsi" concat!("[rcx + 8*", $i, "]"); [0 1 2 3 4 5] $low $($rest)+),
            row!(used "rdi" concat!("[rsp]\nmov rdx, [rdx + 8*", $i, "]"); [0 1 2 3 4 5]
                $low $($rest)+),
            step!(used "r15" [1 2 3 4 5 6] $low $($rest)+),
            rows_of_two_and_steps!([$($more)*] $($rest)+ $low),
        )
    };
}

/// Returns a·b + c·d, divided by R, less than p, for numbers less than p.
///
/// From W < 2³⁸³, two rows and a step leave (W + 2⁶⁴·2p + 2⁶⁴·p) / 2⁶⁴ < 2³⁸³, and the final value is
/// below 2p² / R + p < 2p. Stack: the address of `d`, that of the result.
///
/// # Safety
/// The processor has BMI2 and ADX.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn sum(
    a: &[Limb; 6],
    b: &[Limb; 6],
    c: &[Limb; 6],
    d: &[Limb; 6],
) -> Returned<[Limb; 6]> {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(16),
        "mov [rsp], r8",
        "mov [rsp + 8], rdi",
        "mov rdi, rcx",
        "mov rcx, rdx",
        "lea r15, [rip + {modulus}]",
        first_row!("[rcx]"; [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        row!(used "rdi" "[rsp]\nmov rdx, [rdx]"; [0 1 2 3 4 5]
            "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        step!(used "r15" [1 2 3 4 5 6] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        rows_of_two_and_steps!([1 2 3 4 5] "r9" "r10" "r11" "r12" "r13" "r14" "r8"),
        subtract_modulus!("r15" [1 2 3 4 5 6] "r14" "r8" "r9" "r10" "r11" "r12";
            "rbx" "rcx" "rdx" "rbp" "rsi" "r13"),
        "mov rax, [rsp + 8]",
        store!("rax" [0 1 2 3 4 5] "rbx" "rcx" "rdx" "rbp" "rsi" "r13"),
        release!(16),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
    )
}

/// The limbs at `[rsp + $at]` = p minus the number at `[$from + 48]`.
macro_rules! opposite {
    ($at:literal $from:literal) => {
        concat!(
            load!("r15" [1 2 3 4 5 6] "r9" "r10" "r11" "r12" "r13" "r14"),
            "sub r9, [", $from, " + 48]\n",
            "sbb r10, [", $from, " + 56]\n",
            "sbb r11, [", $from, " + 64]\n",
            "sbb r12, [", $from, " + 72]\n",
            "sbb r13, [", $from, " + 80]\n",
            "sbb r14, [", $from, " + 88]\n",
            store!($at [0 1 2 3 4 5] "r9" "r10" "r11" "r12" "r13" "r14"),
        )
    };
}

/// For each given limb `$i`: adds the limbs of a₀, a₁, c₀ and c₁ times limb `$i` at `[rcx]` and at
/// the addresses in `[rsp + 96]`, `[rsp + 104]` and `[rsp + 112]`, and then a step; the window's top
/// limb is fresh.
macro_rules! rows_of_four_and_steps {
    ([] $($window:literal)+) => { "" };
    ([$i:literal $($more:literal)*] $low:literal $($rest:literal)+) => {
        concat!(
            row!(fresh "rsi" concat!("[rcx + 8*", $i, "]"); [0 1 2 3 4 5] $low $($rest)+),
            other_rows!($i $low $($rest)+),
            rows_of_four_and_steps!([$($more)*] $($rest)+ $low),
        )
    };
}

/// The second to fourth row for limb `$i`, and the step.
macro_rules! other_rows {
    ($i:literal $($window:literal)+) => {
        concat!(
            row!(used "rsi" concat!("[rsp + 96]\nmov rdx, [rdx + 8*", $i, "]");
                [6 7 8 9 10 11] $($window)+),
            row!(used "rdi" concat!("[rsp + 104]\nmov rdx, [rdx + 8*", $i, "]");
                [0 1 2 3 4 5] $($window)+),
            row!(used "rdi" concat!("[rsp + 112]\nmov rdx, [rdx + 8*", $i, "]");
                [6 7 8 9 10 11] $($window)+),
            step!(used "r15" [1 2 3 4 5 6] $($window)+),
        )
    };
}

/// Returns a·b + c·d, divided by R, both parts less than p, for parts less than p.
///
/// First a₀·b₀ + a₁·(p − b₁) + c₀·d₀ + c₁·(p − d₁), then a₀·b₁ + a₁·b₀ + c₀·d₁ + c₁·d₀. From W <
/// 2³⁸⁴, four rows and a step leave (W + 2⁶⁴·4p + 2⁶⁴·p) / 2⁶⁴ < 2³⁸⁴, and the final value is below
/// 4p² / R + p < 2p. Stack: p − b₁, p − d₁, three addresses of factors, that of the result, the
/// remaining parts, `b`, `d`.
///
/// # Safety
/// The processor has BMI2 and ADX.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn sum_complex(
    a: &Complex,
    b: &Complex,
    c: &Complex,
    d: &Complex,
) -> Returned<Complex> {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(152),
        "lea r15, [rip + {modulus}]",
        opposite!("rsp" "rdx"),
        opposite!("rsp + 48" "r8"),
        "mov [rsp + 96], rsp",
        "mov [rsp + 104], r8",
        "lea rax, [rsp + 48]",
        "mov [rsp + 112], rax",
        "mov [rsp + 120], rdi",
        "mov qword ptr [rsp + 128], 2",
        "mov [rsp + 136], rdx",
        "mov [rsp + 144], r8",
        "mov rdi, rcx",
        "mov rcx, rdx",
        ".p2align 4",
        "2:",
        first_row!("[rcx]"; [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        other_rows!(0 "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        rows_of_four_and_steps!([1 2 3 4 5] "r9" "r10" "r11" "r12" "r13" "r14" "r8"),
        subtract_modulus!("r15" [1 2 3 4 5 6] "r14" "r8" "r9" "r10" "r11" "r12";
            "rax" "rbx" "rcx" "rdx" "rbp" "r13"),
        "mov r8, [rsp + 120]",
        store!("r8" [0 1 2 3 4 5] "rax" "rbx" "rcx" "rdx" "rbp" "r13"),
        "add r8, 48",
        "mov [rsp + 120], r8",
        "mov rcx, [rsp + 136]",
        "mov [rsp + 96], rcx",
        "add rcx, 48",
        "mov rdx, [rsp + 144]",
        "mov [rsp + 112], rdx",
        "add rdx, 48",
        "mov [rsp + 104], rdx",
        "dec qword ptr [rsp + 128]",
        "jnz 2b",
        "lea rax, [r8 - 96]",
        release!(152),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
    )
}
