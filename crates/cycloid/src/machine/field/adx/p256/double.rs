//! Point doubling on P-256 as one kernel.

use core::arch::naked_asm;

use super::Limb;
use super::calls::{product, square};

/// `$w` = `$a` times a small number in `rdx`, with one more limb.
macro_rules! small_times {
    (
        $a0:literal $a1:literal $a2:literal $a3:literal;
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal
    ) => {
        concat!(
            "mulx ", $w1, ", ", $w0, ", ", $a0, "\n", "mulx ", $w2, ", rax, ", $a1, "\n", "add ",
            $w1, ", rax\n", "mulx ", $w3, ", rax, ", $a2, "\n", "adc ", $w2, ", rax\n", "mulx ",
            $w4, ", rax, ", $a3, "\n", "adc ", $w3, ", rax\n", "adc ", $w4, ", 0\n",
        )
    };
}

/// `$w` shifted left by `$bits` into the fifth limb, which is fresh.
macro_rules! shift_left {
    ($bits:literal; $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w4d:literal) => {
        concat!(
            "xor ", $w4d, ", ", $w4d, "\n", "shld ", $w4, ", ", $w3, ", ", $bits, "\n", "shld ",
            $w3, ", ", $w2, ", ", $bits, "\n", "shld ", $w2, ", ", $w1, ", ", $bits, "\n", "shld ",
            $w1, ", ", $w0, ", ", $bits, "\n", "shl ", $w0, ", ", $bits, "\n",
        )
    };
}

/// `$t` = p minus the number in `$a`, less than p; the lowest limb of p is all ones.
macro_rules! opposite {
    (
        $a0:literal $a1:literal $a2:literal $a3:literal;
        $t0:literal $t1:literal $t1d:literal $t2:literal $t2d:literal $t3:literal
    ) => {
        concat!(
            "mov ",
            $t0,
            ", ",
            $a0,
            "\n",
            "not ",
            $t0,
            "\n",
            "mov ",
            $t1d,
            ", 0xffffffff\n",
            "mov ",
            $t3,
            ", 0xffffffff00000001\n",
            "xor ",
            $t2d,
            ", ",
            $t2d,
            "\n",
            "sub ",
            $t1,
            ", ",
            $a1,
            "\n",
            "sbb ",
            $t2,
            ", ",
            $a2,
            "\n",
            "sbb ",
            $t3,
            ", ",
            $a3,
            "\n",
        )
    };
}

/// `$w0` … `$w3` = themselves plus the fifth limb `$w4`, which is less than 2⁸, reduced modulo p.
///
/// `$w4` times p is subtracted, which adds less than 2²³² to the lower limbs, and p once more,
/// which is added back if the result is negative.
macro_rules! reduce {
    ($w0:literal $w1:literal $w2:literal $w3:literal; $w4:literal $w4d:literal) => {
        concat!(
            "inc ", $w4, "\n",
            "mov rax, ", $w4, "\n",
            "shl rax, 32\n",
            "mov rdx, rax\n",
            "sub rdx, ", $w4, "\n",
            "add ", $w0, ", ", $w4, "\n",
            "adc ", $w1, ", 0\n",
            "adc ", $w2, ", 0\n",
            "adc ", $w3, ", rdx\n",
            "mov ", $w4, ", -1\n",
            "adc ", $w4, ", 0\n",
            "sub ", $w1, ", rax\n",
            "sbb ", $w2, ", 0\n",
            "sbb ", $w3, ", 0\n",
            "sbb ", $w4, ", 0\n",
            masked_p!("add" "adc"; $w0 $w1 $w2 $w3; $w4 $w4d),
        )
    };
}

