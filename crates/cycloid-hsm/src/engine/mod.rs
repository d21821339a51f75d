//! The engine: queues operations with private keys by kind, and releases them in batches of eight, or
//! of sixteen ECDSA signatures without vectors.
//!
//! A worker with nothing to compute reads the sockets, and queues the requests here. A batch leaves
//! when it is full, when no more jobs are expected, or when the oldest job has waited for about as
//! long as it would take alone. The engine learns the number of jobs to expect: the recent number
//! of concurrent jobs. It also learns how long batches take: jobs are batched if that is faster
//! than one by one, and the jobs of a single batch are split among all workers if that is much
//! faster. So a single client never waits, and many clients fill the lanes.
//!
//! Applications share the workers' time fairly: within a queue they take [turns], and between
//! queues their [share] decides.

mod diffie_hellman;
mod ed448;
#[cfg(test)]
mod fairness;
#[cfg(test)]
mod faults;
mod job;
#[cfg(test)]
mod model;
mod operation;
mod pace;
mod queue;
mod share;
#[cfg(test)]
pub(crate) mod tests;
mod turns;
mod workspace;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use job::{Batch, Kind, Outcome};
pub(crate) use operation::{EdwardsInput, RsaInput, Work, encode_pkcs1v15, library_hash, padded};
pub(crate) use pace::MOST;
pub(crate) use workspace::Workspace;

use crate::Code;
use crate::key::{PrivateKey, PublicKey, with_prime_curves};
use job::{Job, Operation};
use queue::{Line, Queue, Queues};
use share::LONG;

/// Queues an operation where its key belongs.
macro_rules! submit {
    (($engine:expr, $by:expr, $key:expr, $work:expr, $since:expr, $done:expr)
        $($curve:ident $field:ident),*) => {
        match ($key, $work) {
            (PrivateKey::Rsa(key), Work::Rsa(input)) => {
                let bits = key.bits();
                $engine.queue($by, |queues| queues.rsa(bits), key, input, $since, $done);
            }
            $((PrivateKey::$curve(key), Work::Ecdsa(digest)) => {
                $engine.queue($by, |queues| &mut queues.$field.ecdsa, key, digest, $since, $done);
            })*
            (PrivateKey::Ed25519(key), Work::EdDsa(input)) => {
                $engine.queue($by, |queues| &mut queues.ed25519, key, input, $since, $done);
            }
            (PrivateKey::Ed448(key), Work::EdDsa(input)) => {
                $engine.queue($by, |queues| &mut queues.ed448, key, input, $since, $done);
            }
            (PrivateKey::Dh(key), Work::Dh(peer)) => {
                let bits = key.group_bits();
                $engine.queue($by, |queues| queues.dh(bits), key, peer, $since, $done);
            }
            (PrivateKey::Bls(key), Work::Bls(message)) => {
                $engine.queue($by, |queues| &mut queues.bls, key, message, $since, $done);
            }
            (key, Work::Agree(peer)) if key.agrees_on_curve() => match (key, *peer) {
                $((PrivateKey::$curve(key), PublicKey::$curve(peer)) => {
                    $engine.queue($by, |queues| &mut queues.$field.ecdh, key, peer, $since, $done);
                })*
                (PrivateKey::X25519(key), PublicKey::X25519(peer)) => {
                    $engine.queue($by, |queues| &mut queues.x25519, key, peer, $since, $done);
                }
                _ => $done(Err(
                    Code::PUBLIC_KEY_INVALID.because("the peer's key is on another curve")
                )),
            },
            _ => $done(Err(Code::KEY_TYPE_INCONSISTENT.into())),
        }
    };
}

/// The number of queued jobs of a kind beyond which requests are refused, except of applications
/// with few.
const CAPACITY: usize = 4096;

/// The queued jobs, and those in progress.
#[derive(Default)]
pub struct Engine {
    queues: Mutex<Queues>,
    /// The number of jobs in them.
    queued: AtomicUsize,
    closed: AtomicBool,
    /// The number of threads that take batches; 0 counts as one.
    workers: usize,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.depths()).finish()
    }
}

/// A worker's next action.
pub(crate) enum Next {
    /// Compute these jobs.
    Batch(Box<dyn Batch>),
    /// Nothing is ready; ask again after this time at the latest.
    Wait(Option<Duration>),
}

