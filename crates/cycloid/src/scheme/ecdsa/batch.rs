//! Batches of ECDSA signatures and verifications, eight side by side while enough jobs remain.
//!
//! On a processor without vectors, and for fewer jobs, up to sixteen signatures are made one after
//! the other and share their inversions, and those that are to be verified are verified together
//! ([`combined`]).

mod combined;

use core::fmt;

use super::nonce::{Nonces, first_nonces};
use super::{Hash, Signature, multipliers, signature, verified, verify_prepared};
use crate::machine::lanes::{Backend, LANES};
use crate::machine::stack;
use crate::math::curve::{
    AffinePoint, Curve, Scalar, TOGETHER, has_x_eight_vartime, has_x_prepared_eight_vartime,
    multiply_base_each, multiply_base_eight,
};
use crate::scheme::ec::{Error, PreparedPublicKey, PrivateKey, PublicKey};
use crate::scheme::hash::DigestBytes;
use crate::scheme::hmac::Algorithm;
use crate::scheme::stack_use;

/// With fewer jobs than this, one by one is faster than eight side by side.
const WORTH_EIGHT: usize = 4;

/// One operation of a batch, and its outcome once it has run.
pub struct Job<'a, C: Curve>(Operation<'a, C>);

enum Operation<'a, C: Curve> {
    Sign(Signing<'a, C>),
    Verify(Verifying<'a, C>),
}

pub(super) struct Signing<'a, C: Curve> {
    key: &'a PrivateKey<C>,
    hash: Hash,
    digest: Digest<'a>,
    random: &'a [u8],
    verify: Option<Verifier<'a, C>>,
    outcome: Result<Signature<C>, Error>,
}

/// The public key that verifies a signature before its release.
#[derive(Clone, Copy)]
struct Verifier<'a, C: Curve> {
    key: &'a PublicKey<C>,
    /// As of [`Verifying`].
    multiples: Result<Option<&'a [u64]>, Error>,
}

pub(super) struct Verifying<'a, C: Curve> {
    key: &'a PublicKey<C>,
    /// The multiples of a prepared key's point, or why they are missing.
    multiples: Result<Option<&'a [u64]>, Error>,
    digest: Digest<'a>,
    signature: &'a Signature<C>,
    outcome: Result<(), Error>,
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

/// Prints nothing secret.
impl<C: Curve> fmt::Debug for Job<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ecdsa::Job({:?})", self.outcome())
    }
}

impl<'a, C: Curve> Job<'a, C> {
    /// Creates a job that runs [`PrivateKey::sign`].
    pub fn sign(key: &'a PrivateKey<C>, hash: Hash, message: &[u8]) -> Self {
        Self::signing(key, hash, Digest::Own(hash.digest(&[message])), &[])
    }

    /// Creates a job that runs [`PrivateKey::sign_prehashed`].
    pub const fn sign_prehashed(key: &'a PrivateKey<C>, hash: Hash, digest: &'a [u8]) -> Self {
        Self::signing(key, hash, Digest::Given(digest), &[])
    }

    /// Creates a job that runs [`PrivateKey::sign_hedged`].
    pub const fn sign_hedged(
        key: &'a PrivateKey<C>,
        hash: Hash,
        digest: &'a [u8],
        random: &'a [u8],
    ) -> Self {
        Self::signing(key, hash, Digest::Given(digest), random)
    }

    const fn signing(
        key: &'a PrivateKey<C>,
        hash: Hash,
        digest: Digest<'a>,
        random: &'a [u8],
    ) -> Self {
        let outcome = Err(Error::NotDone);
        Self(Operation::Sign(Signing { key, hash, digest, random, verify: None, outcome }))
    }

    /// Creates a job that runs [`PublicKey::verify`].
    pub fn verify(
        key: &'a PublicKey<C>,
        hash: Hash,
        message: &[u8],
        signature: &'a Signature<C>,
    ) -> Self {
        Self::verifying(key, Ok(None), Digest::Own(hash.digest(&[message])), signature)
    }

