//! Many signatures and verifications of RSA, eight in parallel where the processor has vectors.

use core::ffi::c_void;
use core::ptr;

use arrayvec::ArrayVec;
use cycloid::scheme::rsa::{self, Batch, Job, Pss, VerifyJob};
use cycloid::{LANES, Limb};

use super::verify::CYCLOID_RSA_ANY_SALT;
use super::{Private, Public, RECORDING_LIMBS, RsaPrivateKey, RsaPublicKey};
use crate::error::{
    CYCLOID_ERROR_MEMORY_TOO_SMALL, CYCLOID_ERROR_NOT_DONE, CYCLOID_ERROR_PARAMETER, CYCLOID_OK,
    ErrorCode, Failure, Outcome, code, run,
};
use crate::hash::{self, HashNumber};
use crate::memory::{Extent, slice, slice_mut};
use crate::object;
use crate::random::{RandomSource, Recording, Source};
use crate::sized::{self, Kind, scratch_limbs};

/// RSASSA-PKCS1-v1_5.
pub const CYCLOID_RSA_PKCS1V15: u32 = 1;
/// RSASSA-PSS, with the hash function of the digest also for the mask.
pub const CYCLOID_RSA_PSS: u32 = 2;

/// The state of one thread's batches, in memory of `cycloid_rsa_batch_size` bytes, which must stay
/// in place: blindings, a random generator and working memory.
pub struct RsaBatch {
    _opaque: (),
}

/// A signature of a digest, as `cycloid_rsa_sign_pkcs1v15_prehashed` and
/// `cycloid_rsa_sign_pss_prehashed` make it.
#[repr(C)]
pub struct RsaSignJob {
    /// A private key, as long as the batch demands.
    pub key: *const RsaPrivateKey,
    /// `CYCLOID_RSA_PKCS1V15` or `CYCLOID_RSA_PSS`.
    pub scheme: u32,
    /// The hash function of the digest.
    pub hash: HashNumber,
    /// The bytes of the salt, for PSS.
    pub salt_length: usize,
    /// The digest.
    pub digest: *const u8,
    /// The bytes of the digest.
    pub digest_length: usize,
    /// The signature, to write.
    pub signature: *mut u8,
    /// The bytes of the signature.
    pub signature_length: usize,
    /// The outcome, which `cycloid_rsa_sign_batch` writes.
    pub error: ErrorCode,
}

/// The verification of a signature of a digest, as `cycloid_rsa_verify_pkcs1v15_prehashed` and
/// `cycloid_rsa_verify_pss_prehashed` do it.
#[repr(C)]
pub struct RsaVerifyJob {
    /// A public key.
    pub key: *const RsaPublicKey,
    /// `CYCLOID_RSA_PKCS1V15` or `CYCLOID_RSA_PSS`.
    pub scheme: u32,
    /// The hash function of the digest.
    pub hash: HashNumber,
    /// The bytes of the salt, for PSS, or `CYCLOID_RSA_ANY_SALT`.
    pub salt_length: usize,
    /// The digest.
    pub digest: *const u8,
    /// The bytes of the digest.
    pub digest_length: usize,
    /// The signature.
    pub signature: *const u8,
    /// The bytes of the signature.
    pub signature_length: usize,
    /// The outcome, which `cycloid_rsa_verify_batch` writes.
    pub error: ErrorCode,
}

/// A batch and its generator.
struct BatchState {
    random: *mut Recording,
    batch: Batch<&'static mut [Limb], &'static mut Recording>,
}

impl Kind for BatchState {
    const TAG: u64 = object::tag(9, 1);
}

/// Returns the bytes of a batch for keys of `bits` bits; 0 if keys of this length are not
/// supported.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_rsa_batch_size(bits: usize) -> usize {
    super::of(bits, |bits| {
        sized::size::<BatchState>(RECORDING_LIMBS + rsa::batch_limbs(bits, LANES))
    })
}

