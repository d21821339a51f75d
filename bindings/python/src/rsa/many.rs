//! Batches of RSA signatures and decryptions. A piece of a batch may have keys of different lengths: those of each
//! length are computed side by side.

use cycloid::LANES;
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{
    Batch, Error, Job, KeyPair, Oaep, OwnedPublicKey, SignatureScheme, VerifyJob, batch_limbs,
    verify_batch, verify_batch_scratch_limbs,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyBytesMethods};
use zeroize::Zeroizing;

use super::{PrivateKey, PublicKey, SaltLength, Settings, SignaturePadding, SignaturePaddingName};
use crate::batch::{self, Piece, SHORT};
use crate::error::{OrRaise, Raise, decryption, no_randomness};
use crate::input::{HashName, Instance, Many, digest, same_count};
use crate::random::Recording;

/// Signs many messages, each by the key in its place. Otherwise as `PrivateKey.sign_many`.
#[pyfunction]
#[pyo3(
    signature = (keys, messages, *, padding = SignaturePaddingName::default(), hash = None, prehashed = false, salt_length = None, threads = None),
    text_signature = "(keys, messages, *, padding='pss', hash='sha256', prehashed=False, salt_length=None, threads=None)"
)]
pub(crate) fn sign_many<'py>(
    py: Python<'py>,
    keys: Vec<Instance<'py, PrivateKey>>,
    messages: Many<'py>,
    padding: SignaturePaddingName,
    hash: Option<HashName>,
    prehashed: bool,
    salt_length: Option<SaltLength>,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let settings = Settings::new(padding, hash, prehashed, salt_length)?;
    let messages = messages.slices();
    same_count(["keys", "messages"], [keys.len(), messages.len()])?;
    let keys = keys.iter().map(|key| key.get().key(py)).collect::<PyResult<Vec<_>>>()?;
    sign(py, keys.iter().zip(messages), settings, threads)
}

/// Verifies many signatures, each by the key in its place. Otherwise as `PublicKey.verify_many`.
#[pyfunction]
#[pyo3(
    signature = (keys, signatures, messages, *, padding = SignaturePaddingName::default(), hash = None, prehashed = false, salt_length = None, threads = None),
    text_signature = "(keys, signatures, messages, *, padding='pss', hash='sha256', prehashed=False, salt_length=None, threads=None)"
)]
pub(crate) fn verify_many<'py>(
    py: Python<'py>,
    keys: Vec<Instance<'py, PublicKey>>,
    signatures: Many<'py>,
    messages: Many<'py>,
    padding: SignaturePaddingName,
    hash: Option<HashName>,
    prehashed: bool,
    salt_length: Option<SaltLength>,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    let settings = Settings::new(padding, hash, prehashed, salt_length)?;
    let keys: Vec<_> = keys.iter().map(|key| &key.get().0).collect();
    verify(py, &keys, &signatures.slices(), &messages.slices(), settings, threads)
}

/// A piece makes blindings for its keys, whose cost many operations share.
const PRIVATE: Piece = Piece { least: LANES, most: 8 * LANES };

struct Signing<'a> {
    key: &'a KeyPair,
    message: &'a [u8],
    signature: Vec<u8>,
    outcome: PyResult<()>,
}

pub(super) fn sign<'a, 'py>(
    py: Python<'py>,
    jobs: impl Iterator<Item = (&'a KeyPair, &'a [u8])>,
    settings: Settings,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (keys, messages): (Vec<_>, Vec<_>) = jobs.unzip();
    let mut settings = settings;
    let digests = settings.digests(py, &messages)?;
    let messages = or_digests(messages, digests.as_ref());
    let scheme = settings.scheme()?;
    let mut jobs: Vec<_> = keys
        .into_iter()
        .zip(messages)
        .map(|(key, message)| {
            let signature = vec![0; key.public_key().length()];
            Signing { key, message, signature, outcome: Err(no_randomness()) }
        })
        .collect();
    for job in &jobs {
        settings.check(job.message)?;
    }
    batch::run(py, &mut jobs, threads, PRIVATE, |piece| {
        for bits in lengths(piece.iter().map(|job| job.key.public_key().bits())) {
            let same = piece.iter_mut().filter(|job| job.key.public_key().bits() == bits);
            let mut same: Vec<_> = same.collect();
            sign_same(bits, &mut same, scheme, settings.prehashed);
        }
    })?;
    jobs.into_iter().map(|job| job.outcome.map(|()| PyBytes::new(py, &job.signature))).collect()
}