    /// Creates a job that runs [`PublicKey::verify_prehashed`].
    pub const fn verify_prehashed(
        key: &'a PublicKey<C>,
        digest: &'a [u8],
        signature: &'a Signature<C>,
    ) -> Self {
        Self::verifying(key, Ok(None), Digest::Given(digest), signature)
    }

    /// Creates a job that runs [`PreparedPublicKey::verify_prehashed`]. It is faster than with the
    /// plain key if all jobs of a group of eight have prepared keys.
    pub fn verify_prepared<M: AsRef<[u64]>>(
        key: &'a PreparedPublicKey<C, M>,
        digest: &'a [u8],
        signature: &'a Signature<C>,
    ) -> Self {
        let multiples = key.multiples().map(Some);
        Self::verifying(key.public_key(), multiples, Digest::Given(digest), signature)
    }

    /// Creates a job that runs [`PreparedPublicKey::verify`], like
    /// [`verify_prepared`](Self::verify_prepared) for the message itself.
    pub fn verify_message_prepared<M: AsRef<[u64]>>(
        key: &'a PreparedPublicKey<C, M>,
        hash: Hash,
        message: &[u8],
        signature: &'a Signature<C>,
    ) -> Self {
        let (multiples, digest) = (key.multiples().map(Some), hash.digest(&[message]));
        Self::verifying(key.public_key(), multiples, Digest::Own(digest), signature)
    }

    const fn verifying(
        key: &'a PublicKey<C>,
        multiples: Result<Option<&'a [u64]>, Error>,
        digest: Digest<'a>,
        signature: &'a Signature<C>,
    ) -> Self {
        let outcome = Err(Error::NotDone);
        Self(Operation::Verify(Verifying { key, multiples, digest, signature, outcome }))
    }

    /// Verifies a signature before releasing it, as
    /// [`VerifyAfterSign`](crate::scheme::VerifyAfterSign) describes. Does not affect verification
    /// jobs.
    #[must_use]
    pub const fn verify_after_sign(mut self) -> Self {
        if let Operation::Sign(signing) = &mut self.0 {
            signing.verify = Some(Verifier { key: signing.key.public_key(), multiples: Ok(None) });
        }
        self
    }

    /// Like [`verify_after_sign`](Self::verify_after_sign), with a prepared key, which is faster.
    /// The outcome is [`Error::Fault`] too if `key` is not the private key's, or if its memory has
    /// shrunk.
    #[must_use]
    pub fn verify_after_sign_with<M: AsRef<[u64]>>(
        mut self,
        key: &'a PreparedPublicKey<C, M>,
    ) -> Self {
        if let Operation::Sign(signing) = &mut self.0 {
            let multiples = key.multiples().map(Some);
            signing.verify = Some(Verifier { key: key.public_key(), multiples });
        }
        self
    }

    /// Returns the outcome.
    ///
    /// # Errors
    /// [`Error::NotDone`] before the job has run in a batch. When signing, [`Error::Fault`] if the
    /// signature was to be verified and is wrong. When verifying, [`Error::Verification`] if the
    /// signature is invalid, and [`Error::MemoryTooSmall`] if the memory of a prepared key has
    /// shrunk.
    pub fn outcome(&self) -> Result<(), Error> {
        match &self.0 {
            Operation::Sign(signing) => {
                signing.outcome.as_ref().map(|_| ()).map_err(|error| *error)
            }
            Operation::Verify(verifying) => verifying.outcome,
        }
    }

    /// Returns the signature, made or verified.
    ///
    /// # Errors
    /// Those of the [outcome](Self::outcome).
    pub fn signature(&self) -> Result<Signature<C>, Error> {
        match &self.0 {
            Operation::Sign(signing) => signing.outcome.clone(),
            Operation::Verify(verifying) => verifying.outcome.map(|()| verifying.signature.clone()),
        }
    }
}

