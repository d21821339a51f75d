//! Montgomery reduction by blocks of w quotient limbs.
//!
//! A block of quotient limbs q makes w limbs of the number divisible by B^w: w rows of the modulus'
//! lowest limbs, each of which yields the next limb of q. The limbs that they retire are zero, and
//! q is stored in their place; then the modulus' other limbs are the rows over q.

use super::Limb;
use core::arch::naked_asm;

/// The arguments of a reduction kernel.
#[repr(C)]
struct Reduction {
    /// The first block's limbs, to be made divisible.
    wide: *mut Limb,
    /// The modulus, n limbs.
    modulus: *const Limb,
    modulus_end: *const Limb,
    /// −1 / modulus mod B.
    n0: Limb,
    /// Number of blocks, at least one.
    blocks: usize,
    /// The number less than w that makes n a multiple of w.
    skip: usize,
    /// The carry of the preceding blocks to place n of this one, 0 or 1.
    carry: Limb,
}

/// Defines a reduction kernel for blocks of w quotient limbs, which returns the carry to place n of
/// the following block.
///
/// Stack: `modulus_end`, entry, n0, remaining blocks, carry, the address in the modulus for the
/// first row, the modulus, `skip`.
macro_rules! reduction {
    ($name:ident [$($j:literal)+] $w:literal $($window:literal)+) => {
        /// A reduction kernel; see [`reduction`].
        ///
        /// # Safety
        /// The processor has BMI2 and ADX. The modulus has n ≥ w limbs, `wide` w·(blocks − 1) more
        /// than the modulus and a block, and they do not overlap; the rest is as [`Reduction`]
        /// says.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(reduction: *const Reduction) -> Limb {
            naked_asm!(
                enter!(64),
                "mov rsi, [rdi + 8]",
                "mov rax, [rdi + 16]",
                "mov rcx, [rdi + 24]",
                "mov rdx, [rdi + 32]",
                "mov r8, [rdi + 40]",
                "mov r9, [rdi + 48]",
                "mov rdi, [rdi]",
                "mov [rsp], rax",
                "mov [rsp + 16], rcx",
                "mov [rsp + 24], rdx",
                "mov [rsp + 32], r9",
                "mov [rsp + 48], rsi",
                "mov [rsp + 56], r8",
                "lea rax, [8*r8]",
                concat!("lea rbx, [rsi + 8*", $w, "]"),
                "sub rbx, rax",
                "mov [rsp + 40], rbx",
                entry!("r8"),
                "22:",
                load_window!([$($j)+] $($window)+),
                quotient_rows!("rbp" store; [$($j)+] [$($j)+] $($window)+),
                // The rows over q = [rsi].
                concat!("lea rcx, [rsi + 8*", $w, "]"),
                "mov rsi, rdi",
                concat!("add rdi, 8*", $w),
                "cmp rcx, [rsp]",
                "je 23f",
                "mov rcx, [rsp + 40]",
                "mov rdx, [rsp + 56]",
                "lea rax, [8*rdx]",
                "sub rdi, rax",
                rotate_window!("rdx"; $($window)+),
                row_loop!([$($j)+] $w $($window)+),
                "23:",
                // Carry flag = carry.
                "xor eax, eax",
                "cmp rax, [rsp + 32]",
                add_window!([$($j)+] $($window)+),
                "setc al",
                "mov [rsp + 32], rax",
                concat!("lea rdi, [rsi + 8*", $w, "]"),
                "mov rsi, [rsp + 48]",
                "mov rcx, [rsp + 16]",
                "dec qword ptr [rsp + 24]",
                "jne 22b",
                leave!(64),
                row_table!([$($j)+]),
            )
        }
    };
}

reduction!(reduction_1 [0] 1 "r8");
reduction!(reduction_2 [0 1] 2 "r8" "r9");
reduction!(reduction_3 [0 1 2] 3 "r8" "r9" "r10");
reduction!(reduction_4 [0 1 2 3] 4 "r8" "r9" "r10" "r11");
reduction!(reduction_5 [0 1 2 3 4] 5 "r8" "r9" "r10" "r11" "r12");
reduction!(reduction_6 [0 1 2 3 4 5] 6 "r8" "r9" "r10" "r11" "r12" "r13");
reduction!(reduction_7 [0 1 2 3 4 5 6] 7 "r8" "r9" "r10" "r11" "r12" "r13" "r14");
reduction!(reduction_8 [0 1 2 3 4 5 6 7] 8 "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15");

