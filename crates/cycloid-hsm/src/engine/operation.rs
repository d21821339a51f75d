//! The operations with private keys, each as batches of the library.
//!
//! No result is released unverified. The library checks RSA with the public exponent, and ECDSA
//! with a table or a copy of the public key that the signing did not use, all signatures of a batch
//! together where that is faster. Other signatures are verified here, in lanes as when signing.

use std::marker::PhantomData;

use cycloid::bls12_381::signature::{self, Scheme};
use cycloid::bls12_381::{Cycloid, signature::MinPk};
use cycloid::scheme::ec;
use cycloid::scheme::ecdsa::{self, Signature};
use cycloid::scheme::ed25519::{self, Rule, Variant};
use cycloid::scheme::{self, ecdh, rsa, x25519};
use zeroize::Zeroizing;

use super::job::{Job, Operation};
use super::workspace::{RsaBatch, Workspace};
use crate::key::{BlsKey, EdwardsKey, PrimeCurveKey, PublicKey};
use crate::mechanism::Hash;
use crate::spans::{self, Span};
use crate::{Code, Error};

/// A client's request, not yet matched with the type of its key.
pub(crate) enum Work {
    /// RSA.
    Rsa(RsaInput),
    /// ECDSA of a digest of any length.
    Ecdsa(Vec<u8>),
    /// Ed25519 or Ed448 (RFC 8032).
    EdDsa(EdwardsInput),
    /// ECDH or X25519 with this key of the peer.
    Agree(Box<PublicKey>),
    /// A BLS signature of a message.
    Bls(Vec<u8>),
    /// Finite-field Diffie-Hellman with this public value of the peer, big-endian.
    Dh(Vec<u8>),
}

/// An operation with an RSA key (RFC 8017).
pub(crate) enum RsaInput {
    /// RSASSA-PKCS1-v1_5 (section 8.2) of a DigestInfo, which follows the padding.
    SignPkcs1v15(Vec<u8>),
    /// RSASSA-PSS (section 8.1) of a digest.
    SignPss {
        /// The hash of the digest.
        hash: Hash,
        /// The hash of the mask.
        mask: Hash,
        /// In bytes.
        salt_length: usize,
        /// As long as the hash function's output.
        digest: Vec<u8>,
    },
    /// RSASP1 and RSADP (sections 5.2.1 and 5.1.2) of a number, at most as long as the modulus.
    Raw(Vec<u8>),
    /// RSAES-PKCS1-v1_5 (section 7.2).
    DecryptPkcs1v15(Vec<u8>),
    /// RSAES-OAEP (section 7.1).
    DecryptOaep {
        /// The hash of the label.
        hash: Hash,
        /// The hash of the mask.
        mask: Hash,
        /// Often empty.
        label: Vec<u8>,
        /// As long as the modulus.
        ciphertext: Vec<u8>,
    },
}

/// A message to sign with Ed25519 or Ed448.
pub(crate) struct EdwardsInput {
    /// The message, or its SHA-512 digest.
    pub(crate) message: Vec<u8>,
    /// Whether `message` is the digest.
    pub(crate) prehashed: bool,
    /// The context of Ed25519ctx, Ed25519ph and Ed448.
    pub(crate) context: Vec<u8>,
}

impl EdwardsInput {
    /// Returns the variant of Ed25519 (RFC 8032, section 5.1).
    pub(crate) fn variant(&self) -> Variant<'_> {
        match (self.prehashed, self.context.as_slice()) {
            (true, context) => Variant::Prehashed(context),
            (false, []) => Variant::Plain,
            (false, context) => Variant::Context(context),
        }
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
        Hash::Sha3_224 => scheme::Hash::Sha3_224,
        Hash::Sha3_256 => scheme::Hash::Sha3_256,
        Hash::Sha3_384 => scheme::Hash::Sha3_384,
        Hash::Sha3_512 => scheme::Hash::Sha3_512,
    }
}

