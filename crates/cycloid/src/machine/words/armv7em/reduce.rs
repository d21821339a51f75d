//! Montgomery reduction by blocks of four quotient words.
//!
//! A block of quotient words makes four words of the number divisible by B⁴; then the modulus'
//! words are the rows, as in a product.

use core::arch::naked_asm;

use super::{Armv7em, Limb, WORDS, Words};

/// Adds, for each block from the lowest on, the multiple of the modulus that makes the block zero;
/// returns the carry, 0 or 1, to the place `words` + 4·`blocks` of `wide`. The blocks' words are
/// not written.
///
/// Stack: carry, `wide`, `modulus`, `words`, −1 / modulus modulo 2³², remaining blocks.
///
/// # Safety
/// The modulus has `words` words, an even number and at least four, and `wide` has as many and
/// 4·`blocks`, at least four; they do not overlap.
#[unsafe(naked)]
unsafe extern "C" fn reduce_blocks(
    wide: *mut Limb,
    modulus: *const Limb,
    words: usize,
    n0: u32,
    blocks: usize,
) -> Limb {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldr r5, [sp, #36]",
        "mov r4, r3",
        "mov r3, r2",
        "mov r2, r1",
        "mov r1, r0",
        "mov r0, #0",
        "push {{r0-r5}}",
        "ldr lr, [sp, #16]",
        "22:",
        "ldm r1, {{r4-r7}}",
        "ldm r2, {{r8-r11}}",
        "mov r12, #0",
        quotient!("r0" "r4" "r12"; "r5" "r6" "r7"),
        quotient!("r1" "r5" "r4"; "r6" "r7" "r12"),
        quotient!("r2" "r6" "r5"; "r7" "r12" "r4"),
        quotient!("r3" "r7" "r6"; "r12" "r4" "r5"),
        // The window, at place 4: r12, r4, r5, r6.
        "ldr r9, [sp, #4]",
        "ldr r10, [sp, #8]",
        "ldr r11, [sp, #12]",
        "add r9, #16",
        "add r10, #16",
        "str r9, [sp, #4]",
        "subs r11, #4",
        "beq 24f",
        "tst r11, #2",
        "beq 23f",
        two_rows!("r10" "r9"; "r8" "r7"; ["r0" "r1" "r2" "r3"] ["r12" "r4" "r5" "r6"]),
        "23:",
        rows!("r11"; "r10" "r9"; "r8" "r7"; ["r0" "r1" "r2" "r3"] ["r12" "r4" "r5" "r6"]),
        "24:",
        "ldm r9, {{r0-r3}}",
        "ldr r7, [sp]",
        "cmp r7, #1", // Carry flag = carry.
        "adcs r0, r0, r12",
        "adcs r1, r1, r4",
        "adcs r2, r2, r5",
        "adcs r3, r3, r6",
        "stm r9, {{r0-r3}}",
        "mov r7, #0",
        "adc r7, r7, #0",
        "str r7, [sp]",
        "ldrd r1, r2, [sp, #4]",
        "ldrd lr, r0, [sp, #16]",
        "subs r0, #1",
        "str r0, [sp, #20]",
        "bne 22b",
        "ldr r0, [sp]",
        "mov r1, #0",
        "add sp, #24",
        "pop {{r4-r11, pc}}",
    )
}