/// Runs all jobs. Each gets the same [outcome](Job::outcome) as by itself, independent of the
/// others.
///
/// Signatures are made eight at a time and verified eight at a time, in any order of jobs. Fewer
/// than four remaining ones, and all on a processor without vectors, are computed one after the
/// other, but up to sixteen share inversions; those that are to be verified before release are
/// verified together ([`VerifyAfterSign`](crate::scheme::VerifyAfterSign)). Time depends on no
/// secret value.
///
/// ```
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::ec::{P256, PrivateKey};
/// use cycloid::scheme::ecdsa::{self, Job};
///
/// let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
/// let messages: [&[u8]; 3] = [b"one", b"two", b"three"];
/// let mut jobs = messages.map(|message| Job::sign(&key, Hash::Sha256, message));
/// ecdsa::run_batch(&mut jobs);
/// assert_eq!(jobs[1].signature()?, key.sign(Hash::Sha256, b"two"));
/// # Ok::<(), cycloid::scheme::ec::Error>(())
/// ```
pub fn run_batch<C: Curve>(jobs: &mut [Job<'_, C>]) {
    run_batch_with(C::lanes(), jobs);
}

/// Returns the number of signatures that share costs in [`run_batch`]: 8 side by side, or 16 one
/// after the other on a curve or a processor without vectors. More jobs take no less time each.
pub fn batch_size<C: Curve>() -> usize {
    match C::lanes() {
        Some(_) => LANES,
        None => TOGETHER,
    }
}

/// Like [`run_batch`], on a backend chosen by the caller; with `None`, one by one.
pub(in super::super) fn run_batch_with<C: Curve>(
    backend: Option<Backend>,
    jobs: &mut [Job<'_, C>],
) {
    match backend {
        Some(backend) => each_group(signings(jobs), |eight| sign_up_to_eight(backend, eight)),
        None => each_group(signings(jobs), |group| sign_together(None, group)),
    }
    each_group(verifyings(jobs), |eight| verify_up_to_eight(backend, eight));
}

fn each_group<'j, T: 'j, const N: usize>(
    mut jobs: impl Iterator<Item = &'j mut T>,
    run: impl Fn(&mut Group<'_, T, N>),
) {
    while let Some(mut group) = next_group(&mut jobs) {
        run(&mut group);
    }
}

/// Returns the signing jobs.
pub(super) fn signings<'j, 'a, C: Curve>(
    jobs: &'j mut [Job<'a, C>],
) -> impl Iterator<Item = &'j mut Signing<'a, C>> {
    jobs.iter_mut().filter_map(|job| match &mut job.0 {
        Operation::Sign(signing) => Some(signing),
        Operation::Verify(_) => None,
    })
}

/// Returns the verification jobs.
pub(super) fn verifyings<'j, 'a, C: Curve>(
    jobs: &'j mut [Job<'a, C>],
) -> impl Iterator<Item = &'j mut Verifying<'a, C>> {
    jobs.iter_mut().filter_map(|job| match &mut job.0 {
        Operation::Sign(_) => None,
        Operation::Verify(verifying) => Some(verifying),
    })
}

/// Up to `N` jobs of one kind, filled from the front.
type Group<'j, T, const N: usize> = [Option<&'j mut T>; N];

type Eight<'j, T> = Group<'j, T, LANES>;

/// Returns the next jobs, if any are left.
pub(super) fn next_group<'j, T, const N: usize>(
    jobs: &mut impl Iterator<Item = &'j mut T>,
) -> Option<Group<'j, T, N>> {
    let next: Group<'j, T, N> = core::array::from_fn(|_| jobs.next());
    next[0].is_some().then_some(next)
}

/// Returns the backend if enough lanes are in use.
fn side_by_side<T>(backend: Option<Backend>, jobs: &Eight<'_, T>) -> Option<Backend> {
    backend.filter(|_| jobs[WORTH_EIGHT - 1].is_some())
}

/// The stack that signing may use. The rest of a batch's stack holds the jobs' public data.
const fn signing_stack<C: Curve>() -> usize {
    stack_use::ecdsa_sign_batch::<C>() - (4 << 10)
}

