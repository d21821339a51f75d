//! 2²⁵⁵ − 19: residues are any numbers below 2²⁵⁶, which is 38 modulo the prime.
//!
//! A result is reduced at its highest word: what that word's part of the sum has above bit 254 is
//! the first carry into the lowest word, times 19, so that one pass over the words adds and
//! reduces.

use core::arch::naked_asm;

use super::Limb;

/// The part of a number above bit 254, from the highest word in `$w7` and the word above it in
/// `$top`, less than 2²⁷: clears it in `$w7`, and puts it, times 19, in `$top`. `$19` is a register
/// for that constant.
macro_rules! fold {
    ($w7:literal $top:literal $nineteen:literal) => {
        concat!(
            "adds ", $w7, ", ", $w7, "\n", "adc ", $top, ", ", $top, "\n", "lsr ", $w7, ", #1\n",
            "mov ", $nineteen, ", #19\n", "mul ", $top, ", ", $top, ", ", $nineteen, "\n",
        )
    };
    // The same, where `$double` is 38.
    ($w7:literal $top:literal; 38 = $double:literal) => {
        concat!(
            "adds ", $w7, ", ", $w7, "\n", "adc ", $top, ", ", $top, "\n", "lsr ", $w7, ", #1\n",
            "mul ", $top, ", ", $top, ", ", $double, "\n", "lsr ", $top, ", #1\n",
        )
    };
}

/// Subtracts 38 from a number if `$borrow` is all ones, and again if that borrows. Changes
/// `$borrow`.
macro_rules! subtract_38 {
    ($borrow:literal; $w0:literal $($w:literal)+) => {
        concat!(
            "and ", $borrow, ", #38\n",
            "subs ", $w0, ", ", $borrow, "\n",
            $("sbcs ", $w, ", #0\n",)+
            "sbc ", $borrow, ", ", $borrow, "\n",
            "and ", $borrow, ", #38\n",
            "sub ", $w0, ", ", $borrow, "\n",
        )
    };
}

/// Computes `out = a · b`, below 2²⁵⁵ + 2²³⁰, for any factors below 2²⁵⁶.
///
/// The product is its lower half plus 38 times the upper half. A word of that sum, with the carry,
/// has a carry of at most 39.
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
        "sub sp, #44",
        lower_rows!(),
        store!("sp" "28"; "r8" "r9" "r10" "r11"),
        "sub r2, #24",
        "ldm r1, {{r8-r11}}",
        load!("sp" "16"; "r0" "r1"),
        upper_rows!(["r3" "r4" "r5" "r6"] ["r0" "r1" "r12" "lr"] "r7";
            ["28" "32" "36" "40"] ["16" "20" "24"]),
        // Words 7 to 15 are in r7, r2 to r5, r0, r1, r12 and lr.
        "mov r6, #38",
        "mov r8, #0",
        "umaal r7, r8, lr, r6",
        fold!("r7" "r8"; 38 = "r6"),
        "ldm sp, {{r9, r10, r11, lr}}",
        "umaal r9, r8, r2, r6",
        "umaal r10, r8, r3, r6",
        "umaal r11, r8, r4, r6",
        "umaal lr, r8, r5, r6",
        load!("sp" "16"; "r2" "r3" "r4"),
        "ldr r5, [sp, #44]",
        "umaal r2, r8, r0, r6",
        "umaal r3, r8, r1, r6",
        "umaal r4, r8, r12, r6",
        "add r7, r8",
        store!("r5" "0"; "r9" "r10" "r11" "lr" "r2" "r3" "r4" "r7"),
        "add sp, #48",
        "pop {{pc}}",
    )
}

