//! The client and server programs around the protocol core and the data path. Nothing here blocks:
//! each part exposes file descriptors and deadlines for the control thread's `poll`, and returns
//! events.

mod alarm;
pub mod client;
pub mod clock;
mod context;
mod failure;
mod handshake_thread;
pub mod helper;
pub mod hooks;
pub mod host;
mod keys;
pub mod log;
pub mod management;
pub mod metrics;
mod names;
pub mod notify;
mod pkcs11;
pub mod pool;
pub mod privileges;
mod rehearsal;
mod reports;
pub mod server;
mod set_up;
pub mod settings;
pub mod signals;
pub mod static_tunnel;
pub mod status;
pub mod words;

pub use failure::Failure;
pub use keys::Person;
pub use rehearsal::rehearse;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

use crate::net::data_path::Counters;
use crate::proto::Now;
use crate::proto::tunnel::Traffic;

/// The warning about a peer that compresses without permission.
const COMPRESSES: &str = "the peer compresses packets, which are dropped: turn compression off there, \
                          or set allow-compression asym here";

/// The machine's clocks, as the protocol core needs them. Time goes on while the machine sleeps, as
/// it does for the peer.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Duration,
    /// The time that the machine has slept since it booted, as far as known.
    slept: Duration,
}

/// A shorter sleep goes unnoticed: the two clocks are not read at the same moment.
const SHORTEST_SLEEP: Duration = Duration::from_secs(1);

impl Clock {
    /// Starts the clock.
    pub fn start() -> Self {
        let [started, awake] = clocks();
        Self { started, slept: started.saturating_sub(awake) }
    }

    /// Returns the current time.
    pub fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Now { monotonic: self.elapsed(), unix }
    }

    /// Returns the time left until a deadline.
    pub fn until(&self, deadline: Duration) -> Duration {
        deadline.saturating_sub(self.elapsed())
    }

    /// Returns how long the machine has slept since the last call, if it has.
    pub fn take_sleep(&mut self) -> Option<Duration> {
        self.note_clocks(clocks())
    }

    fn note_clocks(&mut self, [all, awake]: [Duration; 2]) -> Option<Duration> {
        let slept = all.saturating_sub(awake);
        let asleep = slept.saturating_sub(self.slept);
        (asleep >= SHORTEST_SLEEP).then(|| {
            self.slept = slept;
            asleep
        })
    }

    fn elapsed(&self) -> Duration {
        clocks()[0].saturating_sub(self.started)
    }
}

/// Returns the time since the machine booted, with and without the time it has slept.
fn clocks() -> [Duration; 2] {
    [ClockId::Boottime, ClockId::Monotonic].map(|clock| {
        let time = clock_gettime(clock);
        let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
        Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), nanoseconds)
    })
}

/// Fills a buffer with random bytes from the system.
///
/// # Panics
/// If the system has no random numbers, since there is no safe way to continue.
pub fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system gives random numbers");
}

/// Converts the data path's counters for the core.
fn traffic(counters: Counters) -> Traffic {
    Traffic {
        received_packets: counters.received_packets,
        received_bytes: counters.received_bytes,
        sent_packets: counters.sent_packets,
        sent_bytes: counters.sent_bytes,
        inner_bytes: counters.sent_inner_bytes + counters.received_inner_bytes,
        received_ago: counters.received_ago.unwrap_or_default(),
        sent_ago: counters.sent_ago.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_noticed_once() {
        let seconds = Duration::from_secs;
        let mut clock = Clock { started: seconds(1000), slept: seconds(400) };
        assert_eq!(clock.note_clocks([seconds(1100), seconds(700)]), None);
        assert_eq!(clock.note_clocks([seconds(1500), seconds(800)]), Some(seconds(300)));
        assert_eq!(clock.note_clocks([seconds(1501), seconds(801)]), None);
        // A difference between the two readings.
        assert_eq!(
            clock.note_clocks([seconds(1502), seconds(802) - Duration::from_millis(5)]),
            None
        );
    }
}
