//! Numbers a₀ + a₁·i with i² = −1 modulo the base prime of BLS12-381: twelve limbs, a₀ first.
//!
//! A part of a product is a sum of two products. Added row by row, both share the steps of one
//! reduction, and only the residue is stored (Longa, Efficient algorithms for large prime
//! characteristic fields and their application to bilinear pairings, 2022).

use super::bls12_base::MODULUS;
use super::{Limb, Returned};
use core::arch::naked_asm;

/// A number.
pub(super) type Complex = [[Limb; 6]; 2];

/// An unreduced product.
type ComplexWide = [[Limb; 12]; 2];

/// For each given pair: adds the limbs of a₀ times `$by` and those of a₁, at `[rsi + 48]`, times
/// `$with`, and then a step; the window's top limb is fresh.
macro_rules! pairs_of_rows_and_steps {
    ([] $($window:literal)+) => { "" };
    ([$by:literal $with:literal $($more:literal)*] $low:literal $($rest:literal)+) => {
        concat!(
            row!(fresh $by; [0 1 2 3 4 5] $low $($rest)+),
            row!(used $with; [6 7 8 9 10 11] $low $($rest)+),
            step!(used "r15" [1 2 3 4 5 6] $low $($rest)+),
            pairs_of_rows_and_steps!([$($more)*] $($rest)+ $low),
        )
    };
}