/// Signs with keys of one length.
fn sign_same(
    bits: usize,
    signings: &mut [&mut Signing<'_>],
    scheme: SignatureScheme,
    prehashed: bool,
) {
    let jobs = signings.iter_mut().map(|job| job.job(scheme, prehashed)).collect();
    let outcomes = run_same(bits, jobs, Raise::raise);
    for (job, outcome) in signings.iter_mut().zip(outcomes) {
        job.outcome = outcome.map(|_| ());
    }
}

/// Runs jobs with keys of one length, and returns the lengths of their outputs.
fn run_same(
    bits: usize,
    mut jobs: Vec<Job<'_>>,
    raise: fn(Error) -> PyErr,
) -> Vec<PyResult<usize>> {
    let mut random = Recording::default();
    let memory = vec![0; batch_limbs(bits, jobs.len())];
    let run = Batch::new(bits, &mut random, memory).map(|mut batch| batch.run(&mut jobs));
    let failed = random.failed();
    let outcome = |job: &Job<'_>| {
        if failed { Err(no_randomness()) } else { run.and(job.outcome()).map_err(raise) }
    };
    jobs.iter().map(outcome).collect()
}

impl Signing<'_> {
    fn job(&mut self, scheme: SignatureScheme, prehashed: bool) -> Job<'_> {
        let (key, message, signature) =
            (self.key.private_key(), self.message, &mut self.signature[..]);
        match (scheme, prehashed) {
            (SignatureScheme::Pkcs1v15(hash), false) => {
                Job::sign_pkcs1v15(key, hash, message, signature)
            }
            (SignatureScheme::Pkcs1v15(hash), true) => {
                Job::sign_pkcs1v15_prehashed(key, hash, message, signature)
            }
            (SignatureScheme::Pss(pss), false) => Job::sign_pss(key, pss.hash, message, signature),
            (SignatureScheme::Pss(pss), true) => Job::sign_pss_with(key, pss, message, signature),
        }
    }
}

struct Decryption<'a> {
    ciphertext: &'a [u8],
    message: Zeroizing<Vec<u8>>,
    outcome: PyResult<usize>,
}

impl Decryption<'_> {
    fn job<'j>(&'j mut self, key: &'j KeyPair, oaep: Option<Oaep<'j, Hash>>) -> Job<'j> {
        let (key, message) = (key.private_key(), &mut self.message[..]);
        match oaep {
            Some(oaep) => Job::decrypt_oaep(key, oaep, self.ciphertext, message),
            None => Job::decrypt_pkcs1v15(key, self.ciphertext, message),
        }
    }
}

/// Decrypts many ciphertexts, with OAEP or, without its parameters, with PKCS #1 v1.5.
pub(super) fn decrypt<'py>(
    py: Python<'py>,
    key: &KeyPair,
    ciphertexts: &[&[u8]],
    oaep: Option<Oaep<'_, Hash>>,
    threads: Option<usize>,
    return_exceptions: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (bits, length) = (key.public_key().bits(), key.public_key().length());
    let mut jobs: Vec<_> = ciphertexts
        .iter()
        .map(|ciphertext| {
            let message = Zeroizing::new(vec![0; length]);
            Decryption { ciphertext, message, outcome: Err(no_randomness()) }
        })
        .collect();
    batch::run(py, &mut jobs, threads, PRIVATE, |piece| {
        let jobs = piece.iter_mut().map(|job| job.job(key, oaep)).collect();
        let outcomes = run_same(bits, jobs, decryption);
        piece.iter_mut().zip(outcomes).for_each(|(job, outcome)| job.outcome = outcome);
    })?;
    let messages = jobs.iter_mut().map(|job| {
        let outcome = std::mem::replace(&mut job.outcome, Ok(0));
        outcome.map(|length| &job.message[..length])
    });
    batch::results(py, messages, return_exceptions, |message| PyBytes::new(py, message).into_any())
}

