//! Many operations at once: eight side by side, for as long as there are enough of them.

use core::fmt;

use super::hash::Message;
use super::sign::{Signing, sign_all};
use super::verify::{Made, Verification, verify_all, verify_made};
use super::{Error, Rule, SigningKey, Variant, VerifyingKey};
use crate::machine::ct;
use crate::machine::lanes::{Backend, LANES};
use crate::machine::stack;
use crate::scheme::stack_use;

/// One operation of a batch, and what became of it.
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
    /// What [`SigningKey::sign_with`] does.
    pub const fn sign(
        key: &'a SigningKey,
        variant: Variant<'a>,
        message: &'a [u8],
        signature: &'a mut [u8; 64],
    ) -> Self {
        Self::new(Operation::Sign(key, signature), variant, message)
    }

    /// What [`VerifyingKey::verify_with`] does.
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

    /// The same, with a signature that is made verified before it is released, as
    /// [`VerifyAfterSign`](crate::scheme::VerifyAfterSign) says; where it is wrong, nothing is
    /// written. Of a verification nothing changes.
    #[must_use]
    pub const fn verify_after_sign(mut self) -> Self {
        self.verify = true;
        self
    }

    /// What became of it; [`Error::NotDone`] before it was in a batch.
    ///
    /// # Errors
    /// As the operation by itself; [`Error::Fault`] where a signature was to be verified and does
    /// not.
    pub const fn outcome(&self) -> Result<(), Error> {
        self.outcome
    }
}

/// Does all of `jobs`; each then has its own [outcome](Job::outcome), the same as if it had been
/// done by itself, whatever stands in the others.
///
/// Signatures are made side by side, eight at a time, and verified side by side, wherever they
/// stand; those that are left over go side by side or one after the other, whichever is faster.
/// Every signature is judged for itself, not by an equation for all, so neighbours may follow
/// different rules, and what is accepted does not depend on them. Time depends on no secret value.
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

/// [`run_batch`] with a backend for what goes side by side; without one, nothing does.
pub fn run_batch_with(backend: Option<Backend>, jobs: &mut [Job<'_>]) {
    run_signing(backend, jobs);
    run_verifying(backend, jobs);
}

fn run_signing(backend: Option<Backend>, jobs: &mut [Job<'_>]) {
    let mut jobs = jobs.iter_mut();
    loop {
        // A job that is refused takes no lane.
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
        // What the jobs are about takes the rest, and is not secret.
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

/// Which signatures are released: those that are not to be verified, and those that do.
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
