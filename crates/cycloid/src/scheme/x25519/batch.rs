//! Batches of X25519 operations, eight side by side while enough jobs remain.

use core::fmt;

use super::{Error, PrivateKey, SharedSecret};
use crate::machine::lanes::{Backend, LANES};
use crate::machine::{ct, stack};
use crate::math::curve::edwards::{Scalar, UOfBase, each};
use crate::math::curve::montgomery::{Factors, multiply_each};
use crate::scheme::{little_endian, stack_use};

/// One operation of a batch, and its outcome once it has run.
pub struct Job<'a> {
    key: &'a PrivateKey,
    peer: Option<&'a [u8; 32]>,
    result: &'a mut [u8; 32],
    outcome: Result<(), Error>,
}

/// Prints nothing secret.
impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x25519::Job({:?})", self.outcome)
    }
}

impl<'a> Job<'a> {
    /// Creates a job that runs [`PrivateKey::agree`]. The caller wipes `shared`.
    pub const fn agree(key: &'a PrivateKey, peer: &'a [u8; 32], shared: &'a mut [u8; 32]) -> Self {
        Self { key, peer: Some(peer), result: shared, outcome: Err(Error::NotDone) }
    }

    /// Creates a job that runs [`PrivateKey::public_key`].
    pub const fn public_key(key: &'a PrivateKey, public: &'a mut [u8; 32]) -> Self {
        Self { key, peer: None, result: public, outcome: Err(Error::NotDone) }
    }

    /// Returns the outcome.
    ///
    /// # Errors
    /// Those of the single operation; [`Error::NotDone`] before the job has run in a batch.
    pub const fn outcome(&self) -> Result<(), Error> {
        self.outcome
    }
}

/// Runs all jobs. Each gets the same [outcome](Job::outcome) as by itself, independent of the
/// others.
///
/// Agreements run eight at a time, and so do public keys, in any order of jobs. The remaining ones
/// run side by side or one by one, whichever is faster. Time depends on which jobs are refused, and
/// on no secret value.
///
/// ```
/// use cycloid::scheme::x25519::{self, Job, PrivateKey};
///
/// let key = PrivateKey::generate(&mut getrandom::SysRng)?;
///
/// // Sixteen clients have sent their public keys. One of them is not honest.
/// let mut peers = [key.public_key(); 16];
/// peers[5] = [0; 32];
/// let mut shared = [[0; 32]; 16];
/// let mut pairs = peers.iter().zip(&mut shared);
/// let mut jobs = [(); 16].map(|()| {
///     let (peer, shared) = pairs.next().expect("there are as many");
///     Job::agree(&key, peer, shared)
/// });
/// x25519::run_batch(&mut jobs);
/// for (i, job) in jobs.iter().enumerate() {
///     let expected = if i == 5 { Err(x25519::Error::SharedSecret) } else { Ok(()) };
///     assert_eq!(job.outcome(), expected);
/// }
/// # Ok::<(), x25519::Error>(())
/// ```
pub fn run_batch(jobs: &mut [Job<'_>]) {
    run_batch_with(Backend::best(), jobs);
}

/// Like [`run_batch`], on a backend chosen by the caller; with `None`, one by one.
fn run_batch_with(backend: Option<Backend>, jobs: &mut [Job<'_>]) {
    let mut agreements = jobs.iter_mut().filter(|job| job.peer.is_some());
    while let Some(jobs) = next_jobs(&mut agreements) {
        stack::clean(stack_use::X25519_BATCH, || agree(backend, jobs));
    }
    let mut public_keys = jobs.iter_mut().filter(|job| job.peer.is_none());
    while let Some(jobs) = next_jobs(&mut public_keys) {
        stack::clean(stack_use::X25519_BATCH, || public_key(backend, jobs));
    }
}

/// Up to eight jobs that run side by side, filled from the front.
type Jobs<'j, 'a> = [Option<&'j mut Job<'a>>; LANES];

/// Returns the next jobs, if any are left.
fn next_jobs<'j, 'a: 'j>(jobs: &mut impl Iterator<Item = &'j mut Job<'a>>) -> Option<Jobs<'j, 'a>> {
    let next: Jobs<'j, 'a> = core::array::from_fn(|_| jobs.next());
    next[0].is_some().then_some(next)
}

fn agree(backend: Option<Backend>, mut jobs: Jobs<'_, '_>) {
    let factors: [Factors; LANES] = core::array::from_fn(|i| {
        let factors = jobs[i].as_ref().and_then(|job| Some(job.key.factors(job.peer?)));
        factors.unwrap_or(Factors { number: [0; 4], u: [0; 4] })
    });
    let count = jobs.iter().flatten().count();
    let mut secrets = [[0; 4]; LANES];
    multiply_each(backend, &factors.each_ref()[..count], &mut secrets[..count]);
    for (job, secret) in jobs.iter_mut().flatten().zip(&mut secrets) {
        job.outcome = SharedSecret::new(secret).map(|shared| *job.result = *shared.as_bytes());
        ct::wipe(secret);
    }
}

fn public_key(backend: Option<Backend>, mut jobs: Jobs<'_, '_>) {
    let numbers: [_; LANES] = core::array::from_fn(|i| {
        jobs[i].as_ref().map_or(Scalar::ZERO, |job| job.key.base_number())
    });
    let count = jobs.iter().flatten().count();
    let mut us = [[0; 4]; LANES];
    each::<UOfBase>(backend, &numbers.each_ref()[..count], &mut us[..count]);
    for (job, u) in jobs.iter_mut().flatten().zip(&us) {
        // A public key is sent to the other party.
        ct::mark_public(u);
        *job.result = little_endian::bytes(u);
        job.outcome = Ok(());
    }
}
