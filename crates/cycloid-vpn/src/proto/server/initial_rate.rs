//! The limit of answered initial packets.

use std::time::Duration;

use crate::proto::{Error, Now};

/// The number of answered initial packets in the current period.
#[derive(Default)]
pub(super) struct InitialRate {
    since: Duration,
    count: u32,
}

impl InitialRate {
    pub(super) fn allow(
        &mut self,
        now: Now,
        (limit, period): (u32, Duration),
    ) -> Result<(), Error> {
        if now.monotonic >= self.since + period {
            *self = Self { since: now.monotonic, count: 0 };
        }
        if self.count >= limit {
            return Err(Error::Unexpected("too many initial packets in a short time"));
        }
        self.count += 1;
        Ok(())
    }
}
