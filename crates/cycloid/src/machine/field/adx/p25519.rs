//! 2²⁵⁵ − 19: residues are any numbers below 2²⁵⁶, which is 38 modulo the prime.

use super::Limb;
use core::arch::naked_asm;

/// `$w0` … `$w3` = the number `$w0` … `$w7`, reduced to below 2²⁵⁶.
///
/// The lower half plus 38 times the upper one is less than 39·2²⁵⁶. So its fifth limb is at most 38
/// and, times 38, at most 1444; if adding that to the other four carries, these are less than 1444,
/// and 38 more stay in the lowest limb.
macro_rules! fold {
    (
        $w0:literal $w1:literal $w2:literal $w3:literal
        $w4:literal $w5:literal $w6:literal $w7:literal
    ) => {
        concat!(
            "mov edx, 38\n",
            "xor eax, eax\n",
            "mulx rbx, rax, ", $w4, "\n",
            "adcx ", $w0, ", rax\n",
            "adox ", $w1, ", rbx\n",
            "mulx rbx, rax, ", $w5, "\n",
            "adcx ", $w1, ", rax\n",
            "adox ", $w2, ", rbx\n",
            "mulx rbx, rax, ", $w6, "\n",
            "adcx ", $w2, ", rax\n",
            "adox ", $w3, ", rbx\n",
            "mulx ", $w4, ", rax, ", $w7, "\n",
            "adcx ", $w3, ", rax\n",
            "adcx ", $w4, ", rbp\n",
            "adox ", $w4, ", rbp\n",
            fold_limb!("ebp" $w0 $w1 $w2 $w3; $w4),
        )
    };
}

/// `$w0` … `$w3` = those and the fifth limb `$w4`, reduced to below 2²⁵⁶, where the fifth limb is less
/// than 2⁵⁸, `edx` is 38 and `$zero` is zero.
macro_rules! fold_limb {
    ($zero:literal $w0:literal $($w:literal)+; $w4:literal) => {
        concat!(
            "imul ", $w4, ", ", $w4, ", 38\n",
            "add ", $w0, ", ", $w4, "\n",
            $("adc ", $w, ", 0\n",)+
            "cmovnc edx, ", $zero, "\n",
            "add ", $w0, ", rdx\n",
        )
    };
}

/// `out = a · b`, below 2²⁵⁶, for any factors below 2²⁵⁶.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are four limbs each, and `out` has place for four;
/// it may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        "mov rcx, rdx",
        "xor ebp, ebp",
        first_row!("[rcx]"; [0 1 2 3] "r8" "r9" "r10" "r11" "r12"),
        row!(fresh "[rcx + 8]"; [0 1 2 3] "r9" "r10" "r11" "r12" "r13"),
        row!(fresh "[rcx + 16]"; [0 1 2 3] "r10" "r11" "r12" "r13" "r14"),
        row!(fresh "[rcx + 24]"; [0 1 2 3] "r11" "r12" "r13" "r14" "r15"),
        fold!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// `out = a²`; as [`mul`].
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14"),
        "xor ebp, ebp",
        square_4!("[rsi]" "[rsi + 8]" "[rsi + 16]" "[rsi + 24]";
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        fold!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// `out = a^(2^times)`, for `times` that is not 0; as [`mul`].
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdi"),
        load!("rsi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        "mov rsi, rdx",
        "xor ebp, ebp",
        ".p2align 4",
        "2:",
        square_4!("r8" "r9" "r10" "r11"; "r8" "r12" "r13" "r14" "r15" "rcx" "rdi" "r11"),
        fold!("r8" "r12" "r13" "r14" "r15" "rcx" "rdi" "r11"),
        "mov r9, r12",
        "mov r10, r13",
        "mov r11, r14",
        "dec rsi",
        "jnz 2b",
        restore!("rdi"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// `out = a · small`, below 2²⁵⁶, for any `a` below 2²⁵⁶ and `small` below 2⁵⁸.
///
/// # Safety
/// As for [`mul`], but that `small` is a limb.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul_small(out: *mut Limb, a: *const Limb, small: Limb) {
    naked_asm!(
        "mulx r9, r8, [rsi]",
        "mulx r10, rax, [rsi + 8]",
        "add r9, rax",
        "mulx r11, rax, [rsi + 16]",
        "adc r10, rax",
        "mulx rcx, rax, [rsi + 24]",
        "adc r11, rax",
        "adc rcx, 0",
        "mov edx, 38",
        "xor esi, esi",
        fold_limb!("esi" "r8" "r9" "r10" "r11"; "rcx"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        "ret",
    )
}
