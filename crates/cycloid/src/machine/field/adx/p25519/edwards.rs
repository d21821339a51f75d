//! An addition on edwards25519: one kernel for its seven products and the operations between them.

use super::Limb;
use core::arch::naked_asm;

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
            "sbb eax, eax\n",
            "and eax, 38\n",
            $add,
            " ",
            $r0,
            ", rax\n",
        )
    };
}

/// Computes [`CurveArithmetic::add_edwards`](super::super::CurveArithmetic::add_edwards), all
/// coordinates below 2²⁵⁶; `out` may be `point`.
///
/// # Safety
/// The processor has BMI2 and ADX. `point` is sixteen limbs, `addend` twelve, and `out` has room
/// for sixteen.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn add_affine(
    out: *mut Limb,
    point: *const Limb,
    addend: *const Limb,
) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rdx" "rsi"),
        reserve!(256),
        "xor ebp, ebp",
        // Y − X, Y + X, D = 2·Z.
        load!("rsi + 32" [0 1 2 3] "r8" "r9" "r10" "r11"),
        combine!("sub" "sbb"; "rsi"; "r8" "r9" "r10" "r11"),
        store!("rsp" [0 1 2 3] "r8" "r9" "r10" "r11"),
        load!("rsi + 32" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("add" "adc"; "rsi"; "r12" "r13" "r14" "r15"),
        store!("rsp + 32" [0 1 2 3] "r12" "r13" "r14" "r15"),
        load!("rsi + 64" [0 1 2 3] "r8" "r9" "r10" "r11"),
        combine!("add" "adc"; "rsi + 64"; "r8" "r9" "r10" "r11"),
        store!("rsp + 64" [0 1 2 3] "r8" "r9" "r10" "r11"),
        // A, B and C.
        "mov rbx, [rsp + 264]",
        times!("rsp" = "rsp", "rbx + 32"),
        "mov rbx, [rsp + 264]",
        times!("rsp + 32" = "rsp + 32", "rbx"),
        "mov rax, [rsp + 256]",
        "mov rbx, [rsp + 264]",
        times!("rsp + 96" = "rax + 96", "rbx + 64"),
        // F = D − C and G = D + C; E = B − A and H = B + A.
        load!("rsp + 64" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("sub" "sbb"; "rsp + 96"; "r12" "r13" "r14" "r15"),
        store!("rsp + 128" [0 1 2 3] "r12" "r13" "r14" "r15"),
        combine!("add" "adc"; "rsp + 64"; "r8" "r9" "r10" "r11"),
        store!("rsp + 160" [0 1 2 3] "r8" "r9" "r10" "r11"),
        difference!("rsp + 32" "rsp"; "r12" "r13" "r14" "r15"),
        store!("rsp + 192" [0 1 2 3] "r12" "r13" "r14" "r15"),
        sum!("rsp + 32" "rsp"; "r8" "r9" "r10" "r11"),
        store!("rsp + 224" [0 1 2 3] "r8" "r9" "r10" "r11"),
        times!("rdi" = "rsp + 192", "rsp + 128"),
        times!("rdi + 32" = "rsp + 160", "rsp + 224"),
        times!("rdi + 64" = "rsp + 128", "rsp + 160"),
        times!("rdi + 96" = "rsp + 192", "rsp + 224"),
        release!(256),
        leave!("rsi" "rdx" "r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
