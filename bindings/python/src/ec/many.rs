//! Batches on the NIST curves. A piece of a batch may have keys on different curves: those of each
//! curve are computed side by side.

use std::collections::HashMap;

use cycloid::scheme::ec::{self, P224, P256, P384, P521, PreparedPublicKey};
use cycloid::scheme::ecdh::SharedSecret;
use cycloid::scheme::nist;
use cycloid::scheme::{ecdh, ecdsa};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::{EncodingName, Prepared, PrivateKey, PublicKey, Settings};
use crate::batch::{self, SHORT};
use crate::input::{HashName, Instance, Many, same_count};

/// The number of signatures by one key from which computing multiples of its point pays off.
pub(super) const WORTH_PREPARING: usize = 16;

/// A curve, and its variant in values whose curve is known at run time only.
trait OnCurve: ec::Curve {
    fn private(key: &nist::PrivateKey) -> Option<&ec::PrivateKey<Self>>;
    fn public(key: &nist::PublicKey) -> Option<&ec::PublicKey<Self>>;
    fn prepared(key: &PublicKey) -> Option<&PreparedPublicKey<Self, Box<[u64]>>>;
    fn signature(signature: nist::Signature) -> Option<ecdsa::Signature<Self>>;
    fn wrap(signature: ecdsa::Signature<Self>) -> nist::Signature;
}

macro_rules! on_curve {
    ($($curve:ident)*) => {$(
        impl OnCurve for $curve {
            fn private(key: &nist::PrivateKey) -> Option<&ec::PrivateKey<Self>> {
                if let nist::PrivateKey::$curve(key) = key { Some(key) } else { None }
            }

            fn public(key: &nist::PublicKey) -> Option<&ec::PublicKey<Self>> {
                if let nist::PublicKey::$curve(key) = key { Some(key) } else { None }
            }

            fn prepared(key: &PublicKey) -> Option<&PreparedPublicKey<Self, Box<[u64]>>> {
                if let Some(Prepared::$curve(key)) = key.prepared.get() { Some(key) } else { None }
            }

            fn signature(signature: nist::Signature) -> Option<ecdsa::Signature<Self>> {
                if let nist::Signature::$curve(signature) = signature {
                    Some(signature)
                } else {
                    None
                }
            }

            fn wrap(signature: ecdsa::Signature<Self>) -> nist::Signature {
                nist::Signature::$curve(signature)
            }
        }
    )*};
}

on_curve! { P224 P256 P384 P521 }

/// Calls a function for each curve.
macro_rules! each_curve {
    ($function:ident($($argument:expr),*)) => {
        $function::<P224>($($argument),*);
        $function::<P256>($($argument),*);
        $function::<P384>($($argument),*);
        $function::<P521>($($argument),*);
    };
}

/// Signs many messages, each by the key in its place. Otherwise as `PrivateKey.sign_many`.
#[pyfunction]
#[pyo3(
    signature = (keys, messages, *, hash = None, encoding = EncodingName::default(), prehashed = false, threads = None),
    text_signature = "(keys, messages, *, hash=None, encoding='der', prehashed=False, threads=None)"
)]
pub(crate) fn sign_many<'py>(
    py: Python<'py>,
    keys: Vec<Instance<'py, PrivateKey>>,
    messages: Many<'py>,
    hash: Option<HashName>,
    encoding: EncodingName,
    prehashed: bool,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let messages = messages.slices();
    same_count(["keys", "messages"], [keys.len(), messages.len()])?;
    let jobs = keys.iter().map(|key| &*key.get().0).zip(messages);
    sign(py, jobs, Settings::new(hash, encoding, prehashed), threads)
}

