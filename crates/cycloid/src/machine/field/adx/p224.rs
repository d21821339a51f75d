//! P-224 in Montgomery form, R = 2²⁵⁶.
//!
//! p = 2²²⁴ − 2⁹⁶ + 1, whose inverse modulo 2¹²⁸ is 1 + 2⁹⁶. So with the quotient Q = W · (1 + 2⁹⁶)
//! mod 2¹²⁸ of two limbs W, W − Q·p is a multiple of 2¹²⁸, computed by shifts alone.

use super::Limb;
use core::arch::naked_asm;

/// `$w4` … `$w7` = the residue of `$w0` … `$w7` over R, less than p, for a number less than R·p.
/// Destroys the other registers, `rax`, `rbx`, `rdx` and `rbp`, and the registers `$s` and `$t`.
///
/// Q·p is Q − Q·2⁹⁶ + Q·2²²⁴; Q·2⁹⁶ and Q·2²²⁴ have the same three limbs S = Q·2³², the former from
/// limb 1 on and the latter from limb 3 on. The contributions to limbs 4 to 7 are collected as a
/// number to be subtracted from them: it is (Q·p − W) / R for the quotient Q of all four limbs W,
/// hence nonnegative and less than p. After two steps it is nonnegative too, because Q·p is then at
/// least limbs 0 and 1. The difference is more than −p and less than p.
#[rustfmt::skip]
macro_rules! reduce {
    (
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal $w6:literal
        $w7:literal; $s:literal $t:literal
    ) => {
        concat!(
            // S to rax, rbx, s; Q is limb 0, and limb 1 plus the lowest of S.
            "mov edx, 32\n",
            "shlx rax, ", $w0, ", rdx\n",
            "shrx rbx, ", $w0, ", rdx\n",
            "add ", $w1, ", rax\n",
            "shlx ", $t, ", ", $w1, ", rdx\n",
            "shrx ", $s, ", ", $w1, ", rdx\n",
            "lea rbx, [rbx + ", $t, "]\n",
            "adc ", $w2, ", rbx\n",
            "adc ", $w3, ", ", $s, "\n",
            "sbb rbx, 0\n",
            "sbb ", $s, ", 0\n",
            "sub ", $w3, ", rax\n",
            "adc rbx, 0\n",
            "adc ", $s, ", 0\n",
            // The same for limbs 2 and 3, S to rax, rbp, rdx.
            "shlx rax, ", $w2, ", rdx\n",
            "shrx rbp, ", $w2, ", rdx\n",
            "add ", $w3, ", rax\n",
            "shlx ", $t, ", ", $w3, ", rdx\n",
            "shrx rdx, ", $w3, ", rdx\n",
            "lea rbp, [rbp + ", $t, "]\n",
            "sbb rbx, rbp\n",
            "sbb ", $s, ", rdx\n",
            "sbb rbp, 0\n",
            "sbb rdx, 0\n",
            "add ", $s, ", rax\n",
            "adc rbp, 0\n",
            "adc rdx, 0\n",
            "sub ", $w4, ", rbx\n",
            "sbb ", $w5, ", ", $s, "\n",
            "sbb ", $w6, ", rbp\n",
            "sbb ", $w7, ", rdx\n",
            // Plus p if that is negative.
            "sbb rax, rax\n",
            "mov ebx, eax\n",
            "mov rdx, rax\n",
            "and ebx, 1\n",
            "shl rdx, 32\n",
            "add ", $w4, ", rbx\n",
            "mov ebx, eax\n",
            "adc ", $w5, ", rdx\n",
            "adc ", $w6, ", rax\n",
            "adc ", $w7, ", rbx\n",
        )
    };
}

/// Computes `out = a · b / R mod p`, less than p, where one of the factors is any number below R
/// and the other is less than p.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are four limbs each, and `out` has room for four;
/// it may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        "mov rcx, rdx",
        first_row!("[rcx]"; [0 1 2 3] "r8" "r9" "r10" "r11" "r12"),
        row!(fresh "[rcx + 8]"; [0 1 2 3] "r9" "r10" "r11" "r12" "r13"),
        row!(fresh "[rcx + 16]"; [0 1 2 3] "r10" "r11" "r12" "r13" "r14"),
        row!(fresh "[rcx + 24]"; [0 1 2 3] "r11" "r12" "r13" "r14" "r15"),
        reduce!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"; "rcx" "rsi"),
        store!("rdi" [0 1 2 3] "r12" "r13" "r14" "r15"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = a² / R mod p`, less than p, for `a` less than p.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14"),
        square_4!("[rsi]" "[rsi + 8]" "[rsi + 16]" "[rsi + 24]";
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        reduce!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"; "rsi" "r8"),
        store!("rdi" [0 1 2 3] "r12" "r13" "r14" "rcx"),
        leave!("r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = a` squared `times` times; `times` is not 0.
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
        reduce!("r8" "r12" "r13" "r14" "r15" "rcx" "rdi" "r11"; "r9" "r10"),
        "mov r8, r15",
        "mov r9, rcx",
        "mov r10, rdi",
        "dec rsi",
        "jnz 2b",
        restore!("rdi"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
