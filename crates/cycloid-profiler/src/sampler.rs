//! A sampling profiler: a timer on the process's processor time, whose signal handler records the
//! stack of the interrupted thread.
//!
//! The handler may interrupt anything, so it allocates nothing and takes no lock: it writes
//! addresses into preallocated memory. It uses the system's unwinder, which takes no lock either
//! since glibc 2.35 and libgcc 12. The unwinder relies on the tables that compilers write, and may
//! crash in code with wrong tables; therefore a profiled operation runs in its own process wherever
//! possible.
//!
//! Every address is kept: two samples in one function may be in different inlined functions.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::{Error, clock};

/// The largest number of recorded frames per stack, from the innermost.
pub const DEPTH: usize = 192;

/// Space for addresses: about 32 MB, enough for minutes of samples.
const WORDS: usize = 4 << 20;

/// The handler's output buffer.
struct Room {
    /// Consecutive stacks, each preceded by its length.
    words: Box<[AtomicUsize]>,
    used: AtomicUsize,
    lost: AtomicUsize,
}

static ROOM: OnceLock<Room> = OnceLock::new();
static TAKEN: AtomicBool = AtomicBool::new(false);
static ON: AtomicBool = AtomicBool::new(false);
/// Nanoseconds spent in handlers.
static SPENT: AtomicU64 = AtomicU64::new(0);
/// The number of handlers currently running, in all threads.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// Samples this process while it exists. Only one can exist at a time.
pub struct Sampler {
    /// The interval of the timer, in microseconds.
    interval: u32,
}

/// The recorded samples.
pub struct Samples {
    /// The number of samples by stack. A stack is code addresses, the innermost first.
    pub stacks: HashMap<Vec<usize>, u64>,
    /// The number of samples dropped because the buffer was full.
    pub lost: u64,
    /// The processor time spent on sampling.
    pub spent: Duration,
}

impl Sampler {
    /// Requests this number of samples per second of processor time; the kernel may deliver fewer.
    ///
    /// # Errors
    /// [`Error::Busy`] if another sampler exists, [`Error::Unsupported`] on other systems than
    /// Linux on x86-64 and AArch64.
    pub fn new(hertz: u32) -> Result<Self, Error> {
        if TAKEN.swap(true, Ordering::SeqCst) {
            return Err(Error::Busy);
        }
        ROOM.get_or_init(|| Room {
            words: (0..WORDS).map(|_| AtomicUsize::new(0)).collect(),
            used: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
        });
        // The handler must not run the unwinder's one-time initialisation.
        system::initialize_unwinder();
        if !system::listen() {
            TAKEN.store(false, Ordering::SeqCst);
            return Err(Error::Unsupported);
        }
        Ok(Self { interval: (1_000_000 / hertz.max(1)).max(1) })
    }

    /// Starts recording samples after the timer has run for `settling` of the thread's processor
    /// time. Otherwise nothing before the timer's first tick would be sampled.
    pub fn on(&self, settling: Duration) {
        system::tick(self.interval);
        let start = clock::now();
        while clock::now() - start < settling {
            std::hint::spin_loop();
        }
        ON.store(true, Ordering::SeqCst);
    }

    /// Stops recording. When this returns, no handler is running.
    pub fn off(&self) {
        system::tick(0);
        ON.store(false, Ordering::SeqCst);
        while AT_WORK.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    }

    /// Stops recording and returns all samples.
    pub fn finish(self) -> Samples {
        self.off();
        drain()
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.off();
        // The next sampler starts with an empty buffer.
        drain();
        TAKEN.store(false, Ordering::SeqCst);
    }
}

/// Empties the buffer and returns its samples. No handler may be running.
fn drain() -> Samples {
    let room = ROOM.get().expect("the buffer exists with the sampler");
    let mut stacks = HashMap::new();
    let mut words = room.words.iter().map(|word| word.swap(0, Ordering::Relaxed));
    while let Some(length) = words.next().filter(|length| *length > 0) {
        *stacks.entry(words.by_ref().take(length).collect()).or_default() += 1;
    }
    room.used.store(0, Ordering::SeqCst);
    let lost = room.lost.swap(0, Ordering::SeqCst) as u64;
    let spent = Duration::from_nanos(SPENT.swap(0, Ordering::SeqCst));
    Samples { stacks, lost, spent }
}

