//! Doublings on edwards25519: one kernel for the squares, the products and the operations between
//! them.

use super::Limb;
use core::arch::naked_asm;

/// Doubles the point X, Y, Z, T at `point` `times` times, without reading T. See
/// [`CurveArithmetic::double_edwards`](super::super::CurveArithmetic::double_edwards). All
/// coordinates are below 2²⁵⁶, those of the result below 2²⁵⁵ + 2¹¹.
///
/// # Safety
/// The processor has BMI2 and ADX. `point` is sixteen limbs, and `times` is not 0.
#[unsafe(naked)]
pub(in super::super) unsafe extern "sysv64" fn double(point: *mut Limb, times: usize) {
    naked_asm!(
        enter!("rbx" "rbp" "r12" "r13" "r14" "r15" "rsi"),
        reserve!(224),
        ".p2align 4",
        "2:",
        // A = X², B = Y², Z², (X + Y)².
        load!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        squared!("rsp"),
        load!("rdi + 32" [0 1 2 3] "r8" "r9" "r10" "r11"),
        squared!("rsp + 32"),
        load!("rdi + 64" [0 1 2 3] "r8" "r9" "r10" "r11"),
        squared!("rsp + 64"),
        load!("rdi" [0 1 2 3] "r8" "r9" "r10" "r11"),
        combine!("add" "adc"; "rdi + 32"; "r8" "r9" "r10" "r11"),
        squared!("rsp + 96"),
        // H = A + B and E = H − (X + Y)²; G = A − B.
        sum!("rsp" "rsp + 32"; "r8" "r9" "r10" "r11"),
        store!("rsp + 128" [0 1 2 3] "r8" "r9" "r10" "r11"),
        combine_product!("sub" "sbb"; "rsp + 96"; "r8" "r9" "r10" "r11"),
        store!("rsp + 96" [0 1 2 3] "r8" "r9" "r10" "r11"),
        difference!("rsp" "rsp + 32"; "r12" "r13" "r14" "r15"),
        store!("rsp + 160" [0 1 2 3] "r12" "r13" "r14" "r15"),
        // F = 2·Z² + G, whose fifth limb is at most 2.
        "xor ecx, ecx",
        "add r12, [rsp + 64]",
        "adc r13, [rsp + 72]",
        "adc r14, [rsp + 80]",
        "adc r15, [rsp + 88]",
        "adc ecx, 0",
        "add r12, [rsp + 64]",
        "adc r13, [rsp + 72]",
        "adc r14, [rsp + 80]",
        "adc r15, [rsp + 88]",
        "adc ecx, 0",
        fold_limb!("r12" "r13" "r14" "r15"; "rcx"),
        store!("rsp + 192" [0 1 2 3] "r12" "r13" "r14" "r15"),
        times!("rdi" = "rsp + 96", registers),
        times!("rdi + 32" = "rsp + 160", "rsp + 128"),
        times!("rdi + 64" = "rsp + 192", "rsp + 160"),
        "dec qword ptr [rsp + 224]",
        "jnz 2b",
        times!("rdi + 96" = "rsp + 96", "rsp + 128"),
        release!(224),
        leave!("rsi" "r15" "r14" "r13" "r12" "rbp" "rbx"),
    )
}
