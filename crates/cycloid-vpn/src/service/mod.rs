//! The client and server programs around the protocol core and the data path. Nothing here blocks:
//! each part exposes file descriptors and deadlines for the control thread's `poll`, and returns
//! events.

pub mod client;
pub mod clock;
mod context;
mod failure;
pub mod hooks;
pub mod host;
mod keys;
pub mod log;
pub mod management;
pub mod metrics;
pub mod notify;
pub mod pool;
pub mod privileges;
mod rehearsal;
pub mod server;
pub mod settings;
pub mod signals;
pub mod status;
pub mod words;

pub use failure::Failure;
pub use keys::Person;
pub use rehearsal::rehearse;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::net::data_path::Counters;
use crate::proto::Now;
use crate::proto::tunnel::Traffic;

/// The warning about a peer that compresses without permission.
const COMPRESSES: &str = "the peer compresses packets, which are dropped: turn compression off there, \
                          or set allow-compression asym here";

/// The machine's clocks, as the protocol core needs them.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Starts the clock.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the current time.
    pub fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Now { monotonic: self.0.elapsed(), unix }
    }

    /// Returns the time left until a deadline.
    pub fn until(&self, deadline: Duration) -> Duration {
        deadline.saturating_sub(self.0.elapsed())
    }
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
    }
}
