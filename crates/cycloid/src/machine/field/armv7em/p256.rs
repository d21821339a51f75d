//! P-256 in Montgomery form, R = 2²⁵⁶.
//!
//! −1/p is 1 modulo 2⁹⁶, so four quotient words Q are the lowest words, except that the fourth gets
//! the first added: p + 1 = 2⁹⁶ + 2¹⁹² − 2²²⁴ + 2²⁵⁶, and adding Q·p clears those words and adds Q
//! from places 3, 6 and 8 on and subtracts it from place 7 on.

use core::arch::naked_asm;

use super::Limb;

/// Reduces by four words: `$q` are the lowest words and the quotient, `$w` the eight words above
/// them, `$carry` the word above those, to which the carry is added.
macro_rules! reduce_four {
    ([$q0:literal $q1:literal $q2:literal $q3:literal]
        [$w4:literal $w5:literal $w6:literal $w7:literal
         $w8:literal $w9:literal $w10:literal $w11:literal] $carry:literal) => {
        concat!(
            "adds ", $q3, ", ", $q0, "\n", "adcs ", $w4, ", ", $q1, "\n", "adcs ", $w5, ", ", $q2,
            "\n", "adcs ", $w6, ", ", $q3, "\n", "adcs ", $w7, ", #0\n", "adcs ", $w8, ", ", $q0,
            "\n", "adcs ", $w9, ", ", $q1, "\n", "adcs ", $w10, ", ", $q2, "\n", "adcs ", $w11,
            ", ", $q3, "\n", "adc ", $carry, ", #0\n", "adds ", $w6, ", ", $q0, "\n", "adcs ", $w7,
            ", ", $q1, "\n", "adcs ", $w8, ", ", $q2, "\n", "adcs ", $w9, ", ", $q3, "\n", "adcs ",
            $w10, ", #0\n", "adcs ", $w11, ", #0\n", "adc ", $carry, ", #0\n", "subs ", $w7, ", ",
            $q0, "\n", "sbcs ", $w8, ", ", $q1, "\n", "sbcs ", $w9, ", ", $q2, "\n", "sbcs ", $w10,
            ", ", $q3, "\n", "sbcs ", $w11, ", #0\n", "sbc ", $carry, ", #0\n",
        )
    };
}

/// The number below 2p in r8 to r11, r4 to r7 and r12, minus p unless that is negative, to the
/// address in `$out`. Changes r1.
macro_rules! finish {
    ($out:literal) => {
        concat!(
            "subs r8, #0xffffffff\n",
            "sbcs r9, #0xffffffff\n",
            "sbcs r10, #0xffffffff\n",
            "sbcs r11, #0\n",
            "sbcs r4, #0\n",
            "sbcs r5, #0\n",
            "sbcs r6, #1\n",
            "sbcs r7, #0xffffffff\n",
            "sbc r12, #0\n",
            add_p!($out),
        )
    };
}

/// The number in r8 to r11 and r4 to r7, plus p if r12 is all ones, to the address in `$out`.
/// Changes r1.
macro_rules! add_p {
    ($out:literal) => {
        concat!(
            "and r1, r12, #1\n",
            "adds r8, r12\n",
            "adcs r9, r12\n",
            "adcs r10, r12\n",
            "adcs r11, #0\n",
            "adcs r4, #0\n",
            "adcs r5, #0\n",
            "adcs r6, r1\n",
            "adc r7, r12\n",
            "stm ",
            $out,
            "!, {{r8-r11}}\n",
            "stm ",
            $out,
            ", {{r4-r7}}\n",
        )
    };
}

/// Computes `out = a · b / R mod p`, less than p.
///
/// One of the factors is any number below R, the other is less than p. The sum before the last
/// subtraction is less than (R·p + R·p) / R = 2p.
///
/// Stack: twelve words of the product, `out`, `a`, `b`.
///
/// # Safety
/// `a` and `b` are four limbs each, and `out` has room for four; it may be where `a` or `b` are,
/// and need not be initialised. Changes all registers but sp: only for calls from assembly.
#[unsafe(naked)]
unsafe extern "C" fn mul_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        "push {{r0-r2, lr}}",
        "sub sp, #36",
        lower_rows!(),
        "ldm sp, {{r0-r7}}",
        "mov r12, #0",
        reduce_four!(["r0" "r1" "r2" "r3"]
            ["r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"] "r12"),
        // The words at places 8 to 12 wait on the stack.
        "stm sp, {{r8-r12}}",
        upper_rows!("40" "44"; ["0" "4" "8" "12"]
            ["20" "24" "28" "32" "0" "4" "8" "12"]),
        // Places 4 to 7 are from [sp, #20] on, 8 to 11 from [sp] on, 12 is also at [sp, #16].
        "ldm sp, {{r8-r12}}",
        "ldr r0, [sp, #20]",
        "ldr r1, [sp, #24]",
        "ldr r2, [sp, #28]",
        "ldr r3, [sp, #32]",
        "adds r4, r12",
        "adcs r5, #0",
        "adcs r6, #0",
        "adcs r7, #0",
        "mov r12, #0",
        "adc r12, #0",
        reduce_four!(["r0" "r1" "r2" "r3"]
            ["r8" "r9" "r10" "r11" "r4" "r5" "r6" "r7"] "r12"),
        "ldr r0, [sp, #36]",
        finish!("r0"),
        "add sp, #48",
        "pop {{pc}}",
    )
}