/// Returns the bytes of scratch for `cycloid_rsa_verify_batch` with keys of up to `bits` bits; 0 if
/// keys of this length are not supported.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_rsa_verify_batch_scratch_size(bits: usize) -> usize {
    super::of(bits, |bits| rsa::verify_batch_scratch_limbs(bits) * size_of::<Limb>())
}

/// Makes a batch for keys of exactly `bits` bits.
///
/// `batch` has `size` bytes, at least `cycloid_rsa_batch_size(bits)`. It is aligned to 8 bytes and
/// must stay in place until it is wiped. One thread at a time uses it.
///
/// Errors: `CYCLOID_ERROR_MEMORY_TOO_SMALL`, `CYCLOID_ERROR_NUMBERS`.
///
/// # Safety
/// `batch` is memory of this size, which need not be initialised. `random` is null or a source whose
/// callback works until the batch is wiped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_batch_new(
    batch: *mut RsaBatch,
    size: usize,
    bits: usize,
    random: *const RandomSource,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it; see below for the generator.
        unsafe {
            let source = Source::new(random)?;
            sized::make(batch.cast(), size, |limbs: &'static mut [Limb]| {
                let (head, memory) = limbs
                    .split_at_mut_checked(RECORDING_LIMBS)
                    .ok_or(Failure(CYCLOID_ERROR_MEMORY_TOO_SMALL))?;
                let random = head.as_mut_ptr().cast::<Recording>();
                const { assert!(align_of::<Recording>() <= align_of::<Limb>()) };
                // The head is large enough and aligned, and is used as the generator alone.
                ptr::write(random, Recording::new(source));
                Ok::<_, Failure>(BatchState {
                    random,
                    batch: Batch::new(bits, &mut *random, memory)?,
                })
            })
        }
    })
}

/// Wipes a batch.
///
/// Errors: `CYCLOID_ERROR_KEY` if the memory holds none; nothing is written then.
///
/// # Safety
/// `batch` is initialised memory of at least 128 bytes, which nothing else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_batch_wipe(batch: *mut RsaBatch) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe { sized::wipe::<BatchState>(batch.cast()) })
}

/// Jobs that run in one go.
const WINDOW: usize = 2 * LANES;

/// Signs digests. Writes the outcome of each job, and returns the first that is an error. Jobs run
/// in groups of 16: if the random generator fails, every job of its group has that error.
///
/// # Safety
/// `batch` is a batch that nothing else uses meanwhile. `jobs` has `count` jobs, and each is as for
/// `cycloid_rsa_sign_pss_prehashed`. No output of a job overlaps anything else of the jobs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_sign_batch(
    batch: *mut RsaBatch,
    jobs: *mut RsaSignJob,
    count: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (state, jobs) =
            unsafe { (sized::value_mut::<BatchState>(batch.cast())?, slice_mut(jobs, count)?) };
        jobs.iter_mut().for_each(|job| job.error = CYCLOID_ERROR_NOT_DONE);
        for window in jobs.chunks_mut(WINDOW) {
            let mut made = ArrayVec::<Job<'_>, WINDOW>::new();
            let mut places = ArrayVec::<usize, WINDOW>::new();
            for (place, job) in window.iter_mut().enumerate() {
                // SAFETY: the caller promises it.
                match unsafe { sign_job(job) } {
                    Ok(job) => {
                        made.push(job);
                        places.push(place);
                    }
                    Err(failure) => job.error = failure.0,
                }
            }
            state.batch.run(&mut made);
            // SAFETY: the generator is in the batch's memory, and the batch has run.
            let random = unsafe { (*state.random).check() };
            for (place, done) in places.into_iter().zip(made) {
                let job = &mut window[place];
                let outcome = random.and_then(|()| Ok(done.outcome().map(drop)?));
                job.error = code(outcome);
                if random.is_err() {
                    drop(done);
                    // SAFETY: the caller promises it.
                    unsafe { slice_mut(job.signature, job.signature_length) }?.fill(0);
                }
            }
        }
        first(jobs.iter().map(|job| job.error))
    })
}

