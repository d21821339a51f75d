//! The queues: one for each operation and type of key, so jobs of different types cannot mix.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cycloid::scheme::ec::{
    BrainpoolP256, BrainpoolP384, BrainpoolP512, P192, P224, P256, P384, P521, Secp256k1,
};

use super::diffie_hellman::Dh;
use super::ed448::Ed448;
use super::job::{Batch, Job, Jobs, Kind, Operation};
use super::operation::{Bls, Ecdh, Ecdsa, Ed25519, Rsa, X25519};
use super::pace::{Pace, Waiting};
use super::share::Share;
use super::turns::Turns;
use crate::key::Curve;

/// The jobs that wait for one operation with one type of key.
pub(super) struct Queue<O: Operation> {
    kind: Kind,
    waiting: Turns<Job<O>>,
    pace: Pace,
    share: Share,
}

impl<O: Operation> Queue<O> {
    fn new(kind: Kind) -> Self {
        let (waiting, pace, share) = (Turns::default(), Pace::new(O::most()), Share::default());
        Self { kind, waiting, pace, share }
    }

    pub(super) fn has_room(&self, application: u64, capacity: usize) -> bool {
        self.waiting.has_room(application, capacity)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.waiting.len() == 0
    }

    /// Queues a job. `least` is the least time that a waiting queue used, which only the first job
    /// of an empty queue needs.
    pub(super) fn push(&mut self, application: u64, job: Job<O>, least: Option<Duration>) {
        if self.is_empty() {
            self.share.arrived(job.since, least);
        }
        self.waiting.push(application, job);
        self.pace.arrived(self.waiting.len());
    }
}

/// A queue, whatever its operation.
pub(super) trait Line {
    fn kind(&self) -> Kind;

    /// Returns the number of jobs that wait.
    fn depth(&self) -> usize;

    /// Returns the submission time of the next job.
    fn oldest(&self) -> Option<Instant>;

    /// Releases a batch, or returns how long to wait for one; `None` if no job waits.
    fn release(
        &mut self,
        now: Instant,
        patient: bool,
        workers: usize,
    ) -> Option<Result<Box<dyn Batch>, Duration>>;

    /// Returns the expected time of its next batch.
    fn cost(&self) -> Duration;

    fn pace(&mut self) -> &mut Pace;

    fn share(&mut self) -> &mut Share;
}

impl<O: Operation> Line for Queue<O> {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn depth(&self) -> usize {
        self.waiting.len()
    }

    fn oldest(&self) -> Option<Instant> {
        Some(self.waiting.first()?.since)
    }

    fn release(
        &mut self,
        now: Instant,
        patient: bool,
        workers: usize,
    ) -> Option<Result<Box<dyn Batch>, Duration>> {
        let waiting = Waiting { count: self.depth(), oldest: self.oldest()? };
        let due = self.pace.due(self.kind, &waiting, now, patient, workers);
        Some(due.map(|count| {
            let expected = self.pace.expected(self.kind, count);
            self.share.left(now, expected, self.waiting.applications());
            self.pace.left(count);
            let jobs = self.waiting.take(count);
            Box::new(Jobs { kind: self.kind, jobs, expected }) as Box<dyn Batch>
        }))
    }

    fn cost(&self) -> Duration {
        self.pace.expected(self.kind, self.depth().clamp(1, self.pace.most()))
    }

    fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }

    fn share(&mut self) -> &mut Share {
        &mut self.share
    }
}

/// The queues of keys on one prime curve.
pub(super) struct CurveQueues<C: cycloid::scheme::ec::Curve> {
    pub(super) ecdsa: Queue<Ecdsa<C>>,
    pub(super) ecdh: Queue<Ecdh<C>>,
}

impl<C: cycloid::scheme::ec::Curve> CurveQueues<C> {
    fn new(curve: Curve) -> Self {
        Self { ecdsa: Queue::new(Kind::Ecdsa(curve)), ecdh: Queue::new(Kind::Agree(curve)) }
    }
}

