//! Single-stepping by the trap flag and its handler: one step is one instruction.

use std::arch::asm;
use std::cell::UnsafeCell;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::arena::{self, IN_HANDLER};
use crate::engine::Engine;
use crate::marker;
use crate::registers::saved_masks;
use crate::report::Report;

/// The engine of the only tracing thread.
struct Global(UnsafeCell<Option<Engine>>);

// SAFETY: only one thread traces at a time, which `trace` checks.
unsafe impl Sync for Global {}

static ENGINE: Global = Global(UnsafeCell::new(None));
static TRACING: AtomicBool = AtomicBool::new(false);

/// Bytes of the handler's stack.
const STACK: usize = 1 << 20;

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
    with_engine(|engine| {
        // Dead values of earlier calls lie below this frame. The calls that enter `work` overwrite
        // them, but are not traced.
        engine.memory.fill(stack_pointer() - DEAD_STACK, DEAD_STACK, false);
        engine.begin();
    });
    let mut work = Some(work);
    let mut result = None;
    stepped(&mut || result = work.take().map(|work| work()));
    TRACING.store(false, Ordering::Relaxed);
    let report = with_engine(Engine::end);
    // Memory allocated by the handler must stay with the handler.
    let report = report.clone();
    (result.expect("the work was run"), report)
}

/// Bytes below the stack pointer that are clean when a trace begins: more than a traced operation
/// uses.
const DEAD_STACK: usize = 1 << 20;

#[inline(always)]
fn stack_pointer() -> usize {
    let pointer;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Marks memory as secret: from now on, traces track it.
pub fn secret<T>(memory: &[T]) {
    prepare();
    with_engine(|engine| engine.memory.fill(memory.as_ptr() as usize, size_of_val(memory), true));
}

/// Marks memory as public.
pub fn public<T>(memory: &[T]) {
    public_bytes(memory.as_ptr() as usize, size_of_val(memory));
}

/// Returns whether any byte of `memory` depends on a secret.
pub fn is_secret<T>(memory: &[T]) -> bool {
    with_engine(|engine| engine.memory.any(memory.as_ptr() as usize, size_of_val(memory)))
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
        with_engine(|engine| engine.memory.fill(address, length, false));
    }
}

static PREPARED: Once = Once::new();

fn prepare() {
    PREPARED.call_once(|| {
        arena::reserve();
        IN_HANDLER.store(true, Ordering::Relaxed);
        // SAFETY: nothing else refers to the engine before this is done.
        unsafe { *ENGINE.0.get() = Some(Engine::new()) };
        IN_HANDLER.store(false, Ordering::Relaxed);
        install();
    });
}

/// Calls `f` with the engine; memory comes from the handler's arena.
fn with_engine<R>(f: impl FnOnce(&mut Engine) -> R) -> R {
    IN_HANDLER.store(true, Ordering::Relaxed);
    // SAFETY: only one thread traces at a time, and the handler is not running now.
    let engine = unsafe { (*ENGINE.0.get()).as_mut() };
    let result = f(engine.expect("the engine exists"));
    IN_HANDLER.store(false, Ordering::Relaxed);
    result
}

fn install() {
    // SAFETY: the stack and the handler live as long as the process. The handler may interrupt
    // anything, because it uses only its own memory.
    unsafe {
        let stack = libc::mmap(
            std::ptr::null_mut(),
            STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert!(stack != libc::MAP_FAILED, "no stack for the tracer");
        // Only the handler uses this stack, so it does not change the stack of the traced code.
        let stack = libc::stack_t { ss_sp: stack, ss_flags: 0, ss_size: STACK };
        assert_eq!(libc::sigaltstack(&raw const stack, std::ptr::null_mut()), 0);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        assert_eq!(libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()), 0);
    }
}

/// The trap flag in the flags register.
const TRAP_FLAG: u32 = 1 << 8;

/// Calls `work` with the trap flag set.
#[inline(never)]
fn stepped(work: &mut dyn FnMut()) {
    // SAFETY: sets the trap flag, for which there is a handler; the stack is unchanged.
    unsafe {
        asm!("pushfq", "or dword ptr [rsp], {0}", "popfq", const TRAP_FLAG);
    }
    work();
    // SAFETY: clears the trap flag; the stack is unchanged.
    unsafe {
        asm!("pushfq", "and dword ptr [rsp], {0}", "popfq", const !(TRAP_FLAG as i32));
    }
}

extern "C" fn on_trap(_signal: i32, _info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    IN_HANDLER.store(true, Ordering::Relaxed);
    // SAFETY: the kernel passes the context of the interrupted thread, the only tracing one. All
    // other uses of the engine happen while nothing is traced.
    unsafe {
        let context = &mut *context.cast::<libc::ucontext_t>();
        if let Some(engine) = (*ENGINE.0.get()).as_mut() {
            let state = context.uc_mcontext.fpregs.cast::<u8>();
            let masks = saved_masks(state, engine.offset_of_masks);
            engine.step(&context.uc_mcontext.gregs, masks);
        }
    }
    IN_HANDLER.store(false, Ordering::Relaxed);
}
