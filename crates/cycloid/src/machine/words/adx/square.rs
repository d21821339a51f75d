//! Squares: each product of different limbs once, then doubled while the squares of limbs are
//! added.

use super::{Limb, linear};
use core::arch::naked_asm;

/// Adds the products of different limbs of `a`, each once, if one of the two is in a whole block of
/// eight limbs: `out += Σ a_i·a_j·B^(i+j)` over i < j, i < 8·blocks.
///
/// Expects zeros in the lower half of `out` and overwrites the rest, up to place n + 8·blocks. Limb
/// p of a block's sum is in register r(8 + p mod 8) until it retires.
///
/// Stack: `a_end`, entry, the block's `out`, remaining blocks, `skip`.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` to `a_end` has n limbs, at least `blocks`·8 and at least 8;
/// `out` has 2n and does not overlap it. `skip < 8` makes n a multiple of 8.
#[unsafe(naked)]
unsafe extern "sysv64" fn cross_products(
    out: *mut Limb,
    a: *const Limb,
    a_end: *const Limb,
    blocks: usize,
    skip: usize,
) {
    naked_asm!(
        enter!(40),
        "mov [rsp], rdx",
        "mov [rsp + 16], rdi",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        entry!("r8"),
        "22:",
        // The sums of earlier blocks at places 1 to 7 of this one; from 8 on the rows add them.
        triangle!(add),
        "lea rcx, [rsi + 64]",
        "add rdi, 64",
        "cmp rcx, [rsp]",
        "je 23f",
        "mov rdx, [rsp + 32]",
        "lea rax, [8*rdx]",
        "sub rcx, rax",
        "sub rdi, rax",
        rotate_window!("rdx"; "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        row_loop!([0 1 2 3 4 5 6 7] 8 "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "23:",
        store_window!([0 1 2 3 4 5 6 7] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "mov rdi, [rsp + 16]",
        "add rsi, 64",
        "add rdi, 128",
        "mov [rsp + 16], rdi",
        "dec qword ptr [rsp + 24]",
        "jne 22b",
        leave!(40),
        row_table!([0 1 2 3 4 5 6 7]),
    )
}

/// Computes `out = 2·out + Σ a_i²·B^(2i)`, which must fit 2n limbs.
///
/// # Safety
/// The processor has BMI2 and ADX. `a` has n = 8·`blocks` + `rest` limbs, `out` 2n, and they do not
/// overlap.
#[unsafe(naked)]
unsafe extern "sysv64" fn double_and_add_squares(
    out: *mut Limb,
    a: *const Limb,
    blocks: usize,
    rest: usize,
) {
    naked_asm!(
        ".cfi_startproc",
        "mov rax, rcx",
        "mov rcx, rdx",
        // test clears both carries; lea, mov and jrcxz preserve them.
        "test rcx, rcx",
        "jz 23f",
        ".p2align 5",
        "22:",
        double_and_square!(0 1 2 3 4 5 6 7),
        "lea rsi, [rsi + 64]",
        "lea rdi, [rdi + 128]",
        "lea rcx, [rcx - 1]",
        "jrcxz 23f",
        "jmp 22b",
        "23:",
        "mov rcx, rax",
        "24:",
        "jrcxz 25f",
        double_and_square!(0),
        "lea rsi, [rsi + 8]",
        "lea rdi, [rdi + 16]",
        "lea rcx, [rcx - 1]",
        "jmp 24b",
        "25:",
        "ret",
        ".cfi_endproc",
    )
}

/// Computes `product = a²`; `product.len() == 2 · a.len()`.
///
/// # Safety
/// The processor has BMI2 and ADX.
pub(super) unsafe fn square(product: &mut [Limb], a: &[Limb]) {
    let n = a.len();
    assert_eq!(product.len(), 2 * n);
    if n < 8 {
        // SAFETY: the caller guarantees the processor.
        return unsafe { super::product::mul(product, a, a) };
    }
    let (blocks, rest) = (n / 8, n % 8);
    product[..n].fill(0);
    let limbs = a.as_ptr_range();
    // SAFETY: the caller guarantees the processor; n ≥ 8, `product` has 2n limbs and is uniquely
    // borrowed, and n + (8 − rest) % 8 is a multiple of 8.
    unsafe {
        cross_products(product.as_mut_ptr(), limbs.start, limbs.end, blocks, (8 - rest) % 8);
    }
    for i in 8 * blocks..n {
        // SAFETY: the caller guarantees the processor.
        product[i + n] =
            unsafe { linear::add_mul_limb(&mut product[2 * i + 1..i + n], &a[i + 1..], a[i]) };
    }
    // SAFETY: the caller guarantees the processor; the lengths are those asserted above.
    unsafe { double_and_add_squares(product.as_mut_ptr(), limbs.start, blocks, rest) };
}
