//! The interface of the tracer, and its loop: one step is one instruction.

use std::arch::asm;
use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::arena::{self, IN_TRACER};
use crate::context::Context;
use crate::engine::Engine;
use crate::report::Report;
use crate::{flow, marker};

/// The state of the only tracing thread.
struct Tracer {
    engine: Engine,
    context: Box<Context>,
    /// The end of the traced code's stack.
    stack: u64,
}

struct Global(UnsafeCell<Option<Tracer>>);

// SAFETY: only one thread traces at a time, which `trace` checks.
unsafe impl Sync for Global {}

static TRACER: Global = Global(UnsafeCell::new(None));
static TRACING: AtomicBool = AtomicBool::new(false);

/// Bytes of the traced code's stack.
const STACK: usize = 8 << 20;

/// Bytes of that stack that are clean when a trace begins: more than a traced operation uses.
const CLEAN_STACK: usize = 1 << 20;

/// The return address of traced work.
const EXIT: u64 = 0;

/// Runs `work` step by step, and tracks the data that it reads from [`secret`] memory.
///
/// The process must use [`Allocator`](crate::Allocator) as its global allocator, and `work` must
/// neither start threads nor panic.
///
/// # Panics
/// If a trace is already running.
pub fn trace<R>(work: impl FnOnce() -> R) -> (R, Report) {
    prepare();
    assert!(!TRACING.swap(true, Ordering::Relaxed), "a trace is already running");
    let mut call = Call { work: Some(work), result: None };
    let report = with_tracer(|tracer| tracer.run(&mut call));
    TRACING.store(false, Ordering::Relaxed);
    // Memory allocated by the tracer must stay with the tracer.
    let report = report.clone();
    (call.result.expect("the work was run"), report)
}

/// Work and its result, as the traced code finds them.
struct Call<W, R> {
    work: Option<W>,
    result: Option<R>,
}

impl<W: FnOnce() -> R, R> Call<W, R> {
    extern "C" fn run(&mut self) {
        self.result = self.work.take().map(|work| work());
    }
}

impl Tracer {
    fn new() -> Self {
        Self { engine: Engine::new(), context: Box::new(Context::new()), stack: stack() }
    }

    /// Runs `call` step by step, on a stack of its own.
    fn run<W: FnOnce() -> R, R>(&mut self, call: &mut Call<W, R>) -> Report {
        // Dead values of earlier calls are no secrets of this one.
        self.engine.memory.fill(self.stack as usize - CLEAN_STACK, CLEAN_STACK, false);
        self.engine.memory.fill(&raw mut *call as usize, size_of_val(call), false);
        self.engine.begin();
        let run: extern "C" fn(&mut Call<W, R>) = Call::run;
        let context = &raw mut *self.context;
        // SAFETY: the context is used by this trace only, and the traced code is compiled code.
        unsafe {
            (*context).begin(run as usize as u64, &raw mut *call as u64, self.stack, EXIT);
            loop {
                let code = self.engine.step(&*context);
                flow::advance(context, code);
                if (*context).instruction_pointer == EXIT {
                    break;
                }
            }
            self.engine.end((*context).mxcsr())
        }
    }
}

/// Allocates the stack of the traced code, and returns its end.
fn stack() -> u64 {
    const GUARD: usize = 4096;
    // SAFETY: a fresh private mapping that nothing else refers to, and its first page.
    let start = unsafe {
        let start = libc::mmap(
            std::ptr::null_mut(),
            STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        assert!(start != libc::MAP_FAILED, "no stack for the traced code");
        assert_eq!(libc::mprotect(start, GUARD, libc::PROT_NONE), 0);
        start
    };
    (start as usize + STACK) as u64
}

/// Marks memory as secret: from now on, traces track it.
pub fn secret<T>(memory: &[T]) {
    prepare();
    with_tracer(|tracer| {
        tracer.engine.memory.fill(memory.as_ptr() as usize, size_of_val(memory), true);
    });
}

/// Marks memory as public.
pub fn public<T>(memory: &[T]) {
    public_bytes(memory.as_ptr() as usize, size_of_val(memory));
}

/// Returns whether any byte of `memory` depends on a secret.
pub fn is_secret<T>(memory: &[T]) -> bool {
    with_tracer(|tracer| tracer.engine.memory.any(memory.as_ptr() as usize, size_of_val(memory)))
}

/// Cleans a range, also from traced code.
pub(crate) fn public_bytes(address: usize, length: usize) {
    if TRACING.load(Ordering::Relaxed) {
        // SAFETY: a no-op.
        unsafe {
            asm!("nop dword ptr [{0} + {1} + {2}]", in(reg) address, in(reg) length,
                 const marker::PUBLIC, options(nostack, preserves_flags));
        }
    } else if PREPARED.is_completed() {
        with_tracer(|tracer| tracer.engine.memory.fill(address, length, false));
    }
}

static PREPARED: Once = Once::new();

fn prepare() {
    PREPARED.call_once(|| {
        arena::reserve();
        IN_TRACER.store(true, Ordering::Relaxed);
        // SAFETY: nothing else refers to the tracer before this is done.
        unsafe { *TRACER.0.get() = Some(Tracer::new()) };
        IN_TRACER.store(false, Ordering::Relaxed);
    });
}

/// Calls `f` with the tracer; memory comes from the tracer's arena.
fn with_tracer<R>(f: impl FnOnce(&mut Tracer) -> R) -> R {
    IN_TRACER.store(true, Ordering::Relaxed);
    // SAFETY: only one thread traces at a time, and traced code never gets here.
    let tracer = unsafe { (*TRACER.0.get()).as_mut() };
    let result = f(tracer.expect("the tracer exists"));
    IN_TRACER.store(false, Ordering::Relaxed);
    result
}
