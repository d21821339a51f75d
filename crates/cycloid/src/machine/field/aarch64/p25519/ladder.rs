//! A step of Montgomery's ladder: one kernel for its five products, four squares and the operations
//! between them.

use core::arch::naked_asm;

use super::Limb;

/// `$d = $a` where the flag says not equal, `$b` else.
#[rustfmt::skip]
macro_rules! choose {
    ($d0:literal $d1:literal $d2:literal $d3:literal =
        $a0:literal $a1:literal $a2:literal $a3:literal,
        $b0:literal $b1:literal $b2:literal $b3:literal) => {
        concat!(
            "csel ", $d0, ", ", $a0, ", ", $b0, ", ne\n",
            "csel ", $d1, ", ", $a1, ", ", $b1, ", ne\n",
            "csel ", $d2, ", ", $a2, ", ", $b2, ", ne\n",
            "csel ", $d3, ", ", $a3, ", ", $b3, ", ne\n",
        )
    };
}

/// Computes [`CurveArithmetic::ladder_step`](super::super::super::CurveArithmetic::ladder_step) on
/// `state`, which is X₂, Z₂, X₃ and Z₃, all below 2²⁵⁵ + 2¹¹ before and after; swapped if `swap` is
/// not 0. `x1` is below 2²⁵⁶ and `a24` below 2¹⁷.
///
/// Stack: the bases of A² and B², and C.
///
/// # Safety
/// `state` is sixteen limbs, and `x1` is four.
#[unsafe(naked)]
pub(in super::super) unsafe extern "C" fn ladder_step(
    state: *mut Limb,
    x1: *const Limb,
    swap: Limb,
    a24: Limb,
) {
    naked_asm!(
        enter!(176 "x19" "x20" 96 "x21" "x22" 112 "x23" "x24" 128 "x25" "x26" 144 "x27" "x28" 160),
        "mov x28, x3",
        "mov x19, x2",
        constants!(),
        // A and B, C and D.
        load!("x0" 0; "x4" "x5" "x6" "x7"),
        load!("x0" 32; "x8" "x9" "x10" "x11"),
        short_sum!(["x20" "x21" "x22" "x23"] = ["x4" "x5" "x6" "x7"], ["x8" "x9" "x10" "x11"]),
        short_difference!(["x24" "x25" "x26" "x27"] = ["x4" "x5" "x6" "x7"],
            ["x8" "x9" "x10" "x11"]),
        load!("x0" 64; "x4" "x5" "x6" "x7"),
        load!("x0" 96; "x8" "x9" "x10" "x11"),
        short_sum!(["x12" "x13" "x14" "x15"] = ["x4" "x5" "x6" "x7"], ["x8" "x9" "x10" "x11"]),
        short_difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x8" "x9" "x10" "x11"]),
        store!("sp" 64; "x12" "x13" "x14" "x15"),
        // The bases of A² and B², of either point.
        "cmp x19, #0",
        choose!("x12" "x13" "x14" "x15" = "x12" "x13" "x14" "x15", "x20" "x21" "x22" "x23"),
        store!("sp" 0; "x12" "x13" "x14" "x15"),
        choose!("x12" "x13" "x14" "x15" = "x4" "x5" "x6" "x7", "x24" "x25" "x26" "x27"),
        store!("sp" 32; "x12" "x13" "x14" "x15"),
        // D·A and C·B.
        product!(["x20" "x21" "x22" "x23"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        load!("sp" 64; "x4" "x5" "x6" "x7"),
        product!(["x24" "x25" "x26" "x27"] = ["x4" "x5" "x6" "x7"], ["x24" "x25" "x26" "x27"]),
        // X₃ = (D·A + C·B)², Z₃ = X₁·(D·A − C·B)².
        short_sum!(["x4" "x5" "x6" "x7"] = ["x20" "x21" "x22" "x23"], ["x24" "x25" "x26" "x27"]),
        short_difference!(["x24" "x25" "x26" "x27"] = ["x20" "x21" "x22" "x23"],
            ["x24" "x25" "x26" "x27"]),
        square!(["x12" "x13" "x14" "x15"] = ["x4" "x5" "x6" "x7"]),
        store!("x0" 64; "x12" "x13" "x14" "x15"),
        square!(["x4" "x5" "x6" "x7"] = ["x24" "x25" "x26" "x27"]),
        load!("x1" 0; "x20" "x21" "x22" "x23"),
        product!(["x12" "x13" "x14" "x15"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        store!("x0" 96; "x12" "x13" "x14" "x15"),
        // A² and B²; X₂ = A²·B².
        load!("sp" 0; "x4" "x5" "x6" "x7"),
        square!(["x20" "x21" "x22" "x23"] = ["x4" "x5" "x6" "x7"]),
        load!("sp" 32; "x4" "x5" "x6" "x7"),
        square!(["x24" "x25" "x26" "x27"] = ["x4" "x5" "x6" "x7"]),
        product!(["x12" "x13" "x14" "x15"] = ["x20" "x21" "x22" "x23"],
            ["x24" "x25" "x26" "x27"]),
        store!("x0" 0; "x12" "x13" "x14" "x15"),
        // E = A² − B², Z₂ = E·(A² + a24·E).
        short_difference!(["x4" "x5" "x6" "x7"] = ["x20" "x21" "x22" "x23"],
            ["x24" "x25" "x26" "x27"]),
        row!(fresh "x28" "x17"; ["x4" "x5" "x6" "x7"] "x20" "x21" "x22" "x23" "x11"),
        fold_limb!(["x20" "x21" "x22" "x23"] = "x20" "x21" "x22" "x23"),
        product!(["x12" "x13" "x14" "x15"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        store!("x0" 32; "x12" "x13" "x14" "x15"),
        leave!(176 "x19" "x20" 96 "x21" "x22" 112 "x23" "x24" 128 "x25" "x26" 144 "x27" "x28" 160),
    )
}