impl Engine {
    /// Creates an engine for this number of worker threads.
    pub fn new(workers: usize) -> Self {
        Self { workers, ..Self::default() }
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an operation for an application; `done` is called exactly once. An operation that
    /// does not suit the key is refused at once.
    pub(crate) fn submit(
        &self,
        application: u64,
        key: PrivateKey,
        work: Work,
        since: Instant,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) {
        self.submit_boxed(application, key, work, since, Box::new(done));
    }

    /// Queues an operation. Compiled once, not for each caller: it has a case for every operation.
    fn submit_boxed(
        &self,
        application: u64,
        key: PrivateKey,
        work: Work,
        since: Instant,
        done: Box<dyn FnOnce(Outcome) + Send>,
    ) {
        with_prime_curves!(submit!(self, application, key, work, since, done));
    }

    /// Queues a job in its operation's queue. A refused job answers at once.
    fn queue<O: Operation>(
        &self,
        application: u64,
        queue: impl Fn(&mut Queues) -> &mut Queue<O>,
        key: Arc<O::Key>,
        input: O::Input,
        since: Instant,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) {
        let job = Job::<O>::new(key, input, since, |outcome| done(outcome.map(O::to_bytes)));
        if self.closed.load(Ordering::Relaxed) {
            return job.refuse(Code::FUNCTION_CANCELED.because("the daemon is stopping"));
        }
        let mut queues = self.queues();
        let least = match queue(&mut queues).is_empty() {
            true => queues.least(),
            false => None,
        };
        let queue = queue(&mut queues);
        if !queue.has_room(application, CAPACITY) {
            drop(queues);
            return job.refuse(Code::DEVICE_MEMORY.because("too many queued requests"));
        }
        queue.push(application, job, least);
        self.queued.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the next action. The queue whose applications have had the least time comes first.
    pub(crate) fn next(&self, now: Instant) -> Next {
        if self.is_idle() {
            return Next::Wait(None);
        }
        let patient = !self.closed.load(Ordering::Relaxed);
        let workers = self.workers.max(1);
        let mut queues = self.queues();
        let mut order: Vec<((Duration, Instant), &mut dyn Line)> = Vec::new();
        // Queues whose clients were just answered: the time used, and until when to expect jobs.
        let mut expected: Vec<(Duration, Duration)> = Vec::new();
        let mut long = 0;
        for line in queues.all() {
            if line.share().computing() > 0 && line.cost() >= LONG {
                long += line.share().computing();
            }
            let used = line.share().used();
            match line.oldest() {
                Some(oldest) => order.push(((used, oldest), line)),
                None => expected.extend(line.share().expected(now).map(|rest| (used, rest))),
            }
        }
        order.sort_by_key(|(key, _)| *key);
        let mut gathering: Option<Duration> = None;
        let mut wait: Option<Duration> = None;
        let mut wait_for = |rest| wait = Some(wait.map_or(rest, |wait: Duration| wait.min(rest)));
        for ((used, _), line) in order {
            // The last worker without a long batch waits for jobs of clients with less time, and
            // for the companions of jobs that come before.
            if patient && long + 1 >= workers && line.cost() >= LONG {
                let behind = expected.iter().filter(|(other, _)| *other < used);
                let rest = behind.map(|(_, rest)| *rest).chain(gathering).min();
                if let Some(rest) = rest {
                    wait_for(rest);
                    continue;
                }
            }
            match line.release(now, patient, workers) {
                Some(Ok(batch)) => {
                    self.queued.fetch_sub(batch.count(), Ordering::SeqCst);
                    return Next::Batch(batch);
                }
                Some(Err(rest)) => {
                    gathering = Some(gathering.map_or(rest, |other| rest.min(other)));
                    wait_for(rest);
                }
                None => {}
            }
        }
        Next::Wait(wait)
    }

    /// Records that a batch of `count` jobs was computed, and how long it took.
    pub fn computed(&self, kind: Kind, count: usize, took: Duration) {
        if let Some(line) = self.queues().all().find(|line| line.kind() == kind) {
            line.pace().computed(count, took);
            line.share().computed(took);
        }
    }

    /// Returns the number of queued jobs of each kind.
    pub fn depths(&self) -> Vec<(Kind, usize)> {
        self.queues().all().map(|line| (line.kind(), line.depth())).collect()
    }

    /// Returns whether no job is queued.
    pub fn is_idle(&self) -> bool {
        self.queued.load(Ordering::SeqCst) == 0
    }

    /// Refuses further jobs. Queued jobs are still computed, without waiting for others.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}
