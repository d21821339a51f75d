//! The clock that operations are timed with: on Linux, the processor time of this thread.
//!
//! It stands still while other programs have the processor, which on a busy machine is what makes
//! most of the noise. What one thread computes, and nothing else, can be timed with it.

use std::time::Duration;

pub use here::{NAME, now, of_process};

/// Time since some moment that stays the same for a thread.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod here {
    use std::ffi::{c_int, c_long};

    use super::Duration;

    /// What the clock counts, for the record.
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

    /// The time now. Reading it takes some 200 ns, since it is a call of the kernel.
    pub fn now() -> Duration {
        let mut time = Timespec { seconds: 0, nanoseconds: 0 };
        // SAFETY: the structure is what 64-bit Linux writes for this call.
        let result = unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        assert_eq!(result, 0, "Linux has this clock");
        Duration::new(time.seconds as u64, time.nanoseconds as u32)
    }

    /// The processor time that a process has taken, all its threads together; none if there is no such
    /// process.
    pub fn of_process(number: u32) -> Option<Duration> {
        let mut time = Timespec { seconds: 0, nanoseconds: 0 };
        // As clock_getcpuclockid(3) makes it: the process inverted, and which of its clocks. No
        // process has a number that this would cut.
        let clock = (!number.cast_signed()).checked_mul(8)? | CPUCLOCK_SCHED;
        // SAFETY: the structure is what 64-bit Linux writes for this call.
        let result = unsafe { clock_gettime(clock, &raw mut time) };
        (result == 0).then(|| Duration::new(time.seconds as u64, time.nanoseconds as u32))
    }

    const CPUCLOCK_SCHED: c_int = 2;
}

/// Time since some moment that stays the same.
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod here {
    use std::sync::LazyLock;
    use std::time::Instant;

    use super::Duration;

    /// What the clock counts, for the record.
    pub const NAME: &str = "time of day";

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);

    /// The time now.
    pub fn now() -> Duration {
        START.elapsed()
    }

    /// Not known here.
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
        // In this order: what passes between the two readings belongs to the process too.
        let (process, thread) = (own(), now());
        while now() - thread < Duration::from_millis(5) {
            black_box(0);
        }
        assert!(own() - process >= Duration::from_millis(5));
        assert_eq!(of_process(u32::MAX >> 1), None);
    }

    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    #[test]
    fn sleep_takes_none() {
        // Going to sleep and waking take some on a busy machine.
        let slept = |_| {
            let start = now();
            thread::sleep(Duration::from_millis(50));
            now() - start
        };
        assert!((0..20).map(slept).any(|taken| taken < Duration::from_millis(25)));
    }
}
