//! Sums and differences of four limbs, short enough to be inlined.

use super::Limb;
use core::arch::asm;

/// Defines a + b and a − b modulo a prime above 2²²³, for residues less than it.
///
/// `$p` are the limbs of the prime; `{p1}` and `{p3}` are constants in registers. `$masked` are the
/// same limbs, masked by the register `{mask}`.
macro_rules! modulo {
    (
        $add:ident $sub:ident {p1} = $p1:literal {p3} = $p3:literal;
        $p0:literal $p2:literal; $mask_p0:literal $masked_p0:literal $masked_p2:literal
    ) => {
        /// Returns a + b; both are less than the prime, and so is the result: their sum, with its
        /// carry, minus the prime unless that is negative.
        #[inline(always)]
        pub(super) fn $add(a: &[Limb; 4], b: &[Limb; 4]) -> [Limb; 4] {
            let [mut s0, mut s1, mut s2, mut s3] = *a;
            // SAFETY: four limbs are read at `b`.
            unsafe {
                asm!(
                    "add {s0}, [{b}]",
                    "adc {s1}, [{b} + 8]",
                    "adc {s2}, [{b} + 16]",
                    "adc {s3}, [{b} + 24]",
                    // The carry, in the register of b.
                    "mov {b}, 0",
                    "adc {b}, 0",
                    "mov {t0}, {s0}",
                    "mov {t1}, {s1}",
                    "mov {t2}, {s2}",
                    "mov {t3}, {s3}",
                    concat!("sub {t0}, ", $p0),
                    "sbb {t1}, {p1}",
                    concat!("sbb {t2}, ", $p2),
                    "sbb {t3}, {p3}",
                    "sbb {b}, 0",
                    "cmovnc {s0}, {t0}",
                    "cmovnc {s1}, {t1}",
                    "cmovnc {s2}, {t2}",
                    "cmovnc {s3}, {t3}",
                    s0 = inout(reg) s0,
                    s1 = inout(reg) s1,
                    s2 = inout(reg) s2,
                    s3 = inout(reg) s3,
                    b = inout(reg) b.as_ptr() => _,
                    t0 = out(reg) _,
                    t1 = out(reg) _,
                    t2 = out(reg) _,
                    t3 = out(reg) _,
                    p1 = in(reg) $p1,
                    p3 = in(reg) $p3,
                    options(pure, readonly, nostack),
                );
            }
            [s0, s1, s2, s3]
        }

        /// Returns a − b; both are less than the prime, and so is the result: their difference,
        /// plus the prime if it is negative.
        #[inline(always)]
        pub(super) fn $sub(a: &[Limb; 4], b: &[Limb; 4]) -> [Limb; 4] {
            let [mut d0, mut d1, mut d2, mut d3] = *a;
            // SAFETY: four limbs are read at `b`.
            unsafe {
                asm!(
                    "sub {d0}, [{b}]",
                    "sbb {d1}, [{b} + 8]",
                    "sbb {d2}, [{b} + 16]",
                    "sbb {d3}, [{b} + 24]",
                    "sbb {mask}, {mask}",
                    "and {p1}, {mask}",
                    "and {p3}, {mask}",
                    $mask_p0,
                    concat!("add {d0}, ", $masked_p0),
                    "adc {d1}, {p1}",
                    concat!("adc {d2}, ", $masked_p2),
                    "adc {d3}, {p3}",
                    d0 = inout(reg) d0,
                    d1 = inout(reg) d1,
                    d2 = inout(reg) d2,
                    d3 = inout(reg) d3,
                    b = inout(reg) b.as_ptr() => _,
                    mask = out(reg) _,
                    p1 = inout(reg) $p1 => _,
                    p3 = inout(reg) $p3 => _,
                    options(pure, readonly, nostack),
                );
            }
            [d0, d1, d2, d3]
        }
    };
}

modulo!(add_p256 sub_p256 {p1} = 0x0000_0000_ffff_ffffu64 {p3} = 0xffff_ffff_0000_0001u64;
    "-1" "0"; "" "{mask}" "0");
modulo!(add_p224 sub_p224 {p1} = 0xffff_ffff_0000_0000u64 {p3} = 0x0000_0000_ffff_ffffu64;
    "1" "-1"; "mov {b}, {mask}\nand {b}, 1" "{b}" "{mask}");

/// Returns a + b below 2²⁵⁶, for any residues below 2²⁵⁶.
///
/// A carry counts 38. If adding it carries again, the rest is less than 38, and another 38 fit in
/// the lowest limb.
#[inline(always)]
pub(super) fn add_p25519(a: &[Limb; 4], b: &[Limb; 4]) -> [Limb; 4] {
    let [mut s0, mut s1, mut s2, mut s3] = *a;
    // SAFETY: four limbs are read at `b`.
    unsafe {
        asm!(
            "add {s0}, [{b}]",
            "adc {s1}, [{b} + 8]",
            "adc {s2}, [{b} + 16]",
            "adc {s3}, [{b} + 24]",
            "sbb {b}, {b}",
            "and {b:e}, 38",
            "add {s0}, {b}",
            "adc {s1}, 0",
            "adc {s2}, 0",
            "adc {s3}, 0",
            "sbb {b}, {b}",
            "and {b:e}, 38",
            "add {s0}, {b}",
            s0 = inout(reg) s0,
            s1 = inout(reg) s1,
            s2 = inout(reg) s2,
            s3 = inout(reg) s3,
            b = inout(reg) b.as_ptr() => _,
            options(pure, readonly, nostack),
        );
    }
    [s0, s1, s2, s3]
}

/// Returns a − b below 2²⁵⁶, for any residues below 2²⁵⁶.
///
/// A borrow counts −38. If subtracting it borrows again, the rest is at least 2²⁵⁶ − 38, and
/// another 38 can be taken from its lowest limb.
#[inline(always)]
pub(super) fn sub_p25519(a: &[Limb; 4], b: &[Limb; 4]) -> [Limb; 4] {
    let [mut d0, mut d1, mut d2, mut d3] = *a;
    // SAFETY: four limbs are read at `b`.
    unsafe {
        asm!(
            "sub {d0}, [{b}]",
            "sbb {d1}, [{b} + 8]",
            "sbb {d2}, [{b} + 16]",
            "sbb {d3}, [{b} + 24]",
            "sbb {b}, {b}",
            "and {b:e}, 38",
            "sub {d0}, {b}",
            "sbb {d1}, 0",
            "sbb {d2}, 0",
            "sbb {d3}, 0",
            "sbb {b}, {b}",
            "and {b:e}, 38",
            "sub {d0}, {b}",
            d0 = inout(reg) d0,
            d1 = inout(reg) d1,
            d2 = inout(reg) d2,
            d3 = inout(reg) d3,
            b = inout(reg) b.as_ptr() => _,
            options(pure, readonly, nostack),
        );
    }
    [d0, d1, d2, d3]
}
