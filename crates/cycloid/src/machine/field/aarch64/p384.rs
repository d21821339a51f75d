//! P-384 in Montgomery form, R = 2³⁸⁴.
//!
//! p is 2³⁸⁴ − (2¹²⁸ + 2⁹⁶ − 2³² + 1).

use core::arch::{asm, naked_asm};

use super::Limb;

/// Two reduction steps at a time, for each pair of limbs `$k`, on a window as long as the prime,
/// whose lowest limbs become the top ones each time. The number is at most p afterwards. Needs five
/// registers.
///
/// −1/p is 2⁶⁴ + 2³² + 1 modulo 2¹²⁸, and the quotient Q, of two limbs, is the lowest two limbs
/// times that. Adding Q·p adds Q six limbs up, and subtracts Q·2¹²⁸ and Q·(2⁹⁶ − 2³² + 1), whose
/// lowest two limbs are those of the window. With S = Q·2³², the latter is Q − S + S·2⁶⁴.
#[rustfmt::skip]
macro_rules! steps {
    ([] $t:tt; $($window:literal)+) => { "" };
    (
        [$k:literal $($more:literal)*] [$q0:literal $q1:literal $s0:literal $s1:literal $s2:literal];
        $w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal
    ) => {
        concat!(
            // Q.
            "adds ", $q0, ", ", $w0, ", ", $w0, ", lsl #32\n",
            "extr ", $s1, ", ", $w1, ", ", $w0, ", #32\n",
            "adc ", $q1, ", ", $w1, ", ", $s1, "\n",
            "add ", $q1, ", ", $q1, ", ", $w0, "\n",
            // S.
            "lsl ", $s0, ", ", $q0, ", #32\n",
            "extr ", $s1, ", ", $q1, ", ", $q0, ", #32\n",
            "lsr ", $s2, ", ", $q1, ", #32\n",
            // The upper limbs of Q − S + S·2⁶⁴, plus Q; the third is a carry minus a borrow.
            "cmp ", $q0, ", ", $s0, "\n",
            "sbcs ", $w0, ", ", $q1, ", ", $s1, "\n",
            "sbcs ", $s1, ", ", $s1, ", ", $s2, "\n",
            "sbcs ", $s2, ", ", $s2, ", xzr\n",
            "sbc ", $w1, ", xzr, xzr\n",
            "cmn ", $w0, ", ", $s0, "\n",
            "adcs ", $s1, ", ", $s1, ", ", $q0, "\n",
            "adcs ", $s2, ", ", $s2, ", ", $q1, "\n",
            "adc ", $w1, ", ", $w1, ", xzr\n",
            "subs ", $w2, ", ", $w2, ", ", $s1, "\n",
            "sbcs ", $w3, ", ", $w3, ", ", $s2, "\n",
            "sbcs ", $w4, ", ", $w4, ", ", $w1, "\n",
            "sbcs ", $w5, ", ", $w5, ", xzr\n",
            "sbcs ", $w0, ", ", $q0, ", xzr\n",
            "sbc ", $w1, ", ", $q1, ", xzr\n",
            steps!([$($more)*] [$q0 $q1 $s0 $s1 $s2]; $w2 $w3 $w4 $w5 $w0 $w1),
        )
    };
}

/// The constants that sums, differences and reductions use: p's lowest limbs. The others are 2⁶⁴ −
/// 1, and subtracting that with a borrow is adding the carry.
macro_rules! constants {
    () => {
        "mov x24, #0xffffffff\nmov x25, #0xffffffff00000000\nmov x26, #0xfffffffffffffffe\n"
    };
}

/// `$out` = the number below 2p in `$w` and the limb `$carry`, minus p unless that is negative.
/// Needs `$t`.
#[rustfmt::skip]
macro_rules! subtract_p {
    (
        $out:tt = $w:tt $carry:literal;
        [$t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal]
    ) => {
        concat!(
            subtract_p!(@$w $t0 $t1 $t2 $t3 $t4 $t5),
            "sbcs xzr, ", $carry, ", xzr\n",
            select_limbs!("cc"; $out $w [$t0 $t1 $t2 $t3 $t4 $t5]),
        )
    };
    (
        @[$w0:literal $w1:literal $w2:literal $w3:literal $w4:literal $w5:literal]
        $t0:literal $t1:literal $t2:literal $t3:literal $t4:literal $t5:literal
    ) => {
        concat!(
            "subs ", $t0, ", ", $w0, ", x24\n",
            "sbcs ", $t1, ", ", $w1, ", x25\n",
            "sbcs ", $t2, ", ", $w2, ", x26\n",
            "adcs ", $t3, ", ", $w3, ", xzr\n",
            "adcs ", $t4, ", ", $w4, ", xzr\n",
            "adcs ", $t5, ", ", $w5, ", xzr\n",
        )
    };
}