/// Reduces a square, whose words are where [`square!`] leaves them, and returns from a function
/// that has saved `out` and lr above them.
macro_rules! finish_square {
    () => {
        concat!(
            "mov r0, #38\n",
            "mov r1, #0\n",
            "ldr r7, [sp, #28]\n",
            "umaal r7, r1, lr, r0\n",
            fold!("r7" "r1"; 38 = "r0"),
            "ldm sp, {{r4, r5, r6, lr}}\n",
            "umaal r4, r1, r11, r0\n",
            "umaal r5, r1, r12, r0\n",
            "umaal r6, r1, r10, r0\n",
            "umaal lr, r1, r2, r0\n",
            load!("sp" "16"; "r10" "r11" "r12"),
            "ldr r2, [sp, #32]\n",
            "umaal r10, r1, r9, r0\n",
            "umaal r11, r1, r3, r0\n",
            "umaal r12, r1, r8, r0\n",
            "add r7, r1\n",
            store!("r2" "0"; "r4" "r5" "r6" "lr" "r10" "r11" "r12" "r7"),
            "add sp, #36\n",
            "pop {{pc}}\n",
        )
    };
}

/// Computes `out = a²`, below 2²⁵⁵ + 2²³⁰, for any `a` below 2²⁵⁶.
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
        "ldm r1!, {{r0, r2-r7}}",
        square!(),
        finish_square!(),
    )
}

/// Like [`square_inner`], of the number eight limbs above `a` where all flags of SEL are set.
///
/// # Safety
/// As for [`square_inner`], of twelve limbs from `a` on.
#[unsafe(naked)]
unsafe extern "C" fn square_selected(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        "push {{r0, lr}}",
        "sub sp, #32",
        "add lr, r1, #64",
        "ldm r1!, {{r0, r2-r4}}",
        "ldm lr!, {{r8-r11}}",
        "sel r0, r8, r0",
        "sel r2, r9, r2",
        "sel r3, r10, r3",
        "sel r4, r11, r4",
        "ldm r1, {{r5-r7, r12}}",
        "ldm lr, {{r8-r11}}",
        "sel r5, r8, r5",
        "sel r6, r9, r6",
        "sel r7, r10, r7",
        "sel r12, r11, r12",
        "str r12, [sp, #28]",
        "add r1, sp, #28",
        square!(),
        finish_square!(),
    )
}

/// Computes `out = a · (less + 1)`, below 2²⁵⁵ + 2²⁵¹, for any `a` below 2²⁵⁶ and `less` below 2²⁵.
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
        "umaal r11, r12, r11, lr",
        fold!("r11" "r12" "r4"),
        "umaal r0, r12, r0, lr",
        "umaal r1, r12, r1, lr",
        "umaal r2, r12, r2, lr",
        "umaal r3, r12, r3, lr",
        "umaal r8, r12, r8, lr",
        "umaal r9, r12, r9, lr",
        "umaal r10, r12, r10, lr",
        "add r11, r12",
        "pop {{r12}}",
        store!("r12" "0"; "r0" "r1" "r2" "r3" "r8" "r9" "r10" "r11"),
        "pop {{pc}}",
    )
}

