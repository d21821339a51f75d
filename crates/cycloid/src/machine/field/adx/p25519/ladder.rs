//! Steps of Montgomery's ladder: one kernel for their five products, four squares and the
//! operations between them.

use super::Limb;
use core::arch::naked_asm;

/// Computes [`CurveArithmetic::ladder`](super::super::CurveArithmetic::ladder) on
/// `state`, which is X₂, Z₂, X₃ and Z₃, all below 2²⁵⁵ + 2¹¹ before and after: `times` steps, each
/// with the next bit of `swaps`, from the highest on. `x1` is below 2²⁵⁶ and `a24` below 2¹⁷.
///
/// # Safety
/// The processor has BMI2 and ADX. `state` is sixteen limbs, `x1` is four, and `times` is not 0.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn ladder_steps(
    state: *mut Limb,
    x1: *const Limb,
    swaps: Limb,
    times: usize,
    a24: Limb,
) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rsi" "r8" "rdx" "rcx"),
        reserve!(256),
        load!("rdi + 96" [0 1 2 3] "r8" "r9" "r10" "r11"),
        ".p2align 4",
        "2:",
        // C and D, A and B; Z₃ is in r8 … r11 as well.
        combine_product!("add" "adc"; "rdi + 64"; "r8" "r9" "r10" "r11"),
        store!("rsp + 64" [0 1 2 3] "r8" "r9" "r10" "r11"),
        difference!("rdi + 64" "rdi + 96"; "r12" "r13" "r14" "r15"),
        store!("rsp + 96" [0 1 2 3] "r12" "r13" "r14" "r15"),
        sum!("rdi" "rdi + 32"; "r8" "r9" "r10" "r11"),
        store!("rsp" [0 1 2 3] "r8" "r9" "r10" "r11"),
        difference!("rdi" "rdi + 32"; "r12" "r13" "r14" "r15"),
        store!("rsp + 32" [0 1 2 3] "r12" "r13" "r14" "r15"),
        // A² and B² of either point; B of the latter waits in the place of E.
        "shl qword ptr [rsp + 264], 1",
        "cmovc r8, [rsp + 64]",
        "cmovc r9, [rsp + 72]",
        "cmovc r10, [rsp + 80]",
        "cmovc r11, [rsp + 88]",
        "cmovc r12, [rsp + 96]",
        "cmovc r13, [rsp + 104]",
        "cmovc r14, [rsp + 112]",
        "cmovc r15, [rsp + 120]",
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
        "mov rdx, [rsp + 272]",
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
        // (D·A − C·B)² in the place of C, and X₃ = (D·A + C·B)².
        difference!("rsp" "rsp + 32"; "r8" "r9" "r10" "r11"),
        squared!("rsp + 64"),
        sum!("rsp" "rsp + 32"; "r8" "r9" "r10" "r11"),
        squared!("rdi + 64"),
        // Z₂ = E·(A² + a24·E), X₂ = A²·B², Z₃ = X₁·(D·A − C·B)². Of several orders measured, this
        // one of the last five is the fastest.
        times!("rdi + 32" = "rsp + 192", "rsp + 224"),
        times!("rdi" = "rsp + 128", "rsp + 160"),
        "mov rcx, [rsp + 280]",
        times!("rdi + 96" = "rsp + 64", "rcx"),
        "dec qword ptr [rsp + 256]",
        "jnz 2b",
        release!(256),
        leave!("rcx" "rdx" "r8" "rsi" "r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