/// Computes `out = a · b / R`, both parts less than p, for parts less than p.
///
/// First a₀·b₀ + a₁·(p − b₁), then a₀·b₁ + a₁·b₀. From W < 2³⁸³, two rows and a step leave (W +
/// 2⁶⁴·2p + 2⁶⁴·p) / 2⁶⁴ < 2³⁸³, and the final value is below 2p² / R + p < 2p. Stack: p − b₁,
/// `out`, the remaining parts.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are twelve limbs each, and `out` has room for
/// twelve, apart from both; it need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(a: &Complex, b: &Complex) -> Returned<Complex> {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(64),
        "mov [rsp + 48], rdi",
        "mov qword ptr [rsp + 56], 2",
        "mov rcx, rdx",
        "lea r15, [rip + {modulus}]",
        load!("r15" [1 2 3 4 5 6] "r8" "r9" "r10" "r11" "r12" "r13"),
        "sub r8, [rcx + 48]",
        "sbb r9, [rcx + 56]",
        "sbb r10, [rcx + 64]",
        "sbb r11, [rcx + 72]",
        "sbb r12, [rcx + 80]",
        "sbb r13, [rcx + 88]",
        store!("rsp" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        "mov rdi, rsp",
        ".p2align 4",
        "2:",
        first_row!("[rcx]"; [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        row!(used "[rdi]"; [6 7 8 9 10 11] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        step!(used "r15" [1 2 3 4 5 6] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        pairs_of_rows_and_steps!([
            "[rcx + 8]" "[rdi + 8]" "[rcx + 16]" "[rdi + 16]" "[rcx + 24]" "[rdi + 24]"
            "[rcx + 32]" "[rdi + 32]" "[rcx + 40]" "[rdi + 40]"
        ] "r9" "r10" "r11" "r12" "r13" "r14" "r8"),
        subtract_modulus!("r15" [1 2 3 4 5 6] "r14" "r8" "r9" "r10" "r11" "r12";
            "rax" "rbx" "rdx" "rbp" "rdi" "r13"),
        "mov r8, [rsp + 48]",
        store!("r8" [0 1 2 3 4 5] "rax" "rbx" "rdx" "rbp" "rdi" "r13"),
        "add r8, 48",
        "mov [rsp + 48], r8",
        "mov rdi, rcx",
        "add rcx, 48",
        "dec qword ptr [rsp + 56]",
        "jnz 2b",
        "lea rax, [r8 - 96]",
        release!(64),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
    )
}

/// Computes `out = a² / R`, both parts less than p, for parts less than p.
///
/// (a₀ + a₁)·(a₀ − a₁ + p), then 2a₀·a₁: factors less than 2p. From W < 2³⁸³, a row and a step
/// leave (W + 2⁶⁴·2p + 2⁶⁴·p) / 2⁶⁴ < 2³⁸³, and the final value is below 4p² / R + p < 2p. Stack:
/// a₀ + a₁, a₀ − a₁ + p, 2a₀, `out`, the remaining parts.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` is twelve limbs, and `out` has room for twelve; it may be
/// where `a` is, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square(a: &Complex) -> Returned<Complex> {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(160),
        "mov [rsp + 144], rdi",
        "mov qword ptr [rsp + 152], 2",
        "mov rdi, rsi",
        "lea r15, [rip + {modulus}]",
        load!("rdi" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        "add r8, [rdi + 48]",
        "adc r9, [rdi + 56]",
        "adc r10, [rdi + 64]",
        "adc r11, [rdi + 72]",
        "adc r12, [rdi + 80]",
        "adc r13, [rdi + 88]",
        store!("rsp" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        load!("rdi" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        "add r8, r8",
        "adc r9, r9",
        "adc r10, r10",
        "adc r11, r11",
        "adc r12, r12",
        "adc r13, r13",
        store!("rsp" [12 13 14 15 16 17] "r8" "r9" "r10" "r11" "r12" "r13"),
        // 2a₀ minus a₀ + a₁, plus p.
        "sub r8, [rsp]",
        "sbb r9, [rsp + 8]",
        "sbb r10, [rsp + 16]",
        "sbb r11, [rsp + 24]",
        "sbb r12, [rsp + 32]",
        "sbb r13, [rsp + 40]",
        "add r8, [r15 + 8]",
        "adc r9, [r15 + 16]",
        "adc r10, [r15 + 24]",
        "adc r11, [r15 + 32]",
        "adc r12, [r15 + 40]",
        "adc r13, [r15 + 48]",
        store!("rsp" [6 7 8 9 10 11] "r8" "r9" "r10" "r11" "r12" "r13"),
        "mov rsi, rsp",
        "lea rcx, [rsp + 48]",
        ".p2align 4",
        "2:",
        first_row!("[rcx]"; [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        step!(used "r15" [1 2 3 4 5 6] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        rows_and_steps!(["[rcx + 8]" "[rcx + 16]" "[rcx + 24]" "[rcx + 32]" "[rcx + 40]"]
            "r15" [0 1 2 3 4 5] [1 2 3 4 5 6] "r9" "r10" "r11" "r12" "r13" "r14" "r8"),
        subtract_modulus!("r15" [1 2 3 4 5 6] "r14" "r8" "r9" "r10" "r11" "r12";
            "rax" "rbx" "rcx" "rdx" "rsi" "rbp"),
        "mov r8, [rsp + 144]",
        store!("r8" [0 1 2 3 4 5] "rax" "rbx" "rcx" "rdx" "rsi" "rbp"),
        "add r8, 48",
        "mov [rsp + 144], r8",
        "lea rsi, [rsp + 96]",
        "lea rcx, [rdi + 48]",
        "dec qword ptr [rsp + 152]",
        "jnz 2b",
        "lea rax, [r8 - 96]",
        release!(160),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        modulus = sym MODULUS,
    )
}

/// For each given triple: adds the limbs of a₀ times `$by` and those of a₁, at `[rsi + 48]`, times
/// `$with` to the window, whose lowest limb is then complete and stored as limb `$i` at `[r15]`;
/// the window's top limb is fresh.
macro_rules! pairs_of_rows {
    ([] $($window:literal)+) => { "" };
    ([$i:literal $by:literal $with:literal $($more:literal)*] $low:literal $($rest:literal)+) => {
        concat!(
            row!(fresh $by; [0 1 2 3 4 5] $low $($rest)+),
            row!(used $with; [6 7 8 9 10 11] $low $($rest)+),
            store!("r15" [$i] $low),
            pairs_of_rows!([$($more)*] $($rest)+ $low),
        )
    };
}

/// Computes `out = a · b`, two parts of twelve limbs, modulo 2⁷⁶⁸: a₀·b₀ − a₁·b₁ may be negative.
/// The parts of `a` and `b` are less than 4p.
///
/// First a₀·b₀ + a₁·(2³⁸⁴ − 1 − b₁) + a₁ − 2³⁸⁴·a₁, then a₀·b₁ + a₁·b₀ + 0 − 0: two rows leave less
/// than 2⁶⁴·(a₀ + a₁) + a₁ < 2⁴⁴⁸. Stack: a₁, then 0; 2³⁸⁴ − 1 − b₁; the remaining parts.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are twelve limbs each, and `out` has room for 24,
/// apart from both; it need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul_wide(a: &Complex, b: &Complex) -> Returned<ComplexWide> {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(104),
        "mov r15, rdi",
        "mov qword ptr [rsp + 96], 2",
        "mov rcx, rdx",
        load!("rcx" [6 7 8 9 10 11] "r8" "r9" "r10" "r11" "r12" "r13"),
        "not r8",
        "not r9",
        "not r10",
        "not r11",
        "not r12",
        "not r13",
        store!("rsp" [6 7 8 9 10 11] "r8" "r9" "r10" "r11" "r12" "r13"),
        load!("rsi" [6 7 8 9 10 11] "r8" "r9" "r10" "r11" "r12" "r13"),
        "lea rdi, [rsp + 48]",
        "xor ebp, ebp",
        ".p2align 4",
        "2:",
        store!("rsp" [0 1 2 3 4 5] "r8" "r9" "r10" "r11" "r12" "r13"),
        pairs_of_rows!([
            0 "[rcx]" "[rdi]" 1 "[rcx + 8]" "[rdi + 8]" 2 "[rcx + 16]" "[rdi + 16]"
            3 "[rcx + 24]" "[rdi + 24]" 4 "[rcx + 32]" "[rdi + 32]" 5 "[rcx + 40]" "[rdi + 40]"
        ] "r8" "r9" "r10" "r11" "r12" "r13" "r14"),
        "sub r14, [rsp]",
        "sbb r8, [rsp + 8]",
        "sbb r9, [rsp + 16]",
        "sbb r10, [rsp + 24]",
        "sbb r11, [rsp + 32]",
        "sbb r12, [rsp + 40]",
        store!("r15" [6 7 8 9 10 11] "r14" "r8" "r9" "r10" "r11" "r12"),
        "add r15, 96",
        "mov rdi, rcx",
        "add rcx, 48",
        "xor r8d, r8d",
        "xor r9d, r9d",
        "xor r10d, r10d",
        "xor r11d, r11d",
        "xor r12d, r12d",
        "xor r13d, r13d",
        "dec qword ptr [rsp + 96]",
        "jnz 2b",
        "lea rax, [r15 - 192]",
        release!(104),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Combines the twelve limbs at `$a`, in registers, with those at `[$b]` and at `[$c]`, each by one
/// instruction for the lowest limb and another for the others.
macro_rules! combine {
    (
        $a:literal, $first:literal $next:literal $b:literal,
        $first_after:literal $next_after:literal $c:literal
    ) => {
        concat!(
            load!($a [0 1 2 3 4 5] "rax" "rbx" "rcx" "r8" "r9" "r10"),
            load!($a [6 7 8 9 10 11] "r11" "r12" "r13" "r14" "r15" "rbp"),
            combine!(@$first $next $b),
            combine!(@$first_after $next_after $c),
            store!($a [0 1 2 3 4 5] "rax" "rbx" "rcx" "r8" "r9" "r10"),
            store!($a [6 7 8 9 10 11] "r11" "r12" "r13" "r14" "r15" "rbp"),
        )
    };
    (@$first:literal $next:literal $from:literal) => {
        concat!(
            $first, " rax, [", $from, "]\n",
            $next, " rbx, [", $from, " + 8]\n",
            $next, " rcx, [", $from, " + 16]\n",
            $next, " r8, [", $from, " + 24]\n",
            $next, " r9, [", $from, " + 32]\n",
            $next, " r10, [", $from, " + 40]\n",
            $next, " r11, [", $from, " + 48]\n",
            $next, " r12, [", $from, " + 56]\n",
            $next, " r13, [", $from, " + 64]\n",
            $next, " r14, [", $from, " + 72]\n",
            $next, " r15, [", $from, " + 80]\n",
            $next, " rbp, [", $from, " + 88]\n",
        )
    };
}

/// Adds the limbs at `$b` to those at `$a`, starting without a carry.
macro_rules! add_to {
    ($a:literal $b:literal; $first:literal $($place:literal)+) => {
        concat!(
            "mov rax, [", $b, " + ", $first, "]\n",
            "add [", $a, " + ", $first, "], rax\n",
            $(
                "mov rax, [", $b, " + ", $place, "]\n",
                "adc [", $a, " + ", $place, "], rax\n",
            )+
        )
    };
}

/// Computes a ← a − b − c for two parts of twelve limbs, modulo 2⁷⁶⁸.
///
/// # Safety
/// `a`, `b` and `c` are 24 limbs each, and `a` is apart from the others.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn sub_both_wide(a: *mut Limb, b: *const Limb, c: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        combine!("rdi", "sub" "sbb" "rsi", "sub" "sbb" "rdx"),
        combine!("rdi + 96", "sub" "sbb" "rsi + 96", "sub" "sbb" "rdx + 96"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes a ← a + (1 + i)·b for two parts of twelve limbs, modulo 2⁷⁶⁸.
///
/// # Safety
/// `a` and `b` are 24 limbs each, apart from each other.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn add_turned_wide(a: *mut Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        combine!("rdi", "add" "adc" "rsi", "sub" "sbb" "rsi + 96"),
        combine!("rdi + 96", "add" "adc" "rsi", "add" "adc" "rsi + 96"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes a ← a + b for two parts of twelve limbs, modulo 2⁷⁶⁸.
///
/// # Safety
/// `a` and `b` are 24 limbs each, apart from each other.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn add_wide(a: *mut Limb, b: *const Limb) {
    naked_asm!(
        ".cfi_startproc",
        add_to!("rdi" "rsi"; 0 8 16 24 32 40 48 56 64 72 80 88),
        add_to!("rdi" "rsi"; 96 104 112 120 128 136 144 152 160 168 176 184),
        "ret",
        ".cfi_endproc",
    )
}
