//! Batches of ECDSA signatures and verifications, eight side by side while enough jobs remain.

use core::fmt;

use super::nonce::{Nonces, first_nonces};
use super::{Hash, Signature, multipliers, signature, verified, verify_prepared};
use crate::machine::lanes::{Backend, LANES};
use crate::machine::stack;
use crate::math::curve::{
    AffinePoint, Curve, Scalar, has_x_eight_vartime, has_x_prepared_eight_vartime,
    multiply_base_eight,
};
use crate::scheme::ec::{Error, PreparedPublicKey, PrivateKey, PublicKey};
use crate::scheme::hash::DigestBytes;
use crate::scheme::stack_use;

/// With fewer jobs than this, one by one is faster than eight side by side.
const WORTH_EIGHT: usize = 4;

/// A signing job, and its signature once it has run.
pub struct SignJob<'a, C: Curve> {
    key: &'a PrivateKey<C>,
    hash: Hash,
    digest: Digest<'a>,
    verify: bool,
    outcome: Result<Signature<C>, Error>,
}

enum Digest<'a> {
    Own(DigestBytes),
    Given(&'a [u8]),
}

impl Digest<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(digest) => digest,
            Self::Given(digest) => digest,
        }
    }
}

impl<C: Curve> fmt::Debug for SignJob<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ecdsa::SignJob({:?}, {:?})", self.key, self.outcome)
    }
}

impl<'a, C: Curve> SignJob<'a, C> {
    /// Creates a job that runs [`PrivateKey::sign`].
    pub fn new(key: &'a PrivateKey<C>, hash: Hash, message: &[u8]) -> Self {
        let digest = Digest::Own(hash.digest(&[message]));
        Self { key, hash, digest, verify: false, outcome: Err(Error::NotDone) }
    }

    /// Creates a job that runs [`PrivateKey::sign_prehashed`].
    pub const fn prehashed(key: &'a PrivateKey<C>, hash: Hash, digest: &'a [u8]) -> Self {
        let digest = Digest::Given(digest);
        Self { key, hash, digest, verify: false, outcome: Err(Error::NotDone) }
    }

    /// Verifies the signature before releasing it, as
    /// [`VerifyAfterSign`](crate::scheme::VerifyAfterSign) describes.
    #[must_use]
    pub const fn verify_after_sign(mut self) -> Self {
        self.verify = true;
        self
    }

    /// Returns the signature.
    ///
    /// # Errors
    /// [`Error::NotDone`] before the job has run in a batch; [`Error::Fault`] if the signature was
    /// to be verified and is wrong.
    pub fn outcome(&self) -> Result<Signature<C>, Error> {
        self.outcome.clone()
    }
}

