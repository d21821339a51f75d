//! Many operations on curves, eight in parallel where the processor has vectors. Each job has its own
//! key, input and outcome, and a job with an error harms none of the others.

use arrayvec::ArrayVec;
use cycloid::scheme::ec;
use cycloid::scheme::{ecdh, ecdsa, ed25519, x25519};

use crate::ec::{EcPrivateKey, EcPublicKey, Numbered};
use crate::ecdsa::{check_length, parse};
use crate::ed25519::{Ed25519PrivateKey, Ed25519PublicKey, rule_of};
use crate::error::{CYCLOID_ERROR_NOT_DONE, CYCLOID_OK, ErrorCode};
use crate::error::{Failure, Outcome, code, run};
use crate::hash::{self, HashNumber};
use crate::memory::{array, reference, slice, slice_mut, write_exactly};
use crate::object;

/// Jobs that are gathered by curve: some times the lanes, so that a list of mixed curves fills
/// them.
const WINDOW: usize = 4 * cycloid::LANES;

/// The signature of a digest by ECDSA, deterministic, as `cycloid_ecdsa_sign_prehashed` makes it.
#[repr(C)]
pub struct EcdsaSignJob {
    /// A private key.
    pub key: *const EcPrivateKey,
    /// The hash function of the nonce.
    pub hash: HashNumber,
    /// The outcome, which `cycloid_ecdsa_sign_batch` writes.
    pub error: ErrorCode,
    /// The digest.
    pub digest: *const u8,
    /// The bytes of the digest.
    pub digest_length: usize,
    /// The signature, to write.
    pub signature: *mut u8,
    /// The bytes of the signature.
    pub signature_length: usize,
}

/// The verification of a signature of a digest by ECDSA, as `cycloid_ecdsa_verify_prehashed` does
/// it.
#[repr(C)]
pub struct EcdsaVerifyJob {
    /// A public key.
    pub key: *const EcPublicKey,
    /// The digest.
    pub digest: *const u8,
    /// The bytes of the digest.
    pub digest_length: usize,
    /// The signature.
    pub signature: *const u8,
    /// The bytes of the signature.
    pub signature_length: usize,
    /// The outcome, which `cycloid_ecdsa_verify_batch` writes.
    pub error: ErrorCode,
}

/// An agreement by ECDH, as `cycloid_ecdh_agree` does it.
#[repr(C)]
pub struct EcdhJob {
    /// A private key.
    pub key: *const EcPrivateKey,
    /// The peer's public key.
    pub peer: *const EcPublicKey,
    /// The shared secret, to write.
    pub secret: *mut u8,
    /// The bytes of the shared secret.
    pub length: usize,
    /// The outcome, which `cycloid_ecdh_batch` writes.
    pub error: ErrorCode,
}

/// An agreement by X25519, as `cycloid_x25519_agree` does it.
#[repr(C)]
pub struct X25519Job {
    /// A private key of 32 bytes.
    pub private_key: *const u8,
    /// The peer's public key of 32 bytes.
    pub peer: *const u8,
    /// The shared secret of 32 bytes, to write.
    pub secret: *mut u8,
    /// The outcome, which `cycloid_x25519_batch` writes.
    pub error: ErrorCode,
}

/// A signature of Ed25519, as `cycloid_ed25519_sign` makes it.
#[repr(C)]
pub struct Ed25519SignJob {
    /// A private key.
    pub key: *const Ed25519PrivateKey,
    /// The message.
    pub message: *const u8,
    /// The bytes of the message.
    pub message_length: usize,
    /// The signature of 64 bytes, to write.
    pub signature: *mut u8,
    /// The outcome, which `cycloid_ed25519_sign_batch` writes.
    pub error: ErrorCode,
}

/// The verification of a signature of Ed25519, as `cycloid_ed25519_verify` does it.
#[repr(C)]
pub struct Ed25519VerifyJob {
    /// A public key.
    pub key: *const Ed25519PublicKey,
    /// The rule, such as `CYCLOID_ED25519_COFACTORLESS`.
    pub rule: u32,
    /// The outcome, which `cycloid_ed25519_verify_batch` writes.
    pub error: ErrorCode,
    /// The message.
    pub message: *const u8,
    /// The bytes of the message.
    pub message_length: usize,
    /// The signature of 64 bytes.
    pub signature: *const u8,
}

