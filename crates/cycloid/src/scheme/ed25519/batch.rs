//! Batches of Ed25519 operations, eight side by side while enough jobs remain.

use core::fmt;

use super::hash::Message;
use super::sign::{Signing, sign_all};
use super::verify::{Made, Verification, verify_all, verify_made};
use super::{Error, Rule, SigningKey, Variant, VerifyingKey};
use crate::machine::ct;
use crate::machine::lanes::{Backend, LANES};
use crate::machine::stack;
use crate::scheme::stack_use;

/// One operation of a batch, and its outcome once it has run.
pub struct Job<'a> {
    operation: Operation<'a>,
    variant: Variant<'a>,
    message: [&'a [u8]; 1],
    verify: bool,
    outcome: Result<(), Error>,
}

enum Operation<'a> {
    Sign(&'a SigningKey, &'a mut [u8; 64]),
    Verify(&'a VerifyingKey, Rule, &'a [u8; 64]),
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ed25519::Job({:?})", self.outcome)
    }
}

impl<'a> Job<'a> {
    /// Creates a job that runs [`SigningKey::sign_with`].
    pub const fn sign(
        key: &'a SigningKey,
        variant: Variant<'a>,
        message: &'a [u8],
        signature: &'a mut [u8; 64],
    ) -> Self {
        Self::new(Operation::Sign(key, signature), variant, message)
    }

    /// Creates a job that runs [`VerifyingKey::verify_with`].
    pub const fn verify(
        key: &'a VerifyingKey,
        rule: Rule,
        variant: Variant<'a>,
        message: &'a [u8],
        signature: &'a [u8; 64],
    ) -> Self {
        Self::new(Operation::Verify(key, rule, signature), variant, message)
    }

    const fn new(operation: Operation<'a>, variant: Variant<'a>, message: &'a [u8]) -> Self {
        let outcome = Err(Error::NotDone);
        Self { operation, variant, message: [message], verify: false, outcome }
    }

    /// Verifies a signature before releasing it, as
    /// [`VerifyAfterSign`](crate::scheme::VerifyAfterSign) describes; if it is wrong, nothing is
    /// written. Does not affect verification jobs.
    #[must_use]
    pub const fn verify_after_sign(mut self) -> Self {
        self.verify = true;
        self
    }

    /// Returns the outcome.
    ///
    /// # Errors
    /// Those of the single operation; [`Error::NotDone`] before the job has run in a batch;
    /// [`Error::Fault`] if the signature was to be verified and is wrong.
    pub const fn outcome(&self) -> Result<(), Error> {
        self.outcome
    }
}

