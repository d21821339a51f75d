//! P-384 in Montgomery form, R = 2³⁸⁴.
//!
//! −1/p is 2³² + 1 modulo 2⁶⁴, so a quotient limb q is the lowest limb times that. p is 2³⁸⁴ −
//! (2¹²⁸ + 2⁹⁶ − 2³² + 1): adding q·p adds q six limbs up and subtracts q times the rest.

use core::arch::{asm, naked_asm};

use super::Limb;

/// A reduction step for each limb `$k`, on a window as long as the prime, whose lowest limb becomes
/// the top one each time. The number is at most p afterwards. Needs `$t`.
///
/// q·(2¹²⁸ + 2⁹⁶ − 2³² + 1), without its lowest limb, which is that of the window, is a number of
/// 129 bits: q·2⁶⁴ − q + ⌊q / 2³²⌋ without its lowest 32 bits, plus q·2⁶⁴.
#[rustfmt::skip]
macro_rules! steps {
    ([] $t:tt; $($window:literal)+) => { "" };
    (
        [$k:literal $($more:literal)*] [$q:literal $t0:literal $t1:literal $t2:literal];
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal
    ) => {
        concat!(
            "add ", $q, ", ", $w0, ", ", $w0, ", lsl #32\n",
            "lsr ", $t0, ", ", $q, ", #32\n",
            "subs ", $t0, ", ", $t0, ", ", $q, "\n",
            "sbc ", $t1, ", ", $q, ", xzr\n",
            "extr ", $t0, ", ", $t1, ", ", $t0, ", #32\n",
            "adds ", $t1, ", ", $q, ", ", $t1, ", lsr #32\n",
            "adc ", $t2, ", xzr, xzr\n",
            "subs ", $w1, ", ", $w1, ", ", $t0, "\n",
            "sbcs ", $w2, ", ", $w2, ", ", $t1, "\n",
            "sbcs ", $w3, ", ", $w3, ", ", $t2, "\n",
            "sbcs ", $w4, ", ", $w4, ", xzr\n",
            "sbcs ", $w5, ", ", $w5, ", xzr\n",
            "sbc ", $w0, ", ", $q, ", xzr\n",
            steps!([$($more)*] [$q $t0 $t1 $t2]; $w1 $w2 $w3 $w4 $w5 $w0),
        )
    };
}

/// `$w` = the twelve limbs, less than p·R, divided by R modulo p: the reduced lower half, plus the
/// upper half `$u`, minus p unless that is negative. Needs `$t` and `$s`, six registers.
#[rustfmt::skip]
macro_rules! reduce {
    (
        $t:tt;
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal;
        $u0:literal $u1:literal $u2:literal $u3:literal $u4:literal $u5:literal;
        $carry:literal $p:literal
    ) => {
        concat!(
            steps!([0 1 2 3 4 5] $t; $w0 $w1 $w2 $w3 $w4 $w5),
            "adds ", $w0, ", ", $w0, ", ", $u0, "\n",
            "adcs ", $w1, ", ", $w1, ", ", $u1, "\n",
            "adcs ", $w2, ", ", $w2, ", ", $u2, "\n",
            "adcs ", $w3, ", ", $w3, ", ", $u3, "\n",
            "adcs ", $w4, ", ", $w4, ", ", $u4, "\n",
            "adcs ", $w5, ", ", $w5, ", ", $u5, "\n",
            "adc ", $carry, ", xzr, xzr\n",
            "mov ", $p, ", #0xffffffff\n",
            "subs ", $u0, ", ", $w0, ", ", $p, "\n",
            "mov ", $p, ", #0xffffffff00000000\n",
            "sbcs ", $u1, ", ", $w1, ", ", $p, "\n",
            "mov ", $p, ", #0xfffffffffffffffe\n",
            "sbcs ", $u2, ", ", $w2, ", ", $p, "\n",
            "mov ", $p, ", #-1\n",
            "sbcs ", $u3, ", ", $w3, ", ", $p, "\n",
            "sbcs ", $u4, ", ", $w4, ", ", $p, "\n",
            "sbcs ", $u5, ", ", $w5, ", ", $p, "\n",
            "sbcs xzr, ", $carry, ", xzr\n",
            "csel ", $w0, ", ", $w0, ", ", $u0, ", cc\n",
            "csel ", $w1, ", ", $w1, ", ", $u1, ", cc\n",
            "csel ", $w2, ", ", $w2, ", ", $u2, ", cc\n",
            "csel ", $w3, ", ", $w3, ", ", $u3, ", cc\n",
            "csel ", $w4, ", ", $w4, ", ", $u4, ", cc\n",
            "csel ", $w5, ", ", $w5, ", ", $u5, ", cc\n",
        )
    };
}

