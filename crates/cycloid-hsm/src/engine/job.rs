//! Jobs: one operation with a private key, and the callback for its outcome.
//!
//! A job's type says what it computes: its key, its input and its outcome belong to one
//! [`Operation`]. The callback stays in the job from submission to answer, so no answer is ever
//! matched to a job by its position.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::workspace::Workspace;
use crate::key::Curve;
use crate::spans::{self, Span};
use crate::{Code, Error, Result};

/// The number of lanes of a vector, and of jobs in most batches.
const LANES: usize = 8;

/// The name of a queue: what its jobs compute, with which type of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// RSA private-key operations, with moduli of this many bits.
    Rsa(usize),
    /// Finite-field Diffie-Hellman, with primes of at most this many bits.
    Dh(usize),
    /// ECDSA.
    Ecdsa(Curve),
    /// Ed25519.
    Ed25519,
    /// Ed448.
    Ed448,
    /// ECDH, X25519.
    Agree(Curve),
    /// BLS12-381.
    Bls,
}

impl Kind {
    /// Returns the assumed time of a single job in nanoseconds, until it is measured.
    pub(super) const fn usual(self) -> u64 {
        match self {
            Self::Rsa(bits) => (bits as u64).pow(3) / 15_000,
            Self::Dh(bits) => (bits as u64).pow(2) / 8,
            Self::Ecdsa(Curve::P256) | Self::Ed25519 => 80_000,
            Self::Ecdsa(_) => 300_000,
            Self::Agree(_) => 100_000,
            Self::Ed448 | Self::Bls => 1_000_000,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa(bits) => write!(f, "rsa-{bits}"),
            Self::Dh(bits) => write!(f, "dh-{bits}"),
            Self::Ecdsa(curve) => write!(f, "ecdsa-{}", curve.name()),
            Self::Ed25519 => f.write_str("ed25519"),
            Self::Ed448 => f.write_str("ed448"),
            Self::Agree(curve) => write!(f, "ecdh-{}", curve.name()),
            Self::Bls => f.write_str("bls12-381"),
        }
    }
}

/// An operation that is computed in batches: its types, and how.
pub(crate) trait Operation: Sized + 'static {
    /// The private key.
    type Key: Send + Sync;
    /// The message, digest, ciphertext or peer's key.
    type Input: Send;
    /// The verified result.
    type Output: Send;

    /// Returns the maximum number of jobs in a batch; more would share nothing with each other.
    fn most() -> usize {
        LANES
    }

    /// Computes a batch: sets the outcome of each job. A job that it leaves without one answers
    /// with an error.
    fn compute(workspace: &mut Workspace, jobs: &mut [Job<Self>]);

    /// Encodes an outcome for a client.
    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>>;
}

/// The result in bytes, which is secret for decryption and key agreement.
pub(crate) type Outcome = Result<Zeroizing<Vec<u8>>>;

type Reply<O> = Box<dyn FnOnce(Result<<O as Operation>::Output>) + Send>;

/// One operation. When it is dropped it answers: with its outcome or, without one, with an error.
pub(crate) struct Job<O: Operation> {
    pub(super) key: Arc<O::Key>,
    pub(super) input: O::Input,
    /// The time of submission.
    pub(super) since: Instant,
    /// The verified result; `None` until the batch is computed.
    pub(super) outcome: Option<Result<O::Output>>,
    reply: Option<Reply<O>>,
}

impl<O: Operation> Job<O> {
    /// Creates a job; `reply` is called exactly once, whatever happens.
    pub(super) fn new(
        key: Arc<O::Key>,
        input: O::Input,
        since: Instant,
        reply: impl FnOnce(Result<O::Output>) + Send + 'static,
    ) -> Self {
        Self { key, input, since, outcome: None, reply: Some(Box::new(reply)) }
    }

    /// Answers with an error.
    pub(super) fn refuse(mut self, error: Error) {
        self.outcome = Some(Err(error));
    }
}

impl<O: Operation> Drop for Job<O> {
    fn drop(&mut self) {
        let outcome = self.outcome.take();
        let outcome = outcome
            .unwrap_or_else(|| Err(Code::DEVICE_ERROR.because("the computation was interrupted")));
        if let Some(reply) = self.reply.take() {
            // A panic, which would be a defect, ends only this answer, not the neighbours'.
            let _ = catch_unwind(AssertUnwindSafe(|| reply(outcome)));
        }
    }
}

/// Jobs that leave their queue together, whatever their operation.
pub(crate) trait Batch: Send {
    /// Returns the name of the queue.
    fn kind(&self) -> Kind;

    /// Returns the number of jobs.
    fn count(&self) -> usize;

    /// Returns the time that it is expected to take.
    fn expected(&self) -> Duration;

    /// Returns the sum of the jobs' times in the queue.
    fn waited(&self, now: Instant) -> Duration;

    /// Computes all jobs, and answers each. `answered` gets each job's time since its submission. A
    /// panic, which would be a defect, ends only this batch.
    fn run(self: Box<Self>, workspace: &mut Workspace, answered: &mut dyn FnMut(Duration));
}

/// Jobs of one queue.
pub(super) struct Jobs<O: Operation> {
    pub(super) kind: Kind,
    pub(super) jobs: Vec<Job<O>>,
    pub(super) expected: Duration,
}

impl<O: Operation> Batch for Jobs<O> {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn count(&self) -> usize {
        self.jobs.len()
    }

    fn expected(&self) -> Duration {
        self.expected
    }

    fn waited(&self, now: Instant) -> Duration {
        self.jobs.iter().map(|job| now.saturating_duration_since(job.since)).sum()
    }

    fn run(mut self: Box<Self>, workspace: &mut Workspace, answered: &mut dyn FnMut(Duration)) {
        let compute = AssertUnwindSafe(|| O::compute(workspace, &mut self.jobs));
        if catch_unwind(compute).is_err() {
            workspace.clear();
        }
        let _span = spans::enter(Span::Reply);
        for job in self.jobs {
            answered(job.since.elapsed());
            drop(job);
        }
    }
}