pub(super) fn fault() -> Error {
    Code::DEVICE_ERROR.because("a result failed its check and was not released")
}

/// Runs the library once for many items. `prepare` makes an item's lane together with the place of
/// the lane's result, both from the same item; an item without a lane takes no part. `finish`
/// stores the result.
///
/// The library takes its lanes as one slice, without their places. Nothing else in the engine
/// matches results to jobs by position.
pub(super) fn side_by_side<'a, T, L, P>(
    items: &'a mut [T],
    prepare: impl FnMut(&'a mut T) -> Option<(L, P)>,
    run: impl FnOnce(&mut [L]),
    mut finish: impl FnMut(P, &L),
) {
    let room = items.len();
    let (mut lanes, mut places) = (Vec::with_capacity(room), Vec::with_capacity(room));
    for (lane, place) in items.iter_mut().filter_map(prepare) {
        lanes.push(lane);
        places.push(place);
    }
    run(&mut lanes);
    for (place, lane) in places.into_iter().zip(&lanes) {
        finish(place, lane);
    }
}

/// Private operations of RSA, with keys of one length.
pub(crate) enum Rsa {}

impl Operation for Rsa {
    type Key = rsa::PrivateKey<Box<[u64]>>;
    type Input = RsaInput;
    type Output = Zeroizing<Vec<u8>>;

    fn compute(workspace: &mut Workspace, jobs: &mut [Job<Self>]) {
        struct Place<'a> {
            job: &'a mut Job<Rsa>,
            encoded: Option<Vec<u8>>,
            output: Zeroizing<Vec<u8>>,
            written: Result<usize, Error>,
        }
        let Some(bits) = jobs.first().map(|job| job.key.bits()) else { return };
        let length = bits.div_ceil(8);
        let encoding = spans::enter(Span::Encoding);
        let batch = workspace.rsa(bits);
        let mut places: Vec<_> = jobs
            .iter_mut()
            .map(|job| Place {
                encoded: match &job.input {
                    RsaInput::SignPkcs1v15(info) => encode_pkcs1v15(info, length),
                    RsaInput::Raw(number) => padded(number, length),
                    _ => None,
                },
                output: Zeroizing::new(vec![0; length]),
                written: Err(Code::DATA_LEN_RANGE.into()),
                job,
            })
            .collect();
        side_by_side(
            &mut places,
            |Place { job, encoded, output, written }| {
                let key = &job.key;
                let lane = match &job.input {
                    RsaInput::SignPkcs1v15(_) | RsaInput::Raw(_) => {
                        rsa::Job::raw_private_operation(key, encoded.as_ref()?, output)
                    }
                    RsaInput::SignPss { hash, mask, salt_length, digest } => {
                        let pss = rsa::Pss {
                            hash: library_hash(*hash),
                            mask_hash: library_hash(*mask),
                            salt_length: *salt_length,
                        };
                        match hash {
                            // The daemon has checked that the officer allows it.
                            Hash::Sha1 => rsa::Job::sign_pss_legacy(key, pss, digest, output),
                            _ => rsa::Job::sign_pss_with(key, pss, digest, output),
                        }
                    }
                    RsaInput::DecryptPkcs1v15(ciphertext) => {
                        rsa::Job::decrypt_pkcs1v15(key, ciphertext, output)
                    }
                    RsaInput::DecryptOaep { hash, mask, label, ciphertext } => {
                        let oaep = rsa::Oaep {
                            hash: library_hash(*hash),
                            mask_hash: library_hash(*mask),
                            label,
                        };
                        rsa::Job::decrypt_oaep(key, oaep, ciphertext, output)
                    }
                };
                Some((lane, written))
            },
            |lanes| {
                drop(encoding);
                run_rsa(batch, lanes);
            },
            |written, lane| *written = lane.outcome().map_err(rsa_error),
        );
        let _span = spans::enter(Span::Encoding);
        for Place { job, mut output, written, .. } in places {
            // What is encoded here is below every sound modulus.
            let encodes = matches!(job.input, RsaInput::SignPkcs1v15(_) | RsaInput::SignPss { .. });
            let written = written.map_err(|error| match error.code {
                Code::DATA_INVALID if encodes => fault(),
                _ => error,
            });
            job.outcome = Some(written.map(|length| {
                output.truncate(length);
                output
            }));
        }
    }

    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>> {
        output
    }
}