/// A job of C.
trait CJob {
    fn error(&mut self) -> &mut ErrorCode;
}

macro_rules! c_jobs {
    ($($job:ident)*) => {$(
        impl CJob for $job {
            fn error(&mut self) -> &mut ErrorCode {
                &mut self.error
            }
        }
    )*};
}

c_jobs! { EcdsaSignJob EcdsaVerifyJob EcdhJob X25519Job Ed25519SignJob Ed25519VerifyJob }

/// Has `run_all` run the jobs and write the outcome of each, and returns the first that is an error.
///
/// # Safety
/// `jobs` has `count` jobs.
unsafe fn run_jobs<J: CJob>(
    jobs: *mut J,
    count: usize,
    run_all: impl FnOnce(&mut [J]),
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let jobs = unsafe { slice_mut(jobs, count) }?;
        jobs.iter_mut().for_each(|job| *job.error() = CYCLOID_ERROR_NOT_DONE);
        run_all(jobs);
        let mut errors = jobs.iter_mut().map(|job| *job.error());
        errors.find(|error| *error != CYCLOID_OK).map_or(Ok(()), |error| Err(Failure(error)))
    })
}

/// Runs `$some` for each window of the jobs, with each curve as its type parameter.
macro_rules! each_curve {
    ($jobs:expr, $some:ident) => {
        for window in $jobs.chunks_mut(WINDOW) {
            #[cfg(feature = "p224")]
            $some::<ec::P224>(window);
            #[cfg(feature = "p256")]
            $some::<ec::P256>(window);
            #[cfg(feature = "p384")]
            $some::<ec::P384>(window);
            #[cfg(feature = "p521")]
            $some::<ec::P521>(window);
        }
    };
}

/// Makes the library's jobs of a window, runs them, and stores each outcome. `make` returns nothing
/// for a job on another curve, and an error for a job that cannot run.
fn run_window<J: CJob, L>(
    window: &mut [J],
    make: impl Fn(&J) -> Option<Outcome<L>>,
    run_batch: impl FnOnce(&mut [L]),
    deliver: impl Fn(&J, &L) -> Outcome,
) {
    let mut places = ArrayVec::<usize, WINDOW>::new();
    let mut batch = ArrayVec::<L, WINDOW>::new();
    for (place, job) in window.iter_mut().enumerate() {
        match make(job) {
            None => {}
            Some(Err(failure)) => *job.error() = failure.0,
            // A window has no more jobs than the vectors have room.
            Some(Ok(made)) => {
                places.push(place);
                batch.push(made);
            }
        }
    }
    run_batch(&mut batch);
    for (place, done) in places.iter().zip(&batch) {
        let job = &mut window[*place];
        *job.error() = code(deliver(job, done));
    }
}

/// Returns whether a key is on the curve; a key that is on none counts for the first curve, which
/// then reports it.
fn is_on<C: Numbered>(curve: Outcome<u32>) -> bool {
    curve.map_or(C::NUMBER == crate::ec::FIRST_CURVE, |number| number == C::NUMBER)
}

/// Returns the key of a job; nothing if it is on another curve.
///
/// # Safety
/// `key` is null or a key's memory, valid for the lifetime.
unsafe fn key_on<'k, C: Numbered>(key: *const EcPrivateKey) -> Option<Outcome<&'k EcPrivateKey>> {
    // SAFETY: the caller promises it.
    let key = unsafe { reference(key) };
    is_on::<C>(key.and_then(EcPrivateKey::curve)).then_some(key)
}

