//! P-256 in Montgomery form, R = 2²⁵⁶.
//!
//! −1/p is 1 modulo 2⁹⁶, so four quotient words Q are the lowest words, except that the fourth gets
//! the first added: p + 1 = 2⁹⁶ + 2¹⁹² − 2²²⁴ + 2²⁵⁶, and adding Q·p clears those words and adds Q
//! from places 3, 6 and 8 on and subtracts it from place 7 on.

use core::arch::naked_asm;

use super::Limb;

/// The first half of a reduction by four words: `$q0` to `$q3` are these words and then Q, and
/// `$w2` to `$w6` are the words at places 2 to 6 of the eight above them. [`reduce_lower!`] is the
/// second.
///
/// Q·2⁹⁶ + Q·2¹⁹² is one chain of carries in the flag, except for the lowest word of the latter.
/// Q·(2²⁵⁶ − 2²²⁴) is a chain of products by 2³² − 1, which leaves the flag alone. This half is the
/// second chain, and the start of the first. `$k` gets the carry into the highest word. Changes
/// `$ones`. `$load` is an instruction after the last use of `$q0`.
macro_rules! reduce_upper {
    ([$q0:literal $q1:literal $q2:literal $q3:literal]
        [$w2:literal $w3:literal $w4:literal $w5:literal $w6:literal] $k:literal $ones:literal
        $($load:literal)?) => {
        concat!(
            "adds ", $w2, ", ", $q0, "\n",
            "mov ", $ones, ", #-1\n",
            "mov ", $k, ", #0\n",
            "adc ", $k, ", ", $k, "\n",
            "adds ", $q3, ", ", $q0, "\n",
            "umaal ", $w3, ", ", $k, ", ", $q0, ", ", $ones, "\n",
            $($load, "\n",)?
            "umaal ", $w4, ", ", $k, ", ", $q1, ", ", $ones, "\n",
            "umaal ", $w5, ", ", $k, ", ", $q2, ", ", $ones, "\n",
            "umaal ", $w6, ", ", $k, ", ", $q3, ", ", $ones, "\n",
        )
    };
}

/// The second half of a reduction, after [`reduce_upper!`]: `$w0` to `$w7` are all eight words. The
/// flag is the carry from the highest word.
macro_rules! reduce_lower {
    ([$q1:literal $q2:literal $q3:literal]
        [$w0:literal $w1:literal $w2:literal $w3:literal
         $w4:literal $w5:literal $w6:literal $w7:literal] $k:literal) => {
        concat!(
            "adcs ", $w0, ", ", $q1, "\n", "adcs ", $w1, ", ", $q2, "\n", "adcs ", $w2, ", ", $q3,
            "\n", "adcs ", $w3, ", ", $q1, "\n", "adcs ", $w4, ", ", $q2, "\n", "adcs ", $w5, ", ",
            $q3, "\n", "adcs ", $w6, ", #0\n", "adcs ", $w7, ", ", $k, "\n",
        )
    };
}

/// The number below 2p in `$w` and `$carry`, minus p unless that is negative. Changes `$one`.
macro_rules! subtract_p {
    ([$w0:literal $w1:literal $w2:literal $w3:literal
        $w4:literal $w5:literal $w6:literal $w7:literal] $carry:literal $one:literal) => {
        concat!(
            "subs ", $w0, ", #0xffffffff\n",
            "sbcs ", $w1, ", #0xffffffff\n",
            "sbcs ", $w2, ", #0xffffffff\n",
            "sbcs ", $w3, ", #0\n",
            "sbcs ", $w4, ", #0\n",
            "sbcs ", $w5, ", #0\n",
            "sbcs ", $w6, ", #1\n",
            "sbcs ", $w7, ", #0xffffffff\n",
            "sbc ", $carry, ", #0\n",
            add_p!([$w0 $w1 $w2 $w3 $w4 $w5 $w6 $w7] $carry $one),
        )
    };
}

/// The number in `$w`, plus p if `$mask` is all ones. Changes `$one`.
macro_rules! add_p {
    ([$w0:literal $w1:literal $w2:literal $w3:literal
        $w4:literal $w5:literal $w6:literal $w7:literal] $mask:literal $one:literal) => {
        concat!(
            "and ", $one, ", ", $mask, ", #1\n", "adds ", $w0, ", ", $mask, "\n", "adcs ", $w1,
            ", ", $mask, "\n", "adcs ", $w2, ", ", $mask, "\n", "adcs ", $w3, ", #0\n", "adcs ",
            $w4, ", #0\n", "adcs ", $w5, ", #0\n", "adcs ", $w6, ", ", $one, "\n", "adc ", $w7,
            ", ", $mask, "\n",
        )
    };
}

