//! The engine: operations with private keys, gathered by kind into batches of eight.
//!
//! A worker that has nothing to compute reads the sockets; what it reads waits here. A batch leaves when
//! eight of a kind wait, or when no more are to be expected, or when the oldest has waited for about as
//! long as it would have taken by itself. How many are to be expected is learnt: as many as lately were
//! under way at once. So a single client never waits, and many fill the lanes.

mod compute;
mod job;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use compute::{Arena, Compute, encode_pkcs1v15, variant};
pub(crate) use job::{Job, Kind, Outcome, Work};

use crate::error::Code;

/// Lanes of a batch.
pub(crate) const LANES: usize = 8;

/// With fewer jobs than this, one at a time is faster than side by side.
const WORTH_A_BATCH: usize = 3;

/// Jobs that wait at most; then clients are told to come again.
const CAPACITY: usize = 4096;

/// What waits, and what is under way.
#[derive(Debug, Default)]
pub struct Engine {
    queues: Mutex<BTreeMap<Kind, Queue>>,
    closed: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Job>,
    /// Jobs in batches that are being computed.
    computing: usize,
    /// How many were under way at once, lately.
    concurrency: usize,
    /// How long one takes by itself, in nanoseconds; measured.
    alone: u64,
}

/// What a worker is to do.
#[derive(Debug)]
pub enum Next {
    /// Compute these, all of one kind.
    Batch(Kind, Vec<Job>),
    /// Nothing is ready; look again after this time at the latest.
    Wait(Option<Duration>),
}

impl Queue {
    fn under_way(&self) -> usize {
        self.waiting.len() + self.computing
    }

    /// How many jobs are to leave now, or for how long to wait.
    fn due(&mut self, kind: Kind, now: Instant, patient: bool) -> Result<usize, Duration> {
        let waiting = self.waiting.len();
        let full = waiting >= LANES;
        let expected = self.concurrency.min(LANES + self.computing);
        let window = Duration::from_nanos(if self.alone == 0 { kind.usual() } else { self.alone });
        let waited = now.saturating_duration_since(self.waiting[0].since);
        if !full && patient && self.under_way() < expected {
            if let Some(rest) = window.checked_sub(waited).filter(|rest| !rest.is_zero()) {
                return Err(rest);
            }
            // They did not come: expect fewer.
            self.concurrency -= 1;
        }
        Ok(if waiting < WORTH_A_BATCH { 1 } else { waiting.min(LANES) })
    }
}

impl Engine {
    fn queues(&self) -> MutexGuard<'_, BTreeMap<Kind, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job. One that cannot be taken has its outcome at once.
    pub fn submit(&self, job: Job) {
        if self.closed.load(Ordering::Relaxed) {
            return job.finish(Err(Code::FUNCTION_CANCELED.because("the daemon is stopping")));
        }
        let mut queues = self.queues();
        let queue = queues.entry(job.kind).or_default();
        if queue.waiting.len() >= CAPACITY {
            drop(queues);
            return job.finish(Err(Code::DEVICE_MEMORY.because("too many requests are waiting")));
        }
        queue.waiting.push_back(job);
        queue.concurrency = queue.concurrency.max(queue.under_way());
    }

    /// What to do next. The queue whose first job has waited longest comes first.
    pub fn next(&self, now: Instant) -> Next {
        let patient = !self.closed.load(Ordering::Relaxed);
        let mut queues = self.queues();
        let mut order: Vec<(Instant, Kind)> = queues
            .iter()
            .filter_map(|(kind, queue)| Some((queue.waiting.front()?.since, *kind)))
            .collect();
        order.sort_unstable();
        let mut wait: Option<Duration> = None;
        for (_, kind) in order {
            let queue = queues.get_mut(&kind).expect("it was there a moment ago");
            match queue.due(kind, now, patient) {
                Ok(count) => {
                    queue.computing += count;
                    return Next::Batch(kind, queue.waiting.drain(..count).collect());
                }
                Err(rest) => wait = Some(wait.map_or(rest, |wait| wait.min(rest))),
            }
        }
        Next::Wait(wait)
    }

    /// Notes that a batch of `count` jobs was computed, and how long it took.
    pub fn computed(&self, kind: Kind, count: usize, took: Duration) {
        if let Some(queue) = self.queues().get_mut(&kind) {
            queue.computing = queue.computing.saturating_sub(count);
            if count == 1 {
                let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).min(MOST_PATIENT);
                queue.alone = if queue.alone == 0 { took } else { (7 * queue.alone + took) / 8 };
            }
        }
    }

    /// How many jobs of each kind wait.
    pub fn depths(&self) -> Vec<(Kind, usize)> {
        self.queues().iter().map(|(kind, queue)| (*kind, queue.waiting.len())).collect()
    }

    /// Whether any job waits.
    pub fn is_idle(&self) -> bool {
        self.queues().values().all(|queue| queue.waiting.is_empty())
    }

    /// Takes no more; what waits is still computed, and nothing waits for company.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

/// Nanoseconds that a job waits for company at most, however long it takes by itself.
const MOST_PATIENT: u64 = 20_000_000;

#[cfg(test)]
mod tests;
