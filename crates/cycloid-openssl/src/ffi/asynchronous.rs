//! OpenSSL's asynchronous jobs: detecting and pausing one, and the timers that they wait on.

use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::libcrypto::Jobs;

static JOBS: OnceLock<Option<Jobs>> = OnceLock::new();

/// The asynchronous job that runs on this thread.
pub(crate) struct Job {
    jobs: Jobs,
    address: *mut c_void,
}

/// Identifies this module's descriptor within a waiting context, by its address.
static KEY: u8 = 0;

impl Job {
    /// Returns the running job, if there is one. On Windows, where a job waits for a handle instead
    /// of a descriptor, jobs are not paused.
    pub(crate) fn current() -> Option<Self> {
        if cfg!(windows) {
            return None;
        }
        let jobs = (*JOBS.get_or_init(Jobs::load))?;
        // SAFETY: the function is libcrypto's.
        let address = unsafe { (jobs.current)() };
        (!address.is_null()).then_some(Self { jobs, address })
    }

    /// Returns the timer that the program waits on while this job is paused.
    pub(crate) fn timer(&self) -> Option<Arc<Timer>> {
        let key = (&raw const KEY).cast();
        // SAFETY: the functions are libcrypto's, with the job's own context. The context keeps one
        // share of the timer, which `forget` gives back.
        unsafe {
            let context = (self.jobs.wait_context)(self.address);
            if context.is_null() {
                return None;
            }
            let (mut descriptor, mut kept) = (-1, std::ptr::null_mut());
            let found =
                (self.jobs.wait_descriptor)(context, key, &raw mut descriptor, &raw mut kept);
            if found == 1 && !kept.is_null() {
                let kept = kept.cast_const().cast::<Timer>();
                Arc::increment_strong_count(kept);
                return Some(Arc::from_raw(kept));
            }
            let timer = Arc::new(Timer::new()?);
            let descriptor = timer.0;
            let kept = Arc::into_raw(Arc::clone(&timer)).cast_mut().cast();
            let set = (self.jobs.set_wait_descriptor)(context, key, descriptor, kept, Some(forget));
            if set != 1 {
                drop(Arc::from_raw(kept.cast_const().cast::<Timer>()));
                return None;
            }
            Some(timer)
        }
    }

    /// Pauses the job until the program resumes it, or not at all where pausing is blocked.
    pub(crate) fn pause(&self) {
        // SAFETY: the function is libcrypto's. No lock and no borrow is held.
        unsafe { (self.jobs.pause)() };
    }
}

unsafe extern "C" fn forget(_: *mut c_void, _: *const c_void, _: c_int, timer: *mut c_void) {
    // SAFETY: the share that `Job::timer` gave to the context.
    unsafe { drop(Arc::from_raw(timer.cast_const().cast::<Timer>())) };
}

/// A timer whose descriptor becomes readable when it expires. Closed with its last share, which
/// may be a task's: so no task ever sets a descriptor that is another file's by now.
pub(crate) struct Timer(c_int);

impl Timer {
    #[cfg(target_os = "linux")]
    fn new() -> Option<Self> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: the call touches no memory.
        let descriptor = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
        (descriptor >= 0).then_some(Self(descriptor))
    }

    #[cfg(not(target_os = "linux"))]
    fn new() -> Option<Self> {
        None
    }

    /// Lets the timer expire after a time.
    pub(crate) fn arm(&self, after: Duration) {
        self.set(after.max(Duration::from_nanos(1)));
    }

    /// Lets the timer expire at once.
    pub(crate) fn expire(&self) {
        self.set(Duration::from_nanos(1));
    }

    /// Stops the timer, and makes the descriptor unreadable.
    pub(crate) fn disarm(&self) {
        self.set(Duration::ZERO);
    }

    #[cfg(target_os = "linux")]
    fn set(&self, after: Duration) {
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let value = libc::timespec {
            tv_sec: after.as_secs() as libc::time_t,
            tv_nsec: after.subsec_nanos().into(),
        };
        let setting = libc::itimerspec { it_interval: zero, it_value: value };
        if self.0 >= 0 {
            // SAFETY: the descriptor is this timer's, and `setting` lives during the call.
            unsafe {
                libc::timerfd_settime(self.0, 0, &raw const setting, std::ptr::null_mut());
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn set(&self, _: Duration) {}
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.0 >= 0 {
            // SAFETY: the descriptor is this timer's alone.
            unsafe { libc::close(self.0) };
        }
    }
}
