//! A worker's computation: batches of the library, and their memory.
//!
//! No result is released unverified: RSA checks its result with the public exponent inside the
//! library; every other signature is verified here, in lanes as when signing, with a copy of the
//! public key that the signing did not use.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cycloid::bls12_381::signature::Scheme;
use cycloid::machine::lanes::Lanes;
use cycloid::scheme::ec::{self, P224, P256, P384, P521};
use cycloid::scheme::ecdsa::{self, SignJob, VerifyJob};
use cycloid::scheme::ed25519::{self, Rule, Variant};
use cycloid::scheme::{self, ecdh, rsa, x25519};
use getrandom::SysRng;
use rand_core::{CryptoRng, UnwrapErr};
use zeroize::Zeroizing;

use super::job::{Job, Kind, Outcome, Work};
use crate::key::{Curve, EdwardsKey, PrimeCurveKey, PrivateKey, PublicKey};
use crate::mechanism::Hash;
use crate::spans::{self, Span};
use crate::{Code, Error};

/// The memory of batches, which lives as long as the worker.
pub(crate) type Arena = typed_arena::Arena<Lanes>;

/// The number of blindings that a batch caches.
const BLINDINGS: usize = 64;

/// One worker's batches.
pub(crate) struct Compute<'a> {
    arena: &'a Arena,
    rsa: HashMap<usize, rsa::Batch<'a, UnwrapErr<SysRng>>>,
}

impl std::fmt::Debug for Compute<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Compute")
    }
}

/// Returns the library's name of a hash function.
pub(crate) const fn library_hash(hash: Hash) -> scheme::Hash {
    match hash {
        Hash::Sha1 => scheme::Hash::Sha1,
        Hash::Sha224 => scheme::Hash::Sha224,
        Hash::Sha256 => scheme::Hash::Sha256,
        Hash::Sha384 => scheme::Hash::Sha384,
        Hash::Sha512 => scheme::Hash::Sha512,
    }
}

fn fault() -> Error {
    Code::DEVICE_ERROR.because("a result failed its check and was not released")
}

impl<'a> Compute<'a> {
    /// Creates batches in `arena` on first use.
    pub(crate) fn new(arena: &'a Arena) -> Self {
        Self { arena, rsa: HashMap::new() }
    }

