//! Products by strips: four words of one factor stay in registers, the other's words are the rows.

use core::arch::naked_asm;

use super::{Armv7em, Limb, WORDS, Words};

/// Computes, for each of the blocks of four words of `a`, from the lowest on,
/// `out[4·block ..] += a[4·block ..][..4] · b`: per block it adds to as many words of `out` as `b`
/// has, and overwrites the four above.
///
/// Stack: `words`, `b`, remaining blocks.
///
/// # Safety
/// `a` has 4·`blocks` words, at least four; `b` has `words`, an even number and at least two; `out`
/// has as many as both together and overlaps neither.
#[unsafe(naked)]
unsafe extern "C" fn strips(
    out: *mut Limb,
    a: *const Limb,
    b: *const Limb,
    words: usize,
    blocks: usize,
) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldr r4, [sp, #36]",
        "push {{r2, r3, r4}}",
        "22:",
        "ldm r1!, {{r4-r7}}",
        "ldrd r3, r2, [sp]",
        "mov r8, #0",
        "mov r9, #0",
        "mov r10, #0",
        "mov r11, #0",
        "tst r2, #2",
        "beq 23f",
        two_rows!("r3" "r0"; "lr" "r12"; ["r4" "r5" "r6" "r7"] ["r8" "r9" "r10" "r11"]),
        "23:",
        rows!("r2"; "r3" "r0"; "lr" "r12"; ["r4" "r5" "r6" "r7"] ["r8" "r9" "r10" "r11"]),
        "stm r0, {{r8-r11}}",
        // The next block is four words up.
        "ldrd r2, r3, [sp, #4]",
        "sub r0, r0, r2, lsl #2",
        "adds r0, #16",
        "subs r3, #1",
        "str r3, [sp, #8]",
        "bne 22b",
        "add sp, #12",
        "pop {{r4-r11, pc}}",
    )
}

/// Computes `product = a · b`; see [`Words::mul`].
#[inline(never)]
pub(super) fn mul(token: Armv7em, product: &mut [Limb], a: &[Limb], b: &[Limb]) {
    assert_eq!(product.len(), a.len() + b.len());
    if a.is_empty() || b.is_empty() {
        return product.fill(0);
    }
    let (pairs, last) = a.split_at(a.len() & !1);
    product[..b.len()].fill(0);
    if !pairs.is_empty() {
        let (out, words) = (product.as_mut_ptr(), WORDS * b.len());
        // SAFETY: the token proves UMAAL. `pairs` has four words for each block, `b` has an even
        // number of words, and `product`, uniquely borrowed, is longer than both together.
        unsafe { strips(out, pairs.as_ptr(), b.as_ptr(), words, pairs.len() / 2) };
    }
    if let [last] = last {
        let place = pairs.len();
        product[place + b.len()] = token.add_mul_limb(&mut product[place..][..b.len()], b, *last);
    }
}
