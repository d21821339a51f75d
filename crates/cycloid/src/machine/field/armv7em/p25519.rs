//! 2²⁵⁵ − 19: residues are any numbers below 2²⁵⁶, which is 38 modulo the prime.

use core::arch::naked_asm;

use super::Limb;

/// The number in r0 to r3 and r8 to r11, and its ninth word in r12, less than 2²⁶, reduced to below
/// 2²⁵⁵ + 2³²: the part above bit 254 is added at the bottom, times 19. Changes lr.
macro_rules! fold_word {
    () => {
        concat!(
            "lsl r12, #1\n", "orr r12, r12, r11, lsr #31\n", "bic r11, #0x80000000\n",
            "mov lr, #19\n", "mul r12, r12, lr\n",
            "adds r0, r12\n", "adcs r1, #0\n", "adcs r2, #0\n", "adcs r3, #0\n",
            "adcs r8, #0\n", "adcs r9, #0\n", "adcs r10, #0\n", "adc r11, #0\n",
        )
    };
}

/// Adds or subtracts 38 if there was a carry or a borrow, twice, where `$mask` makes r12 all ones if
/// so, and stores the number in r8 to r11 and r4
/// to r7 at r0. Changes r12.
macro_rules! correct {
    ($mask:literal $first:literal $next:literal $last:literal) => {
        concat!(
            $mask, "and r12, #38\n",
            $first, " r8, r12\n", $next, " r9, #0\n", $next, " r10, #0\n", $next, " r11, #0\n",
            $next, " r4, #0\n", $next, " r5, #0\n", $next, " r6, #0\n", $next, " r7, #0\n",
            $mask, "and r12, #38\n",
            $last, " r8, r12\n",
            "stm r0!, {{r8-r11}}\n", "stm r0, {{r4-r7}}\n",
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
/// and need not be initialised.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        "push {{r0-r2, r4-r11, lr}}",
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
        fold_word!(),
        "ldr lr, [sp, #48]",
        "stm lr!, {{r0-r3}}",
        "stm lr, {{r8-r11}}",
        "add sp, #60",
        "pop {{r4-r11, pc}}",
    )
}

/// Computes `out = a · (less + 1)`, below 2²⁵⁵ + 2³², for any `a` below 2²⁵⁶ and `less` below 2²⁵.
///
/// # Safety
/// As for [`mul`], except that `less` is a number.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mul_small(out: *mut Limb, a: *const Limb, less: u32) {
    naked_asm!(
        "push {{r0, r4-r11, lr}}",
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
        fold_word!(),
        "pop {{r12}}",
        "stm r12!, {{r0-r3}}",
        "stm r12, {{r8-r11}}",
        "pop {{r4-r11, pc}}",
    )
}

/// Computes `out = a + b`, below 2²⁵⁶, for any numbers below 2²⁵⁶.
///
/// A carry is 38. If adding that carries again, the rest is less than 38, and another 38 fit in the
/// lowest word.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn add(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        sum!("adds" "adcs"),
        correct!("mov r12, #0\nadc r12, #0\nrsb r12, #0\n" "adds" "adcs" "add"),
        "pop {{r4-r11, pc}}",
    )
}

/// Computes `out = a − b`, below 2²⁵⁶, for any numbers below 2²⁵⁶.
///
/// A borrow is 38. If subtracting that borrows again, the rest is more than 2²⁵⁶ − 38, and another
/// 38 can be subtracted from the lowest word.
///
/// # Safety
/// As for [`mul`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sub(out: *mut Limb, a: *const Limb, b: *const Limb) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        sum!("subs" "sbcs"),
        correct!("sbc r12, r12\n" "subs" "sbcs" "sub"),
        "pop {{r4-r11, pc}}",
    )
}
