//! A step of Montgomery's ladder: one kernel for its five products, four squares and the operations
//! between them.

use super::Limb;
use core::arch::naked_asm;

/// `$out` = the square of the number in `r8` … `r11`, any below 2²⁵⁶; below 2²⁵⁵ + 2¹¹.
macro_rules! squared {
    ($out:literal) => {
        concat!(
            square_4!("r8" "r9" "r10" "r11"; "r8" "r12" "r13" "r14" "r15" "rcx" "rsi" "r11"),
            fold!("r8" "r12" "r13" "r14" "r15" "rcx" "rsi" "r11"),
            store!($out [0 1 2 3] "r8" "r12" "r13" "r14"),
        )
    };
}

/// Computes [`CurveArithmetic::ladder_step`](super::super::CurveArithmetic::ladder_step) on
/// `state`, which is X₂, Z₂, X₃ and Z₃, all below 2²⁵⁵ + 2¹¹ before and after; swapped if `swap` is
/// not 0. `x1` is below 2²⁵⁶ and `a24` below 2¹⁷.
///
/// # Safety
/// The processor has BMI2 and ADX. `state` is sixteen limbs, and `x1` is four.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn ladder_step(
    state: *mut Limb,
    x1: *const Limb,
    swap: Limb,
    a24: Limb,
) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rsi" "rcx"),
        reserve!(256),
        "mov rcx, rdx",
        "xor ebp, ebp",
        // A and B, C and D.
        sum!("rdi" "rdi + 32"; "r8" "r9" "r10" "r11"),
        store!("rsp" [0 1 2 3] "r8" "r9" "r10" "r11"),
        difference!("rdi" "rdi + 32"; "r12" "r13" "r14" "r15"),
        store!("rsp + 32" [0 1 2 3] "r12" "r13" "r14" "r15"),
        sum!("rdi + 64" "rdi + 96"; "r8" "r9" "r10" "r11"),
        store!("rsp + 64" [0 1 2 3] "r8" "r9" "r10" "r11"),
        difference!("rdi + 64" "rdi + 96"; "r12" "r13" "r14" "r15"),
        store!("rsp + 96" [0 1 2 3] "r12" "r13" "r14" "r15"),
        // A² and B² of either point; B of the latter waits in the place of E.
        "test rcx, rcx",
        "cmovz r8, [rsp]",
        "cmovz r9, [rsp + 8]",
        "cmovz r10, [rsp + 16]",
        "cmovz r11, [rsp + 24]",
        "cmovz r12, [rsp + 32]",
        "cmovz r13, [rsp + 40]",
        "cmovz r14, [rsp + 48]",
        "cmovz r15, [rsp + 56]",
        store!("rsp + 192" [0 1 2 3] "r12" "r13" "r14" "r15"),
        squared!("rsp + 128"),
        load!("rsp + 192" [0 1 2 3] "r8" "r9" "r10" "r11"),
        squared!("rsp + 160"),
        // D·A and C·B, in the places of A and B.
        times!("rsp" = "rsp", "rsp + 96"),
        times!("rsp + 32" = "rsp + 32", "rsp + 64"),
        // E = A² − B², and A² + a24·E.
        difference!("rsp + 128" "rsp + 160"; "r8" "r9" "r10" "r11"),
        store!("rsp + 192" [0 1 2 3] "r8" "r9" "r10" "r11"),
        "mov rdx, [rsp + 256]",
        "mulx r13, r12, r8",
        "mulx r14, rax, r9",
        "add r13, rax",
        "mulx r15, rax, r10",
        "adc r14, rax",
        "mulx rcx, rax, r11",
        "adc r15, rax",
        "adc rcx, 0",
        "add r12, [rsp + 128]",
        "adc r13, [rsp + 136]",
        "adc r14, [rsp + 144]",
        "adc r15, [rsp + 152]",
        "adc rcx, 0",
        fold_limb!("r12" "r13" "r14" "r15"; "rcx"),
        store!("rsp + 224" [0 1 2 3] "r12" "r13" "r14" "r15"),
        // X₃ = (D·A + C·B)², and (D·A − C·B)² in the place of C.
        sum!("rsp" "rsp + 32"; "r8" "r9" "r10" "r11"),
        squared!("rdi + 64"),
        difference!("rsp" "rsp + 32"; "r8" "r9" "r10" "r11"),
        squared!("rsp + 64"),
        // Z₂ = E·(A² + a24·E), X₂ = A²·B², Z₃ = X₁·(D·A − C·B)².
        times!("rdi + 32" = "rsp + 192", "rsp + 224"),
        times!("rdi" = "rsp + 128", "rsp + 160"),
        "mov rcx, [rsp + 264]",
        "lea rsi, [rsp + 64]",
        product!(),
        fold!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        store!("rdi + 96" [0 1 2 3] "r8" "r9" "r10" "r11"),
        release!(256),
        leave!("rcx" "rsi" "r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