/// Signs digests by ECDSA. Writes the outcome of each job, and returns the first that is an error.
///
/// # Safety
/// `jobs` has `count` jobs, and each is as for `cycloid_ecdsa_sign_prehashed`. No output of a job
/// overlaps anything else of the jobs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_sign_batch(
    jobs: *mut EcdsaSignJob,
    count: usize,
) -> ErrorCode {
    fn some<C: Numbered>(window: &mut [EcdsaSignJob]) {
        run_window(
            window,
            |job| {
                // SAFETY: the caller of the batch promises it.
                let key = unsafe { key_on::<C>(job.key) }?;
                Some((|| {
                    let key = object::value::<ec::PrivateKey<C>>(key?)?;
                    check_length::<C>(job.signature_length)?;
                    // SAFETY: the caller of the batch promises it.
                    let digest = unsafe { slice(job.digest, job.digest_length) }?;
                    Ok(ecdsa::Job::sign_prehashed(key, hash::of(job.hash)?, digest))
                })())
            },
            ecdsa::run_batch,
            // SAFETY: the caller of the batch promises it.
            |job, done| unsafe {
                let signature = done.signature()?.to_fixed();
                write_exactly(&signature, job.signature, job.signature_length)
            },
        );
    }
    // SAFETY: the caller promises it.
    unsafe { run_jobs(jobs, count, |jobs| each_curve!(jobs, some)) }
}

/// Verifies signatures of digests by ECDSA. Writes the outcome of each job, and returns the first
/// that is an error.
///
/// # Safety
/// `jobs` has `count` jobs, and each is as for `cycloid_ecdsa_verify_prehashed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_verify_batch(
    jobs: *mut EcdsaVerifyJob,
    count: usize,
) -> ErrorCode {
    fn some<C: Numbered>(window: &mut [EcdsaVerifyJob]) {
        // Parsed signatures, which the library's jobs borrow.
        let mut signatures = ArrayVec::<Option<Outcome<ecdsa::Signature<C>>>, WINDOW>::new();
        for job in window.iter() {
            // SAFETY: the caller of the batch promises it.
            let (key, bytes) =
                unsafe { (reference(job.key), slice(job.signature, job.signature_length)) };
            let curve = key.and_then(EcPublicKey::curve);
            signatures.push(is_on::<C>(curve).then(|| bytes.and_then(parse::<C>)));
        }
        let start = window.as_ptr();
        run_window(
            window,
            |job| {
                // SAFETY: the job is one of the window's.
                let place = unsafe { core::ptr::from_ref(job).offset_from(start) } as usize;
                let signature = signatures[place].as_ref()?;
                Some((|| {
                    // SAFETY: the caller of the batch promises it.
                    let (key, digest) =
                        unsafe { (reference(job.key)?, slice(job.digest, job.digest_length)?) };
                    let key = object::value::<ec::PublicKey<C>>(key)?;
                    let signature = signature.as_ref().map_err(|failure| *failure)?;
                    Ok(ecdsa::Job::verify_prehashed(key, digest, signature))
                })())
            },
            ecdsa::run_batch,
            |_, done| Ok(done.outcome()?),
        );
    }
    // SAFETY: the caller promises it.
    unsafe { run_jobs(jobs, count, |jobs| each_curve!(jobs, some)) }
}

/// Computes shared secrets by ECDH. Writes the outcome of each job, and returns the first that is
/// an error.
///
/// # Safety
/// `jobs` has `count` jobs, and each is as for `cycloid_ecdh_agree`. No output of a job overlaps
/// anything else of the jobs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdh_batch(jobs: *mut EcdhJob, count: usize) -> ErrorCode {
    fn some<C: Numbered>(window: &mut [EcdhJob]) {
        run_window(
            window,
            |job| {
                // SAFETY: the caller of the batch promises it.
                let key = unsafe { key_on::<C>(job.key) }?;
                Some((|| {
                    // SAFETY: the caller of the batch promises it.
                    let peer = unsafe { reference(job.peer) }?;
                    let key = object::value::<ec::PrivateKey<C>>(key?)?;
                    if peer.curve()? != C::NUMBER {
                        return Err(Failure(crate::error::CYCLOID_ERROR_CURVE));
                    }
                    Ok(ecdh::Job::agree(key, object::value::<ec::PublicKey<C>>(peer)?))
                })())
            },
            ecdh::run_batch,
            // SAFETY: the caller of the batch promises it.
            |job, done| unsafe { write_exactly(&done.shared_secret()?, job.secret, job.length) },
        );
    }
    // SAFETY: the caller promises it.
    unsafe { run_jobs(jobs, count, |jobs| each_curve!(jobs, some)) }
}