/// Runs a batch, and records its steps as spans while recording is on.
fn run_rsa(batch: &mut RsaBatch, jobs: &mut [rsa::Job<'_>]) {
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

/// Returns a number, big-endian, with zeros before it up to a length; `None` if it is too long.
pub(crate) fn padded(number: &[u8], length: usize) -> Option<Vec<u8>> {
    let zeros = length.checked_sub(number.len())?;
    Some([&vec![0; zeros], number].concat())
}

fn rsa_error(error: rsa::Error) -> Error {
    match error {
        rsa::Error::Fault => fault(),
        rsa::Error::Decryption => Code::ENCRYPTED_DATA_INVALID.into(),
        rsa::Error::Length { .. } => Code::DATA_LEN_RANGE.into(),
        rsa::Error::OutOfRange => Code::DATA_INVALID.into(),
        rsa::Error::DigestLength => Code::DATA_LEN_RANGE.into(),
        rsa::Error::SaltTooLong | rsa::Error::HashRetired => Code::MECHANISM_PARAM_INVALID.into(),
        rsa::Error::ModulusTooShort => Code::KEY_SIZE_RANGE.into(),
        other => Code::DEVICE_ERROR.because(format!("RSA: {other:?}")),
    }
}

/// ECDSA of digests.
pub(crate) struct Ecdsa<C>(PhantomData<C>);

/// Returns the hash function for the nonce derivation, whichever function made the digest.
const fn nonce_hash(digest: &[u8]) -> scheme::Hash {
    match digest.len() {
        0..=32 => scheme::Hash::Sha256,
        33..=48 => scheme::Hash::Sha384,
        _ => scheme::Hash::Sha512,
    }
}

impl<C: ec::Curve> Operation for Ecdsa<C> {
    type Key = PrimeCurveKey<C>;
    type Input = Vec<u8>;
    type Output = Signature<C>;

    fn most() -> usize {
        ecdsa::batch_size::<C>()
    }

    fn compute(_: &mut Workspace, jobs: &mut [Job<Self>]) {
        side_by_side(
            jobs,
            |Job { key, input: digest, outcome, .. }| {
                let lane = ecdsa::Job::sign_prehashed(key, nonce_hash(digest), digest);
                let lane = match key.verifier() {
                    Some(prepared) => lane.verify_after_sign_with(prepared),
                    None => lane.verify_after_sign(),
                };
                Some((lane, outcome))
            },
            |lanes| {
                let _span = spans::enter(Span::Signing);
                ecdsa::run_batch(lanes);
            },
            |outcome, lane| *outcome = Some(lane.signature().map_err(|_| fault())),
        );
    }

    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(output.to_fixed().to_vec())
    }
}

/// Signatures with Ed25519.
pub(crate) enum Ed25519 {}

impl Operation for Ed25519 {
    type Key = EdwardsKey;
    type Input = EdwardsInput;
    type Output = [u8; 64];

    fn compute(_: &mut Workspace, jobs: &mut [Job<Self>]) {
        struct Place<'a> {
            job: &'a mut Job<Ed25519>,
            signature: [u8; 64],
            signed: bool,
        }
        let place = |job| Place { job, signature: [0; 64], signed: false };
        let mut places: Vec<_> = jobs.iter_mut().map(place).collect();
        side_by_side(
            &mut places,
            |Place { job, signature, signed }| {
                let Job { key, input, outcome, .. } = &mut **job;
                let lane = ed25519::Job::sign(key, input.variant(), &input.message, signature);
                Some((lane, (outcome, signed)))
            },
            |lanes| {
                let _span = spans::enter(Span::Signing);
                ed25519::run_batch(lanes);
            },
            |(outcome, signed), lane| match lane.outcome() {
                Ok(()) => *signed = true,
                Err(_) => *outcome = Some(Err(Code::MECHANISM_PARAM_INVALID.into())),
            },
        );
        side_by_side(
            &mut places,
            |Place { job, signature, signed }| {
                let signature: &[u8; 64] = signed.then_some(signature)?;
                let Job { key, input, outcome, .. } = &mut **job;
                let (variant, message) = (input.variant(), &input.message);
                let lane =
                    ed25519::Job::verify(key.public(), Rule::Strict, variant, message, signature);
                Some((lane, (outcome, signature)))
            },
            |lanes| {
                let _span = spans::enter(Span::Verification);
                ed25519::run_batch(lanes);
            },
            |(outcome, signature), lane| {
                *outcome = Some(lane.outcome().map(|()| *signature).map_err(|_| fault()));
            },
        );
    }

    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(output.to_vec())
    }
}

