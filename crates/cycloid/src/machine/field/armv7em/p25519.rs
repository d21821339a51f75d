//! 2²⁵⁵ − 19: residues are any numbers below 2²⁵⁶, which is 38 modulo the prime.

use core::arch::naked_asm;

use super::Limb;

/// The number in `$w`, and its ninth word in `$top`, less than 2²⁶, reduced to below 2²⁵⁵ + 2³²: the
/// part above bit 254 is added at the bottom, times 19. Changes lr.
macro_rules! fold_word {
    ([$w0:literal $($w:literal)+] $w7:literal $top:literal) => {
        concat!(
            "lsl ", $top, ", #1\n",
            "orr ", $top, ", ", $top, ", ", $w7, ", lsr #31\n",
            "bic ", $w7, ", #0x80000000\n",
            "mov lr, #19\n",
            "mul ", $top, ", ", $top, ", lr\n",
            "adds ", $w0, ", ", $top, "\n",
            $("adcs ", $w, ", #0\n",)+
            "adc ", $w7, ", #0\n",
        )
    };
}

/// Adds or subtracts 38 if there was a carry or a borrow, twice, where `$mask` makes r12 all ones if
/// so, and stores the number in r8 to r11 and r4
/// to r7 at r0. Changes r12.
macro_rules! correct {
    ($mask:literal $first:literal $next:literal $last:literal) => {
        concat!(
            $mask,
            "and r12, #38\n",
            $first,
            " r8, r12\n",
            $next,
            " r9, #0\n",
            $next,
            " r10, #0\n",
            $next,
            " r11, #0\n",
            $next,
            " r4, #0\n",
            $next,
            " r5, #0\n",
            $next,
            " r6, #0\n",
            $next,
            " r7, #0\n",
            $mask,
            "and r12, #38\n",
            $last,
            " r8, r12\n",
            "stm r0!, {{r8-r11}}\n",
            "stm r0, {{r4-r7}}\n",
        )
    };
}

/// Computes `out = a · b`, below 2²⁵⁵ + 2³², for any factors below 2²⁵⁶.
///
/// The lower half of the product plus 38 times the upper half is less than 39·2²⁵⁶, so its ninth
/// word is at most 38.
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
        "sub sp, #48",
        lower_rows!(),
        "add r0, sp, #16",
        "add r1, sp, #32",
        "ldm r0, {{r4-r7}}",
        "stm r1, {{r8-r11}}",
        upper_rows!("52" "56"; ["32" "36" "40" "44"]
            ["16" "20" "24" "28" "32" "36" "40" "44"]),
        // Words 12 to 15 are in r4 to r7.
        "ldm sp, {{r0-r3}}",
        "add lr, sp, #32",
        "ldm lr, {{r8-r11}}",
        "mov lr, #38",
        "mov r12, #0",
        "umaal r0, r12, r8, lr",
        "umaal r1, r12, r9, lr",
        "umaal r2, r12, r10, lr",
        "umaal r3, r12, r11, lr",
        "ldr r8, [sp, #16]",
        "ldr r9, [sp, #20]",
        "ldr r10, [sp, #24]",
        "ldr r11, [sp, #28]",
        "umaal r8, r12, r4, lr",
        "umaal r9, r12, r5, lr",
        "umaal r10, r12, r6, lr",
        "umaal r11, r12, r7, lr",
        fold_word!(["r0" "r1" "r2" "r3" "r8" "r9" "r10"] "r11" "r12"),
        "ldr lr, [sp, #48]",
        "stm lr!, {{r0-r3}}",
        "stm lr, {{r8-r11}}",
        "add sp, #60",
        "pop {{pc}}",
    )
}

/// Computes `out = a²`, below 2²⁵⁵ + 2³², for any `a` below 2²⁵⁶.
///
/// Stack: eight words of the square, `out`.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn square_inner(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        "push {{r0, lr}}",
        "sub sp, #32",
        square!(),
        "ldm sp, {{r4-r7}}",
        "mov r0, #38",
        "mov r1, #0",
        "umaal r4, r1, r11, r0",
        "umaal r5, r1, r12, r0",
        "umaal r6, r1, r10, r0",
        "umaal r7, r1, r2, r0",
        "add r2, sp, #16",
        "ldm r2, {{r2, r10, r11, r12}}",
        "umaal r2, r1, r9, r0",
        "umaal r10, r1, r3, r0",
        "umaal r11, r1, r8, r0",
        "umaal r12, r1, lr, r0",
        fold_word!(["r4" "r5" "r6" "r7" "r2" "r10" "r11"] "r12" "r1"),
        "ldr r0, [sp, #32]",
        "stm r0!, {{r4-r7}}",
        "stm r0, {{r2, r10, r11, r12}}",
        "add sp, #36",
        "pop {{pc}}",
    )
}