/// Runs all jobs. Each gets the same [outcome](Job::outcome) as by itself, independent of the
/// others.
///
/// Signatures are made eight at a time and verified eight at a time, in any order of jobs. The
/// remaining ones run side by side or one by one, whichever is faster. Each signature is verified
/// on its own, not by an equation for all, so jobs may follow different rules, and what is accepted
/// does not depend on the other jobs. Time depends on no secret value.
///
/// ```
/// use cycloid::scheme::ed25519::{self, Error, Job, Rule, SigningKey, Variant};
///
/// let key = SigningKey::generate(&mut getrandom::SysRng)?;
/// let mut signatures = [[0; 64]; 16];
/// let mut places = signatures.iter_mut();
/// let mut jobs = [(); 16].map(|()| {
///     let place = places.next().expect("there are as many");
///     Job::sign(&key, Variant::Plain, b"message", place)
/// });
/// ed25519::run_batch(&mut jobs);
/// assert!(jobs.iter().all(|job| job.outcome().is_ok()));
///
/// signatures[5][0] ^= 1;
/// let mut places = signatures.iter();
/// let mut jobs = [(); 16].map(|()| {
///     let place = places.next().expect("there are as many");
///     Job::verify(key.verifying_key(), Rule::Strict, Variant::Plain, b"message", place)
/// });
/// ed25519::run_batch(&mut jobs);
/// for (i, job) in jobs.iter().enumerate() {
///     assert_eq!(job.outcome(), if i == 5 { Err(Error::Signature) } else { Ok(()) });
/// }
/// # Ok::<(), Error>(())
/// ```
pub fn run_batch(jobs: &mut [Job<'_>]) {
    run_batch_with(Backend::best(), jobs);
}

/// Like [`run_batch`], on a backend chosen by the caller; with `None`, one by one.
pub(in super::super) fn run_batch_with(backend: Option<Backend>, jobs: &mut [Job<'_>]) {
    run_signing(backend, jobs);
    run_verifying(backend, jobs);
}

fn run_signing(backend: Option<Backend>, jobs: &mut [Job<'_>]) {
    let mut jobs = jobs.iter_mut();
    loop {
        // A refused job takes no lane.
        let mut sound: [Option<(Signing<'_>, _, _, _)>; LANES] = [const { None }; LANES];
        let mut count = 0;
        for job in &mut jobs {
            let Operation::Sign(key, signature) = &mut job.operation else { continue };
            match Message::new(job.variant, &job.message) {
                Ok(message) => {
                    let signing = Signing { key, message };
                    sound[count] = Some((signing, job.verify, signature, &mut job.outcome));
                    count += 1;
                }
                Err(error) => job.outcome = Err(error),
            }
            if count == LANES {
                break;
            }
        }
        let Some((first, ..)) = &sound[0] else { return };
        let signings: [_; LANES] =
            core::array::from_fn(|i| sound[i].as_ref().map_or(*first, |(signing, ..)| *signing));
        let mut signatures = [[0; 64]; LANES];
        // The rest of the stack holds the jobs' public data.
        stack::clean(stack_use::ED25519_SIGN_BATCH - (12 << 10), || {
            sign_all::<LANES>(backend, &signings[..count], &mut signatures[..count]);
        });
        let verify: [bool; LANES] =
            core::array::from_fn(|i| sound[i].as_ref().is_some_and(|(_, verify, ..)| *verify));
        let right = verify_signed(backend, &signings[..count], &signatures, verify);
        for (((_, _, place, outcome), signature), right) in
            sound.iter_mut().flatten().zip(&mut signatures).zip(right)
        {
            if right {
                ***place = *signature;
                **outcome = Ok(());
            } else {
                ct::wipe_bytes(signature);
                **outcome = Err(Error::Fault);
            }
        }
    }
}

/// Returns which signatures to release: those that need no verification, and those that verify.
fn verify_signed(
    backend: Option<Backend>,
    signings: &[Signing<'_>],
    signatures: &[[u8; 64]; LANES],
    verify: [bool; LANES],
) -> [bool; LANES] {
    let mut lanes = [0; LANES];
    let mut count = 0;
    for lane in (0..signings.len()).filter(|lane| verify[*lane]) {
        lanes[count] = lane;
        count += 1;
    }
    let mut released = [true; LANES];
    if count == 0 {
        return released;
    }
    let made: [Made<'_>; LANES] = core::array::from_fn(|i| {
        let Signing { key, message } = signings[lanes[i]];
        Made { key: key.verifying_key(), message, signature: &signatures[lanes[i]] }
    });
    let mut right = [false; LANES];
    verify_made::<LANES>(backend, &made[..count], &mut right[..count]);
    for (lane, right) in lanes.iter().zip(right).take(count) {
        released[*lane] = right;
    }
    released
}

fn run_verifying(backend: Option<Backend>, jobs: &mut [Job<'_>]) {
    let mut jobs = jobs.iter_mut();
    loop {
        let mut sound: [Option<(Verification<'_>, _)>; LANES] = [const { None }; LANES];
        let mut count = 0;
        for job in &mut jobs {
            let Operation::Verify(key, rule, signature) = &job.operation else { continue };
            let verification = Message::new(job.variant, &job.message)
                .and_then(|message| Verification::new(key, *rule, message, signature));
            match verification {
                Ok(verification) => {
                    sound[count] = Some((verification, &mut job.outcome));
                    count += 1;
                }
                Err(error) => job.outcome = Err(error),
            }
            if count == LANES {
                break;
            }
        }
        let Some((first, _)) = &sound[0] else { return };
        let verifications: [_; LANES] = core::array::from_fn(|i| {
            sound[i].as_ref().map_or(first, |(verification, _)| verification).clone()
        });
        let mut outcomes = [Err(Error::NotDone); LANES];
        verify_all::<LANES>(backend, &verifications[..count], &mut outcomes[..count]);
        for ((_, outcome), found) in sound.iter_mut().flatten().zip(outcomes) {
            **outcome = found;
        }
    }
}