    /// Computes jobs of one kind, and finishes each with its outcome. A panic, which would be a
    /// defect, ends only this batch or, in the callback of an outcome, only that job.
    pub(crate) fn run(&mut self, kind: Kind, jobs: Vec<Job>) {
        let computed = catch_unwind(AssertUnwindSafe(|| self.outcomes(kind, &jobs)));
        match computed {
            Ok(outcomes) => {
                let _span = spans::enter(Span::Reply);
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    let _ = catch_unwind(AssertUnwindSafe(|| job.finish(outcome)));
                }
            }
            Err(_) => {
                self.rsa.clear();
                for job in jobs {
                    let _ = catch_unwind(AssertUnwindSafe(|| drop(job)));
                }
            }
        }
    }

    fn outcomes(&mut self, kind: Kind, jobs: &[Job]) -> Vec<Outcome> {
        match kind {
            Kind::Rsa(bits) => self.rsa(bits, jobs),
            Kind::Ecdsa(Curve::P224) => ecdsa::<P224>(jobs),
            Kind::Ecdsa(Curve::P256) => ecdsa::<P256>(jobs),
            Kind::Ecdsa(Curve::P384) => ecdsa::<P384>(jobs),
            Kind::Ecdsa(_) => ecdsa::<P521>(jobs),
            Kind::Ed25519 => ed25519(jobs),
            Kind::Agree(Curve::P224) => agree::<P224>(jobs),
            Kind::Agree(Curve::P256) => agree::<P256>(jobs),
            Kind::Agree(Curve::P384) => agree::<P384>(jobs),
            Kind::Agree(Curve::P521) => agree::<P521>(jobs),
            Kind::Agree(_) => x25519(jobs),
            Kind::Bls => jobs.iter().map(bls).collect(),
        }
    }

    fn rsa(&mut self, bits: usize, jobs: &[Job]) -> Vec<Outcome> {
        let length = bits.div_ceil(8);
        let encoding = spans::enter(Span::Encoding);
        let batch = self.rsa.entry(bits).or_insert_with(|| {
            let lanes = rsa::batch_lanes(bits, BLINDINGS);
            let memory = self.arena.alloc_extend(std::iter::repeat_n(Lanes::ZERO, lanes));
            rsa::Batch::new(bits, UnwrapErr(SysRng), memory).expect("the memory is as it asks for")
        });
        let mut outputs: Vec<_> = jobs.iter().map(|_| Zeroizing::new(vec![0; length])).collect();
        let encoded: Vec<Option<Vec<u8>>> = jobs
            .iter()
            .map(|job| match &job.work {
                Work::SignPkcs1v15(info) => encode_pkcs1v15(info, length),
                _ => None,
            })
            .collect();
        let mut lanes = Vec::with_capacity(jobs.len());
        let mut places = Vec::with_capacity(jobs.len());
        for (i, ((job, output), encoded)) in jobs.iter().zip(&mut outputs).zip(&encoded).enumerate()
        {
            let PrivateKey::Rsa(key) = &*job.key else { continue };
            lanes.push(match &job.work {
                Work::SignPkcs1v15(_) => match encoded {
                    Some(encoded) => rsa::Job::raw_private_operation(key, encoded, output),
                    None => continue,
                },
                Work::SignPss { hash, mask, salt_length, digest } => {
                    let pss = rsa::Pss {
                        hash: library_hash(*hash),
                        mask_hash: library_hash(*mask),
                        salt_length: *salt_length,
                    };
                    rsa::Job::sign_pss_with(key, pss, digest, output)
                }
                Work::DecryptPkcs1v15(ciphertext) => {
                    rsa::Job::decrypt_pkcs1v15(key, ciphertext, output)
                }
                Work::DecryptOaep { hash, mask, label, ciphertext } => {
                    let oaep = rsa::Oaep {
                        hash: library_hash(*hash),
                        mask_hash: library_hash(*mask),
                        label,
                    };
                    rsa::Job::decrypt_oaep(key, oaep, ciphertext, output)
                }
                _ => continue,
            });
            places.push(i);
        }
        drop(encoding);
        run(batch, &mut lanes);
        let _span = spans::enter(Span::Encoding);
        let mut lengths = vec![Err(Code::DATA_LEN_RANGE.into()); jobs.len()];
        for (place, lane) in places.into_iter().zip(&lanes) {
            lengths[place] = lane.outcome().map_err(rsa_error);
        }
        drop(lanes);
        lengths
            .into_iter()
            .zip(outputs)
            .map(|(written, mut output)| {
                output.truncate(written?);
                Ok(output)
            })
            .collect()
    }
}

/// Runs a batch, and records its steps as spans while recording is on.
fn run<R: CryptoRng>(batch: &mut rsa::Batch<'_, R>, jobs: &mut [rsa::Job<'_>]) {
    if !spans::are_recorded() {
        return batch.run(jobs);
    }
    let mut _open = None;
    batch.run_observed(jobs, &mut |step| {
        // The previous span must end before the next begins.
        _open = None;
        _open = Some(spans::enter(match step {
            rsa::Step::Representation | rsa::Step::Delivery => Span::Encoding,
            rsa::Step::Blinding => Span::Blinding,
            rsa::Step::Exponentiation => Span::Exponentiation,
            rsa::Step::Recombination => Span::Recombination,
            rsa::Step::Verification => Span::Verification,
        }));
    });
}

/// Encodes by EMSA-PKCS1-v1_5 (RFC 8017, section 9.2) from step 3 on; `None` if `info` is too long.
pub(crate) fn encode_pkcs1v15(info: &[u8], length: usize) -> Option<Vec<u8>> {
    let padding = length.checked_sub(info.len() + 3).filter(|padding| *padding >= 8)?;
    let mut encoded = Vec::with_capacity(length);
    encoded.extend_from_slice(&[0, 1]);
    encoded.resize(2 + padding, 0xff);
    encoded.push(0);
    encoded.extend_from_slice(info);
    Some(encoded)
}

