//! 2²⁵⁵ − 19: residues are any numbers below 2²⁵⁶, which is 38 modulo the prime.
//!
//! Every product is folded to below 2²⁵⁵ + 2¹¹, so that a sum or a difference of two needs only one
//! folding of its carry out of 256 bits.

use super::Limb;
use core::arch::naked_asm;

/// `$w0` … `$w3` = the number `$w0` … `$w7`, reduced to below 2²⁵⁵ + 2¹¹. With `zero`, `rbp` is
/// zero: after a square that is faster, after a product slower.
///
/// The lower half plus 38 times the upper half is less than 39·2²⁵⁶, so its fifth limb is at most
/// 38.
macro_rules! fold {
    (
        $($zero:ident)? $w0:literal $w1:literal $w2:literal $w3:literal
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
            add_carries!($($zero)? $w4),
            fold_limb!($w0 $w1 $w2 $w3; $w4),
        )
    };
}

/// `$top` = itself plus the carry flag and the overflow flag.
macro_rules! add_carries {
    (zero $top:literal) => {
        concat!("adcx ", $top, ", rbp\nadox ", $top, ", rbp\n")
    };
    ($top:literal) => {
        concat!("mov eax, 0\nadox ", $top, ", rax\nadc ", $top, ", 0\n")
    };
}

/// `$w0` … `$w3` = themselves and the fifth limb `$w4`, less than 2⁵⁸, reduced to below 2²⁵⁵ +
/// 39·(`$w4` + 1): the part above bit 254, less than 2·(`$w4` + 1), is added at the bottom, times
/// 19. Uses `rax`; SHLD and BTR would be fewer instructions, but slow ones on Zen.
macro_rules! fold_limb {
    ($w0:literal $w1:literal $w2:literal $w3:literal; $w4:literal) => {
        concat!(
            "mov rax, ",
            $w3,
            "\n",
            "shl ",
            $w3,
            ", 1\n",
            "shr rax, 63\n",
            "lea ",
            $w4,
            ", [rax + 2*",
            $w4,
            "]\n",
            "shr ",
            $w3,
            ", 1\n",
            "imul ",
            $w4,
            ", ",
            $w4,
            ", 19\n",
            "add ",
            $w0,
            ", ",
            $w4,
            "\n",
            "adc ",
            $w1,
            ", 0\n",
            "adc ",
            $w2,
            ", 0\n",
            "adc ",
            $w3,
            ", 0\n",
        )
    };
}

/// `r8` … `r15` = the product of the number at `rsi` and the one at `$b` or in `$b0` … `$b3`, which
/// may be `r12` … `r15`.
macro_rules! product {
    ($b:literal) => {
        product!(
            concat!("[", $b, "]"),
            concat!("[", $b, " + 8]"),
            concat!("[", $b, " + 16]"),
            concat!("[", $b, " + 24]")
        )
    };
    ($b0:expr, $b1:expr, $b2:expr, $b3:expr) => {
        concat!(
            "mov rdx, ", $b0, "\n",
            "mulx r9, r8, [rsi]\n",
            "mulx r10, rax, [rsi + 8]\n",
            "add r9, rax\n",
            "mulx r11, rax, [rsi + 16]\n",
            "adc r10, rax\n",
            "mulx r12, rax, [rsi + 24]\n",
            "adc r11, rax\n",
            "adc r12, 0\n",
            product_row!($b1; "r9" "r10" "r11" "r12" "r13"),
            product_row!($b2; "r10" "r11" "r12" "r13" "r14"),
            product_row!($b3; "r11" "r12" "r13" "r14" "r15"),
        )
    };
}