/// Verifies signatures of digests. Writes the outcome of each job, and returns the first that is an
/// error.
///
/// `scratch` has `scratch_size` bytes, at least `cycloid_rsa_verify_batch_scratch_size` of the
/// longest key's bits, and is aligned to 8 bytes.
///
/// # Safety
/// `jobs` has `count` jobs, and each is as for `cycloid_rsa_verify_pss_prehashed`. `scratch` is memory
/// of this size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_verify_batch(
    jobs: *mut RsaVerifyJob,
    count: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [Extent::of(jobs, count)];
        // SAFETY: the caller promises it.
        let (jobs, scratch) =
            unsafe { (slice_mut(jobs, count)?, scratch_limbs(scratch, scratch_size, &others)?) };
        jobs.iter_mut().for_each(|job| job.error = CYCLOID_ERROR_NOT_DONE);
        for window in jobs.chunks_mut(WINDOW) {
            let mut made = ArrayVec::<VerifyJob<'_>, WINDOW>::new();
            let mut places = ArrayVec::<usize, WINDOW>::new();
            for (place, job) in window.iter_mut().enumerate() {
                // SAFETY: the caller promises it.
                match unsafe { verify_job(job) } {
                    Ok(job) => {
                        made.push(job);
                        places.push(place);
                    }
                    Err(failure) => job.error = failure.0,
                }
            }
            rsa::verify_batch(&mut made, scratch);
            for (place, done) in places.into_iter().zip(made) {
                window[place].error = code(done.outcome());
            }
        }
        first(jobs.iter().map(|job| job.error))
    })
}

/// Returns the library's job.
///
/// # Safety
/// As for [`cycloid_rsa_sign_batch`].
unsafe fn sign_job<'a>(job: &RsaSignJob) -> Outcome<Job<'a>> {
    // SAFETY: the caller promises it.
    let (key, digest, signature) = unsafe {
        (
            sized::value::<Private>(job.key.cast())?,
            slice(job.digest, job.digest_length)?,
            slice_mut(job.signature, job.signature_length)?,
        )
    };
    let hash = hash::of(job.hash)?;
    match job.scheme {
        CYCLOID_RSA_PKCS1V15 => Ok(Job::sign_pkcs1v15_prehashed(key, hash, digest, signature)),
        CYCLOID_RSA_PSS => {
            let pss = Pss { salt_length: job.salt_length, ..Pss::new(hash) };
            Ok(Job::sign_pss_with(key, pss, digest, signature))
        }
        _ => Err(Failure(CYCLOID_ERROR_PARAMETER)),
    }
}

/// Returns the library's job.
///
/// # Safety
/// As for [`cycloid_rsa_verify_batch`].
unsafe fn verify_job<'a>(job: &RsaVerifyJob) -> Outcome<VerifyJob<'a>> {
    // SAFETY: the caller promises it.
    let (key, digest, signature) = unsafe {
        (
            sized::value::<Public>(job.key.cast())?,
            slice(job.digest, job.digest_length)?,
            slice(job.signature, job.signature_length)?,
        )
    };
    let hash = hash::of(job.hash)?;
    match job.scheme {
        CYCLOID_RSA_PKCS1V15 => Ok(VerifyJob::pkcs1v15_prehashed(key, hash, digest, signature)),
        CYCLOID_RSA_PSS => {
            let salt = (job.salt_length != CYCLOID_RSA_ANY_SALT).then_some(job.salt_length);
            Ok(VerifyJob::pss_prehashed(key, hash, digest, salt, signature))
        }
        _ => Err(Failure(CYCLOID_ERROR_PARAMETER)),
    }
}

/// Returns the first error.
fn first(mut errors: impl Iterator<Item = ErrorCode>) -> Outcome {
    errors.find(|error| *error != CYCLOID_OK).map_or(Ok(()), |error| Err(Failure(error)))
}