/// Computes `out = a · b / R mod p`, less than p. One of the factors is any number below R, and the
/// other is less than p.
///
/// # Safety
/// `a` and `b` are six limbs each, and `out` has room for six; it may be where `a` or `b` are, and
/// need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!(48 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32),
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        "ldp x1, x3, [x2]",
        first_row!("x1" "x17"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            "x10" "x11" "x12" "x13" "x14" "x15" "x16"),
        row!(fresh "x3" "x17"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            "x11" "x12" "x13" "x14" "x15" "x16" "x19"),
        "ldp x1, x3, [x2, #16]",
        row!(fresh "x1" "x17"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            "x12" "x13" "x14" "x15" "x16" "x19" "x20"),
        row!(fresh "x3" "x17"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            "x13" "x14" "x15" "x16" "x19" "x20" "x21"),
        "ldp x1, x3, [x2, #32]",
        row!(fresh "x1" "x17"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            "x14" "x15" "x16" "x19" "x20" "x21" "x22"),
        row!(fresh "x3" "x17"; ["x4" "x5" "x6" "x7" "x8" "x9"]
            "x15" "x16" "x19" "x20" "x21" "x22" "x23"),
        reduce!(["x1" "x2" "x3" "x17"]; "x10" "x11" "x12" "x13" "x14" "x15";
            "x16" "x19" "x20" "x21" "x22" "x23"; "x1" "x17"),
        store!("x0" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        leave!(48 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32),
    )
}

/// `$even` and `$odd` = twice themselves plus `$a`², the sum with a carry from the limbs below and
/// to those above. Needs `x17`.
#[rustfmt::skip]
macro_rules! add_square {
    ($a:literal; $even:literal $odd:literal) => {
        concat!(
            "mul x17, ", $a, ", ", $a, "\nadcs ", $even, ", ", $even, ", x17\n",
            "umulh x17, ", $a, ", ", $a, "\nadcs ", $odd, ", ", $odd, ", x17\n",
        )
    };
}

/// Computes `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!(48 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32),
        load!("x1" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        "2:",
        "mov x4, x10",
        "mov x5, x11",
        "mov x6, x12",
        "mov x7, x13",
        "mov x8, x14",
        "mov x9, x15",
        // The products of different limbs, each once, from the second place on.
        first_row!("x4" "x17"; ["x5" "x6" "x7" "x8" "x9"] "x11" "x12" "x13" "x14" "x15" "x16"),
        row!(fresh "x5" "x17"; ["x6" "x7" "x8" "x9"] "x13" "x14" "x15" "x16" "x19"),
        row!(fresh "x6" "x17"; ["x7" "x8" "x9"] "x15" "x16" "x19" "x20"),
        row!(fresh "x7" "x17"; ["x8" "x9"] "x19" "x20" "x21"),
        "mul x17, x8, x9",
        "umulh x22, x8, x9",
        "adds x21, x21, x17",
        "adc x22, x22, xzr",
        // Twice their sum, which is less than R² / 2, plus the squares.
        "adds x11, x11, x11",
        "adcs x12, x12, x12",
        "adcs x13, x13, x13",
        "adcs x14, x14, x14",
        "adcs x15, x15, x15",
        "adcs x16, x16, x16",
        "adcs x19, x19, x19",
        "adcs x20, x20, x20",
        "adcs x21, x21, x21",
        "adcs x22, x22, x22",
        "adc x23, xzr, xzr",
        "mul x10, x4, x4",
        "umulh x17, x4, x4",
        "adds x11, x11, x17",
        add_square!("x5"; "x12" "x13"),
        add_square!("x6"; "x14" "x15"),
        add_square!("x7"; "x16" "x19"),
        add_square!("x8"; "x20" "x21"),
        add_square!("x9"; "x22" "x23"),
        reduce!(["x1" "x3" "x4" "x17"]; "x10" "x11" "x12" "x13" "x14" "x15";
            "x16" "x19" "x20" "x21" "x22" "x23"; "x1" "x17"),
        "sub x2, x2, #1",
        "cbnz x2, 2b",
        store!("x0" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        leave!(48 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32),
    )
}