/// Computes `result = a − modulus`, or `a` if that is negative and `carry` is 0.
///
/// # Safety
/// `result`, `a` and `modulus` have `words` words each, an even number and at least two; `result`
/// overlaps no other, unless it is `a`.
#[cfg(not(feature = "small"))]
#[unsafe(naked)]
unsafe extern "C" fn subtract_once(
    result: *mut Limb,
    a: *const Limb,
    modulus: *const Limb,
    words: usize,
    carry: u32,
) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "push {{r1, r2, r3}}",
        // Carry flag = no borrow. Moves, loads and tests of a register keep it.
        "subs r12, r0, r0",
        "tst r3, #2",
        "beq 22f",
        "ldm r1!, {{r4, r5}}",
        "ldm r2!, {{r8, r9}}",
        "sbcs r4, r4, r8",
        "sbcs r5, r5, r9",
        "22:",
        "lsr r3, r3, #2",
        "cbz r3, 24f",
        "23:",
        "ldm r1!, {{r4-r7}}",
        "ldm r2!, {{r8-r11}}",
        "sbcs r4, r4, r8",
        "sbcs r5, r5, r9",
        "sbcs r6, r6, r10",
        "sbcs r7, r7, r11",
        "sub r3, r3, #1",
        "teq r3, #0",
        "bne 23b",
        "24:",
        // The mask of the modulus: all ones if there is no borrow, or a carry.
        "sbc r12, r12, r12",
        "ldr r4, [sp, #48]",
        "add r12, r12, r4",
        "mvn r12, r12",
        "pop {{r1, r2, r3}}",
        "subs r4, r0, r0",
        "tst r3, #2",
        "beq 25f",
        "ldm r1!, {{r4, r5}}",
        "ldm r2!, {{r8, r9}}",
        "and r8, r8, r12",
        "and r9, r9, r12",
        "sbcs r4, r4, r8",
        "sbcs r5, r5, r9",
        "stm r0!, {{r4, r5}}",
        "25:",
        "lsr r3, r3, #2",
        "cbz r3, 27f",
        "26:",
        "ldm r1!, {{r4-r7}}",
        "ldm r2!, {{r8-r11}}",
        "and r8, r8, r12",
        "and r9, r9, r12",
        "and r10, r10, r12",
        "and r11, r11, r12",
        "sbcs r4, r4, r8",
        "sbcs r5, r5, r9",
        "sbcs r6, r6, r10",
        "sbcs r7, r7, r11",
        "stm r0!, {{r4-r7}}",
        "sub r3, r3, #1",
        "teq r3, #0",
        "bne 26b",
        "27:",
        "pop {{r4-r11, pc}}",
    )
}

/// Computes `result = wide / R mod modulus`; see [`Words::montgomery_reduce`].
#[inline(never)]
pub(super) fn montgomery_reduce(
    token: Armv7em,
    result: &mut [Limb],
    wide: &mut [Limb],
    modulus: &[Limb],
    n0: Limb,
) {
    let n = modulus.len();
    assert!(result.len() == n && wide.len() == 2 * n);
    if n == 0 {
        return;
    }
    let mut carry = 0;
    if n > 1 {
        let (wide, m) = (wide.as_mut_ptr(), modulus.as_ptr());
        // SAFETY: the token proves UMAAL. n ≥ 2 limbs are at least four words, and `wide`, uniquely
        // borrowed, has as many more as the blocks.
        carry = unsafe { reduce_blocks(wide, m, WORDS * n, n0 as u32, n / 2) };
    }
    if n % 2 != 0 {
        let place = n - 1;
        let quotient = wide[place].wrapping_mul(n0);
        let out = token.add_mul_limb(&mut wide[place..][..n], modulus, quotient);
        let (sum, over) = wide[place + n].overflowing_add(out);
        let (sum, over_again) = sum.overflowing_add(carry);
        wide[place + n] = sum;
        carry = Limb::from(over) | Limb::from(over_again);
    }
    #[cfg(feature = "small")]
    {
        result.copy_from_slice(&wide[n..]);
        super::masked::reduce_once(carry, result, modulus);
    }
    #[cfg(not(feature = "small"))]
    subtract(result, &wide[n..], modulus, carry);
}

/// Computes `result = a − modulus`, or `a` if that is negative and `carry` is 0. All have the same
/// length, which is not 0.
#[cfg(not(feature = "small"))]
#[inline(always)]
fn subtract(result: &mut [Limb], a: &[Limb], modulus: &[Limb], carry: Limb) {
    let n = modulus.len();
    let (result, upper) = (result.as_mut_ptr(), a.as_ptr());
    // SAFETY: all three have n ≥ 1 limbs, and `result` is uniquely borrowed.
    unsafe { subtract_once(result, upper, modulus.as_ptr(), WORDS * n, carry as u32) };
}
