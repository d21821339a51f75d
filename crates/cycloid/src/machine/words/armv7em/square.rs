//! Squares: each product of two different words once, by strips; then twice their sum, and the
//! squares of the words.

use core::arch::naked_asm;

use super::{Armv7em, Limb, WORDS, product};

/// Computes `out = a²`.
///
/// A strip starts with the products within a block of four words, a₀a₁ at place 1 to a₂a₃ at place
/// 5; the rows from place 4 on are the words above the block.
///
/// Stack: `words`, `a`, `out`, remaining words.
///
/// # Safety
/// `a` has `words` words, a multiple of four and at least four; `out` has twice as many, of which
/// the lower half is zero; they do not overlap.
#[unsafe(naked)]
unsafe extern "C" fn square_blocks(out: *mut Limb, a: *const Limb, words: usize) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "mov r3, r2",
        "push {{r0, r1, r2, r3}}",
        "22:",
        "ldm r1!, {{r4-r7}}",
        "push {{r0, r1}}",
        "mov r8, #0",
        "mov r9, #0",
        "mov r10, #0",
        "mov r11, #0",
        "ldr r12, [r0, #4]",
        "ldr lr, [r0, #8]",
        "ldr r3, [r0, #12]",
        "umaal r12, r8, r4, r5",
        "umaal lr, r8, r4, r6",
        "umaal r10, r8, r5, r6",
        "umaal r3, r10, r4, r7",
        "umaal r8, r10, r5, r7",
        "umaal r9, r10, r6, r7",
        "str r12, [r0, #4]",
        "str lr, [r0, #8]",
        "str r3, [r0, #12]",
        "ldr r2, [sp, #20]",
        "subs r2, #4",
        "str r2, [sp, #20]",
        "beq 23f",
        "add r0, #16",
        rows!("r2"; "r1" "r0"; "lr" "r12"; ["r4" "r5" "r6" "r7"] ["r8" "r9" "r10" "r11"]),
        "stm r0, {{r8-r11}}",
        "pop {{r0, r1}}",
        "adds r0, #32",
        "b 22b",
        "23:",
        "add r0, #16",
        "stm r0, {{r8-r11}}",
        "add sp, #8",
        // Twice the sum, in the carry flag's chain, and the squares, in r12's.
        "pop {{r0, r1, r2, r3}}",
        "lsr r2, r2, #2",
        "mov lr, #0",
        "adds r12, lr, lr",
        "24:",
        "ldm r1!, {{r4, r5}}",
        "ldm r0, {{r6-r9}}",
        square_two!("r4" "r5"; "r6" "r7" "r8" "r9"),
        "stm r0!, {{r6-r9}}",
        "ldm r1!, {{r4, r5}}",
        "ldm r0, {{r6-r9}}",
        square_two!("r4" "r5"; "r6" "r7" "r8" "r9"),
        "stm r0!, {{r6-r9}}",
        "sub r2, r2, #1",
        "teq r2, #0",
        "bne 24b",
        "pop {{r4-r11, pc}}",
    )
}

/// Computes `product = a²`; see [`Words::square`](super::Words::square).
#[inline(never)]
pub(super) fn square(token: Armv7em, product: &mut [Limb], a: &[Limb]) {
    let n = a.len();
    assert_eq!(product.len(), 2 * n);
    if n == 0 || n % 2 != 0 {
        return product::mul(token, product, a, a);
    }
    product[..n].fill(0);
    // SAFETY: the token proves UMAAL. n limbs are a multiple of four words; `product` has twice as
    // many and is uniquely borrowed.
    unsafe { square_blocks(product.as_mut_ptr(), a.as_ptr(), WORDS * n) };
}
