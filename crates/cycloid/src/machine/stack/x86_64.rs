//! Wiping on x86-64.

use core::arch::naked_asm;

use crate::machine::cpu::x86_64::{VectorRegisters, vector_registers};

/// Overwrites at least `bytes` of the stack below this call, from the top down, so that an overflow
/// hits the guard page, and the registers that a function may change.
#[inline(always)]
pub fn wipe(bytes: usize) {
    let steps = bytes.div_ceil(STEP);
    // SAFETY: the processor has the named registers, and a function of the System V interface may
    // write below its own frame and change these registers.
    unsafe {
        match vector_registers() {
            VectorRegisters::Sse => wipe_sse(steps),
            VectorRegisters::Avx => wipe_avx(steps),
            VectorRegisters::Avx512 => wipe_avx512(steps),
        }
    }
}

/// Bytes overwritten at a time.
const STEP: usize = 256;

/// Defines a function that overwrites a number of steps below its frame of two words: the return
/// address and rbp, which keeps the frame's address while the stack pointer moves down. `$zero`
/// zeroes a register, `$store` writes it to the step, `$registers` clears the others.
macro_rules! wiping {
    ($name:ident, $zero:literal, $store:literal, $registers:literal) => {
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(steps: usize) {
            naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                $zero,
                // The part above the first whole cache line, and at least 64 bytes: steps that
                // straddle lines take twice as long.
                "sub rsp, 64",
                "xor eax, eax",
                ".irp i, 0,1,2,3,4,5,6,7",
                "mov [rsp + 8*\\i], rax",
                ".endr",
                "mov rsp, rbp",
                "and rsp, -64",
                "test rdi, rdi",
                "jz 3f",
                "2:",
                "sub rsp, {step}",
                $store,
                "dec rdi",
                "jnz 2b",
                "3:",
                "mov rsp, rbp",
                $registers,
                "xor eax, eax",
                "xor ecx, ecx",
                "xor edx, edx",
                "xor esi, esi",
                "xor edi, edi",
                "xor r8d, r8d",
                "xor r9d, r9d",
                "xor r10d, r10d",
                "xor r11d, r11d",
                "pop rbp",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                step = const STEP,
            )
        }
    };
}

wiping!(
    wipe_sse,
    "xorps xmm0, xmm0",
    ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
     movaps [rsp + 16*\\i], xmm0
     .endr",
    ".irp i, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
     xorps xmm\\i, xmm\\i
     .endr"
);

wiping!(
    wipe_avx,
    "vpxor xmm0, xmm0, xmm0",
    ".irp i, 0,1,2,3,4,5,6,7
     vmovdqa [rsp + 32*\\i], ymm0
     .endr",
    "vzeroall"
);

// Such an instruction zeroes the bits of a register above the 128 that it writes.
wiping!(
    wipe_avx512,
    "vpxor xmm0, xmm0, xmm0",
    ".irp i, 0,1,2,3,4,5,6,7
     vmovdqa [rsp + 32*\\i], ymm0
     .endr",
    ".irp i, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
     vpxord xmm\\i, xmm\\i, xmm\\i
     .endr
     .irp i, 0,1,2,3,4,5,6,7
     kxorq k\\i, k\\i, k\\i
     .endr
     vzeroall"
);
