//! P-256 in Montgomery form, R = 2²⁵⁶.
//!
//! −1/p is 1 modulo 2⁶⁴, so a quotient limb is the lowest limb itself, and p + 1 = 2⁹⁶ + 2¹⁹² ·
//! (2⁶⁴ − 2³² + 1): adding the quotient times p clears the lowest limb and adds that limb times 2⁹⁶
//! and, three limbs up, times 2⁶⁴ − 2³² + 1.

use core::arch::{asm, naked_asm};

use super::Limb;

/// The constants that products use: p's top limb, which is also 2⁶⁴ − 2³² + 1, in `x3`, and its
/// second limb in `$p1`.
macro_rules! constants {
    ($p1:literal) => {
        concat!("mov x3, #0xffffffff00000001\nmov ", $p1, ", #0xffffffff\n")
    };
}

/// Two reduction steps: the quotient is `$w0` and the sum of `$w1` and a part of `$w0`. The rest of
/// the sum is in `$w2` …; the last of these takes the carry, and is fresh. Needs `x17` and the four
/// registers `$t`.
#[rustfmt::skip]
macro_rules! reduce_two {
    (
        [$t0:literal $t1:literal $t2:literal $t3:literal];
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal
        $($w:literal)*, $top:literal
    ) => {
        concat!(
            "add x17, ", $w1, ", ", $w0, ", lsl #32\n",
            // The quotient times 2⁶⁴ − 2³² + 1, plus its part at the same place.
            "mul ", $t0, ", ", $w0, ", x3\n",
            "adds ", $t0, ", ", $t0, ", x17, lsr #32\n",
            "umulh ", $t1, ", ", $w0, ", x3\n",
            "mul ", $t3, ", x17, x3\n",
            "adcs ", $t1, ", ", $t1, ", ", $t3, "\n",
            "umulh ", $t2, ", x17, x3\n",
            "adc ", $t2, ", ", $t2, ", xzr\n",
            "cmn ", $w1, ", ", $w0, ", lsl #32\n",
            "extr ", $t3, ", x17, ", $w0, ", #32\n",
            "adcs ", $w2, ", ", $w2, ", ", $t3, "\n",
            "adcs ", $w3, ", ", $w3, ", ", $t0, "\n",
            "adcs ", $w4, ", ", $w4, ", ", $t1, "\n",
            "adcs ", $w5, ", ", $w5, ", ", $t2, "\n",
            $("adcs ", $w, ", ", $w, ", xzr\n",)*
            "adc ", $top, ", xzr, xzr\n",
        )
    };
}

/// `$t` = the number below 2p in `$w` and the fifth limb `$w4`, minus p unless that is negative.
/// `$p1` is p's second limb.
#[rustfmt::skip]
macro_rules! subtract_p {
    (
        $p1:literal; $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal;
        [$t0:literal $t1:literal $t2:literal $t3:literal]
    ) => {
        concat!(
            "adds ", $t0, ", ", $w0, ", #1\n",
            "sbcs ", $t1, ", ", $w1, ", ", $p1, "\n",
            "sbcs ", $t2, ", ", $w2, ", xzr\n",
            "sbcs ", $t3, ", ", $w3, ", x3\n",
            "sbcs xzr, ", $w4, ", xzr\n",
            "csel ", $t0, ", ", $w0, ", ", $t0, ", cc\n",
            "csel ", $t1, ", ", $w1, ", ", $t1, ", cc\n",
            "csel ", $t2, ", ", $w2, ", ", $t2, ", cc\n",
            "csel ", $t3, ", ", $w3, ", ", $t3, ", cc\n",
        )
    };
}

/// `$out` = `$a` times `$b`, less than p. Uses `x8`, `x12` to `x17`, and `$t`. The lowest limb of
/// `$b` may be `x8`, and its second limb the first of `$t`. `$out` may be `$a` or `$b`, and shares
/// no register with the others.
///
/// `$a` is less than p, and `$b` any number below R. Two rows and two steps
/// leave a sum W < (2¹²⁸·p + 2¹²⁸·p) / 2¹²⁸ = 2p. W plus two more rows is less than 2p + (2¹²⁸ −
/// 1)·p < 2³⁸⁴; likewise, W plus one row is less than 2³²⁰. The final value is again less than 2p.
macro_rules! product {
    (
        $out:tt = $a:tt, [$b0:literal $b1:literal $b2:literal $b3:literal];
        [$t0:literal $t1:literal $t2:literal $t3:literal] $p1:literal
    ) => {
        concat!(
            first_row!($b0 "x17"; $a "x12" "x13" "x14" "x15" "x16"),
            row!(fresh $b1 "x17"; $a "x13" "x14" "x15" "x16" "x8"),
            reduce_two!([$t0 $t1 $t2 $t3]; "x12" "x13" "x14" "x15" "x16" "x8", "x12"),
            row!(used $b2 "x17"; $a "x14" "x15" "x16" "x8" "x12"),
            row!(fresh $b3 "x17"; $a "x15" "x16" "x8" "x12" "x13"),
            reduce_two!([$t0 $t1 $t2 $t3]; "x14" "x15" "x16" "x8" "x12" "x13", "x14"),
            subtract_p!($p1; "x16" "x8" "x12" "x13" "x14"; $out),
        )
    };
}