/// `x10` to `x15` = the twelve limbs `x10` to `x17`, `x19` to `x22`, less than p·R, divided by R
/// modulo p: the reduced lower half, plus the upper half, minus p unless that is negative. Needs
/// `x1` to `x3`, `x23` and `x27`.
macro_rules! reduce {
    () => {
        concat!(
            steps!([0 2 4] ["x1" "x2" "x3" "x23" "x27"]; "x10" "x11" "x12" "x13" "x14" "x15"),
            chain!("adds" "adcs"; ["x10" "x11" "x12" "x13" "x14" "x15"]
                ["x10" "x11" "x12" "x13" "x14" "x15"] ["x16" "x17" "x19" "x20" "x21" "x22"]),
            "adc x23, xzr, xzr\n",
            subtract_p!(["x10" "x11" "x12" "x13" "x14" "x15"] =
                ["x10" "x11" "x12" "x13" "x14" "x15"] "x23";
                ["x16" "x17" "x19" "x20" "x21" "x22"]),
        )
    };
}

/// `x10` to `x15` = `x4` to `x9` times the limbs at `[x2]`, less than p; one of the factors is any
/// number below R, and the other is less than p. Uses `x1` to `x3`, `x16`, `x17`, `x19` to `x23`
/// and `x27`.
macro_rules! product {
    () => {
        concat!(
            "ldp x1, x3, [x2]\n",
            first_row!("x1" "x23"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x10" "x11" "x12" "x13" "x14" "x15" "x16"),
            row!(fresh "x3" "x23"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x11" "x12" "x13" "x14" "x15" "x16" "x17"),
            "ldp x1, x3, [x2, #16]\n",
            row!(fresh "x1" "x23"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x12" "x13" "x14" "x15" "x16" "x17" "x19"),
            row!(fresh "x3" "x23"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x13" "x14" "x15" "x16" "x17" "x19" "x20"),
            "ldp x1, x3, [x2, #32]\n",
            row!(fresh "x1" "x23"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x14" "x15" "x16" "x17" "x19" "x20" "x21"),
            row!(fresh "x3" "x23"; ["x4" "x5" "x6" "x7" "x8" "x9"]
                "x15" "x16" "x17" "x19" "x20" "x21" "x22"),
            reduce!(),
        )
    };
}

/// `x10` to `x15` = the square of `x4` to `x9`, less than p as both; registers as in [`product`].
///
/// First the products of different limbs, each once, from the second place on. Twice their sum is
/// less than R².
macro_rules! square {
    () => {
        concat!(
            square_6!("x4" "x5" "x6" "x7" "x8" "x9"; "x23";
                "x10" "x11" "x12" "x13" "x14" "x15" "x16" "x17" "x19" "x20" "x21" "x22"),
            reduce!(),
        )
    };
}

mod double;
pub(super) use double::double_times;

/// Computes `out = a · b / R mod p`, less than p. One of the factors is any number below R, and the
/// other is less than p.
///
/// # Safety
/// `a` and `b` are six limbs each, and `out` has room for six; it may be where `a` or `b` are, and
/// need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        enter!(80 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48 "x27" "x28" 64),
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        constants!(),
        product!(),
        store!("x0" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        leave!(80 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48 "x27" "x28" 64),
    )
}

/// Computes `out = a` squared `times` times, less than p, for `a` less than p; `times` is not 0.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn square_times(out: *mut Limb, a: *const Limb, times: usize) {
    naked_asm!(
        enter!(80 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48 "x27" "x28" 64),
        load!("x1" 0; "x4" "x5" "x6" "x7" "x8" "x9"),
        "mov x28, x2",
        constants!(),
        "2:",
        square!(),
        "sub x28, x28, #1",
        "cbz x28, 3f",
        copy!(["x4" "x5" "x6" "x7" "x8" "x9"] ["x10" "x11" "x12" "x13" "x14" "x15"]),
        "b 2b",
        "3:",
        store!("x0" 0; "x10" "x11" "x12" "x13" "x14" "x15"),
        leave!(80 "x19" "x20" 0 "x21" "x22" 16 "x23" "x24" 32 "x25" "x26" 48 "x27" "x28" 64),
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
