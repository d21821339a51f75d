//! The clock that times operations: on Linux, the processor time of the current thread.
//!
//! This clock stops while other programs have the processor, which causes most of the noise on a
//! busy machine. It can time only what one thread computes.

use std::time::Duration;

pub use here::{NAME, now, of_process};

/// Processor time since an arbitrary fixed moment of the thread.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod here {
    use std::ffi::{c_int, c_long};

    use super::Duration;

    /// The clock's name in the record.
    pub const NAME: &str = "processor time of the thread";

    #[repr(C)]
    struct Timespec {
        seconds: c_long,
        nanoseconds: c_long,
    }

    unsafe extern "C" {
        fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    }

    const CLOCK_THREAD_CPUTIME_ID: c_int = 3;

    /// Returns the current time. Each call costs about 200 ns, because it is a system call.
    pub fn now() -> Duration {
        let mut time = Timespec { seconds: 0, nanoseconds: 0 };
        // SAFETY: the structure has the layout that 64-bit Linux writes for this call.
        let result = unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        assert_eq!(result, 0, "Linux has this clock");
        Duration::new(time.seconds as u64, time.nanoseconds as u32)
    }

    /// Returns the processor time of all threads of a process, or `None` if there is no such
    /// process.
    pub fn of_process(number: u32) -> Option<Duration> {
        let mut time = Timespec { seconds: 0, nanoseconds: 0 };
        // As clock_getcpuclockid(3) computes it: the inverted process ID and the clock's number. No
        // valid process ID is truncated.
        let clock = (!number.cast_signed()).checked_mul(8)? | CPUCLOCK_SCHED;
        // SAFETY: the structure has the layout that 64-bit Linux writes for this call.
        let result = unsafe { clock_gettime(clock, &raw mut time) };
        (result == 0).then(|| Duration::new(time.seconds as u64, time.nanoseconds as u32))
    }

    const CPUCLOCK_SCHED: c_int = 2;
}

/// Time since an arbitrary fixed moment.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod here {
    use std::sync::LazyLock;
    use std::time::Instant;

    use super::Duration;

    /// The clock's name in the record.
    pub const NAME: &str = "time of day";

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    /// Returns the current time.
    pub fn now() -> Duration {
        START.elapsed()
    }

    /// Returns `None`: not available on this system.
    pub fn of_process(_number: u32) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::thread;
    use std::time::Instant;

    #[test]
    fn work_takes_time() {
        let (wall, start) = (Instant::now(), now());
        while now() - start < Duration::from_millis(5) {
            black_box(0);
        }
        assert!(wall.elapsed() >= Duration::from_millis(4));
    }

    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    #[test]
    fn a_process_has_a_clock_of_its_own() {
        let own = || of_process(std::process::id()).unwrap();
        // The order matters: the time between the two readings belongs to the process, too.
        let (process, thread) = (own(), now());
        while now() - thread < Duration::from_millis(5) {
            black_box(0);
        }
        assert!(own() - process >= Duration::from_millis(5));
        assert_eq!(of_process(u32::MAX >> 1), None);
    }

    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    #[test]
    fn sleeping_uses_no_processor_time() {
        // Going to sleep and waking up take some time on a busy machine.
        let slept = |_| {
            let start = now();
            thread::sleep(Duration::from_millis(50));
            now() - start
        };
        assert!((0..20).map(slept).any(|taken| taken < Duration::from_millis(25)));
    }
}
