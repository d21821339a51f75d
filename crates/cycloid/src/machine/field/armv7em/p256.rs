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

/// The number below 2p in `$w` and `$carry`, minus p unless that is negative. Changes `$one`.
macro_rules! subtract_p {
    ([$w0:literal $w1:literal $w2:literal $w3:literal
        $w4:literal $w5:literal $w6:literal $w7:literal] $carry:literal $one:literal) => {
        concat!(
            "subs ",
            $w0,
            ", #0xffffffff\n",
            "sbcs ",
            $w1,
            ", #0xffffffff\n",
            "sbcs ",
            $w2,
            ", #0xffffffff\n",
            "sbcs ",
            $w3,
            ", #0\n",
            "sbcs ",
            $w4,
            ", #0\n",
            "sbcs ",
            $w5,
            ", #0\n",
            "sbcs ",
            $w6,
            ", #1\n",
            "sbcs ",
            $w7,
            ", #0xffffffff\n",
            "sbc ",
            $carry,
            ", #0\n",
            "and ",
            $one,
            ", ",
            $carry,
            ", #1\n",
            "adds ",
            $w0,
            ", ",
            $carry,
            "\n",
            "adcs ",
            $w1,
            ", ",
            $carry,
            "\n",
            "adcs ",
            $w2,
            ", ",
            $carry,
            "\n",
            "adcs ",
            $w3,
            ", #0\n",
            "adcs ",
            $w4,
            ", #0\n",
            "adcs ",
            $w5,
            ", #0\n",
            "adcs ",
            $w6,
            ", ",
            $one,
            "\n",
            "adc ",
            $w7,
            ", ",
            $carry,
            "\n",
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

/// Computes `out = a² / R mod p`, less than p, for `a` less than p.
///
/// Stack: eight words of the square, four more, `out`.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn square_inner(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        "push {{r0, lr}}",
        "sub sp, #48",
        square!(),
        // The words at places 12 to 15 wait on the stack.
        "str r9, [sp, #32]",
        "str r3, [sp, #36]",
        "str r8, [sp, #40]",
        "str lr, [sp, #44]",
        "ldm sp, {{r0, r1, r3-r8}}",
        "mov r9, #0",
        reduce_four!(["r0" "r1" "r3" "r4"]
            ["r5" "r6" "r7" "r8" "r11" "r12" "r10" "r2"] "r9"),
        "ldr r0, [sp, #32]",
        "ldr r1, [sp, #36]",
        "ldr r3, [sp, #40]",
        "ldr r4, [sp, #44]",
        "adds r0, r9",
        "adcs r1, #0",
        "adcs r3, #0",
        "adcs r4, #0",
        "mov r9, #0",
        "adc r9, #0",
        reduce_four!(["r5" "r6" "r7" "r8"]
            ["r11" "r12" "r10" "r2" "r0" "r1" "r3" "r4"] "r9"),
        subtract_p!(["r11" "r12" "r10" "r2" "r0" "r1" "r3" "r4"] "r9" "r5"),
        "ldr r5, [sp, #48]",
        "str r11, [r5]",
        "str r12, [r5, #4]",
        "str r10, [r5, #8]",
        "str r2, [r5, #12]",
        "str r0, [r5, #16]",
        "str r1, [r5, #20]",
        "str r3, [r5, #24]",
        "str r4, [r5, #28]",
        "add sp, #52",
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
    /// Computes the square `out = a² / R mod p`; see [`square_inner`].
    ///
    /// # Safety
    /// As for [`mul`].
    square(out: *mut Limb, a: *const Limb) = square_inner
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
        call_square!([t 0] = [at 160 + 64]),
        call_square!([t 32] = [at 160 + 32]),
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
        call_square!([t 0] = [t 96]),
        call!("add" [t 128] = [t 64], [t 64]),
        call!("sub" [at 160] = [t 0], [t 128]),
        // Y₃ = M·(S − X₃) − 2·(2·Y²)².
        call_square!([t 32] = [t 32]),
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
        square = sym square_inner,
        add = sym add_inner,
        sub = sym sub_inner,
    )
}

/// The sum of two points from H and R, which are among the results, and from U₁, S₁ and the product of
/// both Z. Overwrites four elements.
macro_rules! finish_sum {
    ($u1:tt $s1:tt $z:tt) => {
        concat!(
            call_square!([t 0] = [at 216 + 96]),
            call!("mul" [t 96] = [at 216 + 96], [t 0]),
            // V = U₁·H².
            call!("mul" [t 64] = $u1, [t 0]),
            // X₃ = R² − H³ − 2·V.
            call_square!([t 0] = [at 216 + 128]),
            call!("sub" [t 0] = [t 0], [t 96]),
            call!("add" [t 160] = [t 64], [t 64]),
            call!("sub" [at 216] = [t 0], [t 160]),
            // Y₃ = R·(V − X₃) − S₁·H³.
            call!("sub" [t 0] = [t 64], [at 216]),
            call!("mul" [t 0] = [at 216 + 128], [t 0]),
            call!("mul" [t 96] = $s1, [t 96]),
            call!("sub" [at 216 + 32] = [t 0], [t 96]),
            call!("mul" [at 216 + 64] = $z, [at 216 + 96]),
        )
    };
}

/// Adds two points in Jacobian coordinates; see
/// [`CurveArithmetic::add_jacobian`](crate::machine::field::CurveArithmetic::add_jacobian).
///
/// Stack: six elements, the addresses of X₁, Y₁, Z₁, X₂, Y₂ and Z₂, `out`.
///
/// # Safety
/// `coordinates` are six addresses of four limbs each. `out` has room for twenty, need not be
/// initialised, and overlaps none of them.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn add_jacobian(out: *mut Limb, coordinates: *const *const Limb) {
    naked_asm!(
        "push {{r0, r4-r11, lr}}",
        "ldm r1, {{r1-r6}}",
        "push {{r1-r6}}",
        "sub sp, #192",
        // Z₁², Z₂², U₁, U₂.
        call_square!([t 0] = [at 200]),
        call_square!([t 32] = [at 212]),
        call!("mul" [t 64] = [at 192], [t 32]),
        call!("mul" [t 96] = [at 204], [t 0]),
        // S₁, S₂.
        call!("mul" [t 32] = [at 212], [t 32]),
        call!("mul" [t 32] = [at 196], [t 32]),
        call!("mul" [t 0] = [at 200], [t 0]),
        call!("mul" [t 0] = [at 208], [t 0]),
        call!("mul" [t 128] = [at 200], [at 212]),
        call!("sub" [at 216 + 96] = [t 96], [t 64]),
        call!("sub" [at 216 + 128] = [t 0], [t 32]),
        finish_sum!([t 64] [t 32] [t 128]),
        "add sp, #220",
        "pop {{r4-r11, pc}}",
        mul = sym mul_inner,
        square = sym square_inner,
        add = sym add_inner,
        sub = sym sub_inner,
    )
}

/// Adds a point in Jacobian coordinates and one with Z = 1; see
/// [`CurveArithmetic::add_affine`](crate::machine::field::CurveArithmetic::add_affine).
///
/// # Safety
/// As for [`add_jacobian`], except that the last address is not used.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn add_affine(out: *mut Limb, coordinates: *const *const Limb) {
    naked_asm!(
        "push {{r0, r4-r11, lr}}",
        "ldm r1, {{r1-r6}}",
        "push {{r1-r6}}",
        "sub sp, #192",
        // Z₁², U₂, S₂.
        call_square!([t 0] = [at 200]),
        call!("mul" [t 96] = [at 204], [t 0]),
        call!("mul" [t 0] = [at 200], [t 0]),
        call!("mul" [t 0] = [at 208], [t 0]),
        call!("sub" [at 216 + 96] = [t 96], [at 192]),
        call!("sub" [at 216 + 128] = [t 0], [at 196]),
        finish_sum!([at 192] [at 196] [at 200]),
        "add sp, #220",
        "pop {{r4-r11, pc}}",
        mul = sym mul_inner,
        square = sym square_inner,
        add = sym add_inner,
        sub = sym sub_inner,
    )
}
