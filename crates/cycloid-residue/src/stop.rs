//! Runs one operation, and stops with its registers saved and its dead stack as it left it.

use std::arch::asm;

use cycloid::cpu::Level;

use crate::pipe::{receive, send};

/// The number of bytes of stack painted before an operation.
pub(crate) const PAINTED: usize = 512 << 10;

/// The paint; no secret has this pattern.
pub(crate) const PATTERN: u64 = 0xa5c3_a5c3_a5c3_a5c3;

/// Runs a case's operation and stops for the search.
pub(crate) struct Stop {
    done: bool,
}

impl Stop {
    pub(crate) const fn new() -> Self {
        Self { done: false }
    }

    /// Returns whether the operation was performed.
    pub(crate) const fn is_done(&self) -> bool {
        self.done
    }

    /// Performs the operation, exactly once per case, and then has memory searched.
    #[inline(never)]
    pub(crate) fn after(&mut self, operation: &mut dyn FnMut()) {
        self.done = true;
        // Preparing the input has left data where the next frames have gaps.
        paint();
        Self::search(operation);
    }

    #[inline(never)]
    fn search(operation: &mut dyn FnMut()) {
        let mut registers = Registers([0; Registers::WORDS]);
        paint();
        let pointer = observe(operation, &mut registers);
        // The registers are in memory that is searched.
        send(&(pointer as u64).to_le_bytes());
        receive(&mut [0]);
        std::hint::black_box(&registers);
    }
}

/// All vector registers, the masks and the general registers.
#[repr(C, align(64))]
struct Registers([u64; Self::WORDS]);

impl Registers {
    const WORDS: usize = 32 * 8 + 8 + 16;
}

/// Fills the stack below with the pattern.
#[inline(never)]
pub(crate) fn paint() {
    // SAFETY: the words belong to this thread's stack, and without `nostack` the compiler keeps
    // nothing below the stack pointer here.
    unsafe {
        asm!(
            "lea rdi, [rsp - {bytes}]",
            "rep stosq",
            bytes = const PAINTED,
            inout("rcx") PAINTED / 8 => _,
            out("rdi") _,
            in("rax") PATTERN,
            options(preserves_flags),
        );
    }
}

/// Calls the operation, saves the registers that it left, and returns the stack pointer of the
/// call.
#[inline(never)]
fn observe(operation: &mut dyn FnMut(), registers: &mut Registers) -> usize {
    extern "C" fn call(operation: &mut &mut dyn FnMut()) {
        operation();
    }
    let mut operation = operation;
    let pointer: usize;
    macro_rules! observed {
        ($vectors:literal) => {
            // SAFETY: the function is called according to its type; the registers are written to
            // memory reserved for them.
            unsafe {
                asm!(
                    "mov r13, rsp",
                    "call {call}",
                    "mov [r12 + 2112], rax",
                    "mov [r12 + 2120], rcx",
                    "mov [r12 + 2128], rdx",
                    "mov [r12 + 2136], rsi",
                    "mov [r12 + 2144], rdi",
                    "mov [r12 + 2152], r8",
                    "mov [r12 + 2160], r9",
                    "mov [r12 + 2168], r10",
                    "mov [r12 + 2176], r11",
                    $vectors,
                    call = sym call,
                    in("rdi") &mut operation,
                    in("r12") registers.0.as_mut_ptr(),
                    out("r13") pointer,
                    clobber_abi("C"),
                );
            }
        };
    }
    if Level::Avx512.is_detected() {
        observed!(
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
             vmovdqu64 [r12 + 64*\\i], zmm\\i
             .endr
             .irp i, 0,1,2,3,4,5,6,7
             kmovq [r12 + 2048 + 8*\\i], k\\i
             .endr"
        );
    } else if std::is_x86_feature_detected!("avx") {
        observed!(
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
             vmovdqu [r12 + 64*\\i], ymm\\i
             .endr"
        );
    } else {
        observed!(
            ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
             movdqu [r12 + 64*\\i], xmm\\i
             .endr"
        );
    }
    pointer
}

/// Leaves eight bytes in an otherwise unused vector register, to test the search.
pub(crate) fn leave_in_a_register(bytes: &[u8]) {
    let word = u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes"));
    // SAFETY: the register is declared as clobbered.
    unsafe { asm!("movq xmm13, {}", in(reg) word, out("xmm13") _, options(nomem, nostack)) };
}