/// Computes `out = a · b / R mod p`, less than p.
///
/// One of the factors is any number below R, the other is less than p. The sum before the last
/// subtraction is less than (R·p + R·p) / R = 2p.
///
/// Stack: eleven words of the product, `out`.
///
/// # Safety
/// `a` and `b` are four limbs each, and `out` has room for four; it may be where `a` or `b` are,
/// and need not be initialised. Changes all registers but sp: only for calls from assembly.
#[unsafe(naked)]
unsafe extern "C" fn mul_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        "push {{r0, lr}}",
        "sub sp, #32",
        lower_rows!(),
        "ldm sp, {{r4-r7}}",
        reduce_upper!(["r4" "r5" "r6" "r7"] ["r12" "lr" "r8" "r9" "r10"] "r0" "r3"),
        load!("sp" "16"; "r3" "r4"),
        reduce_lower!(["r5" "r6" "r7"] ["r3" "r4" "r12" "lr" "r8" "r9" "r10" "r11"] "r0"),
        "mov r0, #0",
        "adc r0, r0",
        // The words at places 8 to 12 wait on the stack.
        store!("sp" "0"; "r8" "r9" "r10" "r11" "r0"),
        "sub r2, #24",
        "ldm r1, {{r8-r11}}",
        upper_rows!(["r0" "r1" "r5" "r6"] ["r3" "r4" "r12" "lr"] "r7";
            ["0" "4" "8" "12"] ["20" "24" "28"]),
        // Places 4 to 6 are from [sp, #20] on, 7 to 15 are in r7, r2, r0, r1, r5, r3, r4, r12 and
        // lr.
        load!("sp" "16"; "r11" "r8" "r9"),
        "adds r3, r11",
        "adcs r4, #0",
        "adcs r12, #0",
        "adcs lr, #0",
        "mov r6, #0",
        "adc r6, r6",
        // Place 6 takes the register of place 4 after its last use.
        reduce_upper!(["r8" "r9" "r8" "r7"] ["r1" "r5" "r3" "r4" "r12"] "r11" "r10"
            "ldr r8, [sp, #28]"),
        reduce_lower!(["r9" "r8" "r7"] ["r2" "r0" "r1" "r5" "r3" "r4" "r12" "lr"] "r11"),
        "adc r6, #0",
        "ldr r7, [sp, #32]",
        subtract_p!(["r2" "r0" "r1" "r5" "r3" "r4" "r12" "lr"] "r6" "r8"),
        store!("r7" "0"; "r2" "r0" "r1" "r5" "r3" "r4" "r12" "lr"),
        "add sp, #36",
        "pop {{pc}}",
    )
}

/// Computes `out = a² / R mod p`, less than p, for `a` less than p.
///
/// a² plus a multiple of p below 2¹²⁸·p is less than 2⁵¹².
///
/// Stack: eight words of the square, two more, `out`.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn square_inner(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        "push {{r0, lr}}",
        "sub sp, #40",
        "ldm r1!, {{r0, r2-r7}}",
        square!(),
        // The words at places 14 and 15 wait on the stack.
        store!("sp" "32"; "r8" "lr"),
        "ldm sp, {{r4-r7}}",
        load!("sp" "24"; "r8" "lr"),
        reduce_upper!(["r4" "r5" "r6" "r7"] ["r8" "lr" "r11" "r12" "r10"] "r0" "r1"),
        load!("sp" "16"; "r1" "r4"),
        reduce_lower!(["r5" "r6" "r7"] ["r1" "r4" "r8" "lr" "r11" "r12" "r10" "r2"] "r0"),
        load!("sp" "32"; "r5" "r6"),
        "adcs r9, #0",
        "adcs r3, #0",
        "adcs r5, #0",
        "adc r6, #0",
        reduce_upper!(["r1" "r4" "r8" "lr"] ["r10" "r2" "r9" "r3" "r5"] "r0" "r7"),
        reduce_lower!(["r4" "r8" "lr"] ["r11" "r12" "r10" "r2" "r9" "r3" "r5" "r6"] "r0"),
        "mov r1, #0",
        "adc r1, r1",
        "ldr r4, [sp, #40]",
        subtract_p!(["r11" "r12" "r10" "r2" "r9" "r3" "r5" "r6"] "r1" "r0"),
        store!("r4" "0"; "r11" "r12" "r10" "r2" "r9" "r3" "r5" "r6"),
        "add sp, #44",
        "pop {{pc}}",
    )
}

/// Computes `out = a + b mod p` for numbers less than p.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn add_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        sum!("adds" "adcs"),
        "mov r12, #0",
        "adc r12, r12",
        subtract_p!(["r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"] "r12" "r1"),
        store!("r0" "0"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"),
        "bx lr",
    )
}

/// Computes `out = a − b mod p` for numbers less than p.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn sub_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        sum!("subs" "sbcs"),
        "sbc r12, r12",
        add_p!(["r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"] "r12" "r1"),
        store!("r0" "0"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"),
        "bx lr",
    )
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
