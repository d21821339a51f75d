//! 2²⁵⁵ − 19, residues below 2²⁵⁶: 2²⁵⁶ is 38.

use core::arch::{asm, naked_asm};

use super::Limb;

/// The constants that products use: 38 in `x3`, and 19 in `x2`.
macro_rules! constants {
    () => {
        "mov x3, #38\nmov x2, #19\n"
    };
}

/// `$out` = the eight limbs `$w`, reduced to less than 2²⁵⁵ + 2¹¹. Needs `x11` and `x17`.
///
/// The upper half counts 38, which leaves a fifth limb of at most 38; then the part above bit 254,
/// at most 77, counts 19.
#[rustfmt::skip]
macro_rules! fold {
    (
        $out:tt = $w0:literal $w1:literal $w2:literal $w3:literal
        $w4:literal $w5:literal $w6:literal $w7:literal
    ) => {
        concat!(
            row!(fresh "x3" "x17"; [$w4 $w5 $w6 $w7] $w0 $w1 $w2 $w3 "x11"),
            fold_limb!($out = $w0 $w1 $w2 $w3),
        )
    };
}

/// `$out` = the limbs `$w` and the fifth limb `x11`, less than 2⁵⁸, reduced.
#[rustfmt::skip]
macro_rules! fold_limb {
    (
        [$o0:literal $o1:literal $o2:literal $o3:literal] =
        $w0:literal $w1:literal $w2:literal $w3:literal
    ) => {
        concat!(
            "extr x11, x11, ", $w3, ", #63\n",
            "and ", $o3, ", ", $w3, ", #0x7fffffffffffffff\n",
            "mul x11, x11, x2\n",
            "adds ", $o0, ", ", $w0, ", x11\n",
            "adcs ", $o1, ", ", $w1, ", xzr\n",
            "adcs ", $o2, ", ", $w2, ", xzr\n",
            "adc ", $o3, ", ", $o3, ", xzr\n",
        )
    };
}

/// `$out` = `$a` times `$b`, any numbers below 2²⁵⁶; less than 2²⁵⁵ + 2¹¹. Uses `x8` to `x17`,
/// where `$b` may be from `x8` on; `$out` may be `x12` to `x15`, or `$a` or `$b`.
macro_rules! product {
    ($out:tt = $a:tt, [$b0:literal $b1:literal $b2:literal $b3:literal]) => {
        concat!(
            first_row!($b0 "x17"; $a "x12" "x13" "x14" "x15" "x16"),
            row!(fresh $b1 "x17"; $a "x13" "x14" "x15" "x16" "x8"),
            row!(fresh $b2 "x17"; $a "x14" "x15" "x16" "x8" "x9"),
            row!(fresh $b3 "x17"; $a "x15" "x16" "x8" "x9" "x10"),
            fold!($out = "x12" "x13" "x14" "x15" "x16" "x8" "x9" "x10"),
        )
    };
}

/// `$out` = the square of `$a`; as [`product`].
macro_rules! square {
    ($out:tt = [$a0:literal $a1:literal $a2:literal $a3:literal]) => {
        concat!(
            square_4!($a0 $a1 $a2 $a3; "x17"; "x12" "x13" "x14" "x15" "x16" "x8" "x9" "x10"),
            fold!($out = "x12" "x13" "x14" "x15" "x16" "x8" "x9" "x10"),
        )
    };
}

/// `$d = $a + $b`, below 2²⁵⁶, for numbers below 2²⁵⁵ + 2¹¹: a carry, which counts 38, leaves less
/// than 2¹². Uses `x16`.
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
            "csel x16, x3, xzr, cs\n",
            "add ", $d0, ", ", $d0, ", x16\n",
        )
    };
}

/// `$d = $a − $b`, below 2²⁵⁶, for numbers below 2²⁵⁵ + 2¹¹: a negative difference plus 2²⁵⁶ −
/// 38 is positive. Uses `x16`.
#[rustfmt::skip]
macro_rules! short_difference {
    (
        [$d0:literal $d1:literal $d2:literal $d3:literal] =
        [$a0:literal $a1:literal $a2:literal $a3:literal],
        [$b0:literal $b1:literal $b2:literal $b3:literal]
    ) => {
        concat!(
            "subs ", $d0, ", ", $a0, ", ", $b0, "\n",
            "sbcs ", $d1, ", ", $a1, ", ", $b1, "\n",
            "sbcs ", $d2, ", ", $a2, ", ", $b2, "\n",
            "sbcs ", $d3, ", ", $a3, ", ", $b3, "\n",
            "csel x16, x3, xzr, cc\n",
            "subs ", $d0, ", ", $d0, ", x16\n",
            "sbcs ", $d1, ", ", $d1, ", xzr\n",
            "sbcs ", $d2, ", ", $d2, ", xzr\n",
            "sbc ", $d3, ", ", $d3, ", xzr\n",
        )
    };
}

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