/// Computes `out = a + b mod p` for numbers less than p.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn add_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(sum!("adds" "adcs"), "mov r12, #0", "adc r12, #0", finish!("r0"), "bx lr",)
}

/// Computes `out = a − b mod p` for numbers less than p.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn sub_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(sum!("subs" "sbcs"), "sbc r12, r12", add_p!("r0"), "bx lr",)
}

around! {
    /// Computes `out = a · b / R mod p`; see [`mul_inner`].
    ///
    /// # Safety
    /// As for [`mul_inner`], except that it keeps the registers of the usual interface.
    mul(out: *mut Limb, a: *const Limb, b: *const Limb) = mul_inner
}

around! {
    /// Computes `out = a + b mod p`; see [`add_inner`].
    ///
    /// # Safety
    /// As for [`mul`].
    add(out: *mut Limb, a: *const Limb, b: *const Limb) = add_inner
}

around! {
    /// Computes `out = a − b mod p`; see [`sub_inner`].
    ///
    /// # Safety
    /// As for [`mul`].
    sub(out: *mut Limb, a: *const Limb, b: *const Limb) = sub_inner
}

/// Doubles a point X, Y, Z in Jacobian coordinates `times` times, in place; the formula of
/// [`CurveArithmetic::double_times`](crate::machine::field::CurveArithmetic::double_times).
///
/// Stack: five elements, the point's address, remaining doublings.
///
/// # Safety
/// `point` is twelve limbs; `times` is not 0.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn double_times(point: *mut Limb, times: usize) {
    naked_asm!(
        "push {{r0, r1, r4-r11, lr}}",
        "sub sp, #160",
        "22:",
        // Z², 2·Y², 4·Y².
        call!("mul" [t 0] = [at 160 + 64], [at 160 + 64]),
        call!("mul" [t 32] = [at 160 + 32], [at 160 + 32]),
        call!("add" [t 32] = [t 32], [t 32]),
        call!("add" [t 64] = [t 32], [t 32]),
        // S = X·4·Y².
        call!("mul" [t 64] = [at 160], [t 64]),
        // M = 3·(X − Z²)·(X + Z²).
        call!("sub" [t 96] = [at 160], [t 0]),
        call!("add" [t 0] = [at 160], [t 0]),
        call!("mul" [t 96] = [t 96], [t 0]),
        call!("add" [t 0] = [t 96], [t 96]),
        call!("add" [t 96] = [t 0], [t 96]),
        // Z₃ = 2·Y·Z.
        call!("add" [t 128] = [at 160 + 32], [at 160 + 32]),
        call!("mul" [at 160 + 64] = [t 128], [at 160 + 64]),
        // X₃ = M² − 2·S.
        call!("mul" [t 0] = [t 96], [t 96]),
        call!("add" [t 128] = [t 64], [t 64]),
        call!("sub" [at 160] = [t 0], [t 128]),
        // Y₃ = M·(S − X₃) − 2·(2·Y²)².
        call!("mul" [t 32] = [t 32], [t 32]),
        call!("add" [t 32] = [t 32], [t 32]),
        call!("sub" [t 64] = [t 64], [at 160]),
        call!("mul" [t 96] = [t 96], [t 64]),
        call!("sub" [at 160 + 32] = [t 96], [t 32]),
        "ldr r0, [sp, #164]",
        "subs r0, #1",
        "str r0, [sp, #164]",
        "bne 22b",
        "add sp, #168",
        "pop {{r4-r11, pc}}",
        mul = sym mul_inner,
        add = sym add_inner,
        sub = sym sub_inner,
    )
}