fn rsa_error(error: rsa::Error) -> Error {
    match error {
        rsa::Error::Fault => fault(),
        rsa::Error::Decryption => Code::ENCRYPTED_DATA_INVALID.into(),
        rsa::Error::Length { .. } => Code::DATA_LEN_RANGE.into(),
        rsa::Error::OutOfRange => Code::DATA_INVALID.into(),
        rsa::Error::DigestLength => Code::DATA_LEN_RANGE.into(),
        rsa::Error::SaltTooLong | rsa::Error::HashRetired => Code::MECHANISM_PARAM_INVALID.into(),
        other => Code::DEVICE_ERROR.because(format!("RSA: {other:?}")),
    }
}

/// A prime curve, with access to its keys in the enums.
trait PrimeCurve: ec::Curve + Sized {
    fn private(key: &PrivateKey) -> Option<&PrimeCurveKey<Self>>;
    fn public(key: &PublicKey) -> Option<&ec::PublicKey<Self>>;
}

macro_rules! prime_curves {
    ($($curve:ident)*) => {$(
        impl PrimeCurve for $curve {
            fn private(key: &PrivateKey) -> Option<&PrimeCurveKey<Self>> {
                if let PrivateKey::$curve(key) = key { Some(key) } else { None }
            }

            fn public(key: &PublicKey) -> Option<&ec::PublicKey<Self>> {
                if let PublicKey::$curve(key) = key { Some(key) } else { None }
            }
        }
    )*};
}

prime_curves!(P224 P256 P384 P521);

/// Returns the hash function for the nonce derivation, whichever function made the digest.
const fn nonce_hash(digest: &[u8]) -> scheme::Hash {
    match digest.len() {
        0..=32 => scheme::Hash::Sha256,
        33..=48 => scheme::Hash::Sha384,
        _ => scheme::Hash::Sha512,
    }
}

fn ecdsa<C: PrimeCurve>(jobs: &[Job]) -> Vec<Outcome> {
    let parts: Vec<(&PrimeCurveKey<C>, &[u8])> = jobs
        .iter()
        .filter_map(|job| match &job.work {
            Work::Ecdsa(digest) => Some((C::private(&job.key)?, digest.as_slice())),
            _ => None,
        })
        .collect();
    let mut signing: Vec<_> = parts
        .iter()
        .map(|(key, digest)| SignJob::prehashed(key, nonce_hash(digest), digest))
        .collect();
    let span = spans::enter(Span::Signing);
    ecdsa::sign_batch(&mut signing);
    drop(span);
    let signatures: Vec<_> = signing.iter().map(SignJob::outcome).collect();
    let mut verifying: Vec<_> = parts
        .iter()
        .zip(&signatures)
        .filter_map(|((key, digest), signature)| {
            let signature = signature.as_ref().ok()?;
            Some(match key.verifier() {
                Some(prepared) => VerifyJob::prepared(prepared, digest, signature),
                None => VerifyJob::prehashed(key.public_key(), digest, signature),
            })
        })
        .collect();
    let span = spans::enter(Span::Verification);
    ecdsa::verify_batch(&mut verifying);
    drop(span);
    let mut verified = verifying.iter().map(VerifyJob::outcome);
    signatures
        .iter()
        .map(|signature| match signature {
            Ok(signature) if verified.next() == Some(Ok(())) => {
                Ok(Zeroizing::new(signature.to_fixed().to_vec()))
            }
            _ => Err(fault()),
        })
        .collect()
}

/// Returns the variant of Ed25519 for prehashing and context (RFC 8032, section 5.1).
pub(crate) fn variant(prehashed: bool, context: &[u8]) -> Variant<'_> {
    match (prehashed, context) {
        (true, context) => Variant::Prehashed(context),
        (false, []) => Variant::Plain,
        (false, context) => Variant::Context(context),
    }
}

