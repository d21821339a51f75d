//! The client and the server as programs: what is around the protocol and the path of packets. Nothing
//! here blocks: each part has file descriptors and deadlines for the control thread's `poll`, and gives
//! back what happened.

pub mod client;
pub mod clock;
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
pub mod server;
pub mod settings;
pub mod signals;
pub mod status;
mod surroundings;
pub mod words;

pub use failure::Failure;
pub use keys::Person;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::net::data_path::Counters;
use crate::proto::Now;
use crate::proto::tunnel::Traffic;

/// The machine's clocks, in the form that the protocol core wants.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Begins to count.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// This moment.
    pub fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Now { monotonic: self.0.elapsed(), unix }
    }

    /// How long it is until then.
    pub fn until(&self, deadline: Duration) -> Duration {
        deadline.saturating_sub(self.0.elapsed())
    }
}

/// The system's random numbers.
///
/// # Panics
/// If there are none, as there is nothing safe to go on with.
pub fn random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system gives random numbers");
}

/// What the data path has counted, in the form that the core wants.
fn traffic(counters: Counters) -> Traffic {
    Traffic {
        received_packets: counters.received_packets,
        received_bytes: counters.received_bytes,
        sent_packets: counters.sent_packets,
        sent_bytes: counters.sent_bytes,
        inner_bytes: counters.sent_inner_bytes + counters.received_inner_bytes,
    }
}
