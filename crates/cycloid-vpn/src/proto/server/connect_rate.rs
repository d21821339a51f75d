//! The limit of new connections, of all clients together (`connect-freq`).

use std::time::Duration;

use crate::proto::{Error, Now};

/// The number of new connections in the current period.
#[derive(Default)]
pub(super) struct ConnectRate {
    since: Duration,
    count: u32,
}

impl ConnectRate {
    /// Counts a connection. Fails if it must not be made.
    pub(super) fn allow(&mut self, now: Now, limit: Option<(u32, Duration)>) -> Result<(), Error> {
        let Some((most, period)) = limit else { return Ok(()) };
        if now.monotonic >= self.since + period {
            *self = Self { since: now.monotonic, count: 0 };
        }
        if self.count >= most {
            return Err(Error::Unexpected("connect-freq: too many connections in a short time"));
        }
        self.count += 1;
        Ok(())
    }
}
