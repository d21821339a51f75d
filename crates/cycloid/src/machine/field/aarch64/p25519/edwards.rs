//! An addition on edwards25519: one kernel for its seven products and the operations between them.

use core::arch::naked_asm;

use super::Limb;

/// `$d = $a + $b`, or `$a − $b`, as `$add` and `$carry` say, below 2²⁵⁶ for any numbers below 2²⁵⁶.
/// Uses `x16`.
///
/// A carry or borrow counts 38. If folding it in carries again, the rest is less than 38 or at
/// least 2²⁵⁶ − 38, and the lowest limb has room for another 38.
#[rustfmt::skip]
macro_rules! combine {
    (
        $add:literal $adc:literal $carry:literal;
        [$d0:literal $d1:literal $d2:literal $d3:literal] =
        [$a0:literal $a1:literal $a2:literal $a3:literal],
        [$b0:literal $b1:literal $b2:literal $b3:literal]
    ) => {
        concat!(
            $add, "s ", $d0, ", ", $a0, ", ", $b0, "\n",
            $adc, "s ", $d1, ", ", $a1, ", ", $b1, "\n",
            $adc, "s ", $d2, ", ", $a2, ", ", $b2, "\n",
            $adc, "s ", $d3, ", ", $a3, ", ", $b3, "\n",
            "csel x16, x3, xzr, ", $carry, "\n",
            $add, "s ", $d0, ", ", $d0, ", x16\n",
            $adc, "s ", $d1, ", ", $d1, ", xzr\n",
            $adc, "s ", $d2, ", ", $d2, ", xzr\n",
            $adc, "s ", $d3, ", ", $d3, ", xzr\n",
            "csel x16, x3, xzr, ", $carry, "\n",
            $add, " ", $d0, ", ", $d0, ", x16\n",
        )
    };
}

/// Computes [`add_edwards`](super::super::super::CurveArithmetic::add_edwards), all coordinates
/// below 2²⁵⁶; subtracts if `negative` is not 0. `out` may be `point`.
///
/// The negative of the addend has y + x and y − x exchanged, and −C, which exchanges F and G.
/// Stack: the factor of B, then E; G.
///
/// # Safety
/// `point` is sixteen limbs, `addend` twelve, and `out` has room for sixteen.
#[unsafe(naked)]
pub(in super::super) unsafe extern "C" fn add_edwards(
    out: *mut Limb,
    point: *const Limb,
    addend: *const Limb,
    negative: Limb,
) {
    naked_asm!(
        enter!(144 "x19" "x20" 64 "x21" "x22" 80 "x23" "x24" 96 "x25" "x26" 112 "x27" "x28" 128),
        "mov x28, x2",
        "mov x19, x3",
        constants!(),
        // Y − X and Y + X.
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        load!("x1" 32; "x8" "x9" "x10" "x11"),
        combine!("sub" "sbc" "cc"; ["x20" "x21" "x22" "x23"] = ["x8" "x9" "x10" "x11"],
            ["x4" "x5" "x6" "x7"]),
        combine!("add" "adc" "cs"; ["x24" "x25" "x26" "x27"] = ["x8" "x9" "x10" "x11"],
            ["x4" "x5" "x6" "x7"]),
        // A and B; E = B − A and H = B + A.
        load!("x28" 0; "x12" "x13" "x14" "x15"),
        load!("x28" 32; "x8" "x9" "x10" "x11"),
        "cmp x19, #0",
        choose!("x4" "x5" "x6" "x7" = "x12" "x13" "x14" "x15", "x8" "x9" "x10" "x11"),
        choose!("x8" "x9" "x10" "x11" = "x8" "x9" "x10" "x11", "x12" "x13" "x14" "x15"),
        store!("sp" 0; "x8" "x9" "x10" "x11"),
        product!(["x20" "x21" "x22" "x23"] = ["x20" "x21" "x22" "x23"], ["x4" "x5" "x6" "x7"]),
        load!("sp" 0; "x4" "x5" "x6" "x7"),
        product!(["x24" "x25" "x26" "x27"] = ["x24" "x25" "x26" "x27"], ["x4" "x5" "x6" "x7"]),
        short_difference!(["x4" "x5" "x6" "x7"] = ["x24" "x25" "x26" "x27"],
            ["x20" "x21" "x22" "x23"]),
        store!("sp" 0; "x4" "x5" "x6" "x7"),
        short_sum!(["x24" "x25" "x26" "x27"] = ["x24" "x25" "x26" "x27"],
            ["x20" "x21" "x22" "x23"]),
        // C, and D = 2·Z; F = D − C and G = D + C.
        load!("x1" 96; "x4" "x5" "x6" "x7"),
        load!("x28" 64; "x20" "x21" "x22" "x23"),
        product!(["x20" "x21" "x22" "x23"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        load!("x1" 64; "x4" "x5" "x6" "x7"),
        "adds x4, x4, x4",
        "adcs x5, x5, x5",
        "adcs x6, x6, x6",
        "adcs x7, x7, x7",
        "adc x11, xzr, xzr",
        fold_limb!(["x4" "x5" "x6" "x7"] = "x4" "x5" "x6" "x7"),
        short_sum!(["x12" "x13" "x14" "x15"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        short_difference!(["x8" "x9" "x10" "x11"] = ["x4" "x5" "x6" "x7"],
            ["x20" "x21" "x22" "x23"]),
        "cmp x19, #0",
        choose!("x4" "x5" "x6" "x7" = "x12" "x13" "x14" "x15", "x8" "x9" "x10" "x11"),
        choose!("x12" "x13" "x14" "x15" = "x8" "x9" "x10" "x11", "x12" "x13" "x14" "x15"),
        store!("sp" 32; "x12" "x13" "x14" "x15"),
        // X₃ = E·F, T₃ = E·H, Z₃ = F·G, Y₃ = G·H.
        load!("sp" 0; "x20" "x21" "x22" "x23"),
        product!(["x12" "x13" "x14" "x15"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        store!("x0" 0; "x12" "x13" "x14" "x15"),
        product!(["x12" "x13" "x14" "x15"] = ["x24" "x25" "x26" "x27"],
            ["x20" "x21" "x22" "x23"]),
        store!("x0" 96; "x12" "x13" "x14" "x15"),
        load!("sp" 32; "x20" "x21" "x22" "x23"),
        product!(["x12" "x13" "x14" "x15"] = ["x4" "x5" "x6" "x7"], ["x20" "x21" "x22" "x23"]),
        store!("x0" 64; "x12" "x13" "x14" "x15"),
        product!(["x12" "x13" "x14" "x15"] = ["x24" "x25" "x26" "x27"],
            ["x20" "x21" "x22" "x23"]),
        store!("x0" 32; "x12" "x13" "x14" "x15"),
        leave!(144 "x19" "x20" 64 "x21" "x22" 80 "x23" "x24" 96 "x25" "x26" 112 "x27" "x28" 128),
    )
}