/// Computes shared secrets by X25519. Writes the outcome of each job, and returns the first that is
/// an error.
///
/// # Safety
/// `jobs` has `count` jobs, and each is as for `cycloid_x25519_agree`. No output of a job overlaps
/// anything else of the jobs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_x25519_batch(jobs: *mut X25519Job, count: usize) -> ErrorCode {
    let run_all = |jobs: &mut [X25519Job]| {
        for window in jobs.chunks_mut(WINDOW) {
            let mut keys = ArrayVec::<Outcome<x25519::PrivateKey>, WINDOW>::new();
            let mut secrets = zeroize::Zeroizing::new([[0; 32]; WINDOW]);
            for job in window.iter() {
                // SAFETY: the caller promises it.
                let key = unsafe { array(job.private_key) };
                keys.push(key.map(|key| x25519::PrivateKey::from(*key)));
            }
            let mut places = ArrayVec::<usize, WINDOW>::new();
            let mut batch = ArrayVec::<x25519::Job<'_>, WINDOW>::new();
            let inputs = window.iter_mut().zip(&keys).zip(secrets.iter_mut());
            for (place, ((job, key), secret)) in inputs.enumerate() {
                // SAFETY: the caller promises it.
                match (key, unsafe { array(job.peer) }) {
                    (Ok(key), Ok(peer)) => {
                        places.push(place);
                        batch.push(x25519::Job::agree(key, peer, secret));
                    }
                    (Err(failure), _) => job.error = failure.0,
                    (Ok(_), Err(failure)) => job.error = failure.0,
                }
            }
            x25519::run_batch(&mut batch);
            let outcomes: ArrayVec<_, WINDOW> = batch.iter().map(x25519::Job::outcome).collect();
            drop(batch);
            for (place, outcome) in places.into_iter().zip(outcomes) {
                let job = &mut window[place];
                job.error = code(outcome.map_err(Failure::from).and_then(|()| {
                    // SAFETY: the caller promises it.
                    unsafe { write_exactly(&secrets[place], job.secret, 32) }
                }));
            }
        }
    };
    // SAFETY: the caller promises it.
    unsafe { run_jobs(jobs, count, run_all) }
}

/// Signs messages by Ed25519. Writes the outcome of each job, and returns the first that is an
/// error.
///
/// # Safety
/// `jobs` has `count` jobs, and each is as for `cycloid_ed25519_sign`. No output of a job overlaps
/// anything else of the jobs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_sign_batch(
    jobs: *mut Ed25519SignJob,
    count: usize,
) -> ErrorCode {
    let run_all = |jobs: &mut [Ed25519SignJob]| {
        for window in jobs.chunks_mut(WINDOW) {
            run_window(
                window,
                |job| {
                    // SAFETY: the caller promises it; the signature overlaps nothing.
                    Some(unsafe {
                        (|| {
                            let key = object::value(reference(job.key)?)?;
                            let message = slice(job.message, job.message_length)?;
                            let signature = crate::memory::unique(job.signature.cast())?;
                            Ok(ed25519::Job::sign(key, ed25519::Variant::Plain, message, signature))
                        })()
                    })
                },
                ed25519::run_batch,
                |_, done| Ok(done.outcome()?),
            );
        }
    };
    // SAFETY: the caller promises it.
    unsafe { run_jobs(jobs, count, run_all) }
}

/// Verifies signatures of Ed25519. Writes the outcome of each job, and returns the first that is an
/// error.
///
/// # Safety
/// `jobs` has `count` jobs, and each is as for `cycloid_ed25519_verify`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_verify_batch(
    jobs: *mut Ed25519VerifyJob,
    count: usize,
) -> ErrorCode {
    let run_all = |jobs: &mut [Ed25519VerifyJob]| {
        for window in jobs.chunks_mut(WINDOW) {
            run_window(
                window,
                |job| {
                    // SAFETY: the caller promises it.
                    Some(unsafe {
                        (|| {
                            let key = object::value(reference(job.key)?)?;
                            let (rule, variant) = (rule_of(job.rule)?, ed25519::Variant::Plain);
                            let message = slice(job.message, job.message_length)?;
                            let signature = array(job.signature)?;
                            Ok(ed25519::Job::verify(key, rule, variant, message, signature))
                        })()
                    })
                },
                ed25519::run_batch,
                |_, done| Ok(done.outcome()?),
            );
        }
    };
    // SAFETY: the caller promises it.
    unsafe { run_jobs(jobs, count, run_all) }
}