/// Computes `out = a + b`, below 2²⁵⁵ + 2³, for any numbers below 2²⁵⁶.
///
/// # Safety
/// As for [`mul_inner`].
#[unsafe(naked)]
unsafe extern "C" fn add_inner(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        "ldr r3, [r1, #28]",
        "ldr r4, [r2, #28]",
        "mov r12, #0",
        "adds r3, r4",
        "adc r12, r12",
        fold!("r3" "r12" "r4"),
        "push {{r3}}",
        // Sums of two words and a carry, like products by one.
        "mov r3, #1",
        load!("r1" "0"; "r4" "r5" "r6" "r7"),
        load!("r2" "0"; "r8" "r9" "r10" "r11"),
        "umaal r4, r12, r8, r3",
        "umaal r5, r12, r9, r3",
        "umaal r6, r12, r10, r3",
        "umaal r7, r12, r11, r3",
        load!("r1" "16"; "r8" "r9" "r10"),
        load!("r2" "16"; "r1" "r11" "r2"),
        "umaal r8, r12, r1, r3",
        "umaal r9, r12, r11, r3",
        "umaal r10, r12, r2, r3",
        "pop {{r3}}",
        "add r3, r12",
        store!("r0" "0"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r3"),
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
    naked_asm!(
        sum!("subs" "sbcs"),
        "sbc r12, r12",
        subtract_38!("r12"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"),
        store!("r0" "0"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"),
        "bx lr",
    )
}

/// Computes the sum and the difference of the numbers `a[..4]` and `a[4..]`, one after the other in
/// `out`: like [`add_inner`] and [`sub_inner`].
///
/// # Safety
/// As for [`mul_inner`], with eight limbs each; `out` and `a` do not overlap.
#[unsafe(naked)]
unsafe extern "C" fn both_inner(out: *mut Limb, a: *const Limb) {
    naked_asm!(
        "ldr r2, [r1, #28]",
        "ldr r4, [r1, #60]",
        "mov r3, #0",
        "adds r2, r4",
        "adc r3, r3",
        fold!("r2" "r3" "r4"),
        "str r2, [r0, #28]",
        // Sums of two words and a carry, like products by one.
        "mov r2, #1",
        load!("r1" "0"; "r4" "r5" "r6" "r7"),
        load!("r1" "32"; "r8" "r9" "r10" "r11"),
        "subs r12, r4, r8",
        "umaal r4, r3, r8, r2",
        "sbcs r8, r5, r9",
        "umaal r5, r3, r9, r2",
        "sbcs r9, r6, r10",
        "umaal r6, r3, r10, r2",
        "sbcs r10, r7, r11",
        "umaal r7, r3, r11, r2",
        store!("r0" "0"; "r4" "r5" "r6" "r7"),
        load!("r1" "16"; "r4" "r5"),
        load!("r1" "48"; "r6" "r7"),
        "sbcs r11, r4, r6",
        "umaal r4, r3, r6, r2",
        "sbcs r6, r5, r7",
        "umaal r5, r3, r7, r2",
        store!("r0" "16"; "r4" "r5"),
        "ldr r4, [r1, #24]",
        "ldr r5, [r1, #56]",
        "sbcs r7, r4, r5",
        "umaal r4, r3, r5, r2",
        "str r4, [r0, #24]",
        "ldr r4, [r1, #28]",
        "ldr r5, [r1, #60]",
        "ldr r2, [r0, #28]",
        "sbcs r1, r4, r5",
        "add r2, r3",
        "str r2, [r0, #28]",
        "sbc r2, r2",
        subtract_38!("r2"; "r12" "r8" "r9" "r10" "r11" "r6" "r7" "r1"),
        store!("r0" "32"; "r12" "r8" "r9" "r10" "r11" "r6" "r7" "r1"),
        "bx lr",
    )
}

/// Computes E = AA − BB and AA + `a24`·E, one after the other in `out`, below 2²⁵⁶, for AA =
/// `a[..4]` and BB = `a[4..]`, below 2²⁵⁵ + 2²³⁰, and `a24` below 2²⁵.
///
/// # Safety
/// As for [`mul_inner`], with eight limbs each, except that `a24` is a number; `out` and `a` do not
/// overlap.
#[unsafe(naked)]
unsafe extern "C" fn difference_and_multiple(out: *mut Limb, a: *const Limb, a24: u32) {
    naked_asm!(
        load!("r1" "0"; "r4" "r5" "r6" "r7"),
        load!("r1" "32"; "r8" "r9" "r10" "r11"),
        "subs r4, r8",
        "sbcs r5, r9",
        "sbcs r6, r10",
        "sbcs r7, r11",
        load!("r1" "16"; "r8" "r9" "r10" "r11"),
        load!("r1" "48"; "r3" "r12"),
        "sbcs r8, r3",
        "sbcs r9, r12",
        load!("r1" "56"; "r3" "r12"),
        "sbcs r10, r3",
        "sbcs r11, r12",
        // Less than 2²⁵⁶ − 38 is missing, so that subtracting 38 does not borrow.
        "sbc r3, r3",
        "and r3, #38",
        "subs r4, r3",
        "sbcs r5, #0",
        "sbcs r6, #0",
        "sbcs r7, #0",
        "sbcs r8, #0",
        "sbcs r9, #0",
        "sbcs r10, #0",
        "sbc r11, #0",
        store!("r0" "0"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"),
        "ldr r3, [r1, #28]",
        "mov r12, #0",
        "umaal r3, r12, r11, r2",
        fold!("r3" "r12" "r11"),
        "ldr r11, [r1]",
        "umaal r11, r12, r4, r2",
        "str r11, [r0, #32]",
        load!("r1" "4"; "r4" "r11"),
        "umaal r4, r12, r5, r2",
        "umaal r11, r12, r6, r2",
        store!("r0" "36"; "r4" "r11"),
        load!("r1" "12"; "r4" "r5" "r6" "r11"),
        "umaal r4, r12, r7, r2",
        "umaal r5, r12, r8, r2",
        "umaal r6, r12, r9, r2",
        "umaal r11, r12, r10, r2",
        "add r3, r12",
        store!("r0" "44"; "r4" "r5" "r6" "r11" "r3"),
        "bx lr",
    )
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

/// Computes steps of the Montgomery ladder; the formula of
/// [`CurveArithmetic::ladder_step`](crate::machine::field::CurveArithmetic::ladder_step).
///
/// Stack: six elements, the state, `x1`, the address of the state, `swaps`, the number of steps
/// that are left.
///
/// # Safety
/// `state` is sixteen limbs and `x1` four. `swaps` has a bit for each of `steps` steps, at least
/// one. `a24` is less than 2²⁵.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn ladder(
    state: *mut Limb,
    x1: *const Limb,
    swaps: *const Limb,
    steps: usize,
    a24: u32,
) {
    naked_asm!(
        "push {{r0, r2-r11, lr}}",
        "sub sp, #352",
        "add lr, sp, #192",
        "ldm r0!, {{r4-r11}}\nstm lr!, {{r4-r11}}",
        "ldm r0!, {{r4-r11}}\nstm lr!, {{r4-r11}}",
        "ldm r0!, {{r4-r11}}\nstm lr!, {{r4-r11}}",
        "ldm r0!, {{r4-r11}}\nstm lr!, {{r4-r11}}",
        "ldm r1, {{r4-r11}}\nstm lr, {{r4-r11}}",
        "22:",
        // A, B, C, D.
        call_one!("both" [t 0] = [t 192]),
        call_one!("both" [t 64] = [t 256]),
        // DA, CB.
        call!("mul" [t 128] = [t 96], [t 0]),
        call!("mul" [t 160] = [t 64], [t 32]),
        // Where the points are swapped, C and D are squared. 255 + 255 carries in each byte.
        "ldr r1, [sp, #360]",
        "ldr r0, [sp, #356]",
        "sub r1, #1",
        "lsr r2, r1, #5",
        "str r1, [sp, #360]",
        "ldr r0, [r0, r2, lsl #2]",
        "and r1, #31",
        "lsr r0, r1",
        "sbfx r0, r0, #0, #1",
        "uadd8 r0, r0, r0",
        // AA, BB, E, AA + a24·E.
        call_one!("square_selected" [t 0] = [t 0]),
        call_one!("square_selected" [t 32] = [t 32]),
        "ldr r2, [sp, #400]",
        call_one!("difference_and_multiple" [t 64] = [t 0]),
        // X₂ = AA·BB, Z₂ = E·(AA + a24·E).
        call!("mul" [t 192] = [t 0], [t 32]),
        call!("mul" [t 224] = [t 64], [t 96]),
        // X₃ = (DA + CB)², Z₃ = X₁·(DA − CB)².
        call_one!("both" [t 0] = [t 128]),
        call_one!("square" [t 256] = [t 0]),
        call_one!("square" [t 32] = [t 32]),
        call!("mul" [t 288] = [t 320], [t 32]),
        "ldr r0, [sp, #360]",
        "cmp r0, #0",
        "bne 22b",
        "ldr r0, [sp, #352]",
        "add lr, sp, #192",
        "ldm lr!, {{r4-r11}}\nstm r0!, {{r4-r11}}",
        "ldm lr!, {{r4-r11}}\nstm r0!, {{r4-r11}}",
        "ldm lr!, {{r4-r11}}\nstm r0!, {{r4-r11}}",
        "ldm lr!, {{r4-r11}}\nstm r0!, {{r4-r11}}",
        "add sp, #364",
        "pop {{r4-r11, pc}}",
        mul = sym mul_inner,
        square = sym square_inner,
        square_selected = sym square_selected,
        both = sym both_inner,
        difference_and_multiple = sym difference_and_multiple,
    )
}

/// The negative of the number in `$w`, below 2²⁵⁵, if `$mask` is all ones: 2²⁵⁶ − 38 minus the
/// number. Changes `$small`.
macro_rules! negate_if {
    ($mask:literal $small:literal; $w0:literal $($w:literal)+) => {
        concat!(
            "and ", $small, ", ", $mask, ", #37\n",
            "eor ", $w0, ", ", $mask, "\n",
            $("eor ", $w, ", ", $mask, "\n",)+
            "subs ", $w0, ", ", $small, "\n",
            $("sbcs ", $w, ", #0\n",)+
        )
    };
}

/// Four words from `[r0, #$place]` on and the four eight limbs above them, swapped where all flags
/// of SEL are set. Changes r2 to r12.
macro_rules! swap_words {
    ($place:literal $above:literal) => {
        concat!(
            load!("r0" $place; "r2" "r3" "r4" "r5"),
            load!("r0" $above; "r6" "r7" "r8" "r9"),
            "sel r10, r6, r2\nsel r6, r2, r6\n",
            "sel r11, r7, r3\nsel r7, r3, r7\n",
            "sel r12, r8, r4\nsel r8, r4, r8\n",
            "sel r2, r9, r5\nsel r9, r5, r9\n",
            store!("r0" $place; "r10" "r11" "r12" "r2"),
            store!("r0" $above; "r6" "r7" "r8" "r9"),
        )
    };
}

/// Negates y + x, y − x and 2d·x·y of a point, each below 2²⁵⁵, if `negative` is all ones rather
/// than zero.
///
/// # Safety
/// `addend` is twelve limbs.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn negate_edwards(addend: *mut Limb, negative: u32) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        // 255 + 255 carries in each byte.
        "uadd8 r2, r1, r1",
        swap_words!("0" "32"),
        swap_words!("16" "48"),
        load!("r0" "64"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"),
        negate_if!("r1" "r2"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"),
        store!("r0" "64"; "r4" "r5" "r6" "r7" "r8" "r9" "r10" "r11"),
        "pop {{r4-r11, pc}}",
    )
}

/// Adds points of edwards25519; the formula of
/// [`CurveArithmetic::add_edwards`](crate::machine::field::CurveArithmetic::add_edwards).
///
/// Stack: six elements, `out`, `point`, `addend`.
///
/// # Safety
/// `out` has room for sixteen limbs, and may be `point`, which is sixteen limbs; `addend` is
/// twelve.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn add_edwards(
    out: *mut Limb,
    point: *const Limb,
    addend: *const Limb,
) {
    naked_asm!(
        "push {{r0-r2, r4-r11, lr}}",
        "sub sp, #192",
        // B = (Y + X)·sum, −A = (X − Y)·difference; D = 2·Z, C = T·product.
        call_one!("both" [t 0] = [at 196]),
        call!("mul" [t 0] = [t 0], [at 200]),
        call!("mul" [t 32] = [t 32], [at 200 + 32]),
        call!("add" [t 64] = [at 196 + 64], [at 196 + 64]),
        call!("mul" [t 96] = [at 196 + 96], [at 200 + 64]),
        // E and H, G and F.
        call_one!("both" [t 128] = [t 0]),
        call_one!("both" [t 0] = [t 64]),
        call!("mul" [at 192] = [t 128], [t 32]),
        call!("mul" [at 192 + 32] = [t 0], [t 160]),
        call!("mul" [at 192 + 64] = [t 32], [t 0]),
        call!("mul" [at 192 + 96] = [t 128], [t 160]),
        "add sp, #204",
        "pop {{r4-r11, pc}}",
        mul = sym mul_inner,
        add = sym add_inner,
        both = sym both_inner,
    )
}