fn sign_up_to_eight<C: Curve>(backend: Backend, jobs: &mut Eight<'_, Signing<'_, C>>) {
    if side_by_side(Some(backend), jobs).is_some() {
        stack::clean(signing_stack::<C>(), || sign_eight(backend, jobs));
        return verify_made(Some(backend), jobs);
    }
    if let Some(mut few) = next_group(&mut jobs.iter_mut().flatten().map(|job| &mut **job)) {
        sign_together(Some(backend), &mut few);
    }
}

/// Runs jobs one after the other, which share what they can.
fn sign_together<C: Curve>(
    backend: Option<Backend>,
    jobs: &mut Group<'_, Signing<'_, C>, TOGETHER>,
) {
    if jobs[1].is_some() {
        let points = stack::clean(signing_stack::<C>(), || sign_each(jobs));
        if combined::all_are_right(jobs, &points) {
            return;
        }
    } else {
        jobs.iter_mut().flatten().for_each(|job| job.outcome = Ok(job.alone()));
    }
    verify_made(backend, jobs);
}

impl<C: Curve> Signing<'_, C> {
    /// Returns the signature as of a single operation.
    fn alone(&self) -> Signature<C> {
        self.key.sign_hedged(self.hash, self.digest.bytes(), self.random)
    }
}