/// Computes `out` = twice `point`, both in Jacobian coordinates; they may be the same.
///
/// With β = X·Y², M = (X − Z²)·(X + Z²) and D = 12·β − 9·M², it is X₃ = 4·β − D, Y₃ = 3·M·D − 8·Y⁴,
/// Z₃ = 2·Y·Z.
///
/// # Safety
/// The processor has BMI2 and ADX. `point` is twelve limbs, and `out` has room for them.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn double(out: *mut Limb, point: *const Limb) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15"),
        reserve!(232),
        "mov r15, rsi",
        "xor ebp, ebp",
        squared!("r15 + 64"),
        // X − Z², and X + Z², which may be p or more.
        load!("r15" [0 1 2 3] "r8" "r9" "r12" "r13"),
        "sub r8, r10",
        "sbb r9, r11",
        "sbb r12, rsi",
        "sbb r13, rbx",
        "sbb rcx, rcx",
        masked_p!("add" "adc"; "r8" "r9" "r12" "r13"; "rcx" "ecx"),
        store!("rsp" [0 1 2 3] "r8" "r9" "r12" "r13"),
        "add r10, [r15]",
        "adc r11, [r15 + 8]",
        "adc rsi, [r15 + 16]",
        "adc rbx, [r15 + 24]",
        "sbb rcx, rcx",
        masked_p!("sub" "sbb"; "r10" "r11" "rsi" "rbx"; "rcx" "ecx"),
        keep!("rsp + 32"),
        squared!("r15 + 32"),
        keep!("rsp + 64"),
        times!("rsp", "rsp + 32"),
        keep!("rsp + 96"),
        times!("r15", "rsp + 64"),
        keep!("rsp + 128"),
        // 8·(p − Y⁴), in the place of the first two.
        squared!("rsp + 64"),
        opposite!("r10" "r11" "rsi" "rbx"; "r10" "r8" "r8d" "r9" "r9d" "r12"),
        shift_left!(3; "r10" "r8" "r9" "r12" "r13" "r13d"),
        store!("rsp" [0 1 2 3 4] "r10" "r8" "r9" "r12" "r13"),
        // D.
        squared!("rsp + 96"),
        opposite!("r10" "r11" "rsi" "rbx"; "r10" "r8" "r8d" "r9" "r9d" "r12"),
        "mov edx, 9",
        small_times!("r10" "r8" "r9" "r12"; "r10" "r11" "r13" "r14" "rcx"),
        "lea rsi, [rsp + 128]",
        row!(used "12"; [0 1 2 3] "r10" "r11" "r13" "r14" "rcx"),
        reduce!("r10" "r11" "r13" "r14"; "rcx" "ecx"),
        store!("rsp + 192" [0 1 2 3] "r10" "r11" "r13" "r14"),
        // Z₃.
        times!("r15 + 32", "r15 + 64"),
        shift_left!(1; "r10" "r11" "rsi" "rbx" "rcx" "ecx"),
        reduce!("r10" "r11" "rsi" "rbx"; "rcx" "ecx"),
        keep!("rdi + 64"),
        // M·D; and X₃, computed before M·D is needed.
        opposite!("[rsp + 192]" "[rsp + 200]" "[rsp + 208]" "[rsp + 216]";
            "r8" "r9" "r9d" "r10" "r10d" "r11"),
        load!("rsp + 128" [0 1 2 3] "r12" "r13" "r14" "rbx"),
        shift_left!(2; "r12" "r13" "r14" "rbx" "rcx" "ecx"),
        "add r8, r12",
        "adc r9, r13",
        "adc r10, r14",
        "adc r11, rbx",
        "adc rcx, 0",
        reduce!("r8" "r9" "r10" "r11"; "rcx" "ecx"),
        store!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        times!("rsp + 96", "rsp + 192"),
        // Y₃.
        "mov edx, 3",
        small_times!("r10" "r11" "rsi" "rbx"; "r8" "r9" "r12" "r13" "rcx"),
        "add r8, [rsp]",
        "adc r9, [rsp + 8]",
        "adc r12, [rsp + 16]",
        "adc r13, [rsp + 24]",
        "adc rcx, [rsp + 32]",
        reduce!("r8" "r9" "r12" "r13"; "rcx" "ecx"),
        store!("rdi + 32" [0 1 2 3] "r8" "r9" "r12" "r13"),
        release!(232),
        leave!("r15" "r14" "r13" "r12" "rbp" "rbx"),
        product = sym product,
        square = sym square,
    )
}
