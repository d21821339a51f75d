//! The engine: queues operations with private keys by kind, and releases them in batches of eight.
//!
//! A worker with nothing to compute reads the sockets, and queues the requests here. A batch leaves
//! when it is full, when no more jobs are expected, or when the oldest job has waited for about as
//! long as it would take alone. The engine learns the number of jobs to expect: the recent number
//! of concurrent jobs. It also learns how long batches take: jobs are batched if that is faster
//! than one by one, and the jobs of a single batch are split among all workers if that is much
//! faster. So a single client never waits, and many clients fill the lanes.

mod compute;
#[cfg(test)]
mod faults;
mod job;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use compute::{Arena, Compute, encode_pkcs1v15, library_hash, variant};
pub(crate) use job::{Job, Kind, Outcome, Work};

use crate::Code;

/// The number of lanes in a batch.
pub(crate) const LANES: usize = 8;

/// Fewer jobs than this are computed one at a time until measurements show that a batch is faster.
const WORTH_A_BATCH: usize = 3;

/// One in this many departures uses the seemingly slower way, to re-measure it.
const AGAIN: u32 = 64;

/// The maximum number of queued jobs; beyond it, requests are refused.
const CAPACITY: usize = 4096;

/// The queued jobs, and those in progress.
#[derive(Debug, Default)]
pub struct Engine {
    queues: Mutex<BTreeMap<Kind, Queue>>,
    closed: AtomicBool,
    /// The number of threads that take batches; 0 counts as one.
    workers: usize,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Job>,
    /// The number of jobs in batches that are being computed.
    computing: usize,
    /// The recent number of concurrent jobs.
    concurrency: usize,
    /// The measured time in nanoseconds of a batch, by its number of jobs; 0 until measured.
    took: [u64; LANES + 1],
    /// Counts departures modulo [`AGAIN`].
    departures: u32,
}

/// A worker's next action.
#[derive(Debug)]
pub enum Next {
    /// Compute these jobs, all of one kind.
    Batch(Kind, Vec<Job>),
    /// Nothing is ready; ask again after this time at the latest.
    Wait(Option<Duration>),
}

impl Queue {
    fn under_way(&self) -> usize {
        self.waiting.len() + self.computing
    }

    /// Returns the time of `count` jobs, as a batch or one by one, whichever is shorter; `None` if
    /// unknown.
    fn cost(&self, count: usize) -> Option<u64> {
        let one_by_one = (self.took[1] > 0).then_some(self.took[1] * count as u64);
        match self.took[count] {
            0 if count < WORTH_A_BATCH => one_by_one,
            0 => None,
            together => Some(one_by_one.map_or(together, |alone| alone.min(together))),
        }
    }

    /// Returns the size of a batch: the recent number of concurrent jobs or, if that takes a third
    /// less time, each worker's share of them. Smaller batches cost more processor time per job. An
    /// unknown time is measured by trying; `otherwise` selects the seemingly worse choice.
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

    /// Returns whether `count` jobs take less time as a batch than one by one.
    fn pays(&self, count: usize) -> bool {
        match (self.took[1], self.took[count]) {
            (0, _) | (_, 0) => count >= WORTH_A_BATCH,
            (alone, together) => together < alone * count as u64,
        }
    }

    /// Returns the number of jobs to release now, or how long to wait.
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
            // The expected jobs did not arrive, so expect fewer.
            self.concurrency -= 1;
        }
        let count = self.waiting.len().min(fill);
        self.departures = (self.departures + 1) % AGAIN;
        let otherwise = otherwise && count >= WORTH_A_BATCH;
        Ok(if self.pays(count) != otherwise { count } else { 1 })
    }

    /// Records the time of a batch of `count` jobs.
    fn learn(&mut self, count: usize, took: Duration) {
        let Some(known) = self.took.get_mut(count) else { return };
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        // An unusually long time mostly means that others had the processor.
        *known = match *known {
            0 => took,
            known if took < known => known.midpoint(took),
            known => (7 * known + took.min(2 * known)) / 8,
        };
    }
}

impl Engine {
    /// Creates an engine for this number of worker threads.
    pub fn new(workers: usize) -> Self {
        Self { workers, ..Self::default() }
    }

    fn queues(&self) -> MutexGuard<'_, BTreeMap<Kind, Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job. A refused job gets its outcome at once.
    pub fn submit(&self, job: Job) {
        if self.closed.load(Ordering::Relaxed) {
            return job.finish(Err(Code::FUNCTION_CANCELED.because("the daemon is stopping")));
        }
        let mut queues = self.queues();
        let queue = queues.entry(job.kind).or_default();
        if queue.waiting.len() >= CAPACITY {
            drop(queues);
            return job.finish(Err(Code::DEVICE_MEMORY.because("too many queued requests")));
        }
        queue.waiting.push_back(job);
        queue.concurrency = queue.concurrency.max(queue.under_way());
    }

    /// Returns the next action. The queue with the oldest job comes first.
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

    /// Records that a batch of `count` jobs was computed, and how long it took.
    pub fn computed(&self, kind: Kind, count: usize, took: Duration) {
        if let Some(queue) = self.queues().get_mut(&kind) {
            queue.computing = queue.computing.saturating_sub(count);
            queue.learn(count, took);
        }
    }

    /// Returns the number of queued jobs of each kind.
    pub fn depths(&self) -> Vec<(Kind, usize)> {
        self.queues().iter().map(|(kind, queue)| (*kind, queue.waiting.len())).collect()
    }

    /// Returns whether no job is queued.
    pub fn is_idle(&self) -> bool {
        self.queues().values().all(|queue| queue.waiting.is_empty())
    }

    /// Refuses further jobs. Queued jobs are still computed, without waiting for others.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

/// The maximum time in nanoseconds that a job waits for others, however long it takes alone.
const MOST_PATIENT: u64 = 20_000_000;

#[cfg(test)]
mod tests;
