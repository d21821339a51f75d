//! Doublings on P-384: one kernel for their four products, four squares and the operations between
//! them. Products and squares are local functions on registers, since their text is long.

use core::arch::naked_asm;

use super::Limb;

/// `$d = $a + $b`, less than p as both; `$d` may be `$a` or `$b`. Uses `x16`, `x17` and `x19` to
/// `x23`.
macro_rules! sum {
    ($d:tt = $a:tt, $b:tt) => {
        concat!(
            chain!("adds" "adcs"; $d $a $b),
            "adc x23, xzr, xzr\n",
            subtract_p!($d = $d "x23"; ["x16" "x17" "x19" "x20" "x21" "x22"]),
        )
    };
}

/// `$d = $a − $b`, less than p as both; `$d` may be `$a` or `$b`. Uses `x16`, `x17`, `x19` and
/// `x20`.
#[rustfmt::skip]
macro_rules! difference {
    ($d:tt = $a:tt, $b:tt) => {
        concat!(
            chain!("subs" "sbcs"; $d $a $b),
            "csetm x16, cc\n",
            "and x17, x16, #0xffffffff\n",
            "and x19, x16, #0xffffffff00000000\n",
            "and x20, x16, #0xfffffffffffffffe\n",
            chain!("adds" "adcs"; $d $d ["x17" "x19" "x20" "x16" "x16" "x16"]),
        )
    };
}

/// `x10` to `x15` = half of themselves modulo p: p is added to an odd number. Uses `x16`, `x17`,
/// `x19` and `x20`.
#[rustfmt::skip]
macro_rules! half {
    () => {
        concat!(
            "sbfx x16, x10, #0, #1\n",
            "and x17, x16, #0xffffffff\n",
            "and x19, x16, #0xffffffff00000000\n",
            "and x20, x16, #0xfffffffffffffffe\n",
            chain!("adds" "adcs"; ["x10" "x11" "x12" "x13" "x14" "x15"]
                ["x10" "x11" "x12" "x13" "x14" "x15"] ["x17" "x19" "x20" "x16" "x16" "x16"]),
            "adc x16, xzr, xzr\n",
            "extr x10, x11, x10, #1\nextr x11, x12, x11, #1\nextr x12, x13, x12, #1\n",
            "extr x13, x14, x13, #1\nextr x14, x15, x14, #1\nextr x15, x16, x15, #1\n",
        )
    };
}

/// Doubles `point`, in Jacobian coordinates less than p, `times` times, in its place; `times` is
/// not 0.
///
/// With M = 3·(X − Z²)·(X + Z²) and S = X·(2·Y)²: X₃ = M² − 2·S, Y₃ = M·(S − X₃) − (2·Y)⁴ / 2 and
/// Z₃ = 2·Y·Z. Stack: X − Z², then M; S.
///
/// # Safety
/// `point` is eighteen limbs.
#[unsafe(naked)]
pub(in super::super) unsafe extern "C" fn double_times(point: *mut Limb, times: usize) {
    naked_asm!(
        enter!(192 "x19" "x20" 96 "x21" "x22" 112 "x23" "x24" 128 "x25" "x26" 144 "x27" "x28" 160
            "x29" "x30" 176),
        "mov x28, x1",
        constants!(),
        ".p2align 4",
        "2:",
        // M.
        load!("x0" 96; "x4" "x5" "x6" "x7" "x8" "x9"),
        "bl 5f",
        load!("x0" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        difference!(["x1" "x2" "x3" "x21" "x22" "x23"] = ["x4" "x5" "x6" "x7" "x8" "x9"],
            ["x10" "x11" "x12" "x13" "x14" "x15"]),
        store!("sp" 0; "x1" "x2" "x3" "x21" "x22" "x23"),
        sum!(["x4" "x5" "x6" "x7" "x8" "x9"] = ["x4" "x5" "x6" "x7" "x8" "x9"],
            ["x10" "x11" "x12" "x13" "x14" "x15"]),
        "mov x2, sp",
        "bl 4f",
        sum!(["x4" "x5" "x6" "x7" "x8" "x9"] = ["x10" "x11" "x12" "x13" "x14" "x15"],
            ["x10" "x11" "x12" "x13" "x14" "x15"]),
        sum!(["x4" "x5" "x6" "x7" "x8" "x9"] = ["x4" "x5" "x6" "x7" "x8" "x9"],
            ["x10" "x11" "x12" "x13" "x14" "x15"]),
        store!("sp" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        // Z₃ = 2·Y·Z.
        load!("x0" 48; "x4" "x5" "x6" "x7" "x8" "x9"),
        sum!(["x4" "x5" "x6" "x7" "x8" "x9"] = ["x4" "x5" "x6" "x7" "x8" "x9"],
            ["x4" "x5" "x6" "x7" "x8" "x9"]),
        "add x2, x0, #96",
        "bl 4f",
        store!("x0" 96; "x10" "x11" "x12" "x13" "x14" "x15"),
        // S, and half of (2·Y)⁴.
        "bl 5f",
        copy!(["x4" "x5" "x6" "x7" "x8" "x9"] ["x10" "x11" "x12" "x13" "x14" "x15"]),
        "mov x2, x0",
        "bl 4f",
        store!("sp" 48; "x10" "x11" "x12" "x13" "x14" "x15"),
        "bl 5f",
        half!(),
        store!("x0" 48; "x10" "x11" "x12" "x13" "x14" "x15"),
        // X₃ and Y₃.
        load!("sp" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        "bl 5f",
        load!("sp" 48; "x4" "x5" "x6" "x7" "x8" "x9"),
        difference!(["x10" "x11" "x12" "x13" "x14" "x15"] = ["x10" "x11" "x12" "x13" "x14" "x15"],
            ["x4" "x5" "x6" "x7" "x8" "x9"]),
        difference!(["x10" "x11" "x12" "x13" "x14" "x15"] = ["x10" "x11" "x12" "x13" "x14" "x15"],
            ["x4" "x5" "x6" "x7" "x8" "x9"]),
        store!("x0" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        difference!(["x4" "x5" "x6" "x7" "x8" "x9"] = ["x4" "x5" "x6" "x7" "x8" "x9"],
            ["x10" "x11" "x12" "x13" "x14" "x15"]),
        "mov x2, sp",
        "bl 4f",
        load!("x0" 48; "x4" "x5" "x6" "x7" "x8" "x9"),
        difference!(["x10" "x11" "x12" "x13" "x14" "x15"] = ["x10" "x11" "x12" "x13" "x14" "x15"],
            ["x4" "x5" "x6" "x7" "x8" "x9"]),
        store!("x0" 48; "x10" "x11" "x12" "x13" "x14" "x15"),
        "sub x28, x28, #1",
        "cbnz x28, 2b",
        leave!(192 "x19" "x20" 96 "x21" "x22" 112 "x23" "x24" 128 "x25" "x26" 144 "x27" "x28" 160
            "x29" "x30" 176),
        "4:",
        product!(),
        "ret",
        "5:",
        square!(),
        "ret",
    )
}
