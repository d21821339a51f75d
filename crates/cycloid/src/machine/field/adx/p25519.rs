//! 2²⁵⁵ − 19: residues are any numbers below 2²⁵⁶, which is 38 modulo the prime.
//!
//! Every product is folded to below 2²⁵⁵ + 2¹¹, so that a sum or a difference of two needs only one
//! folding of its carry out of 256 bits.

use super::Limb;
use core::arch::naked_asm;

/// `$w0` … `$w3` = the number `$w0` … `$w7`, reduced to below 2²⁵⁵ + 2¹¹; `rbp` is zero.
///
/// The lower half plus 38 times the upper half is less than 39·2²⁵⁶, so its fifth limb is at most
/// 38.
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
            fold_limb!($w0 $w1 $w2 $w3; $w4),
        )
    };
}

/// `$w0` … `$w3` = themselves and the fifth limb `$w4`, less than 2⁵⁸, reduced to below 2²⁵⁵ +
/// 39·(`$w4` + 1): the part above bit 254, less than 2·(`$w4` + 1), is added at the bottom, times
/// 19.
macro_rules! fold_limb {
    ($w0:literal $w1:literal $w2:literal $w3:literal; $w4:literal) => {
        concat!(
            "shld ", $w4, ", ", $w3, ", 1\n", "btr ", $w3, ", 63\n", "imul ", $w4, ", ", $w4,
            ", 19\n", "add ", $w0, ", ", $w4, "\n", "adc ", $w1, ", 0\n", "adc ", $w2, ", 0\n",
            "adc ", $w3, ", 0\n",
        )
    };
}

/// `r8` … `r15` = the product of the numbers at `rsi` and `rcx`; `rbp` is zero.
macro_rules! product {
    () => {
        concat!(
            first_row!("[rcx]"; [0 1 2 3] "r8" "r9" "r10" "r11" "r12"),
            row!(fresh "[rcx + 8]"; [0 1 2 3] "r9" "r10" "r11" "r12" "r13"),
            row!(fresh "[rcx + 16]"; [0 1 2 3] "r10" "r11" "r12" "r13" "r14"),
            row!(fresh "[rcx + 24]"; [0 1 2 3] "r11" "r12" "r13" "r14" "r15"),
        )
    };
}

/// `$r` = `$a` + `$b`, both products in memory; below 2²⁵⁶.
///
/// If there is a carry, the rest is less than 2¹², and another 38 fit in the lowest limb.
macro_rules! sum {
    ($a:literal $b:literal; $r0:literal $r1:literal $r2:literal $r3:literal) => {
        concat!(
            load!($a [0 1 2 3] $r0 $r1 $r2 $r3),
            "add ", $r0, ", [", $b, "]\n",
            "adc ", $r1, ", [", $b, " + 8]\n",
            "adc ", $r2, ", [", $b, " + 16]\n",
            "adc ", $r3, ", [", $b, " + 24]\n",
            "sbb eax, eax\n",
            "and eax, 38\n",
            "add ", $r0, ", rax\n",
        )
    };
}

/// `$r` = `$a` − `$b`, both products in memory; below 2²⁵⁶.
///
/// If there is a borrow, the value is more than 2²⁵⁴, and 38 can be subtracted.
macro_rules! difference {
    ($a:literal $b:literal; $r0:literal $r1:literal $r2:literal $r3:literal) => {
        concat!(
            load!($a [0 1 2 3] $r0 $r1 $r2 $r3),
            "sub ", $r0, ", [", $b, "]\n",
            "sbb ", $r1, ", [", $b, " + 8]\n",
            "sbb ", $r2, ", [", $b, " + 16]\n",
            "sbb ", $r3, ", [", $b, " + 24]\n",
            "sbb eax, eax\n",
            "and eax, 38\n",
            "sub ", $r0, ", rax\n",
            "sbb ", $r1, ", 0\n",
            "sbb ", $r2, ", 0\n",
            "sbb ", $r3, ", 0\n",
        )
    };
}

/// `$out` = the product of the numbers at `$a` and `$b`, any below 2²⁵⁶; below 2²⁵⁵ + 2¹¹.
macro_rules! times {
    ($out:literal = $a:literal, $b:literal) => {
        concat!(
            "lea rsi, [", $a, "]\n",
            "lea rcx, [", $b, "]\n",
            product!(),
            fold!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
            store!($out [0 1 2 3] "r8" "r9" "r10" "r11"),
        )
    };
}

mod edwards;
mod ladder;
pub(super) use edwards::add_affine;
pub(super) use ladder::ladder_step;

/// Computes `out = a · b`, below 2²⁵⁵ + 2¹¹, for any factors below 2²⁵⁶.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are four limbs each, and `out` has room for four;
/// it may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        "mov rcx, rdx",
        product!(),
        fold!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = a²`; see [`mul`].
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn square(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14"),
        square_4!("[rsi]" "[rsi + 8]" "[rsi + 16]" "[rsi + 24]";
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        fold!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r14" "r13" "r12" "rbp" "rbx"),
    )
}

/// Computes `out = a^(2^times)`, for nonzero `times`; see [`mul`].
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

/// Computes `out = a · small`, below 2²⁵⁶, for any `a` below 2²⁵⁶ and `small` below 2⁵⁸.
///
/// # Safety
/// As for [`mul`], except that `small` is a limb.
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
        fold_limb!("r8" "r9" "r10" "r11"; "rcx"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        "ret",
    )
}