/// ECDH with a peer's public key.
pub(crate) struct Ecdh<C>(PhantomData<C>);

impl<C: ec::Curve> Operation for Ecdh<C> {
    type Key = PrimeCurveKey<C>;
    type Input = ec::PublicKey<C>;
    type Output = ecdh::SharedSecret;

    fn compute(_: &mut Workspace, jobs: &mut [Job<Self>]) {
        side_by_side(
            jobs,
            |Job { key, input: peer, outcome, .. }| Some((ecdh::Job::agree(key, peer), outcome)),
            ecdh::run_batch,
            |outcome, lane| *outcome = Some(lane.shared_secret().map_err(|_| fault())),
        );
    }

    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(output.to_vec())
    }
}

/// X25519 with a peer's public key.
pub(crate) enum X25519 {}

impl Operation for X25519 {
    type Key = x25519::PrivateKey;
    type Input = [u8; 32];
    type Output = Zeroizing<[u8; 32]>;

    fn compute(_: &mut Workspace, jobs: &mut [Job<Self>]) {
        struct Place<'a> {
            job: &'a mut Job<X25519>,
            secret: Zeroizing<[u8; 32]>,
            agreed: Result<(), x25519::Error>,
        }
        let not_done = Err(x25519::Error::NotDone);
        let place = |job| Place { job, secret: Zeroizing::default(), agreed: not_done };
        let mut places: Vec<_> = jobs.iter_mut().map(place).collect();
        side_by_side(
            &mut places,
            |Place { job, secret, agreed }| {
                Some((x25519::Job::agree(&job.key, &job.input, secret), agreed))
            },
            x25519::run_batch,
            |agreed, lane| *agreed = lane.outcome(),
        );
        for Place { job, secret, agreed } in places {
            let error = |error| match error {
                x25519::Error::SharedSecret => {
                    Code::PUBLIC_KEY_INVALID.because("the peer's key has low order")
                }
                _ => fault(),
            };
            job.outcome = Some(agreed.map(|()| secret).map_err(error));
        }
    }

    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(output.to_vec())
    }
}

/// Signatures on BLS12-381, one by one.
pub(crate) enum Bls {}

impl Operation for Bls {
    type Key = BlsKey;
    type Input = Vec<u8>;
    type Output = signature::Signature<Cycloid, MinPk>;

    fn compute(_: &mut Workspace, jobs: &mut [Job<Self>]) {
        for Job { key, input: message, outcome, .. } in jobs {
            let signature = key.sign(Scheme::ProofOfPossession, message);
            let verified = key.public().verify(Scheme::ProofOfPossession, message, &signature);
            *outcome = Some(verified.map(|()| signature).map_err(|_| fault()));
        }
    }

    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(output.to_bytes().to_vec())
    }
}