/// Runs all jobs; each gets the same signature as by itself.
///
/// ```
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::ec::{P256, PrivateKey};
/// use cycloid::scheme::ecdsa::{SignJob, sign_batch};
///
/// let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
/// let messages: [&[u8]; 3] = [b"one", b"two", b"three"];
/// let mut jobs = messages.map(|message| SignJob::new(&key, Hash::Sha256, message));
/// sign_batch(&mut jobs);
/// assert_eq!(jobs[1].outcome()?, key.sign(Hash::Sha256, b"two"));
/// # Ok::<(), cycloid::scheme::ec::Error>(())
/// ```
pub fn sign_batch<C: Curve>(jobs: &mut [SignJob<'_, C>]) {
    sign_batch_with(Backend::best(), jobs);
}

/// Like [`sign_batch`], on a backend chosen by the caller; with `None`, one by one.
pub(in super::super) fn sign_batch_with<C: Curve>(
    backend: Option<Backend>,
    jobs: &mut [SignJob<'_, C>],
) {
    for jobs in jobs.chunks_mut(LANES) {
        match backend {
            Some(backend) if jobs.len() >= WORTH_EIGHT => {
                // The rest of the stack holds the jobs' public data.
                let used = stack_use::ecdsa_sign_batch::<C>() - (2 << 10);
                stack::clean(used, || sign_eight(backend, jobs));
            }
            _ => jobs.iter_mut().for_each(|job| {
                job.outcome = Ok(job.key.sign_prehashed(job.hash, job.digest.bytes()));
            }),
        }
        verify_made(backend, jobs);
    }
}

/// Revokes those signatures, of up to eight jobs, that were to be verified and are wrong.
fn verify_made<C: Curve>(backend: Option<Backend>, jobs: &mut [SignJob<'_, C>]) {
    let mut chosen = [0; LANES];
    let mut count = 0;
    for (i, _) in jobs.iter().enumerate().filter(|(_, job)| job.verify) {
        chosen[count] = i;
        count += 1;
    }
    if count == 0 {
        return;
    }
    let mut verifying: [VerifyJob<'_, C>; LANES] = core::array::from_fn(|i| {
        let job = &jobs[chosen[if i < count { i } else { 0 }]];
        let signature = job.outcome.as_ref().expect("it was signed just now");
        VerifyJob::prehashed(job.key.public_key(), job.digest.bytes(), signature)
    });
    verify_batch_with(backend, &mut verifying[..count]);
    let outcomes: [_; LANES] = core::array::from_fn(|i| verifying[i].outcome());
    for (i, outcome) in chosen[..count].iter().zip(outcomes) {
        if outcome.is_err() {
            jobs[*i].outcome = Err(Error::Fault);
        }
    }
}

/// Runs up to eight jobs. The contents of unused lanes are meaningless.
pub(super) fn sign_eight<C: Curve>(backend: Backend, jobs: &mut [SignJob<'_, C>]) {
    let digests: [Scalar<C>; LANES] = core::array::from_fn(|lane| {
        let digest = jobs.get(lane).map(|job| job.digest.bytes());
        Scalar::from_leftmost_bits(digest.unwrap_or(&[]))
    });
    let nonces = nonces(backend, jobs, &digests);
    sign_eight_by(backend, jobs, &digests, nonces);
}

/// Like [`sign_eight`], with given nonces.
pub(super) fn sign_eight_by<C: Curve>(
    backend: Backend,
    jobs: &mut [SignJob<'_, C>],
    digests: &[Scalar<C>; LANES],
    nonces: [Scalar<C>; LANES],
) {
    let points = multiply_base_eight(backend, &nonces);
    let inverses = Scalar::invert_all(&nonces);
    for (lane, job) in jobs.iter_mut().enumerate() {
        let made = points[lane]
            .and_then(|point| signature(job.key.scalar(), &digests[lane], &point, &inverses[lane]));
        // If r or s is 0, the single form starts over and takes the next nonce.
        job.outcome =
            Ok(made.unwrap_or_else(|| job.key.sign_prehashed(job.hash, job.digest.bytes())));
    }
}

/// Generates nonces, side by side if the jobs have the same hash function.
fn nonces<C: Curve>(
    backend: Backend,
    jobs: &[SignJob<'_, C>],
    digests: &[Scalar<C>; LANES],
) -> [Scalar<C>; LANES] {
    let one = Scalar::one();
    if let [first, others @ ..] = jobs
        && others.iter().all(|job| job.hash == first.hash)
    {
        let keys = core::array::from_fn(|lane| jobs.get(lane).map_or(&one, |job| job.key.scalar()));
        return first_nonces(backend, first.hash, keys, digests);
    }
    core::array::from_fn(|lane| match jobs.get(lane) {
        Some(job) => Nonces::new(job.hash, job.key.scalar(), &digests[lane], &[]).next(),
        None => Scalar::one(),
    })
}

/// A verification job, and its outcome once it has run.
pub struct VerifyJob<'a, C: Curve> {
    key: &'a PublicKey<C>,
    /// The multiples of a prepared key's point, or why they are missing.
    multiples: Result<Option<&'a [u64]>, Error>,
    digest: Digest<'a>,
    signature: &'a Signature<C>,
    outcome: Result<(), Error>,
}

impl<C: Curve> fmt::Debug for VerifyJob<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ecdsa::VerifyJob({:?}, {:?})", self.key, self.outcome)
    }
}

impl<'a, C: Curve> VerifyJob<'a, C> {
    /// Creates a job that runs [`PublicKey::verify`].
    pub fn new(
        key: &'a PublicKey<C>,
        hash: Hash,
        message: &[u8],
        signature: &'a Signature<C>,
    ) -> Self {
        let digest = Digest::Own(hash.digest(&[message]));
        Self { key, multiples: Ok(None), digest, signature, outcome: Err(Error::NotDone) }
    }

    /// Creates a job that runs [`PublicKey::verify_prehashed`].
    pub const fn prehashed(
        key: &'a PublicKey<C>,
        digest: &'a [u8],
        signature: &'a Signature<C>,
    ) -> Self {
        let digest = Digest::Given(digest);
        Self { key, multiples: Ok(None), digest, signature, outcome: Err(Error::NotDone) }
    }

    /// Creates a job that runs [`PreparedPublicKey::verify_prehashed`]. It is faster than with the
    /// plain key if all jobs of a group of eight have prepared keys.
    pub fn prepared<M: AsRef<[u64]>>(
        key: &'a PreparedPublicKey<C, M>,
        digest: &'a [u8],
        signature: &'a Signature<C>,
    ) -> Self {
        let multiples = key.multiples().map(Some);
        Self { multiples, ..Self::prehashed(key.public_key(), digest, signature) }
    }

    /// Returns whether the signature is valid.
    ///
    /// # Errors
    /// [`Error::Verification`] if it is invalid; [`Error::NotDone`] before the job has run in a
    /// batch; [`Error::MemoryTooSmall`] if the memory of a prepared key has shrunk.
    pub const fn outcome(&self) -> Result<(), Error> {
        self.outcome
    }
}

/// Runs all jobs; each gets the same outcome as by itself.
pub fn verify_batch<C: Curve>(jobs: &mut [VerifyJob<'_, C>]) {
    verify_batch_with(Backend::best(), jobs);
}

/// Like [`verify_batch`], on a backend chosen by the caller; with `None`, one by one.
pub(in super::super) fn verify_batch_with<C: Curve>(
    backend: Option<Backend>,
    jobs: &mut [VerifyJob<'_, C>],
) {
    for jobs in jobs.chunks_mut(LANES) {
        match backend {
            Some(backend) if jobs.len() >= WORTH_EIGHT => verify_eight(backend, jobs),
            _ => jobs.iter_mut().for_each(|job| {
                let digest = job.digest.bytes();
                job.outcome = match job.multiples {
                    Ok(Some(multiples)) => verify_prepared(multiples, digest, job.signature),
                    Ok(None) => job.key.verify_prehashed(digest, job.signature),
                    Err(error) => Err(error),
                };
            }),
        }
    }
}

/// Runs up to eight jobs. Unused lanes repeat the first one.
pub(super) fn verify_eight<C: Curve>(backend: Backend, jobs: &mut [VerifyJob<'_, C>]) {
    let job = |lane: usize| jobs.get(lane).unwrap_or(&jobs[0]);
    let s: [Scalar<C>; LANES] = core::array::from_fn(|lane| job(lane).signature.s().clone());
    let inverses = Scalar::invert_all(&s);
    let multipliers: [[Scalar<C>; 2]; LANES] = core::array::from_fn(|lane| {
        multipliers(job(lane).digest.bytes(), job(lane).signature, &inverses[lane])
    });
    let [u1, u2] = [0, 1].map(|i| core::array::from_fn(|lane| multipliers[lane][i].clone()));
    let r = core::array::from_fn(|lane| job(lane).signature.r().clone());
    let multiples: [Option<&[u64]>; LANES] =
        core::array::from_fn(|lane| job(lane).multiples.ok().flatten());
    let right = if multiples.iter().all(Option::is_some) {
        let multiples = multiples.map(Option::unwrap_or_default);
        has_x_prepared_eight_vartime(backend, &u1, &u2, &multiples, &r)
    } else {
        let keys: [AffinePoint<C>; LANES] = core::array::from_fn(|lane| *job(lane).key.point());
        has_x_eight_vartime(backend, &u1, &u2, &keys, &r)
    };
    for (job, right) in jobs.iter_mut().zip(right) {
        job.outcome = job.multiples.and_then(|_| verified(right));
    }
}