/// Revokes those signatures that were to be verified and are wrong.
// By itself, so that its arrays take no stack while signatures are made.
#[inline(never)]
fn verify_made<C: Curve>(backend: Option<Backend>, jobs: &mut [Option<&mut Signing<'_, C>>]) {
    jobs.chunks_mut(LANES).for_each(|eight| verify_eight_made(backend, eight));
}

fn verify_eight_made<C: Curve>(backend: Option<Backend>, jobs: &mut [Option<&mut Signing<'_, C>>]) {
    let mut verifying: [Option<Verifying<'_, C>>; LANES] = core::array::from_fn(|lane| {
        let job = jobs.get(lane)?.as_deref()?;
        let Verifier { key, multiples } = job.verify?;
        Some(Verifying {
            key,
            multiples,
            digest: Digest::Given(job.digest.bytes()),
            signature: job.outcome.as_ref().expect("it was signed just now"),
            outcome: Err(Error::NotDone),
        })
    });
    if let Some(mut eight) = next_group(&mut verifying.iter_mut().flatten()) {
        verify_up_to_eight(backend, &mut eight);
    }
    let wrong = verifying.map(|job| job.is_some_and(|job| job.outcome.is_err()));
    for (job, _) in jobs.iter_mut().flatten().zip(wrong).filter(|(_, wrong)| *wrong) {
        job.outcome = Err(Error::Fault);
    }
}

/// Runs up to eight jobs. The contents of unused lanes are meaningless.
pub(super) fn sign_eight<C: Curve>(backend: Backend, jobs: &mut Eight<'_, Signing<'_, C>>) {
    let digests = digests(jobs);
    let nonces = nonces(backend, jobs, &digests);
    sign_eight_by(backend, jobs, &digests, nonces);
}

/// Like [`sign_eight`], with given nonces.
pub(super) fn sign_eight_by<C: Curve>(
    backend: Backend,
    jobs: &mut Eight<'_, Signing<'_, C>>,
    digests: &[Scalar<C>; LANES],
    nonces: [Scalar<C>; LANES],
) {
    sign_at(jobs, digests, &nonces, &multiply_base_eight(backend, &nonces));
}

/// Runs up to eight jobs one after the other, with common inversions. Returns the points of the
/// nonces, as far as they are those of the signatures.
fn sign_each<C: Curve>(jobs: &mut Group<'_, Signing<'_, C>, TOGETHER>) -> Points<C> {
    let digests = digests(jobs);
    let nonces = core::array::from_fn(|lane| match &jobs[lane] {
        Some(job) => {
            Nonces::new(Algorithm::of(job.hash), job.key.scalar(), &digests[lane], job.random)
                .next()
        }
        None => Scalar::one(),
    });
    sign_each_by(jobs, &digests, nonces)
}

/// Like [`sign_each`], with given nonces.
pub(super) fn sign_each_by<C: Curve>(
    jobs: &mut Group<'_, Signing<'_, C>, TOGETHER>,
    digests: &[Scalar<C>; TOGETHER],
    nonces: [Scalar<C>; TOGETHER],
) -> Points<C> {
    let count = jobs.iter().flatten().count();
    let mut points = multiply_base_each(&nonces[..count]);
    let made = sign_at(jobs, digests, &nonces, &points);
    points.iter_mut().zip(made).filter(|(_, made)| !made).for_each(|(point, _)| *point = None);
    points
}

/// The points of nonces.
type Points<C> = [Option<AffinePoint<C>>; TOGETHER];

fn digests<C: Curve, const N: usize>(jobs: &Group<'_, Signing<'_, C>, N>) -> [Scalar<C>; N] {
    core::array::from_fn(|lane| {
        let digest = jobs[lane].as_ref().map(|job| job.digest.bytes());
        Scalar::from_leftmost_bits(digest.unwrap_or(&[]))
    })
}

/// Makes the signatures with nonces and their points. Returns which ones were made so; the others
/// have another nonce.
fn sign_at<C: Curve, const N: usize>(
    jobs: &mut Group<'_, Signing<'_, C>, N>,
    digests: &[Scalar<C>; N],
    nonces: &[Scalar<C>; N],
    points: &[Option<AffinePoint<C>>; N],
) -> [bool; N] {
    let inverses = Scalar::invert_first(nonces, jobs.iter().flatten().count());
    let mut all_made = [false; N];
    for (lane, job) in jobs.iter_mut().flatten().enumerate() {
        let made = points[lane]
            .and_then(|point| signature(job.key.scalar(), &digests[lane], &point, &inverses[lane]));
        all_made[lane] = made.is_some();
        // If r or s is 0, the single form starts over and takes the next nonce.
        job.outcome = Ok(made.unwrap_or_else(|| job.alone()));
    }
    all_made
}

/// Generates nonces, side by side if the jobs have the same hash function.
fn nonces<C: Curve>(
    backend: Backend,
    jobs: &Eight<'_, Signing<'_, C>>,
    digests: &[Scalar<C>; LANES],
) -> [Scalar<C>; LANES] {
    let one = Scalar::one();
    let mut hashes = jobs.iter().flatten().map(|job| job.hash);
    let first = hashes.next();
    if let Some(hash) = first.filter(|first| hashes.all(|hash| hash == *first)) {
        let job = |lane: usize| jobs[lane].as_deref();
        let keys = core::array::from_fn(|lane| job(lane).map_or(&one, |job| job.key.scalar()));
        let random = core::array::from_fn(|lane| job(lane).map_or(&[][..], |job| job.random));
        return first_nonces(backend, hash, keys, digests, random);
    }
    core::array::from_fn(|lane| match &jobs[lane] {
        Some(job) => {
            Nonces::new(Algorithm::of(job.hash), job.key.scalar(), &digests[lane], job.random)
                .next()
        }
        None => Scalar::one(),
    })
}

fn verify_up_to_eight<C: Curve>(backend: Option<Backend>, jobs: &mut Eight<'_, Verifying<'_, C>>) {
    match side_by_side(backend, jobs) {
        Some(backend) => verify_eight(backend, jobs),
        None => jobs.iter_mut().flatten().for_each(|job| {
            let digest = job.digest.bytes();
            job.outcome = match job.multiples {
                Ok(Some(multiples)) => verify_prepared(multiples, digest, job.signature),
                Ok(None) => job.key.verify_prehashed(digest, job.signature),
                Err(error) => Err(error),
            };
        }),
    }
}

/// Runs up to eight jobs, at least one. Unused lanes repeat the first one.
pub(super) fn verify_eight<C: Curve>(backend: Backend, jobs: &mut Eight<'_, Verifying<'_, C>>) {
    let job = |lane: usize| {
        let job = jobs[lane].as_deref().or(jobs[0].as_deref());
        job.expect("there is at least one")
    };
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
    for (job, right) in jobs.iter_mut().flatten().zip(right) {
        job.outcome = job.multiples.and_then(|_| verified(right));
    }
}
