//! P-256 in Montgomery form, R = 2²⁵⁶.
//!
//! −1/p is 1 modulo 2⁶⁴, so a quotient limb is the lowest limb itself, and p + 1 = 2⁹⁶ + 2¹⁹² ·
//! (2⁶⁴ − 2³² + 1): adding the quotient times p clears the lowest limb and adds that limb times 2⁹⁶
//! and, three limbs up, times 2⁶⁴ − 2³² + 1.

use core::arch::{asm, naked_asm};

use super::Limb;

/// The constants that products use: p's top limb, which is also 2⁶⁴ − 2³² + 1, in `x3`.
macro_rules! constants {
    () => {
        "mov x3, #0xffffffff00000001\n"
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
/// Needs `$p1`.
#[rustfmt::skip]
macro_rules! subtract_p {
    (
        $p1:literal; $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal;
        [$t0:literal $t1:literal $t2:literal $t3:literal]
    ) => {
        concat!(
            "mov ", $p1, ", #0xffffffff\n",
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
/// `$b` may be `x8`, and its second limb the first of `$t`. `$out` may be `$a` or `$b`, and shares no
/// register with the others.
///
/// One of the factors is any number below R, and the other is less than p. Two rows and two steps
/// leave a sum W < (2¹²⁸·p + 2¹²⁸·p) / 2¹²⁸ = 2p. W plus two more rows is less than 2p + (2¹²⁸ −
/// 1)·p < 2³⁸⁴; likewise, W plus one row is less than 2³²⁰. The final value is again less than 2p.
macro_rules! product {
    (
        $out:tt = $a:tt, [$b0:literal $b1:literal $b2:literal $b3:literal];
        [$t0:literal $t1:literal $t2:literal $t3:literal]
    ) => {
        concat!(
            first_row!($b0 "x17"; $a "x12" "x13" "x14" "x15" "x16"),
            row!(fresh $b1 "x17"; $a "x13" "x14" "x15" "x16" "x8"),
            reduce_two!([$t0 $t1 $t2 $t3]; "x12" "x13" "x14" "x15" "x16" "x8", "x12"),
            row!(used $b2 "x17"; $a "x14" "x15" "x16" "x8" "x12"),
            row!(fresh $b3 "x17"; $a "x15" "x16" "x8" "x12" "x13"),
            reduce_two!([$t0 $t1 $t2 $t3]; "x14" "x15" "x16" "x8" "x12" "x13", "x14"),
            subtract_p!($t1; "x16" "x8" "x12" "x13" "x14"; $out),
        )
    };
}

/// `$out` = the square of `$a`, less than p, for a number less than p. Uses `x8`, `x10` to `x17`,
/// and `$t`; `$out` is none of these, but may be `$a`.
macro_rules! square {
    (
        $out:tt = [$a0:literal $a1:literal $a2:literal $a3:literal];
        [$t0:literal $t1:literal $t2:literal $t3:literal]
    ) => {
        concat!(
            square_4!($a0 $a1 $a2 $a3; "x17"; "x12" "x13" "x14" "x15" "x16" "x8" "x10" "x11"),
            // The square is less than p², so its reduction does not carry out of the eight limbs.
            reduce_two!([$t0 $t1 $t2 $t3]; "x12" "x13" "x14" "x15" "x16" "x8" "x10" "x11", "x12"),
            reduce_two!([$t0 $t1 $t2 $t3]; "x14" "x15" "x16" "x8" "x10" "x11", "x12"),
            subtract_p!($t1; "x16" "x8" "x10" "x11" "x12"; $out),
        )
    };
}

mod double;
pub(super) use double::double_times;

/// Computes `out = a · b / R mod p`, less than p. One of the factors is any number below R, and the
/// other is less than p.
///
/// # Safety
/// `a` and `b` are four limbs each, and `out` has room for four; it may be where `a` or `b` are,
/// and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        ".cfi_startproc",
        "str x19, [sp, #-16]!\n.cfi_adjust_cfa_offset 16\n.cfi_rel_offset x19, 0",
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        load!("x2" 0; "x8" "x9" "x10" "x11"),
        constants!(),
        product!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"], ["x8" "x9" "x10" "x11"];
            ["x9" "x1" "x2" "x19"]),
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        "ldr x19, [sp], #16\n.cfi_adjust_cfa_offset -16\n.cfi_restore x19",
        "ret",
        ".cfi_endproc",
    )
}

/// Computes `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!(16 "x19" "x20" 0),
        load!("x1" 0; "x4" "x5" "x6" "x7"),
        constants!(),
        "2:",
        square!(["x4" "x5" "x6" "x7"] = ["x4" "x5" "x6" "x7"]; ["x9" "x1" "x19" "x20"]),
        "sub x2, x2, #1",
        "cbnz x2, 2b",
        store!("x0" 0; "x4" "x5" "x6" "x7"),
        leave!(16 "x19" "x20" 0),
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