/// `$r0` … `$r4` += the number at `rsi` times `$b`; `$r4` is fresh, and may be `$b`.
macro_rules! product_row {
    ($b:expr; $r0:literal $r1:literal $r2:literal $r3:literal $r4:literal) => {
        concat!(
            "mov rdx, ",
            $b,
            "\n",
            "xor eax, eax\n",
            "mulx rbx, rax, [rsi]\n",
            "adcx ",
            $r0,
            ", rax\n",
            "adox ",
            $r1,
            ", rbx\n",
            "mulx rbx, rax, [rsi + 8]\n",
            "adcx ",
            $r1,
            ", rax\n",
            "adox ",
            $r2,
            ", rbx\n",
            "mulx rbx, rax, [rsi + 16]\n",
            "adcx ",
            $r2,
            ", rax\n",
            "adox ",
            $r3,
            ", rbx\n",
            "mulx ",
            $r4,
            ", rax, [rsi + 24]\n",
            "adcx ",
            $r3,
            ", rax\n",
            add_carries!($r4),
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
macro_rules! difference {
    ($a:literal $b:literal; $r0:literal $r1:literal $r2:literal $r3:literal) => {
        concat!(
            load!($a [0 1 2 3] $r0 $r1 $r2 $r3),
            combine_product!("sub" "sbb"; $b; $r0 $r1 $r2 $r3),
        )
    };
}

/// `$out` = the product of the numbers at `$a` and `$b`, or of those at `$a` and in `r12` … `r15`,
/// any below 2²⁵⁶; below 2²⁵⁵ + 2¹¹. Uses `rsi`.
macro_rules! times {
    ($out:literal = $a:literal, registers) => {
        times!(@$out = $a, product!("r12", "r13", "r14", "r15"))
    };
    ($out:literal = $a:literal, $b:literal) => { times!(@$out = $a, product!($b)) };
    (@$out:literal = $a:literal, $product:expr) => {
        concat!(
            "lea rsi, [", $a, "]\n",
            $product,
            fold!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
            store!($out [0 1 2 3] "r8" "r9" "r10" "r11"),
        )
    };
}

/// `$out` = the square of the number in `r8` … `r11`, any below 2²⁵⁶; below 2²⁵⁵ + 2¹¹. Uses `rcx`
/// and `rsi`, and zeroes `rbp`.
macro_rules! squared {
    ($out:literal) => {
        concat!(
            square_4!("r8" "r9" "r10" "r11"; "r8" "r12" "r13" "r14" "r15" "rcx" "rsi" "r11"),
            fold!(zero "r8" "r12" "r13" "r14" "r15" "rcx" "rsi" "r11"),
            store!($out [0 1 2 3] "r8" "r12" "r13" "r14"),
        )
    };
}

/// Adds the number at `$b` to `$r`, or subtracts it, as `$add` says; `$b` is a product and `$r` any
/// number below 2²⁵⁶, and so is the result.
///
/// A carry leaves less than 2²⁵⁵ + 2¹¹, a borrow more than 2²⁵⁴, so that 38 can be added or
/// subtracted.
macro_rules! combine_product {
    (
        $add:literal $adc:literal; $b:literal;
        $r0:literal $r1:literal $r2:literal $r3:literal
    ) => {
        concat!(
            $add,
            " ",
            $r0,
            ", [",
            $b,
            "]\n",
            $adc,
            " ",
            $r1,
            ", [",
            $b,
            " + 8]\n",
            $adc,
            " ",
            $r2,
            ", [",
            $b,
            " + 16]\n",
            $adc,
            " ",
            $r3,
            ", [",
            $b,
            " + 24]\n",
            "sbb eax, eax\n",
            "and eax, 38\n",
            $add,
            " ",
            $r0,
            ", rax\n",
            $adc,
            " ",
            $r1,
            ", 0\n",
            $adc,
            " ",
            $r2,
            ", 0\n",
            $adc,
            " ",
            $r3,
            ", 0\n",
        )
    };
}

/// Adds the number at `$b` to `$r`, or subtracts it, as `$add` says; any numbers below 2²⁵⁶.
///
/// A carry or borrow counts 38. If folding it in carries again, the rest is less than 38 or at
/// least 2²⁵⁶ − 38, and the lowest limb has room for another 38.
macro_rules! combine {
    (
        $add:literal $adc:literal; $b:literal;
        $r0:literal $r1:literal $r2:literal $r3:literal
    ) => {
        concat!(
            combine_product!($add $adc; $b; $r0 $r1 $r2 $r3),
            "sbb eax, eax\n",
            "and eax, 38\n",
            $add, " ", $r0, ", rax\n",
        )
    };
}

mod doubling;
mod edwards;
mod ladder;
pub(super) use doubling::double;
pub(super) use edwards::{add_affine, add_affine_then_look_up, add_vartime};
pub(super) use ladder::ladder_steps;

/// Computes `out = a · b`, below 2²⁵⁵ + 2¹¹, for any factors below 2²⁵⁶.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` and `b` are four limbs each, and `out` has room for four;
/// it may be where `a` or `b` are, and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!("rbx" "r12" "r13" "r14" "r15"),
        "mov rcx, rdx",
        product!("rcx"),
        fold!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        leave!("r15" "r14" "r13" "r12" "rbx"),
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
        fold!(zero "r8" "r9" "r10" "r11" "r12" "r13" "r14" "rcx"),
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
        fold!(zero "r8" "r12" "r13" "r14" "r15" "rcx" "rdi" "r11"),
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
