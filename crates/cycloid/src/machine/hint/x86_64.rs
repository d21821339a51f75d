//! Hints by assembly and instructions of every x86-64 processor.

use core::arch::asm;
use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

use super::super::limb::Limb;

/// Returns `x`, hiding its value from the compiler.
#[inline(always)]
pub(in super::super) fn barrier(mut x: Limb) -> Limb {
    // SAFETY: no instruction is executed; the register keeps its value.
    unsafe {
        asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags));
    }
    x
}

/// Returns the same reference, hiding from the compiler that it is the same.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "nothing is read through it there")]
pub(in super::super) fn hidden<T>(reference: &T) -> &T {
    let mut pointer = core::ptr::from_ref(reference);
    // SAFETY: no instruction is executed; the register keeps its value.
    unsafe {
        asm!(
            "/* {0} */",
            inout(reg) pointer,
            options(pure, nomem, nostack, preserves_flags),
        );
        &*pointer
    }
}

/// The same, each time that it is executed: in a loop, the compiler keeps no values from earlier
/// rounds.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "nothing is read through it there")]
pub(in super::super) fn hidden_each_time<T>(reference: &T) -> &T {
    let mut pointer = core::ptr::from_ref(reference);
    // SAFETY: no instruction is executed; the register keeps its value.
    unsafe {
        asm!("/* {0} */", inout(reg) pointer, options(nomem, nostack, preserves_flags));
        &*pointer
    }
}

/// Executes a no-op whose memory operand encodes address, length and meaning; the processor does
/// not access it. It is part of every build, so that the traced code is the shipped code.
#[inline(always)]
pub(in super::super) fn mark<const MEANING: i32, T>(memory: &[T]) {
    // SAFETY: nothing is read or written. The compiler assumes that the block may write `memory`,
    // so no value read before is kept across it.
    unsafe {
        asm!(
            "nop dword ptr [{0} + {1} + {2}]",
            in(reg) memory.as_ptr(), in(reg) size_of_val(memory), const MEANING,
            options(nostack, preserves_flags),
        );
    }
}

/// The displacement of the no-op below; the crate `taint-trace` has the same value.
const PUBLIC_VALUE: i32 = 0x6379_6303;

/// Returns `x`, which is public from now on.
#[inline(always)]
pub(in super::super) fn public_value(mut x: Limb) -> Limb {
    // SAFETY: nothing is read or written; the register keeps its value.
    unsafe {
        asm!(
            "nop dword ptr [{0} + {1}]", inout(reg) x, const PUBLIC_VALUE,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    x
}

/// Loads the cache line of the first limb.
#[inline(always)]
pub(in super::super) fn prefetch(line: &[Limb]) {
    // SAFETY: the instruction reads nothing.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
}
