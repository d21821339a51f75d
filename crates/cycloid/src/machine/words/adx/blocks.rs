//! Montgomery multiplication and squaring in one piece, for lengths that are multiples of eight.
//!
//! The steps are those of `product`, `square` and `reduce`. Without partial iterations, and with
//! one copy of the rows for all steps, they have less overhead, and fit together in the cache of
//! decoded instructions.

use super::Limb;
use core::arch::naked_asm;

/// The window of a block of eight limbs.
macro_rules! with_window {
    ($macro:ident) => {
        $macro!([0 1 2 3 4 5 6 7] "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15")
    };
}

/// Rows until `rcx` reaches the kernel's `[rsp]`, eight per iteration, like `row_loop`.
///
/// # Safety
/// Called only by the kernels here: registers are as in a row.
#[unsafe(naked)]
unsafe extern "sysv64" fn rows_of_eight() {
    naked_asm!(
        ".cfi_startproc",
        ".p2align 5",
        rows!([0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7]
            "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "lea rcx, [rcx + 64]",
        "lea rdi, [rdi + 64]",
        "cmp rcx, [rsp + 8]",
        "jne 40b",
        "ret",
        ".cfi_endproc",
    )
}

/// Stack of a kernel: the end of the rows' multipliers, the accumulator and its end, the other
/// factor or the remaining squarings, `wide` and its end, the modulus, n0, a block's position in
/// `wide`, the carry, 8n.
macro_rules! begin {
    () => {
        concat!(
            enter!(88),
            "lea rax, [8*r9]\n",
            "mov [rsp + 80], rax\n",
            "mov [rsp + 8], rdi\n",
            "add rdi, rax\n",
            "mov [rsp + 16], rdi\n",
            "mov [rsp + 24], rsi\n",
            "mov [rsp + 32], rdx\n",
            "lea rax, [rdx + 2*rax]\n",
            "mov [rsp + 40], rax\n",
            "mov [rsp + 48], rcx\n",
            "mov [rsp + 56], r8\n",
        )
    };
}

/// Clears the lower half of `wide` and sets `rdi` to its beginning; the multipliers are the
/// accumulator.
macro_rules! begin_product {
    () => {
        concat!(
            "mov rax, [rsp + 16]\n",
            "mov rdi, [rsp + 32]\n",
            "mov rcx, [rsp + 80]\n",
            "mov [rsp], rax\n",
            "mov [rsp + 64], rdi\n",
            "vpxor xmm0, xmm0, xmm0\n",
            "20:\n",
            "vmovdqu [rdi + rcx - 16], xmm0\n",
            "vmovdqu [rdi + rcx - 32], xmm0\n",
            "vmovdqu [rdi + rcx - 48], xmm0\n",
            "vmovdqu [rdi + rcx - 64], xmm0\n",
            "sub rcx, 64\n",
            "jnz 20b\n",
        )
    };
}

/// Reduces `wide` into the accumulator.
macro_rules! reduce {
    () => {
        concat!(
            "mov rsi, [rsp + 48]\n",
            "mov rdi, [rsp + 32]\n",
            "mov rax, [rsp + 80]\n",
            "add rax, rsi\n",
            "mov [rsp], rax\n",
            "mov qword ptr [rsp + 72], 0\n",
            "22:\n",
            "mov rcx, [rsp + 56]\n",
            with_window!(load_window),
            quotient_rows!("rbp" store; [0 1 2 3 4 5 6 7] [0 1 2 3 4 5 6 7]
                "r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
            // The rows over q = [rsi].
            "lea rcx, [rsi + 64]\n",
            "mov rsi, rdi\n",
            "add rdi, 64\n",
            "mov [rsp + 64], rdi\n",
            "cmp rcx, [rsp]\n",
            "je 23f\n",
            "call {rows}\n",
            "23:\n",
            // Carry flag = carry.
            "xor eax, eax\n",
            "cmp rax, [rsp + 72]\n",
            with_window!(add_window),
            "setc al\n",
            "mov [rsp + 72], rax\n",
            "lea rdx, [rdi + 64]\n",
            "mov rdi, [rsp + 64]\n",
            "mov rsi, [rsp + 48]\n",
            "cmp rdx, [rsp + 40]\n",
            "jne 22b\n",
            // rdi has reached the upper half.
            "mov r8, rax\n",
            "mov rdx, rsi\n",
            "mov r9, [rsp + 80]\n",
            "mov rsi, rdi\n",
            "mov rdi, [rsp + 8]\n",
            "mov rcx, r9\n",
            "shr rcx, 6\n",
            "mov r10, rcx\n",
            "neg r9\n",
            // test clears the borrow; lea and dec preserve it.
            "test rcx, rcx\n",
            "24:\n",
            subtract_limbs!(0 1 2 3 4 5 6 7),
            "lea rsi, [rsi + 64]\n",
            "lea rdi, [rdi + 64]\n",
            "lea rdx, [rdx + 64]\n",
            "dec rcx\n",
            "jnz 24b\n",
            // The carry cancels the borrow; the remainder goes to the carry flag.
            "sbb r8, 0\n",
            "add r8, r8\n",
            "lea rsi, [rsi + r9]\n",
            "lea rdi, [rdi + r9]\n",
            "25:\n",
            restore_limbs!(0 1 2 3 4 5 6 7),
            "lea rsi, [rsi + 64]\n",
            "lea rdi, [rdi + 64]\n",
            "dec r10\n",
            "jnz 25b\n",
        )
    };
}

/// Computes `accumulator = accumulator · by / R mod modulus`.
///
/// # Safety
/// As for [`Multiply`](super::Multiply), `n` a positive multiple of eight.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn montgomery_mul(
    accumulator: *mut Limb,
    by: *const Limb,
    wide: *mut Limb,
    modulus: *const Limb,
    n0: Limb,
    n: usize,
) {
    naked_asm!(
        begin!(),
        begin_product!(),
        "21:",
        // The other factor's blocks stay fixed; the accumulator's limbs are the multipliers.
        "mov rcx, [rsp + 8]",
        "mov rdi, [rsp + 64]",
        clear_window!("r8" "r9" "r10" "r11" "r12" "r13" "r14" "r15"),
        "call {rows}",
        with_window!(store_window),
        "add rdi, 64",
        "add rsi, 64",
        "add qword ptr [rsp + 64], 64",
        "cmp rdi, [rsp + 40]",
        "jne 21b",
        reduce!(),
        leave!(88),
        rows = sym rows_of_eight,
    )
}

/// Computes `accumulator = accumulator² / R mod modulus`, `times` times.
///
/// # Safety
/// As for [`Square`](super::Square), `n` a positive multiple of eight.
#[unsafe(naked)]
pub(super) unsafe extern "sysv64" fn montgomery_square(
    accumulator: *mut Limb,
    times: usize,
    wide: *mut Limb,
    modulus: *const Limb,
    n0: Limb,
    n: usize,
) {
    naked_asm!(
        begin!(),
        ".p2align 4",
        "29:",
        begin_product!(),
        "mov rsi, [rsp + 8]",
        "21:",
        triangle!(add),
        "lea rcx, [rsi + 64]",
        "add rdi, 64",
        "cmp rcx, [rsp]",
        "je 26f",
        "call {rows}",
        with_window!(store_window),
        "mov rdi, [rsp + 64]",
        "add rsi, 64",
        "sub rdi, -128",
        "mov [rsp + 64], rdi",
        "jmp 21b",
        "26:",
        with_window!(store_window),
        "mov rdi, [rsp + 32]",
        "mov rsi, [rsp + 8]",
        "mov rcx, [rsp + 80]",
        "shr rcx, 6",
        // test clears both carries; lea, mov and jrcxz preserve them.
        "test rcx, rcx",
        "27:",
        double_and_square!(0 1 2 3 4 5 6 7),
        "lea rsi, [rsi + 64]",
        "lea rdi, [rdi + 128]",
        "lea rcx, [rcx - 1]",
        "jrcxz 28f",
        "jmp 27b",
        "28:",
        reduce!(),
        "dec qword ptr [rsp + 24]",
        "jnz 29b",
        leave!(88),
        rows = sym rows_of_eight,
    )
}
