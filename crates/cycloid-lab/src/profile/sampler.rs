//! Where a process is, looked at again and again: a timer on its processor time, and in the handler of
//! its signal the stack of the thread that was interrupted.
//!
//! A handler may interrupt anything, so this one allocates nothing and takes no lock: addresses go into
//! memory that was there before, and get their names when all is over. What unwinds is the system's
//! unwinder, which takes no lock either since glibc 2.35 and libgcc 12. It believes the tables that
//! compilers write; through code that has wrong ones it may go astray, so what is profiled runs in a
//! process of its own wherever that is possible.
//!
//! Every address is kept. Two samples in one function are two places, with other functions inlined there.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::Failure;
use crate::measure::clock;

/// Frames of a stack that are kept, from the innermost on.
const DEPTH: usize = 192;

/// Room for addresses: some 32 MB, which is minutes of samples.
const WORDS: usize = 4 << 20;

/// What the handler writes.
struct Room {
    /// One stack after the other, each with its length before it.
    words: Box<[AtomicUsize]>,
    used: AtomicUsize,
    lost: AtomicUsize,
}

static ROOM: OnceLock<Room> = OnceLock::new();
static TAKEN: AtomicBool = AtomicBool::new(false);
static ON: AtomicBool = AtomicBool::new(false);
/// Nanoseconds that handlers took.
static SPENT: AtomicU64 = AtomicU64::new(0);
/// Handlers that are at work in all threads.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// Takes samples of this process while it is on. There is one at a time.
pub(super) struct Sampler {
    hertz: u32,
}

/// Addresses in the code, the innermost first, and how often the process was there.
pub(super) struct Samples {
    pub(super) stacks: HashMap<Vec<usize>, u64>,
    /// For which there was no room.
    pub(super) lost: u64,
    /// What taking them took.
    pub(super) spent: Duration,
}

impl Sampler {
    /// Asks for so many samples in a second of processor time; the kernel may give fewer.
    ///
    /// # Errors
    /// Where another is at work, or where there is no such thing.
    pub(super) fn new(hertz: u32) -> Result<Self, Failure> {
        if TAKEN.swap(true, Ordering::SeqCst) {
            return Err(Failure::new("the process is being profiled already", "wait for its end"));
        }
        ROOM.get_or_init(|| Room {
            words: (0..WORDS).map(|_| AtomicUsize::new(0)).collect(),
            used: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
        });
        // What the unwinder does only once, it does now.
        backtrace::trace(|_| true);
        if !system::listen() {
            TAKEN.store(false, Ordering::SeqCst);
            return Err(Failure::new(
                "stacks cannot be sampled on this system",
                "it takes Linux on x86-64 or AArch64",
            ));
        }
        Ok(Self { hertz })
    }

    /// Takes samples from now on, once the timer has run for `settling` of the thread's time: whatever
    /// follows the timer's start is otherwise not seen until it first fires.
    pub(super) fn on(&self, settling: Duration) {
        system::tick(1_000_000 / self.hertz.max(1));
        let start = clock::now();
        while clock::now() - start < settling {
            std::hint::spin_loop();
        }
        ON.store(true, Ordering::SeqCst);
    }

    /// After this, no handler is at work.
    pub(super) fn off(&self) {
        system::tick(0);
        ON.store(false, Ordering::SeqCst);
        while AT_WORK.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
    }

    /// All that were taken.
    pub(super) fn finish(self) -> Samples {
        self.off();
        let room = ROOM.get().expect("it was made with the sampler");
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

/// Keeps the stack of this thread from `interrupted` outwards. Runs in a signal handler.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn keep(interrupted: usize) {
    let Some(room) = ROOM.get() else { return };
    let mut stack = [0; DEPTH];
    let mut depth = 0;
    let visit = |frame: &backtrace::Frame| {
        let address = frame.ip() as usize;
        if depth > 0 {
            // A return address is after the call, perhaps in another function.
            stack[depth] = address.wrapping_sub(1);
            depth += 1;
        } else if address == interrupted {
            stack[0] = address;
            depth = 1;
        }
        depth < DEPTH
    };
    // SAFETY: the lock that is not taken is for unwinders other than that of the systems named above.
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

    /// Where a thread was interrupted.
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
            // SAFETY: the kernel gives the handler a context, which lives while it runs.
            let interrupted = place(unsafe { &*context.cast::<libc::ucontext_t>() });
            // SAFETY: the address of this thread's `errno`, which what was interrupted may be about to read.
            let errno = unsafe { &mut *libc::__errno_location() };
            let before = *errno;
            keep(interrupted);
            *errno = before;
            let spent = clock::now().saturating_sub(start).as_nanos() as u64;
            SPENT.fetch_add(spent, Ordering::Relaxed);
        }
        AT_WORK.fetch_sub(1, Ordering::SeqCst);
    }

    /// Has the handler called when the timer fires.
    pub(super) fn listen() -> bool {
        // SAFETY: all zeros are an action without flags, with an empty set of signals.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: the handler does what one may do, and has the arguments that its flags say.
        unsafe { libc::sigaction(libc::SIGPROF, &raw const action, ptr::null_mut()) == 0 }
    }

    /// Lets the timer fire after each so many microseconds of the process's time; after none, never.
    pub(super) fn tick(microseconds: u32) {
        let interval = libc::timeval { tv_sec: 0, tv_usec: microseconds.into() };
        let timer = libc::itimerval { it_interval: interval, it_value: interval };
        // SAFETY: reads the structure and keeps nothing of it.
        let set = unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, ptr::null_mut()) };
        debug_assert_eq!(set, 0, "an interval below a second is one");
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod system {
    pub(super) fn listen() -> bool {
        false
    }

    pub(super) fn tick(_microseconds: u32) {}
}
