//! The share of the workers' time that a queue has had, for a fair choice between queues.
//!
//! Each application that waits is entitled to the same time (weighted fair queueing: Demers, Keshav
//! and Shenker, 1989). So a queue's time counts divided by its applications, and the queue with the
//! least comes next.
//!
//! Clients that wait for each answer leave their queue empty for a moment. If a long batch of
//! another queue left in this moment on the last worker, it would take far more than its share. So
//! that worker waits for them a little, as a disk's scheduler does (anticipatory scheduling: Iyer
//! and Druschel, 2001).

use std::time::{Duration, Instant};

/// A batch that takes this long is a long one.
pub(super) const LONG: Duration = Duration::from_micros(500);

/// How long a long batch waits for the next jobs of clients that were just answered.
const EXPECTED_WITHIN: Duration = Duration::from_micros(300);

/// Time that a queue did not use for this long is not saved up.
const FORGOTTEN_AFTER: Duration = Duration::from_millis(10);

/// A queue's share.
#[derive(Debug, Default)]
pub(super) struct Share {
    /// The time of its batches, each divided by the number of applications that waited.
    used: Duration,
    /// The recent number of applications that wait together.
    applications: usize,
    /// The number of its batches that are being computed.
    computing: usize,
    /// The departure of its last batch, and the end of the last one that was computed.
    left: Option<Instant>,
    ended: Option<Instant>,
}

impl Share {
    pub(super) const fn used(&self) -> Duration {
        self.used
    }

    pub(super) const fn computing(&self) -> usize {
        self.computing
    }

    /// Records the first job after a pause; `least` is the least time that a waiting queue used.
    pub(super) fn arrived(&mut self, now: Instant, least: Option<Duration>) {
        let rested = |ended| now.saturating_duration_since(ended) > FORGOTTEN_AFTER;
        if self.computing == 0 && self.ended.is_none_or(rested) {
            self.used = self.used.max(least.unwrap_or_default());
        }
    }

    /// Records a batch that will take `cost`, while this many applications wait.
    pub(super) fn left(&mut self, now: Instant, cost: Duration, applications: usize) {
        // Applications that were just answered do not wait at this moment.
        self.applications = applications.max(self.applications.saturating_sub(1)).max(1);
        self.used += cost / u32::try_from(self.applications).unwrap_or(u32::MAX);
        self.computing += 1;
        self.left = Some(now);
    }

    /// Records that a batch was computed.
    pub(super) fn computed(&mut self, took: Duration) {
        self.computing = self.computing.saturating_sub(1);
        self.ended = self.left.map(|left| left + took);
    }

    /// Returns how long jobs of this queue, which is empty, are still expected.
    pub(super) fn expected(&self, now: Instant) -> Option<Duration> {
        if self.computing > 0 {
            return Some(EXPECTED_WITHIN);
        }
        let since = now.saturating_duration_since(self.ended?);
        EXPECTED_WITHIN.checked_sub(since).filter(|rest| !rest.is_zero())
    }
}
