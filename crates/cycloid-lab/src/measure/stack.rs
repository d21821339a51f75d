//! Stack use by painting: fill the unused stack with a pattern, run, look how far it is gone.
//!
//! What was touched is exact to a machine word; a part of a frame that is reserved and never
//! written does not count. The frames of the measuring itself are measured too, and subtracted.

use std::cell::Cell;
use std::thread;

/// The stack of a thread that [`on_measuring_thread`] starts.
const STACK_BYTES: usize = 16 << 20;

/// How deep the paint goes; use beyond it is seen as this much.
pub const DEPTH_BYTES: usize = 2 << 20;

/// More than what the runtime keeps on a thread's stack above the first frame of its function:
/// thread-local variables, and the frames that call it.
const RUNTIME_BYTES: usize = 256 << 10;

thread_local! {
    /// The lowest address of this thread's stack that may be painted; `usize::MAX` where unknown.
    static LOWEST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Runs `f` on a thread whose stack is large, and known in extent, so that [`peak`] works there.
///
/// # Panics
/// If `f` does, or if the system gives no thread.
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
            .expect("the system gives a thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The most bytes of stack that `operation` has in use at a time, if that can be measured here:
/// on x86-64, on a thread that [`on_measuring_thread`] started.
///
/// Run it once before, so that what happens on the first call only is left out.
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

    /// Bytes between the stack pointer here and the lowest one that `operation` wrote.
    #[inline(never)]
    pub(super) fn touched(operation: &mut dyn FnMut()) -> Option<usize> {
        let pointer: usize;
        // SAFETY: reads a register.
        unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
        if pointer - DEPTH_BYTES < LOWEST.get() {
            return None;
        }
        let bottom: usize;
        // SAFETY: the words are stack of this thread (`LOWEST`). Without the option `nostack` the
        // compiler keeps nothing below the stack pointer at this place, so nothing lives in them.
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
        // SAFETY: reads the same words. `rcx` counts down by one for each word compared, the first
        // different one included, so it ends as the number of words above that one.
        unsafe {
            asm!(
                "repe scasq",
                inout("rcx") DEPTH_WORDS => below,
                inout("rdi") bottom => _,
                in("rax") PATTERN,
                options(nostack, readonly),
            );
        }
        // Whoever called `operation` wrote its return address, so there is a different word.
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