/// Returns a + b; both are less than the prime, and so is the result: their sum, with its carry,
/// minus the prime unless that is negative.
#[inline(always)]
pub(super) fn add(a: &[Limb; 6], b: &[Limb; 6]) -> [Limb; 6] {
    let [mut s0, mut s1, mut s2, mut s3, mut s4, mut s5] = *a;
    // SAFETY: registers only.
    unsafe {
        asm!(
            "adds {s0}, {s0}, {b0}",
            "adcs {s1}, {s1}, {b1}",
            "adcs {s2}, {s2}, {b2}",
            "adcs {s3}, {s3}, {b3}",
            "adcs {s4}, {s4}, {b4}",
            "adcs {s5}, {s5}, {b5}",
            "adc {t}, xzr, xzr",
            "subs {b0}, {s0}, {p0}",
            "sbcs {b1}, {s1}, {p1}",
            "sbcs {b2}, {s2}, {p2}",
            "sbcs {b3}, {s3}, {p3}",
            "sbcs {b4}, {s4}, {p3}",
            "sbcs {b5}, {s5}, {p3}",
            "sbcs xzr, {t}, xzr",
            "csel {s0}, {s0}, {b0}, cc",
            "csel {s1}, {s1}, {b1}, cc",
            "csel {s2}, {s2}, {b2}, cc",
            "csel {s3}, {s3}, {b3}, cc",
            "csel {s4}, {s4}, {b4}, cc",
            "csel {s5}, {s5}, {b5}, cc",
            s0 = inout(reg) s0,
            s1 = inout(reg) s1,
            s2 = inout(reg) s2,
            s3 = inout(reg) s3,
            s4 = inout(reg) s4,
            s5 = inout(reg) s5,
            b0 = inout(reg) b[0] => _,
            b1 = inout(reg) b[1] => _,
            b2 = inout(reg) b[2] => _,
            b3 = inout(reg) b[3] => _,
            b4 = inout(reg) b[4] => _,
            b5 = inout(reg) b[5] => _,
            t = out(reg) _,
            p0 = in(reg) 0xffff_ffffu64,
            p1 = in(reg) 0xffff_ffff_0000_0000u64,
            p2 = in(reg) 0xffff_ffff_ffff_fffeu64,
            p3 = in(reg) u64::MAX,
            options(pure, nomem, nostack),
        );
    }
    [s0, s1, s2, s3, s4, s5]
}

/// Returns a − b; both are less than the prime, and so is the result: their difference, plus the
/// prime if it is negative.
#[inline(always)]
pub(super) fn sub(a: &[Limb; 6], b: &[Limb; 6]) -> [Limb; 6] {
    let [mut d0, mut d1, mut d2, mut d3, mut d4, mut d5] = *a;
    // SAFETY: registers only.
    unsafe {
        asm!(
            "subs {d0}, {d0}, {b0}",
            "sbcs {d1}, {d1}, {b1}",
            "sbcs {d2}, {d2}, {b2}",
            "sbcs {d3}, {d3}, {b3}",
            "sbcs {d4}, {d4}, {b4}",
            "sbcs {d5}, {d5}, {b5}",
            "csetm {b3}, cc",
            "and {b0}, {b3}, #0xffffffff",
            "and {b1}, {b3}, #0xffffffff00000000",
            "and {b2}, {b3}, #0xfffffffffffffffe",
            "adds {d0}, {d0}, {b0}",
            "adcs {d1}, {d1}, {b1}",
            "adcs {d2}, {d2}, {b2}",
            "adcs {d3}, {d3}, {b3}",
            "adcs {d4}, {d4}, {b3}",
            "adc {d5}, {d5}, {b3}",
            d0 = inout(reg) d0,
            d1 = inout(reg) d1,
            d2 = inout(reg) d2,
            d3 = inout(reg) d3,
            d4 = inout(reg) d4,
            d5 = inout(reg) d5,
            b0 = inout(reg) b[0] => _,
            b1 = inout(reg) b[1] => _,
            b2 = inout(reg) b[2] => _,
            b3 = inout(reg) b[3] => _,
            b4 = in(reg) b[4],
            b5 = in(reg) b[5],
            options(pure, nomem, nostack),
        );
    }
    [d0, d1, d2, d3, d4, d5]
}
