//! Doublings on P-256: one kernel for their four products, four squares and the operations between
//! them.

use core::arch::naked_asm;

use super::Limb;

/// `$d = $a + $b`, less than p as both; `$d` may be `$a` or `$b`. Needs p's second limb in `x30`;
/// uses `x1` and `x8` to `x11`.
#[rustfmt::skip]
macro_rules! sum {
    (
        [$d0:literal $d1:literal $d2:literal $d3:literal] =
        [$a0:literal $a1:literal $a2:literal $a3:literal],
        [$b0:literal $b1:literal $b2:literal $b3:literal]
    ) => {
        concat!(
            "adds ", $d0, ", ", $a0, ", ", $b0, "\n",
            "adcs ", $d1, ", ", $a1, ", ", $b1, "\n",
            "adcs ", $d2, ", ", $a2, ", ", $b2, "\n",
            "adcs ", $d3, ", ", $a3, ", ", $b3, "\n",
            "adc x1, xzr, xzr\n",
            "adds x8, ", $d0, ", #1\n",
            "sbcs x9, ", $d1, ", x30\n",
            "sbcs x10, ", $d2, ", xzr\n",
            "sbcs x11, ", $d3, ", x3\n",
            "sbcs xzr, x1, xzr\n",
            "csel ", $d0, ", ", $d0, ", x8, cc\n",
            "csel ", $d1, ", ", $d1, ", x9, cc\n",
            "csel ", $d2, ", ", $d2, ", x10, cc\n",
            "csel ", $d3, ", ", $d3, ", x11, cc\n",
        )
    };
}

/// `$d = $a + $b`, below 2²⁵⁶, for both less than p; `$d` may be `$a` or `$b`. Uses `x1`, `x8` and
/// `x9`.
///
/// If the sum carries, subtracting p leaves less than p.
#[rustfmt::skip]
macro_rules! short_sum {
    (
        [$d0:literal $d1:literal $d2:literal $d3:literal] =
        [$a0:literal $a1:literal $a2:literal $a3:literal],
        [$b0:literal $b1:literal $b2:literal $b3:literal]
    ) => {
        concat!(
            "adds ", $d0, ", ", $a0, ", ", $b0, "\n",
            "adcs ", $d1, ", ", $a1, ", ", $b1, "\n",
            "adcs ", $d2, ", ", $a2, ", ", $b2, "\n",
            "adcs ", $d3, ", ", $a3, ", ", $b3, "\n",
            "csetm x1, cs\n",
            "and x8, x1, #0xffffffff\n",
            "and x9, x1, #0xffffffff00000001\n",
            "subs ", $d0, ", ", $d0, ", x1\n",
            "sbcs ", $d1, ", ", $d1, ", x8\n",
            "sbcs ", $d2, ", ", $d2, ", xzr\n",
            "sbc ", $d3, ", ", $d3, ", x9\n",
        )
    };
}

/// `$d` = half of `$a` modulo p: p is added to an odd number. Uses `x8` to `x12`.
#[rustfmt::skip]
macro_rules! half {
    (
        [$d0:literal $d1:literal $d2:literal $d3:literal] =
        [$a0:literal $a1:literal $a2:literal $a3:literal]
    ) => {
        concat!(
            "sbfx x8, ", $a0, ", #0, #1\n",
            "and x9, x8, #0xffffffff\n",
            "and x10, x8, #0xffffffff00000001\n",
            "adds x8, ", $a0, ", x8\n",
            "adcs x9, ", $a1, ", x9\n",
            "adcs x11, ", $a2, ", xzr\n",
            "adcs x10, ", $a3, ", x10\n",
            "adc x12, xzr, xzr\n",
            "extr ", $d0, ", x9, x8, #1\n",
            "extr ", $d1, ", x11, x9, #1\n",
            "extr ", $d2, ", x10, x11, #1\n",
            "extr ", $d3, ", x12, x10, #1\n",
        )
    };
}

/// Doubles `point`, in Jacobian coordinates less than p, `times` times, in its place; `times` is
/// not 0.
///
/// With M = 3·(X − Z²)·(X + Z²) and S = X·(2·Y)²: X₃ = M² − 2·S, Y₃ = M·(S − X₃) − (2·Y)⁴ / 2 and
/// Z₃ = 2·Y·Z.
///
/// # Safety
/// `point` is twelve limbs.
#[unsafe(naked)]
pub(in super::super) unsafe extern "C" fn double_times(point: *mut Limb, times: usize) {
    naked_asm!(
        enter!(96 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48 "x27" "x28" 64
            "x29" "x30" 80),
        "mov x28, x1",
        constants!("x30"),
        ".p2align 4",
        "2:",
        // M.
        load!("x0" 64; "x4" "x5" "x6" "x7"),
        load!("x0" 0; "x19" "x20" "x21" "x22"),
        squared!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"]),
        difference!(["x23" "x24" "x25" "x26"] = ["x19" "x20" "x21" "x22"], ["x4" "x5" "x6" "x7"]),
        short_sum!(["x4" "x5" "x6" "x7"] = ["x19" "x20" "x21" "x22"], ["x4" "x5" "x6" "x7"]),
        times!(["x4" "x5" "x6" "x7"] = ["x23" "x24" "x25" "x26"], ["x4" "x5" "x6" "x7"]),
        sum!(["x23" "x24" "x25" "x26"] = ["x4" "x5" "x6" "x7"], ["x4" "x5" "x6" "x7"]),
        sum!(["x23" "x24" "x25" "x26"] = ["x23" "x24" "x25" "x26"], ["x4" "x5" "x6" "x7"]),
        // Z₃ = 2·Y·Z.
        load!("x0" 32; "x4" "x5" "x6" "x7"),
        load!("x0" 64; "x19" "x20" "x21" "x22"),
        sum!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x4" "x5" "x6" "x7"]),
        times!(["x19" "x20" "x21" "x22"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        store!("x0" 64; "x19" "x20" "x21" "x22"),
        // S, and half of (2·Y)⁴.
        squared!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"]),
        load!("x0" 0; "x19" "x20" "x21" "x22"),
        times!(["x19" "x20" "x21" "x22"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        squared!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"]),
        half!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"]),
        store!("x0" 32; "x4" "x5" "x6" "x7"),
        // X₃ and Y₃.
        squared!(["x4" "x5" "x6" "x7"] = ["x23" "x24" "x25" "x26"]),
        difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        difference!(["x4" "x5" "x6" "x7"] = ["x19" "x20" "x21" "x22"], ["x4" "x5" "x6" "x7"]),
        times!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x23" "x24" "x25" "x26"]),
        load!("x0" 32; "x19" "x20" "x21" "x22"),
        difference!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x19" "x20" "x21" "x22"]),
        store!("x0" 32; "x4" "x5" "x6" "x7"),
        "sub x28, x28, #1",
        "cbnz x28, 2b",
        leave!(96 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48 "x27" "x28" 64
            "x29" "x30" 80),
    )
}