/// Computes `out = a · (less + 1)`, below 2²⁵⁵ + 2³², for any `a` below 2²⁵⁶ and `less` below 2²⁵.
///
/// # Safety
/// As for [`mul_inner`], except that `less` is a number.
#[unsafe(naked)]
unsafe extern "C" fn mul_small_inner(out: *mut Limb, a: *const Limb, less: u32) {
    naked_asm!(
        "push {{r0, lr}}",
        "mov lr, r2",
        "add r12, r1, #16",
        "ldm r1, {{r0-r3}}",
        "ldm r12, {{r8-r11}}",
        "mov r12, #0",
        // The word plus itself times one less.
        "umaal r0, r12, r0, lr",
        "umaal r1, r12, r1, lr",
        "umaal r2, r12, r2, lr",
        "umaal r3, r12, r3, lr",
        "umaal r8, r12, r8, lr",
        "umaal r9, r12, r9, lr",
        "umaal r10, r12, r10, lr",
        "umaal r11, r12, r11, lr",
        fold_word!(["r0" "r1" "r2" "r3" "r8" "r9" "r10"] "r11" "r12"),
        "pop {{r12}}",
        "stm r12!, {{r0-r3}}",
        "stm r12, {{r8-r11}}",
        "pop {{pc}}",
    )
}

/// Computes `out = a + b`, below 2²⁵⁶, for any numbers below 2²⁵⁶.
///
/// A carry is 38. If adding that carries again, the rest is less than 38, and another 38 fit in the
/// lowest word.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn add_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        sum!("adds" "adcs"),
        correct!("mov r12, #0\nadc r12, #0\nrsb r12, #0\n" "adds" "adcs" "add"),
        "bx lr",
    )
}

/// Computes `out = a − b`, below 2²⁵⁶, for any numbers below 2²⁵⁶.
///
/// A borrow is 38. If subtracting that borrows again, the rest is more than 2²⁵⁶ − 38, and another
/// 38 can be subtracted from the lowest word.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn sub_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(sum!("subs" "sbcs"), correct!("sbc r12, r12\n" "subs" "sbcs" "sub"), "bx lr",)
}

around! {
    /// Computes `out = a · b`; see [`mul_inner`].
    ///
    /// # Safety
    /// As for [`mul_inner`], except that it keeps the registers of the usual interface.
    mul(out: *mut Limb, a: *const Limb, b: *const Limb) = mul_inner
}

around! {
    /// Computes the square `out = a²`; see [`square_inner`].
    ///
    /// # Safety
    /// As for [`mul`].
    square(out: *mut Limb, a: *const Limb) = square_inner
}

around! {
    /// Computes `out = a · (less + 1)`; see [`mul_small_inner`].
    ///
    /// # Safety
    /// As for [`mul`], except that `less` is a number.
    mul_small(out: *mut Limb, a: *const Limb, less: u32) = mul_small_inner
}

around! {
    /// Computes `out = a + b`; see [`add_inner`].
    ///
    /// # Safety
    /// As for [`mul`].
    add(out: *mut Limb, a: *const Limb, b: *const Limb) = add_inner
}

around! {
    /// Computes `out = a − b`; see [`sub_inner`].
    ///
    /// # Safety
    /// As for [`mul`].
    sub(out: *mut Limb, a: *const Limb, b: *const Limb) = sub_inner
}

/// `[sp, #$to]` = `[sp, #$from]` where all flags of SEL are set: eight words.
macro_rules! move_if {
    ($to:literal $from:literal) => {
        concat!("add r0, sp, #", $to, "\n", "add r1, sp, #", $from, "\n", move_if!(), move_if!(),)
    };
    () => {
        "ldm r0, {{r4-r7}}\nldm r1!, {{r8-r11}}\n\
         sel r4, r8, r4\nsel r5, r9, r5\nsel r6, r10, r6\nsel r7, r11, r7\n\
         stm r0!, {{r4-r7}}\n"
    };
}