/// Computes `result = a − modulus`, or `a` if that is negative and `carry` is 0.
///
/// # Safety
/// `result`, `a` and `modulus` have 8·`blocks` + `rest` limbs, and `result` does not overlap the
/// others; `carry` is 0 or 1.
#[unsafe(naked)]
unsafe extern "sysv64" fn subtract_once(
    result: *mut Limb,
    a: *const Limb,
    modulus: *const Limb,
    blocks: usize,
    rest: usize,
    carry: Limb,
) {
    naked_asm!(
        ".cfi_startproc",
        "mov r10, rcx",
        // test clears the borrow; lea, dec and jrcxz preserve it.
        "test rcx, rcx",
        "jz 23f",
        "22:",
        subtract_limbs!(0 1 2 3 4 5 6 7),
        "lea rsi, [rsi + 64]",
        "lea rdi, [rdi + 64]",
        "lea rdx, [rdx + 64]",
        "dec rcx",
        "jnz 22b",
        "23:",
        "mov rcx, r8",
        "jrcxz 25f",
        "24:",
        subtract_limbs!(0),
        "lea rsi, [rsi + 8]",
        "lea rdi, [rdi + 8]",
        "lea rdx, [rdx + 8]",
        "dec rcx",
        "jnz 24b",
        "25:",
        // The carry cancels the borrow; the remainder goes to the carry flag. Then downwards.
        "sbb r9, 0",
        "add r9, r9",
        "mov rcx, r8",
        "jrcxz 27f",
        "26:",
        "lea rsi, [rsi - 8]",
        "lea rdi, [rdi - 8]",
        restore_limbs!(0),
        "dec rcx",
        "jnz 26b",
        "27:",
        "mov rcx, r10",
        "jrcxz 29f",
        "28:",
        "lea rsi, [rsi - 64]",
        "lea rdi, [rdi - 64]",
        restore_limbs!(0 1 2 3 4 5 6 7),
        "dec rcx",
        "jnz 28b",
        "29:",
        "ret",
        ".cfi_endproc",
    )
}

/// Computes `result = wide / R mod modulus`; see [`Words::montgomery_reduce`](super::Words).
///
/// # Safety
/// The processor has BMI2 and ADX.
pub(super) unsafe fn montgomery_reduce(
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
    let limbs = modulus.as_ptr_range();
    let start = wide.as_mut_ptr();
    let run = |kernel: unsafe extern "sysv64" fn(_) -> _, w: usize, place: usize, blocks, carry| {
        let reduction = Reduction {
            wide: start.wrapping_add(place),
            modulus: limbs.start,
            modulus_end: limbs.end,
            n0,
            blocks,
            skip: (w - n % w) % w,
            carry,
        };
        // SAFETY: the caller guarantees the processor. place + w·blocks ≤ n, so the last block with
        // the modulus above it ends within the 2n limbs of `wide`, uniquely borrowed.
        unsafe { kernel(&raw const reduction) }
    };
    let blocks = n / 8;
    let mut carry = 0;
    if blocks != 0 {
        carry = run(reduction_8, 8, 0, blocks, carry);
    }
    let place = 8 * blocks;
    carry = match n % 8 {
        0 => carry,
        1 => run(reduction_1, 1, place, 1, carry),
        2 => run(reduction_2, 2, place, 1, carry),
        3 => run(reduction_3, 3, place, 1, carry),
        4 => run(reduction_4, 4, place, 1, carry),
        5 => run(reduction_5, 5, place, 1, carry),
        6 => run(reduction_6, 6, place, 1, carry),
        _ => run(reduction_7, 7, place, 1, carry),
    };
    // SAFETY: `result`, the upper half of `wide` and `modulus` have n ≥ 1 limbs each, and `result`
    // is uniquely borrowed.
    unsafe {
        let (result, upper) = (result.as_mut_ptr(), wide[n..].as_ptr());
        subtract_once(result, upper, limbs.start, n / 8, n % 8, carry);
    }
}