/// Verifies many signatures, each by the key in its place. Otherwise as `PublicKey.verify_many`.
#[pyfunction]
#[pyo3(
    signature = (keys, signatures, messages, *, hash = None, encoding = EncodingName::default(), prehashed = false, threads = None),
    text_signature = "(keys, signatures, messages, *, hash=None, encoding='der', prehashed=False, threads=None)"
)]
pub(crate) fn verify_many<'py>(
    py: Python<'py>,
    keys: Vec<Instance<'py, PublicKey>>,
    signatures: Many<'py>,
    messages: Many<'py>,
    hash: Option<HashName>,
    encoding: EncodingName,
    prehashed: bool,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    for key in frequent(&keys) {
        key.prepared(py)?;
    }
    let keys: Vec<_> = keys.iter().map(|key| key.get()).collect();
    let (signatures, messages) = (signatures.slices(), messages.slices());
    let settings = Settings::new(hash, encoding, prehashed);
    verify(py, &keys, &signatures, &messages, settings, threads)
}

/// Returns the keys that occur often enough for computing multiples of their points.
fn frequent<'k>(keys: &'k [Instance<'_, PublicKey>]) -> Vec<&'k PublicKey> {
    let mut counts = HashMap::new();
    for key in keys {
        counts.entry(key.as_ptr()).or_insert((0, key.get())).0 += 1;
    }
    let frequent = counts.into_values().filter(|(count, _)| *count >= WORTH_PREPARING);
    frequent.map(|(_, key)| key).collect()
}

/// Computes many shared secrets, each by the key and the peer in its place. Otherwise as
/// `PrivateKey.agree_many`.
#[pyfunction]
#[pyo3(signature = (keys, peers, *, threads = None, return_exceptions = false))]
pub(crate) fn agree_many<'py>(
    py: Python<'py>,
    keys: Vec<Instance<'py, PrivateKey>>,
    peers: Vec<Instance<'py, PublicKey>>,
    threads: Option<usize>,
    return_exceptions: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    same_count(["keys", "peers"], [keys.len(), peers.len()])?;
    let peers = peers.iter().map(|peer| &peer.get().key);
    agree(py, keys.iter().map(|key| &*key.get().0).zip(peers), threads, return_exceptions)
}

struct Signing<'a> {
    key: &'a nist::PrivateKey,
    message: &'a [u8],
    signature: Option<nist::Signature>,
}

pub(super) fn sign<'a, 'py>(
    py: Python<'py>,
    jobs: impl Iterator<Item = (&'a nist::PrivateKey, &'a [u8])>,
    settings: Settings,
    threads: Option<usize>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let mut jobs: Vec<_> =
        jobs.map(|(key, message)| Signing { key, message, signature: None }).collect();
    for job in &jobs {
        settings.check(job.key.curve(), job.message)?;
    }
    batch::run(py, &mut jobs, threads, SHORT, |piece| {
        each_curve!(sign_on(piece, settings));
    })?;
    let done = jobs.iter().filter_map(|job| job.signature.as_ref());
    Ok(done.map(|signature| settings.write(py, signature)).collect())
}

fn sign_on<C: OnCurve>(piece: &mut [Signing<'_>], settings: Settings) {
    let mut places = Vec::new();
    let mut jobs = Vec::new();
    for (place, job) in piece.iter().enumerate() {
        let Some(key) = C::private(job.key) else { continue };
        let hash = settings.hash(job.key.curve());
        places.push(place);
        jobs.push(if settings.prehashed {
            ecdsa::Job::sign_prehashed(key, hash, job.message)
        } else {
            ecdsa::Job::sign(key, hash, job.message)
        });
    }
    ecdsa::run_batch(&mut jobs);
    let signatures: Vec<_> = jobs.iter().map(|job| job.signature().ok()).collect();
    drop(jobs);
    for (place, signature) in places.into_iter().zip(signatures) {
        piece[place].signature = signature.map(C::wrap);
    }
}

struct Verification<'a> {
    key: &'a PublicKey,
    signature: &'a [u8],
    message: &'a [u8],
    valid: bool,
}

