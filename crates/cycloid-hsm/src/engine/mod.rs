//! The engine: operations with private keys, gathered by kind into batches of eight.
//!
//! A worker that has nothing to compute reads the sockets; what it reads waits here. A batch leaves when
//! as many of a kind wait as fill it, or when no more are to be expected, or when the oldest has waited
//! for about as long as it would have taken by itself. How many are to be expected is learnt: as many as
//! lately were under way at once. How long batches take is learnt, too: one is made where it takes less
//! time than its jobs one by one, and what would fill a single batch is shared by all workers where that
//! makes it much shorter. So a single client never waits, and many fill the lanes.

mod compute;
#[cfg(test)]
mod faults;
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

/// With fewer jobs than this, one at a time is faster than side by side, unless it was measured.
const WORTH_A_BATCH: usize = 3;

/// Of so many times, what seems to take longer is done once, to learn whether that is still so.
const AGAIN: u32 = 64;

/// Jobs that wait at most; then clients are told to come again.
const CAPACITY: usize = 4096;

/// What waits, and what is under way.
#[derive(Debug, Default)]
pub struct Engine {
    queues: Mutex<BTreeMap<Kind, Queue>>,
    closed: AtomicBool,
    /// Threads that take batches; 0 stands for one.
    workers: usize,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Job>,
    /// Jobs in batches that are being computed.
    computing: usize,
    /// How many were under way at once, lately.
    concurrency: usize,
    /// How long so many take together, in nanoseconds; measured, 0 before.
    took: [u64; LANES + 1],
    /// Counts what left, up to [`AGAIN`].
    departures: u32,
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

    /// How long so many take, together or one by one; none where that is not known.
    fn cost(&self, count: usize) -> Option<u64> {
        let one_by_one = (self.took[1] > 0).then_some(self.took[1] * count as u64);
        match self.took[count] {
            0 if count < WORTH_A_BATCH => one_by_one,
            0 => None,
            together => Some(one_by_one.map_or(together, |alone| alone.min(together))),
        }
    }

    /// How many jobs a batch is to have: as many as lately were under way at once, or the part of them
    /// that is each worker's, if that takes a third less time. A batch has its price: the fewer stand in it,
    /// the more each of them takes of the processor. What is not known is tried; `otherwise`, what seems
    /// worse is.
    fn fill(&self, workers: usize, otherwise: bool) -> usize {
        let whole = self.concurrency.clamp(1, LANES);
        let share = self.concurrency.div_ceil(workers).clamp(1, LANES);
        let shared = match (self.cost(share), self.cost(whole)) {
            (_, None) => false,
            (None, _) => true,
            (Some(share), Some(whole)) => 3 * share <= 2 * whole,
        };
        if shared != otherwise { share } else { whole }
    }

    /// Whether so many take less time together than one by one.
    fn pays(&self, count: usize) -> bool {
        match (self.took[1], self.took[count]) {
            (0, _) | (_, 0) => count >= WORTH_A_BATCH,
            (alone, together) => together < alone * count as u64,
        }
    }

    /// How many jobs are to leave now, or for how long to wait.
    fn due(
        &mut self,
        kind: Kind,
        now: Instant,
        patient: bool,
        workers: usize,
    ) -> Result<usize, Duration> {
        let otherwise = (self.departures + 1).is_multiple_of(AGAIN);
        let fill = self.fill(workers, otherwise);
        let wanted = if self.pays(fill) { fill } else { 1 };
        let expected = self.concurrency.min(wanted + self.computing);
        let alone = self.took[1].min(MOST_PATIENT);
        let window = Duration::from_nanos(if alone == 0 { kind.usual() } else { alone });
        let waited = now.saturating_duration_since(self.waiting[0].since);
        if self.waiting.len() < wanted && patient && self.under_way() < expected {
            if let Some(rest) = window.checked_sub(waited).filter(|rest| !rest.is_zero()) {
                return Err(rest);
            }
            // They did not come: expect fewer.
            self.concurrency -= 1;
        }
        let count = self.waiting.len().min(fill);
        self.departures = (self.departures + 1) % AGAIN;
        let otherwise = otherwise && count >= WORTH_A_BATCH;
        Ok(if self.pays(count) != otherwise { count } else { 1 })
    }

    /// Notes how long so many took together.
    fn learn(&mut self, count: usize, took: Duration) {
        let Some(known) = self.took.get_mut(count) else { return };
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        // What is more than usual is mostly that others had the processor.
        *known = match *known {
            0 => took,
            known if took < known => known.midpoint(took),
            known => (7 * known + took.min(2 * known)) / 8,
        };
    }
}

impl Engine {
    /// An engine from which so many threads take batches.
    pub fn new(workers: usize) -> Self {
        Self { workers, ..Self::default() }
    }

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
            match queue.due(kind, now, patient, self.workers.max(1)) {
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
            queue.learn(count, took);
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