/// Records the stack of this thread from `interrupted` outwards. Runs in a signal handler.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn keep(interrupted: usize) {
    let Some(room) = ROOM.get() else { return };
    let mut stack = [0; DEPTH];
    let mut depth = 0;
    unwinder::walk(|address| {
        if depth > 0 {
            // A return address follows the call and may belong to another function.
            stack[depth] = address.wrapping_sub(1);
            depth += 1;
        } else if address == interrupted {
            stack[0] = address;
            depth = 1;
        }
        depth < DEPTH
    });
    if depth == 0 {
        (stack[0], depth) = (interrupted, 1);
    }
    let first = room.used.fetch_add(depth + 1, Ordering::Relaxed);
    let Some(words) = room.words.get(first..first + depth + 1) else {
        room.lost.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let numbers = std::iter::once(depth).chain(stack.into_iter().take(depth));
    words.iter().zip(numbers).for_each(|(word, number)| word.store(number, Ordering::Relaxed));
}

/// The system's unwinder, which every Rust program with the standard library is linked to. Its
/// interface is that of the Itanium C++ ABI, level I.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod unwinder {
    use std::ffi::{c_int, c_void};

    /// A frame in the unwinder's own form.
    #[repr(C)]
    struct Context {
        _opaque: [u8; 0],
    }

    unsafe extern "C" {
        fn _Unwind_Backtrace(
            visit: extern "C" fn(*mut Context, *mut c_void) -> c_int,
            argument: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIP(context: *mut Context) -> usize;
    }

    /// `_URC_NO_REASON`: the walk continues.
    const CONTINUE: c_int = 0;
    /// `_URC_END_OF_STACK`: the walk ends.
    const END: c_int = 5;

    /// Calls `visit` with the address of each frame of this thread, the innermost first, until it
    /// returns false. `visit` must not panic.
    pub(super) fn walk<V: FnMut(usize) -> bool>(mut visit: V) {
        extern "C" fn step<V: FnMut(usize) -> bool>(
            context: *mut Context,
            argument: *mut c_void,
        ) -> c_int {
            // SAFETY: `argument` is the `visit` of `walk` below, which nothing else uses during the
            // walk.
            let visit = unsafe { &mut *argument.cast::<V>() };
            // SAFETY: the unwinder passes a valid context.
            let address = unsafe { _Unwind_GetIP(context) };
            if visit(address) { CONTINUE } else { END }
        }
        // SAFETY: the unwinder calls `step` with its context and this argument, which lives until
        // the call returns.
        unsafe { _Unwind_Backtrace(step::<V>, (&raw mut visit).cast()) };
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod system {
    use std::ffi::{c_int, c_void};
    use std::ptr;
    use std::sync::atomic::Ordering;

    use super::{AT_WORK, ON, SPENT, clock, keep, unwinder};

    /// Returns the address where a thread was interrupted.
    fn place(context: &libc::ucontext_t) -> usize {
        #[cfg(target_arch = "x86_64")]
        let place = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        let place = context.uc_mcontext.pc as usize;
        place
    }

    extern "C" fn handle(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
        AT_WORK.fetch_add(1, Ordering::SeqCst);
        if ON.load(Ordering::SeqCst) {
            let start = clock::now();
            // SAFETY: the kernel passes the handler a context that lives while it runs.
            let interrupted = place(unsafe { &*context.cast::<libc::ucontext_t>() });
            // SAFETY: the address of this thread's `errno`, which the interrupted code may be about
            // to read.
            let errno = unsafe { &mut *libc::__errno_location() };
            let before = *errno;
            keep(interrupted);
            *errno = before;
            let spent = clock::now().saturating_sub(start).as_nanos() as u64;
            SPENT.fetch_add(spent, Ordering::Relaxed);
        }
        AT_WORK.fetch_sub(1, Ordering::SeqCst);
    }

    /// Walks the stack once, so that the unwinder has everything it initialises on first use.
    pub(super) fn initialize_unwinder() {
        unwinder::walk(|_| true);
    }

    /// Installs the handler for the timer's signal.
    pub(super) fn listen() -> bool {
        // SAFETY: all zeros are a valid action without flags and with an empty signal set.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: the handler is async-signal-safe, and has the arguments that its flags select.
        unsafe { libc::sigaction(libc::SIGPROF, &raw const action, ptr::null_mut()) == 0 }
    }

    /// Sets the timer's interval in microseconds of the process's processor time; 0 stops it.
    pub(super) fn tick(microseconds: u32) {
        let interval = libc::timeval {
            tv_sec: (microseconds / 1_000_000).into(),
            tv_usec: (microseconds % 1_000_000).into(),
        };
        let timer = libc::itimerval { it_interval: interval, it_value: interval };
        // SAFETY: reads the structure and does not retain it.
        let set = unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, ptr::null_mut()) };
        debug_assert_eq!(set, 0, "less than a million microseconds are valid");
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod system {
    pub(super) fn initialize_unwinder() {}

    pub(super) fn listen() -> bool {
        false
    }

    pub(super) fn tick(_microseconds: u32) {}
}

#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests;