/// Computes a step of the Montgomery ladder; the formula of
/// [`CurveArithmetic::ladder_step`](crate::machine::field::CurveArithmetic::ladder_step).
///
/// Stack: six elements, `state`, `x1`, `swap`, `a24_less`.
///
/// # Safety
/// `state` is sixteen limbs and `x1` four; `swap` is all ones or zero, and `a24_less` is a24 − 1.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn ladder_step(
    state: *mut Limb,
    x1: *const Limb,
    swap: u32,
    a24_less: u32,
) {
    naked_asm!(
        "push {{r0-r11, lr}}",
        "sub sp, #192",
        // A, B, C, D.
        call!("add" [t 0] = [at 192], [at 192 + 32]),
        call!("sub" [t 32] = [at 192], [at 192 + 32]),
        call!("add" [t 64] = [at 192 + 64], [at 192 + 96]),
        call!("sub" [t 96] = [at 192 + 64], [at 192 + 96]),
        // DA, CB.
        call!("mul" [t 128] = [t 96], [t 0]),
        call!("mul" [t 160] = [t 64], [t 32]),
        // Where the points are swapped, C and D are squared. 255 + 255 carries in each byte.
        "ldr r0, [sp, #200]",
        "uadd8 r0, r0, r0",
        move_if!("0" "64"),
        move_if!("32" "96"),
        // AA, BB, E.
        call_square!([t 0] = [t 0]),
        call_square!([t 32] = [t 32]),
        call!("sub" [t 64] = [t 0], [t 32]),
        // X₂ = AA·BB, Z₂ = E·(AA + a24·E).
        call!("mul" [at 192] = [t 0], [t 32]),
        operand!("r0" [t 96]),
        operand!("r1" [t 64]),
        "ldr r2, [sp, #204]",
        "bl {mul_small}",
        call!("add" [t 96] = [t 0], [t 96]),
        call!("mul" [at 192 + 32] = [t 64], [t 96]),
        // X₃ = (DA + CB)², Z₃ = X₁·(DA − CB)².
        call!("add" [t 0] = [t 128], [t 160]),
        call_square!([at 192 + 64] = [t 0]),
        call!("sub" [t 32] = [t 128], [t 160]),
        call_square!([t 32] = [t 32]),
        call!("mul" [at 192 + 96] = [at 196], [t 32]),
        "add sp, #208",
        "pop {{r4-r11, pc}}",
        mul = sym mul_inner,
        square = sym square_inner,
        mul_small = sym mul_small_inner,
        add = sym add_inner,
        sub = sym sub_inner,
    )
}

/// Adds points of edwards25519; the formula of
/// [`CurveArithmetic::add_edwards`](crate::machine::field::CurveArithmetic::add_edwards).
///
/// Stack: six elements, `out`, `point`, `addend`.
///
/// # Safety
/// `out` has room for sixteen limbs, and may be `point`, which is sixteen limbs; `addend` is twelve.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn add_edwards(
    out: *mut Limb,
    point: *const Limb,
    addend: *const Limb,
) {
    naked_asm!(
        "push {{r0-r2, r4-r11, lr}}",
        "sub sp, #192",
        // A = (Y − X)·difference, B = (Y + X)·sum, C = T·product, D = 2·Z.
        call!("sub" [t 0] = [at 196 + 32], [at 196]),
        call!("mul" [t 0] = [t 0], [at 200 + 32]),
        call!("add" [t 32] = [at 196 + 32], [at 196]),
        call!("mul" [t 32] = [t 32], [at 200]),
        call!("mul" [t 64] = [at 196 + 96], [at 200 + 64]),
        call!("add" [t 96] = [at 196 + 64], [at 196 + 64]),
        // E, F, G, H.
        call!("sub" [t 128] = [t 32], [t 0]),
        call!("sub" [t 160] = [t 96], [t 64]),
        call!("add" [t 96] = [t 96], [t 64]),
        call!("add" [t 32] = [t 32], [t 0]),
        call!("mul" [at 192] = [t 128], [t 160]),
        call!("mul" [at 192 + 32] = [t 96], [t 32]),
        call!("mul" [at 192 + 64] = [t 160], [t 96]),
        call!("mul" [at 192 + 96] = [t 128], [t 32]),
        "add sp, #204",
        "pop {{r4-r11, pc}}",
        mul = sym mul_inner,
        add = sym add_inner,
        sub = sym sub_inner,
    )
}
