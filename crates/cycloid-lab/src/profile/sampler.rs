//! A sampling profiler: a timer on the process's processor time, whose signal handler records the
//! stack of the interrupted thread.
//!
//! The handler may interrupt anything, so it allocates nothing and takes no lock: it writes
//! addresses into preallocated memory, and they are resolved to names at the end. It uses the
//! system's unwinder, which takes no lock either since glibc 2.35 and libgcc 12. The unwinder
//! relies on the tables that compilers write, and may go astray in code with wrong tables;
//! therefore a profiled operation runs in its own process wherever possible.
//!
//! Every address is kept: two samples in one function may be in different inlined functions.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::Failure;
use crate::measure::clock;

/// The number of recorded frames per stack, from the innermost.
const DEPTH: usize = 192;

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
pub(super) struct Sampler {
    hertz: u32,
}

/// Code addresses of a stack, the innermost first, and its number of samples.
pub(super) struct Samples {
    pub(super) stacks: HashMap<Vec<usize>, u64>,
    /// Samples dropped because the buffer was full.
    pub(super) lost: u64,
    /// The time spent on sampling.
    pub(super) spent: Duration,
}

impl Sampler {
    /// Requests this number of samples per second of processor time; the kernel may deliver fewer.
    ///
    /// # Errors
    /// If another sampler exists, or the system is not supported.
    pub(super) fn new(hertz: u32) -> Result<Self, Failure> {
        if TAKEN.swap(true, Ordering::SeqCst) {
            return Err(Failure::new(
                "the process is already being profiled",
                "wait until that profile ends",
            ));
        }
        ROOM.get_or_init(|| Room {
            words: (0..WORDS).map(|_| AtomicUsize::new(0)).collect(),
            used: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
        });
        // Performs the unwinder's one-time initialisation now.
        backtrace::trace(|_| true);
        if !system::listen() {
            TAKEN.store(false, Ordering::SeqCst);
            return Err(Failure::new(
                "cannot sample stacks on this system",
                "sampling needs Linux on x86-64 or AArch64",
            ));
        }
        Ok(Self { hertz })
    }

    /// Starts recording samples after the timer has run for `settling` of the thread's time.
    /// Otherwise nothing before the timer's first tick would be sampled.
    pub(super) fn on(&self, settling: Duration) {
        system::tick(1_000_000 / self.hertz.max(1));
        let start = clock::now();
        while clock::now() - start < settling {
            std::hint::spin_loop();
        }
        ON.store(true, Ordering::SeqCst);
    }

    /// Stops recording. When this returns, no handler is running.
    pub(super) fn off(&self) {
        system::tick(0);
        ON.store(false, Ordering::SeqCst);
        while AT_WORK.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    }

    /// Returns all samples.
    pub(super) fn finish(self) -> Samples {
        self.off();
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
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.off();
        TAKEN.store(false, Ordering::SeqCst);
    }
}

/// Records the stack of this thread from `interrupted` outwards. Runs in a signal handler.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn keep(interrupted: usize) {
    let Some(room) = ROOM.get() else { return };
    let mut stack = [0; DEPTH];
    let mut depth = 0;
    let visit = |frame: &backtrace::Frame| {
        let address = frame.ip() as usize;
        if depth > 0 {
            // A return address follows the call and may belong to another function.
            stack[depth] = address.wrapping_sub(1);
            depth += 1;
        } else if address == interrupted {
            stack[0] = address;
            depth = 1;
        }
        depth < DEPTH
    };
    // SAFETY: the omitted lock is only needed for unwinders other than those of the systems above.
    unsafe { backtrace::trace_unsynchronized(visit) };
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

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod system {
    use std::ffi::{c_int, c_void};
    use std::ptr;
    use std::sync::atomic::Ordering;

    use super::{AT_WORK, ON, SPENT, clock, keep};

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
        let interval = libc::timeval { tv_sec: 0, tv_usec: microseconds.into() };
        let timer = libc::itimerval { it_interval: interval, it_value: interval };
        // SAFETY: reads the structure and does not retain it.
        let set = unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, ptr::null_mut()) };
        debug_assert_eq!(set, 0, "an interval below a second is valid");
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod system {
    pub(super) fn listen() -> bool {
        false
    }

    pub(super) fn tick(_microseconds: u32) {}
}