fn ed25519(jobs: &[Job]) -> Vec<Outcome> {
    let parts: Vec<(&EdwardsKey, Variant<'_>, &[u8])> = jobs
        .iter()
        .filter_map(|job| match (&*job.key, &job.work) {
            (PrivateKey::Ed25519(key), Work::Ed25519 { message, prehashed, context }) => {
                Some((&**key, variant(*prehashed, context), message.as_slice()))
            }
            _ => None,
        })
        .collect();
    let mut signatures = vec![[0; 64]; parts.len()];
    let mut signing: Vec<_> = parts
        .iter()
        .zip(&mut signatures)
        .map(|((key, variant, message), signature)| {
            ed25519::Job::sign(key, *variant, message, signature)
        })
        .collect();
    let span = spans::enter(Span::Signing);
    ed25519::run_batch(&mut signing);
    drop(span);
    let signed: Vec<_> = signing.iter().map(ed25519::Job::outcome).collect();
    drop(signing);
    let mut verifying: Vec<_> = parts
        .iter()
        .zip(&signatures)
        .map(|((key, variant, message), signature)| {
            ed25519::Job::verify(key.public(), Rule::Strict, *variant, message, signature)
        })
        .collect();
    let span = spans::enter(Span::Verification);
    ed25519::run_batch(&mut verifying);
    drop(span);
    signed
        .into_iter()
        .zip(&verifying)
        .zip(&signatures)
        .map(|((signed, verified), signature)| match (signed, verified.outcome()) {
            (Err(_), _) => Err(Code::MECHANISM_PARAM_INVALID.into()),
            (Ok(()), Ok(())) => Ok(Zeroizing::new(signature.to_vec())),
            _ => Err(fault()),
        })
        .collect()
}

fn agree<C: PrimeCurve>(jobs: &[Job]) -> Vec<Outcome> {
    let parts: Vec<_> = jobs
        .iter()
        .map(|job| match &job.work {
            Work::Agree(peer) => C::private(&job.key).zip(C::public(peer)),
            _ => None,
        })
        .collect();
    let mut lanes: Vec<_> =
        parts.iter().flatten().map(|(key, peer)| ecdh::Job::new(key, peer)).collect();
    ecdh::run_batch(&mut lanes);
    let mut secrets = lanes.iter().map(ecdh::Job::outcome);
    parts
        .iter()
        .map(|part| match part.and_then(|_| secrets.next()) {
            Some(Ok(secret)) => Ok(Zeroizing::new(secret.to_vec())),
            _ => Err(Code::PUBLIC_KEY_INVALID.because("the peer's key is on another curve")),
        })
        .collect()
}

fn x25519(jobs: &[Job]) -> Vec<Outcome> {
    let mut secrets: Vec<_> = jobs.iter().map(|_| Zeroizing::new([0; 32])).collect();
    let mut lanes: Vec<_> = jobs
        .iter()
        .zip(&mut secrets)
        .map(|(job, secret)| match (&*job.key, &job.work) {
            (PrivateKey::X25519(key), Work::Agree(peer)) => match &**peer {
                PublicKey::X25519(peer) => Some(x25519::Job::agree(key, peer, secret)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let mut sound: Vec<_> = lanes.iter_mut().filter_map(Option::take).collect();
    x25519::run_batch(&mut sound);
    let mut outcomes = sound.iter().map(x25519::Job::outcome).collect::<Vec<_>>().into_iter();
    drop(sound);
    drop(lanes);
    jobs.iter()
        .zip(&secrets)
        .map(|(job, secret)| {
            let sound =
                matches!(&job.work, Work::Agree(peer) if matches!(**peer, PublicKey::X25519(_)));
            match sound.then(|| outcomes.next()).flatten() {
                Some(Ok(())) => Ok(Zeroizing::new(secret.to_vec())),
                _ => Err(Code::PUBLIC_KEY_INVALID.because("the peer's key has low order")),
            }
        })
        .collect()
}

fn bls(job: &Job) -> Outcome {
    let (PrivateKey::Bls(key), Work::Bls(message)) = (&*job.key, &job.work) else {
        return Err(Code::KEY_TYPE_INCONSISTENT.into());
    };
    let signature = key.sign(Scheme::ProofOfPossession, message);
    key.public().verify(Scheme::ProofOfPossession, message, &signature).map_err(|_| fault())?;
    Ok(Zeroizing::new(signature.to_bytes().to_vec()))
}