pub(super) fn verify(
    py: Python<'_>,
    keys: &[&PublicKey],
    signatures: &[&[u8]],
    messages: &[&[u8]],
    settings: Settings,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    same_count(["keys", "signatures"], [keys.len(), signatures.len()])?;
    same_count(["signatures", "messages"], [signatures.len(), messages.len()])?;
    let inputs = keys.iter().zip(signatures).zip(messages);
    let mut jobs: Vec<_> = inputs
        .map(|((key, signature), message)| Verification { key, signature, message, valid: false })
        .collect();
    for job in &jobs {
        settings.check(job.key.key.curve(), job.message)?;
    }
    batch::run(py, &mut jobs, threads, SHORT, |piece| {
        each_curve!(verify_on(piece, settings));
    })?;
    Ok(jobs.iter().map(|job| job.valid).collect())
}

/// Returns whether a signature is valid.
pub(super) fn verify_one(
    key: &PublicKey,
    signature: &[u8],
    message: &[u8],
    settings: Settings,
) -> bool {
    let mut job = [Verification { key, signature, message, valid: false }];
    each_curve!(verify_on(&mut job, settings));
    job[0].valid
}

fn verify_on<C: OnCurve>(piece: &mut [Verification<'_>], settings: Settings) {
    // Parsed signatures, which the library's jobs borrow. One that cannot be parsed is not valid.
    let parsed: Vec<_> = piece
        .iter()
        .enumerate()
        .filter_map(|(place, job)| {
            let key = C::public(&job.key.key)?;
            let signature = settings.parse(job.key.key.curve(), job.signature).ok()?;
            Some((place, key, C::signature(signature)?))
        })
        .collect();
    let mut jobs = Vec::with_capacity(parsed.len());
    for (place, key, signature) in &parsed {
        let Verification { key: object, message, .. } = piece[*place];
        let hash = settings.hash(object.key.curve());
        jobs.push(match (C::prepared(object), settings.prehashed) {
            (None, false) => ecdsa::Job::verify(key, hash, message, signature),
            (None, true) => ecdsa::Job::verify_prehashed(key, message, signature),
            (Some(key), false) => {
                ecdsa::Job::verify_message_prepared(key, hash, message, signature)
            }
            (Some(key), true) => ecdsa::Job::verify_prepared(key, message, signature),
        });
    }
    ecdsa::run_batch(&mut jobs);
    let places = parsed.iter().map(|(place, ..)| *place);
    let valid: Vec<_> = places.zip(jobs.iter().map(|job| job.outcome().is_ok())).collect();
    for (place, valid) in valid {
        piece[place].valid = valid;
    }
}

struct Agreement<'a> {
    key: &'a nist::PrivateKey,
    peer: &'a nist::PublicKey,
    secret: Result<SharedSecret, ec::Error>,
}

pub(super) fn agree<'a, 'py>(
    py: Python<'py>,
    jobs: impl Iterator<Item = (&'a nist::PrivateKey, &'a nist::PublicKey)>,
    threads: Option<usize>,
    return_exceptions: bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let other = || Err(ec::Error::OtherCurve);
    let mut jobs: Vec<_> =
        jobs.map(|(key, peer)| Agreement { key, peer, secret: other() }).collect();
    batch::run(py, &mut jobs, threads, SHORT, |piece| {
        each_curve!(agree_on(piece));
    })?;
    let secrets = jobs.into_iter().map(|job| job.secret);
    batch::results(py, secrets, return_exceptions, |secret| PyBytes::new(py, &secret).into_any())
}

fn agree_on<C: OnCurve>(piece: &mut [Agreement<'_>]) {
    let mut places = Vec::new();
    let mut jobs = Vec::new();
    for (place, job) in piece.iter().enumerate() {
        // A pair on two curves stays without a secret.
        if let (Some(key), Some(peer)) = (C::private(job.key), C::public(job.peer)) {
            places.push(place);
            jobs.push(ecdh::Job::agree(key, peer));
        }
    }
    ecdh::run_batch(&mut jobs);
    let secrets: Vec<_> = jobs.iter().map(ecdh::Job::shared_secret).collect();
    drop(jobs);
    for (place, secret) in places.into_iter().zip(secrets) {
        piece[place].secret = secret;
    }
}