struct Verification<'a> {
    key: &'a OwnedPublicKey,
    signature: &'a [u8],
    message: &'a [u8],
    outcome: Result<(), Error>,
}

pub(super) fn verify(
    py: Python<'_>,
    keys: &[&OwnedPublicKey],
    signatures: &[&[u8]],
    messages: &[&[u8]],
    settings: Settings,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    same_count(["keys", "signatures"], [keys.len(), signatures.len()])?;
    same_count(["signatures", "messages"], [signatures.len(), messages.len()])?;
    let mut settings = settings;
    let digests = settings.digests(py, messages)?;
    let messages = or_digests(messages.to_vec(), digests.as_ref());
    let mut jobs = Vec::with_capacity(keys.len());
    for ((key, signature), message) in keys.iter().zip(signatures).zip(messages) {
        settings.check(message)?;
        jobs.push(Verification { key, signature, message, outcome: Err(Error::NotDone) });
    }
    batch::run(py, &mut jobs, threads, SHORT, |piece| {
        let bits = piece.iter().map(|job| job.key.bits()).max().unwrap_or(0);
        let mut scratch = vec![0; verify_batch_scratch_limbs(bits)];
        let mut batch = Vec::with_capacity(piece.len());
        for &Verification { key, signature, message, .. } in piece.iter() {
            batch.push(settings.job(key, signature, message));
        }
        verify_batch(&mut batch, &mut scratch);
        let outcomes: Vec<_> = batch.iter().map(VerifyJob::outcome).collect();
        drop(batch);
        piece.iter_mut().zip(outcomes).for_each(|(job, outcome)| job.outcome = outcome);
    })?;
    let valid = |job: &Verification<'_>| match job.outcome {
        Ok(()) => Ok(true),
        Err(Error::Signature | Error::Length { .. } | Error::OutOfRange) => Ok(false),
        Err(error) => Err(error).or_raise(),
    };
    jobs.iter().map(valid).collect()
}

impl Settings {
    /// Returns whether the library takes only digests with these parameters.
    fn needs_digests(self) -> bool {
        let usual = self.salt_length == Some(self.hash.digest_length());
        self.padding == SignaturePadding::Pss && !self.prehashed && !usual
    }

    /// Returns the digests of the messages, if it takes only these.
    pub(super) fn digests<'py>(
        &mut self,
        py: Python<'py>,
        messages: &[&[u8]],
    ) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        if !self.needs_digests() {
            return Ok(None);
        }
        self.prehashed = true;
        let digest = |message: &&[u8]| digest(py, self.hash, message);
        messages.iter().map(digest).collect::<PyResult<_>>().map(Some)
    }

    fn job<'a>(
        self,
        key: &'a OwnedPublicKey,
        signature: &'a [u8],
        message: &'a [u8],
    ) -> VerifyJob<'a> {
        let Self { padding, hash, prehashed, salt_length } = self;
        let key = key.as_key();
        match (padding, prehashed) {
            (SignaturePadding::Pkcs1v15, false) => {
                VerifyJob::pkcs1v15(key, hash, message, signature)
            }
            (SignaturePadding::Pkcs1v15, true) => {
                VerifyJob::pkcs1v15_prehashed(key, hash, message, signature)
            }
            (SignaturePadding::Pss, false) => VerifyJob::pss(key, hash, message, signature),
            (SignaturePadding::Pss, true) => {
                VerifyJob::pss_prehashed(key, hash, message, salt_length, signature)
            }
        }
    }
}

/// Returns the messages, or their digests in place of them.
pub(super) fn or_digests<'a>(
    messages: Vec<&'a [u8]>,
    digests: Option<&'a Vec<Bound<'_, PyBytes>>>,
) -> Vec<&'a [u8]> {
    digests.map_or(messages, |digests| digests.iter().map(PyBytesMethods::as_bytes).collect())
}

/// Returns the different lengths.
fn lengths(all: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut lengths: Vec<_> = all.collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}
