//! Montgomery's ladder: one kernel for all steps, each of which has five products, four squares and
//! the operations between them.

use core::arch::naked_asm;

use super::Limb;

/// Computes [`CurveArithmetic::ladder`](super::super::super::CurveArithmetic::ladder) on `state`,
/// which is X₂, Z₂, X₃ and Z₃, all below 2²⁵⁵ + 2¹¹ before and after. In the step for bit t, the
/// points are swapped if bit t of the four limbs at `swaps` is set. `x1` is below 2²⁵⁶ and `a24`
/// below 2¹⁷; `steps` is from 1 to 256.
///
/// Between the steps, X₂ and Z₂ are in registers. Stack: the bases of A² and B².
///
/// # Safety
/// `state` is sixteen limbs, and `x1` and `swaps` are four each.
#[unsafe(naked)]
pub(in super::super) unsafe extern "C" fn ladder(
    state: *mut Limb,
    x1: *const Limb,
    swaps: *const Limb,
    a24: Limb,
    steps: usize,
) {
    naked_asm!(
        enter!(160 "x19" "x20" 64 "x21" "x22" 80 "x23" "x24" 96 "x25" "x26" 112 "x27" "x28" 128
            "x29" "x30" 144),
        "mov x28, x3",
        "mov x19, x2",
        "sub x30, x4, #1",
        constants!(),
        load!("x0" 0; "x24" "x25" "x26" "x27"),
        load!("x0" 32; "x20" "x21" "x22" "x23"),
        ".p2align 4",
        "2:",
        "lsr x29, x30, #6",
        "ldr x29, [x19, x29, lsl #3]",
        "lsr x29, x29, x30",
        // A and B, C and D.
        short_sum!(["x4" "x5" "x6" "x7"] = ["x24" "x25" "x26" "x27"], ["x20" "x21" "x22" "x23"]),
        short_difference!(["x24" "x25" "x26" "x27"] = ["x24" "x25" "x26" "x27"],
            ["x20" "x21" "x22" "x23"]),
        load!("x0" 64; "x12" "x13" "x14" "x15"),
        load!("x0" 96; "x8" "x9" "x10" "x11"),
        short_sum!(["x20" "x21" "x22" "x23"] = ["x12" "x13" "x14" "x15"], ["x8" "x9" "x10" "x11"]),
        short_difference!(["x8" "x9" "x10" "x11"] = ["x12" "x13" "x14" "x15"],
            ["x8" "x9" "x10" "x11"]),
        // The bases of A² and B², of either point.
        "tst x29, #1",
        choose!("x12" "x13" "x14" "x15" = "x20" "x21" "x22" "x23", "x4" "x5" "x6" "x7"),
        store!("sp" 0; "x12" "x13" "x14" "x15"),
        choose!("x12" "x13" "x14" "x15" = "x8" "x9" "x10" "x11", "x24" "x25" "x26" "x27"),
        store!("sp" 32; "x12" "x13" "x14" "x15"),
        // D·A and C·B.
        product!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x8" "x9" "x10" "x11"]),
        product!(["x24" "x25" "x26" "x27"] = ["x20" "x21" "x22" "x23"],
            ["x24" "x25" "x26" "x27"]),
        // X₃ = (D·A + C·B)², Z₃ = X₁·(D·A − C·B)².
        short_sum!(["x20" "x21" "x22" "x23"] = ["x4" "x5" "x6" "x7"], ["x24" "x25" "x26" "x27"]),
        short_difference!(["x24" "x25" "x26" "x27"] = ["x4" "x5" "x6" "x7"],
            ["x24" "x25" "x26" "x27"]),
        square!(["x12" "x13" "x14" "x15"] = ["x20" "x21" "x22" "x23"]),
        store!("x0" 64; "x12" "x13" "x14" "x15"),
        square!(["x4" "x5" "x6" "x7"] = ["x24" "x25" "x26" "x27"]),
        load!("x1" 0; "x20" "x21" "x22" "x23"),
        product!(["x12" "x13" "x14" "x15"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        store!("x0" 96; "x12" "x13" "x14" "x15"),
        // A² and B², E = A² − B², and X₂ = A²·B².
        load!("sp" 0; "x4" "x5" "x6" "x7"),
        square!(["x20" "x21" "x22" "x23"] = ["x4" "x5" "x6" "x7"]),
        load!("sp" 32; "x4" "x5" "x6" "x7"),
        square!(["x24" "x25" "x26" "x27"] = ["x4" "x5" "x6" "x7"]),
        short_difference!(["x4" "x5" "x6" "x7"] = ["x20" "x21" "x22" "x23"],
            ["x24" "x25" "x26" "x27"]),
        product!(["x24" "x25" "x26" "x27"] = ["x20" "x21" "x22" "x23"],
            ["x24" "x25" "x26" "x27"]),
        // Z₂ = E·(A² + a24·E).
        row!(fresh "x28" "x17"; ["x4" "x5" "x6" "x7"] "x20" "x21" "x22" "x23" "x11"),
        fold_limb!(["x20" "x21" "x22" "x23"] = "x20" "x21" "x22" "x23"),
        product!(["x20" "x21" "x22" "x23"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        "subs x30, x30, #1",
        "b.pl 2b",
        store!("x0" 0; "x24" "x25" "x26" "x27"),
        store!("x0" 32; "x20" "x21" "x22" "x23"),
        leave!(160 "x19" "x20" 64 "x21" "x22" 80 "x23" "x24" 96 "x25" "x26" 112 "x27" "x28" 128
            "x29" "x30" 144),
    )
}
