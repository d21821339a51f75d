//! Delivers signals as events: a handler records the signal and wakes the control thread's `poll`.
//!
//! Source: openvpn(8), "SIGNALS".

use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::low_level::pipe;
use signal_hook::{SigId, flag, low_level};

/// A signal that controls a VPN program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Restart, and reload keys and certificates.
    Hangup,
    /// Restart, but keep what the `persist-` options name.
    Restart,
    /// Write statistics to the log.
    Statistics,
    /// Stop.
    Terminate,
    /// Stop, from the keyboard.
    Interrupt,
}

/// Each signal with its number and name.
const ALL: [(Signal, i32, &str); 5] = [
    (Signal::Hangup, SIGHUP, "SIGHUP"),
    (Signal::Restart, SIGUSR1, "SIGUSR1"),
    (Signal::Statistics, SIGUSR2, "SIGUSR2"),
    (Signal::Terminate, SIGTERM, "SIGTERM"),
    (Signal::Interrupt, SIGINT, "SIGINT"),
];

impl Signal {
    /// Returns the signal with this name, such as `SIGUSR1`.
    pub fn from_name(name: &str) -> Option<Self> {
        ALL.iter().find(|(_, _, known)| *known == name).map(|(signal, _, _)| *signal)
    }

    /// Returns the signal's name.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(signal, _, _)| *signal == self).map_or("", |(_, _, name)| name)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Signal handlers of this process, installed until drop.
#[derive(Debug)]
pub struct Signals {
    wake: UnixStream,
    came: [Arc<AtomicBool>; ALL.len()],
    handlers: Vec<SigId>,
}

impl Signals {
    /// Installs the handlers.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn new() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let came: [_; ALL.len()] = Default::default();
        let mut signals = Self { wake, came, handlers: Vec::new() };
        for (came, (_, number, _)) in signals.came.iter().zip(ALL) {
            // The flag comes first: it must be set when the wake-up arrives.
            signals.handlers.push(flag::register(number, came.clone())?);
            signals.handlers.push(pipe::register(number, waker.try_clone()?)?);
        }
        Ok(signals)
    }

    /// Returns the signals since the last call, each once.
    pub fn take(&mut self) -> Vec<Signal> {
        let mut bytes = [0; 64];
        while matches!(self.wake.read(&mut bytes), Ok(1..)) {}
        let came = self.came.iter().zip(ALL);
        came.filter(|(came, _)| came.swap(false, Ordering::Relaxed)).map(|(_, all)| all.0).collect()
    }
}

impl AsFd for Signals {
    /// Returns a descriptor that is readable after a signal.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handlers.drain(..).for_each(|handler| {
            low_level::unregister(handler);
        });
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn signals_wake_poll_and_are_reported_once() {
        let mut signals = Signals::new().unwrap();
        let woken = |signals: &Signals| {
            let mut fds = [PollFd::new(signals, PollFlags::IN)];
            poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
        };
        assert!(!woken(&signals));
        for number in [SIGUSR2, SIGHUP, SIGUSR2] {
            low_level::raise(number).unwrap();
        }
        assert!(woken(&signals));
        assert_eq!(signals.take(), [Signal::Hangup, Signal::Statistics]);
        assert!(!woken(&signals));
        assert_eq!(signals.take(), []);
        assert_eq!(Signal::from_name("SIGUSR1"), Some(Signal::Restart));
        assert_eq!(Signal::from_name("SIGKILL"), None);
    }
}
