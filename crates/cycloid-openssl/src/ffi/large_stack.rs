//! Stacks for computations within OpenSSL's asynchronous jobs, which have 32 kB. On Windows, a job's
//! stack grows as it is used.

#[cfg(not(unix))]
pub(crate) use direct::on_large_stack;
#[cfg(unix)]
pub(crate) use switched::on_large_stack;

#[cfg(not(unix))]
mod direct {
    /// Runs a computation.
    pub(crate) fn on_large_stack<T>(compute: impl FnOnce() -> T) -> T {
        compute()
    }
}

#[cfg(unix)]
mod switched {
    use std::cell::RefCell;
    use std::ffi::c_void;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use crate::ffi::asynchronous::Job;

    /// The size of a stack for computations: a batch of eight needs the most, 20 kB, and an ECDH
    /// agreement 17 kB, to which come debug builds' larger frames.
    const STACK: usize = 1 << 20;

    /// The lowest pages, which nothing may touch.
    const GUARD: usize = 1 << 16;

    /// A stack of this thread, with a guard below.
    struct Stack(*mut c_void);

    impl Stack {
        fn new() -> Option<Self> {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: new memory, whose lowest part is then made inaccessible.
            unsafe {
                let base = libc::mmap(std::ptr::null_mut(), STACK, protection, flags, -1, 0);
                if base == libc::MAP_FAILED {
                    return None;
                }
                let stack = Self(base);
                (libc::mprotect(base, GUARD, libc::PROT_NONE) == 0).then_some(stack)
            }
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            // SAFETY: the mapping is this stack's, and nothing runs on it: a call that does has taken
            // the stack out of the thread's place.
            unsafe { libc::munmap(self.0, STACK) };
        }
    }

    thread_local! {
        static SPARE: RefCell<Option<Stack>> = const { RefCell::new(None) };
    }

    /// Runs a computation: within a job on a larger stack, else directly. The computation must not
    /// pause the job.
    pub(crate) fn on_large_stack<T>(compute: impl FnOnce() -> T) -> T {
        if Job::current().is_none() {
            return compute();
        }
        let spare = SPARE.with(|spare| spare.try_borrow_mut().ok()?.take());
        let Some(stack) = spare.or_else(Stack::new) else {
            return compute();
        };
        // SAFETY: the stack is writable above its guard and used by this call only. A panic is caught
        // on it, and goes on from here.
        let outcome = unsafe {
            let base = stack.0.cast::<u8>().add(GUARD);
            psm::on_stack(base, STACK - GUARD, || catch_unwind(AssertUnwindSafe(compute)))
        };
        SPARE.with(|spare| {
            if let Ok(mut spare) = spare.try_borrow_mut() {
                *spare = Some(stack);
            }
        });
        outcome.unwrap_or_else(|panic| resume_unwind(panic))
    }
}
