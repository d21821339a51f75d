//! A timer that also counts the time while the machine sleeps: a deadline that passes meanwhile is
//! due as soon as the machine wakes up. The timeout of `poll` would go on as if nothing had
//! happened.
//!
//! Source: timerfd_create(2), `CLOCK_BOOTTIME`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

/// The timer; its descriptor is readable once the time is over.
#[derive(Debug)]
pub(super) struct Alarm(OwnedFd);

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self(timerfd_create(TimerfdClockId::Boottime, flags)?))
    }

    /// Sets the time from now on. Replaces an earlier one.
    pub(super) fn set(&self, left: Duration) {
        // Zero would turn the timer off.
        let left = left.clamp(Duration::from_nanos(1), Duration::from_secs(3600));
        let it_value =
            Timespec { tv_sec: left.as_secs() as _, tv_nsec: left.subsec_nanos().into() };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let time = Itimerspec { it_interval, it_value };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &time).expect("a valid time");
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};

    #[test]
    fn an_alarm_goes_off_after_its_time_and_again_when_set_again() {
        let alarm = Alarm::new().unwrap();
        let goes_off = |seconds| {
            let limit = Timespec { tv_sec: seconds, tv_nsec: 0 };
            poll(&mut [PollFd::new(&alarm, PollFlags::IN)], Some(&limit)).unwrap() == 1
        };
        assert!(!goes_off(0));
        for left in [Duration::ZERO, Duration::from_millis(3)] {
            alarm.set(left);
            assert!(goes_off(60));
        }
        alarm.set(Duration::from_secs(60));
        assert!(!goes_off(0));
    }
}
