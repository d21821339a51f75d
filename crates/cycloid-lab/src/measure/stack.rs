//! Measures stack use by painting: fills the unused stack with a pattern, runs, and finds the
//! lowest overwritten word.
//!
//! The result is exact to a machine word; a reserved part of a frame that is never written does not
//! count. The frames of the measurement itself are measured too, and subtracted.

use std::cell::Cell;
use std::thread;

/// The stack size of the thread that [`on_measuring_thread`] starts.
const STACK_BYTES: usize = 16 << 20;

/// The painted depth; deeper use is reported as this much.
pub const DEPTH_BYTES: usize = 2 << 20;

/// An upper bound on the runtime's own stack use above the first frame of a thread's function:
/// thread-local variables and calling frames.
const RUNTIME_BYTES: usize = 256 << 10;

thread_local! {
    /// The lowest address of this thread's stack that may be painted; `usize::MAX` if unknown.
    static LOWEST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Runs `f` on a thread with a large stack of known extent, where [`peak`] works.
///
/// # Panics
/// If `f` panics, or if the system cannot start a thread.
pub fn on_measuring_thread<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    let body = || {
        let here = 0u8;
        LOWEST.set(&raw const here as usize - (STACK_BYTES - RUNTIME_BYTES));
        f()
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("measure".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, body)
            .expect("the system starts a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Returns the peak stack use of `operation` in bytes. Measurable only on x86-64, on a thread
/// started by [`on_measuring_thread`]; otherwise `None`.
///
/// Run the operation once before, to exclude work that happens only on the first call.
pub fn peak(operation: &mut dyn FnMut()) -> Option<usize> {
    let own = painted::touched(&mut || {})?;
    let all = painted::touched(operation)?;
    Some(all.saturating_sub(own))
}

#[cfg(not(target_arch = "x86_64"))]
mod painted {
    pub(super) fn touched(_operation: &mut dyn FnMut()) -> Option<usize> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod painted {
    use std::arch::asm;

    use super::{DEPTH_BYTES, LOWEST};

    const PATTERN: u64 = 0xa5c3_96e1_5a3c_691e;

    const DEPTH_WORDS: usize = DEPTH_BYTES / 8;

    /// Returns the bytes between the stack pointer here and the lowest address that `operation`
    /// wrote.
    #[inline(never)]
    pub(super) fn touched(operation: &mut dyn FnMut()) -> Option<usize> {
        let pointer: usize;
        // SAFETY: reads a register.
        unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
        if pointer - DEPTH_BYTES < LOWEST.get() {
            return None;
        }
        let bottom: usize;
        // SAFETY: the words belong to this thread's stack (`LOWEST`). Without the option `nostack`
        // the compiler keeps nothing below the stack pointer at this point, so no live data is
        // overwritten.
        unsafe {
            asm!(
                "lea rdi, [rsp - {bytes}]",
                "mov {bottom}, rdi",
                "rep stosq",
                bytes = const DEPTH_BYTES,
                bottom = out(reg) bottom,
                inout("rcx") DEPTH_WORDS => _,
                out("rdi") _,
                in("rax") PATTERN,
                options(preserves_flags),
            );
        }
        operation();
        let below: usize;
        // SAFETY: reads the same words. `rcx` counts down by one for each compared word, including
        // the first different one, so it ends as the number of words above that one.
        unsafe {
            asm!(
                "repe scasq",
                inout("rcx") DEPTH_WORDS => below,
                inout("rdi") bottom => _,
                in("rax") PATTERN,
                options(nostack, readonly),
            );
        }
        // The caller of `operation` wrote its return address, so a different word exists.
        Some((below + 1) * 8)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[inline(never)]
    fn use_stack<const N: usize>() {
        black_box(&mut [1u8; N]);
    }

    #[test]
    fn known_uses_are_seen() {
        let (small, large) =
            on_measuring_thread(|| (peak(&mut use_stack::<1000>), peak(&mut use_stack::<100_000>)));
        let (small, large) = (small.unwrap(), large.unwrap());
        assert!((1000..1200).contains(&small), "{small}");
        assert!((100_000..100_200).contains(&large), "{large}");
    }

    #[test]
    fn nothing_uses_nothing() {
        let nothing = on_measuring_thread(|| peak(&mut || {}));
        assert_eq!(nothing, Some(0));
    }

    #[test]
    fn more_than_the_depth_is_the_depth() {
        let deep = on_measuring_thread(|| peak(&mut use_stack::<{ DEPTH_BYTES + 100_000 }>));
        assert!(deep.unwrap().abs_diff(DEPTH_BYTES) < 1000, "{deep:?}");
    }

    #[test]
    fn elsewhere_nothing_is_painted() {
        assert_eq!(peak(&mut || {}), None);
    }
}