/// All queues.
pub(super) struct Queues {
    /// By the length of the modulus in bits.
    rsa: BTreeMap<usize, Queue<Rsa>>,
    /// By the length of the prime in bits, rounded up.
    dh: BTreeMap<usize, Queue<Dh>>,
    pub(super) p192: CurveQueues<P192>,
    pub(super) p224: CurveQueues<P224>,
    pub(super) p256: CurveQueues<P256>,
    pub(super) p384: CurveQueues<P384>,
    pub(super) p521: CurveQueues<P521>,
    pub(super) secp256k1: CurveQueues<Secp256k1>,
    pub(super) brainpool_p256: CurveQueues<BrainpoolP256>,
    pub(super) brainpool_p384: CurveQueues<BrainpoolP384>,
    pub(super) brainpool_p512: CurveQueues<BrainpoolP512>,
    pub(super) ed25519: Queue<Ed25519>,
    pub(super) ed448: Queue<Ed448>,
    pub(super) x25519: Queue<X25519>,
    pub(super) bls: Queue<Bls>,
}

impl Default for Queues {
    fn default() -> Self {
        Self {
            rsa: BTreeMap::new(),
            dh: BTreeMap::new(),
            p192: CurveQueues::new(Curve::P192),
            p224: CurveQueues::new(Curve::P224),
            p256: CurveQueues::new(Curve::P256),
            p384: CurveQueues::new(Curve::P384),
            p521: CurveQueues::new(Curve::P521),
            secp256k1: CurveQueues::new(Curve::Secp256k1),
            brainpool_p256: CurveQueues::new(Curve::BrainpoolP256),
            brainpool_p384: CurveQueues::new(Curve::BrainpoolP384),
            brainpool_p512: CurveQueues::new(Curve::BrainpoolP512),
            ed25519: Queue::new(Kind::Ed25519),
            ed448: Queue::new(Kind::Ed448),
            x25519: Queue::new(Kind::Agree(Curve::X25519)),
            bls: Queue::new(Kind::Bls),
        }
    }
}

impl Queues {
    /// Returns the queue of RSA keys with moduli of `bits` bits.
    pub(super) fn rsa(&mut self, bits: usize) -> &mut Queue<Rsa> {
        self.rsa.entry(bits).or_insert_with(|| Queue::new(Kind::Rsa(bits)))
    }

    /// Returns the queue of Diffie-Hellman keys with primes of `bits` bits. Custom primes have many
    /// lengths, so a queue is for a range of them.
    pub(super) fn dh(&mut self, bits: usize) -> &mut Queue<Dh> {
        let bits = bits.next_multiple_of(1024);
        self.dh.entry(bits).or_insert_with(|| Queue::new(Kind::Dh(bits)))
    }

    /// Returns the least time that a queue with jobs used.
    pub(super) fn least(&mut self) -> Option<Duration> {
        self.all().filter(|line| line.depth() > 0).map(|line| line.share().used()).min()
    }

    /// Returns all queues, ordered by kind.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut dyn Line> {
        let others: [&mut dyn Line; 22] = [
            &mut self.p192.ecdsa,
            &mut self.p224.ecdsa,
            &mut self.p256.ecdsa,
            &mut self.p384.ecdsa,
            &mut self.p521.ecdsa,
            &mut self.secp256k1.ecdsa,
            &mut self.brainpool_p256.ecdsa,
            &mut self.brainpool_p384.ecdsa,
            &mut self.brainpool_p512.ecdsa,
            &mut self.ed25519,
            &mut self.ed448,
            &mut self.p192.ecdh,
            &mut self.p224.ecdh,
            &mut self.p256.ecdh,
            &mut self.p384.ecdh,
            &mut self.p521.ecdh,
            &mut self.secp256k1.ecdh,
            &mut self.brainpool_p256.ecdh,
            &mut self.brainpool_p384.ecdh,
            &mut self.brainpool_p512.ecdh,
            &mut self.x25519,
            &mut self.bls,
        ];
        let rsa = self.rsa.values_mut().map(|queue| queue as &mut dyn Line);
        let dh = self.dh.values_mut().map(|queue| queue as &mut dyn Line);
        rsa.chain(dh).chain(others)
    }
}