mod edwards;
mod ladder;
pub(super) use edwards::add_edwards;
pub(super) use ladder::ladder;

/// Computes `out = a · b`, less than 2²⁵⁵ + 2¹¹, for any factors.
///
/// # Safety
/// `a` and `b` are four limbs each, and `out` has room for four; it may be where `a` or `b` are,
/// and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        ".cfi_startproc",
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        load!("x2" 0; "x8" "x9" "x10" "x11"),
        constants!(),
        product!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x8" "x9" "x10" "x11"]),
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        "ret",
        ".cfi_endproc",
    )
}

/// Computes `out = a` squared `times` times; `times` is not 0.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        ".cfi_startproc",
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        "mov x1, x2",
        constants!(),
        "2:",
        square!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"]),
        "sub x1, x1, #1",
        "cbnz x1, 2b",
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        "ret",
        ".cfi_endproc",
    )
}

/// Computes `out = a · small`, for `small` below 2⁵⁷; as [`mul`].
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul_small(out: *mut Limb, a: *const Limb, small: Limb) {
    naked_asm!(
        ".cfi_startproc",
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        first_row!("x2" "x17"; ["x4" "x5" "x6" "x7"] "x12" "x13" "x14" "x15" "x11"),
        "mov x2, #19",
        fold_limb!(["x4" "x5" "x6" "x7"] = "x12" "x13" "x14" "x15"),
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        "ret",
        ".cfi_endproc",
    )
}

/// Returns a + b below 2²⁵⁶, for any residues below 2²⁵⁶.
///
/// A carry counts 38. If adding it carries again, the rest is less than 38, and another 38 fit in
/// the lowest limb.
#[inline(always)]
pub(super) fn add(a: &[Limb; 4], b: &[Limb; 4]) -> [Limb; 4] {
    let [mut s0, mut s1, mut s2, mut s3] = *a;
    // SAFETY: registers only.
    unsafe {
        asm!(
            "adds {s0}, {s0}, {b0}",
            "adcs {s1}, {s1}, {b1}",
            "adcs {s2}, {s2}, {b2}",
            "adcs {s3}, {s3}, {b3}",
            "csel {t}, {c}, xzr, cs",
            "adds {s0}, {s0}, {t}",
            "adcs {s1}, {s1}, xzr",
            "adcs {s2}, {s2}, xzr",
            "adcs {s3}, {s3}, xzr",
            "csel {t}, {c}, xzr, cs",
            "add {s0}, {s0}, {t}",
            s0 = inout(reg) s0,
            s1 = inout(reg) s1,
            s2 = inout(reg) s2,
            s3 = inout(reg) s3,
            b0 = in(reg) b[0],
            b1 = in(reg) b[1],
            b2 = in(reg) b[2],
            b3 = in(reg) b[3],
            c = in(reg) 38u64,
            t = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    [s0, s1, s2, s3]
}

/// Returns a − b below 2²⁵⁶, for any residues below 2²⁵⁶.
///
/// A borrow counts −38. If subtracting it borrows again, the rest is at least 2²⁵⁶ − 38, and
/// another 38 can be taken from its lowest limb.
#[inline(always)]
pub(super) fn sub(a: &[Limb; 4], b: &[Limb; 4]) -> [Limb; 4] {
    let [mut d0, mut d1, mut d2, mut d3] = *a;
    // SAFETY: registers only.
    unsafe {
        asm!(
            "subs {d0}, {d0}, {b0}",
            "sbcs {d1}, {d1}, {b1}",
            "sbcs {d2}, {d2}, {b2}",
            "sbcs {d3}, {d3}, {b3}",
            "csel {t}, {c}, xzr, cc",
            "subs {d0}, {d0}, {t}",
            "sbcs {d1}, {d1}, xzr",
            "sbcs {d2}, {d2}, xzr",
            "sbcs {d3}, {d3}, xzr",
            "csel {t}, {c}, xzr, cc",
            "sub {d0}, {d0}, {t}",
            d0 = inout(reg) d0,
            d1 = inout(reg) d1,
            d2 = inout(reg) d2,
            d3 = inout(reg) d3,
            b0 = in(reg) b[0],
            b1 = in(reg) b[1],
            b2 = in(reg) b[2],
            b3 = in(reg) b[3],
            c = in(reg) 38u64,
            t = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    [d0, d1, d2, d3]
}
