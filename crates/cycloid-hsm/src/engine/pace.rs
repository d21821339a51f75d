//! Decides when jobs leave their queue, and how many at once.

use std::time::{Duration, Instant};

use super::job::Kind;

/// The maximum number of jobs in a batch of any operation.
pub(crate) const MOST: usize = 16;

/// Fewer jobs than this are computed one at a time until measurements show that a batch is faster.
const WORTH_A_BATCH: usize = 3;

/// One in this many departures uses the seemingly slower way, to re-measure it.
pub(super) const AGAIN: u32 = 64;

/// The maximum time in nanoseconds that a job waits for others, however long it takes alone.
const MOST_PATIENT: u64 = 20_000_000;

/// A queue's measurements of its jobs.
#[derive(Debug)]
pub(super) struct Pace {
    /// The maximum number of jobs in a batch.
    most: usize,
    /// The number of jobs in batches that are being computed.
    computing: usize,
    /// The recent number of concurrent jobs.
    concurrency: usize,
    /// The measured time in nanoseconds of a batch, by its number of jobs; 0 until measured.
    took: [u64; MOST + 1],
    /// Counts departures modulo [`AGAIN`].
    departures: u32,
}

/// The jobs that wait in a queue.
pub(super) struct Waiting {
    pub(super) count: usize,
    pub(super) oldest: Instant,
}

impl Pace {
    /// Creates the pace of a queue whose batches have at most `most` jobs.
    pub(super) fn new(most: usize) -> Self {
        assert!(most <= MOST, "times of larger batches have no room");
        Self { most, computing: 0, concurrency: 0, took: [0; MOST + 1], departures: 0 }
    }

    /// Returns the maximum number of jobs in a batch.
    pub(super) const fn most(&self) -> usize {
        self.most
    }

    /// Records a job's arrival, with which `waiting` jobs are queued.
    pub(super) fn arrived(&mut self, waiting: usize) {
        self.concurrency = self.concurrency.max(waiting + self.computing);
    }

    /// Records the departure of `count` jobs.
    pub(super) const fn left(&mut self, count: usize) {
        self.computing += count;
    }

    /// Records that a batch of `count` jobs was computed, and how long it took.
    pub(super) fn computed(&mut self, count: usize, took: Duration) {
        self.computing = self.computing.saturating_sub(count);
        let Some(known) = self.took.get_mut(count) else { return };
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        // An unusually long time mostly means that others had the processor.
        *known = match *known {
            0 => took,
            known if took < known => known.midpoint(took),
            known => (7 * known + took.min(2 * known)) / 8,
        };
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

    /// Returns the expected time of `count` jobs together.
    pub(super) fn expected(&self, kind: Kind, count: usize) -> Duration {
        let unknown = || kind.usual() * count as u64;
        Duration::from_nanos(self.cost(count).unwrap_or_else(unknown))
    }

    /// Returns the size of a batch: the recent number of concurrent jobs or, if that takes a third
    /// less time, each worker's share of them. Smaller batches cost more processor time per job. An
    /// unknown time is measured by trying; `otherwise` selects the seemingly worse choice.
    fn fill(&self, workers: usize, otherwise: bool) -> usize {
        let whole = self.concurrency.clamp(1, self.most);
        let share = self.concurrency.div_ceil(workers).clamp(1, self.most);
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
    pub(super) fn due(
        &mut self,
        kind: Kind,
        waiting: &Waiting,
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
        let waited = now.saturating_duration_since(waiting.oldest);
        if waiting.count < wanted && patient && waiting.count + self.computing < expected {
            if let Some(rest) = window.checked_sub(waited).filter(|rest| !rest.is_zero()) {
                return Err(rest);
            }
            // The expected jobs did not arrive, so expect fewer.
            self.concurrency -= 1;
        }
        let count = waiting.count.min(fill);
        self.departures = (self.departures + 1) % AGAIN;
        let otherwise = otherwise && count >= WORTH_A_BATCH;
        Ok(if self.pays(count) != otherwise { count } else { 1 })
    }
}