/// `$out` = the square of `$a`, less than p, for a number less than p. Uses `x8`, `x10` to `x17`,
/// and `$t`; `$out` is none of these, but may be `$a`.
macro_rules! square {
    (
        $out:tt = [$a0:literal $a1:literal $a2:literal $a3:literal];
        [$t0:literal $t1:literal $t2:literal $t3:literal] $p1:literal
    ) => {
        concat!(
            square_4!($a0 $a1 $a2 $a3; "x17"; "x12" "x13" "x14" "x15" "x16" "x8" "x10" "x11"),
            // The square is less than p², so its reduction does not carry out of the eight limbs.
            reduce_two!([$t0 $t1 $t2 $t3]; "x12" "x13" "x14" "x15" "x16" "x8" "x10" "x11", "x12"),
            reduce_two!([$t0 $t1 $t2 $t3]; "x14" "x15" "x16" "x8" "x10" "x11", "x12"),
            subtract_p!($p1; "x16" "x8" "x10" "x11" "x12"; $out),
        )
    };
}

/// `$d = $a − $b`, less than p as both; `$d` may be `$a` or `$b`. Uses `x8` to `x10`.
#[rustfmt::skip]
macro_rules! difference {
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
            "csetm x8, cc\n",
            "and x9, x8, #0xffffffff\n",
            "and x10, x8, #0xffffffff00000001\n",
            "adds ", $d0, ", ", $d0, ", x8\n",
            "adcs ", $d1, ", ", $d1, ", x9\n",
            "adcs ", $d2, ", ", $d2, ", xzr\n",
            "adc ", $d3, ", ", $d3, ", x10\n",
        )
    };
}

/// A product of a kernel, with p's second limb in `x30`: uses `x1`, `x8` to `x17`.
macro_rules! times {
    ($out:tt = $a:tt, $b:tt) => {
        product!($out = $a, $b; ["x9" "x10" "x11" "x1"] "x30")
    };
}

/// A square of a kernel, likewise: uses `x1`, `x2`, `x8` to `x17` and `x27`.
macro_rules! squared {
    ($out:tt = $a:tt) => {
        square!($out = $a; ["x9" "x1" "x2" "x27"] "x30")
    };
}

mod add;
mod double;
pub(super) use add::add_affine;
pub(super) use double::double_times;

/// Computes `out = a · b / R mod p`, less than p. `a` is any number below R, and `b` is less than
/// p.
///
/// # Safety
/// `a` and `b` are four limbs each, and `out` has room for four; it may be where `a` or `b` are,
/// and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!(16 "x19" "x20" 0),
        load!("x2" 0; "x4" "x5" "x6" "x7"),
        load!("x1" 0; "x8" "x9" "x10" "x11"),
        constants!("x20"),
        product!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x8" "x9" "x10" "x11"];
            ["x9" "x1" "x2" "x19"] "x20"),
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        leave!(16 "x19" "x20" 0),
    )
}

/// Computes `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!(32 "x19" "x20" 0 "x21" "x22" 16),
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        constants!("x21"),
        "2:",
        square!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"]; ["x9" "x1" "x19" "x20"] "x21"),
        "sub x2, x2, #1",
        "cbnz x2, 2b",
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        leave!(32 "x19" "x20" 0 "x21" "x22" 16),
    )
}

/// Returns a + b; both are less than the prime, and so is the result: their sum, with its carry,
/// minus the prime unless that is negative.
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
            "adc {t}, xzr, xzr",
            "adds {b0}, {s0}, #1",
            "sbcs {b1}, {s1}, {p1}",
            "sbcs {b2}, {s2}, xzr",
            "sbcs {b3}, {s3}, {p3}",
            "sbcs xzr, {t}, xzr",
            "csel {s0}, {s0}, {b0}, cc",
            "csel {s1}, {s1}, {b1}, cc",
            "csel {s2}, {s2}, {b2}, cc",
            "csel {s3}, {s3}, {b3}, cc",
            s0 = inout(reg) s0,
            s1 = inout(reg) s1,
            s2 = inout(reg) s2,
            s3 = inout(reg) s3,
            b0 = inout(reg) b[0] => _,
            b1 = inout(reg) b[1] => _,
            b2 = inout(reg) b[2] => _,
            b3 = inout(reg) b[3] => _,
            t = out(reg) _,
            p1 = in(reg) 0xffff_ffffu64,
            p3 = in(reg) 0xffff_ffff_0000_0001u64,
            options(pure, nomem, nostack),
        );
    }
    [s0, s1, s2, s3]
}

/// Returns a − b; both are less than the prime, and so is the result: their difference, plus the
/// prime if it is negative.
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
            "csetm {b0}, cc",
            "and {b1}, {b0}, #0xffffffff",
            "and {b3}, {b0}, #0xffffffff00000001",
            "adds {d0}, {d0}, {b0}",
            "adcs {d1}, {d1}, {b1}",
            "adcs {d2}, {d2}, xzr",
            "adc {d3}, {d3}, {b3}",
            d0 = inout(reg) d0,
            d1 = inout(reg) d1,
            d2 = inout(reg) d2,
            d3 = inout(reg) d3,
            b0 = inout(reg) b[0] => _,
            b1 = inout(reg) b[1] => _,
            b2 = in(reg) b[2],
            b3 = inout(reg) b[3] => _,
            options(pure, nomem, nostack),
        );
    }
    [d0, d1, d2, d3]
}
