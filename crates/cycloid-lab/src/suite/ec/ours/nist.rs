//! The NIST curves.

use std::array::from_fn;
use std::sync::Arc;

use chacha20::ChaCha20Rng;
use cycloid::scheme::Hash;
use cycloid::scheme::ec::{
    self, Curve, PreparedPublicKey, PrivateKey, PublicKey, prepared_key_limbs,
};
use cycloid::scheme::ecdh;
use cycloid::scheme::ecdsa::{self, Job, Signature};
use rand_core::SeedableRng;

use crate::peers::Call;
use crate::peers::ec::{Curve as CurveName, Encoding, Input, Task, write};

const FAILED: &str = "a job failed";

/// Returns the hash function used with a curve.
pub(super) const fn hash(curve: CurveName) -> Hash {
    match curve {
        CurveName::P384 => Hash::Sha384,
        CurveName::P521 => Hash::Sha512,
        _ => Hash::Sha256,
    }
}

fn private<C: Curve>(bytes: &[u8]) -> PrivateKey<C> {
    PrivateKey::from_bytes(bytes).expect("the bytes are a number below the order")
}

pub(super) fn public<C: Curve>(private_bytes: &[u8]) -> Vec<u8> {
    private::<C>(private_bytes).public_key().to_uncompressed().to_vec()
}

/// Returns a signature in both encodings.
pub(super) fn signature<C: Curve>(private_bytes: &[u8], hash: Hash, digest: &[u8]) -> [Vec<u8>; 2] {
    let signature = private::<C>(private_bytes).sign_prehashed(hash, digest);
    [signature.to_fixed().to_vec(), signature.to_der().to_vec()]
}

pub(super) fn is_signature<C: Curve>(
    public: &[u8],
    digest: &[u8],
    signature: &[u8],
    encoding: Encoding,
) -> bool {
    let signature = match encoding {
        Encoding::Fixed => Signature::<C>::from_fixed(signature),
        Encoding::Der => Signature::<C>::from_der(signature),
    };
    let public = PublicKey::<C>::from_sec1(public);
    public.and_then(|public| public.verify_prehashed(digest, &signature?)).is_ok()
}

pub(super) fn agree<C: Curve>(private_bytes: &[u8], public: &[u8]) -> Option<Vec<u8>> {
    let public = PublicKey::<C>::from_sec1(public).ok()?;
    Some(private::<C>(private_bytes).agree(&public).to_vec())
}

fn parsed<C: Curve>(public: &[u8]) -> Result<PublicKey<C>, &'static str> {
    PublicKey::from_sec1(public).map_err(|_| "invalid public key")
}

fn read<C: Curve>(signature: &[u8]) -> Result<Signature<C>, &'static str> {
    Signature::from_fixed(signature).map_err(|_| "malformed signature")
}

fn valid(outcome: Result<(), ec::Error>) -> Result<usize, &'static str> {
    outcome.map(|()| 0).map_err(|_| "invalid signature")
}

/// A public key with precomputed multiples of its point.
type Verifier<C> = PreparedPublicKey<C, Box<[u64]>>;

fn verifier<C: Curve>(input: &Input) -> Verifier<C> {
    let memory = vec![0; prepared_key_limbs::<C>()].into_boxed_slice();
    let key = *private::<C>(&input.private).public_key();
    PreparedPublicKey::new(key, memory).expect("the memory has the required length")
}

/// Returns the bytes of memory of such a key.
pub(super) const fn prepared_bytes<C: Curve>() -> usize {
    8 * prepared_key_limbs::<C>()
}

/// Prepares one verification with a key prepared for many uses.
pub(super) fn one_prepared<C: Curve>(input: &Input) -> Call {
    let (key, digest) = (verifier::<C>(input), input.digest.clone());
    Box::new(move |signature, _| valid(key.verify_prehashed(&digest, &read(signature)?)))
}

/// Prepares a batch of verifications with eight such keys in turn.
pub(super) fn batch_prepared<C: Curve, const ROOM: usize>(
    inputs: &[Arc<Input>; 8],
    count: usize,
) -> Call {
    verifying::<C, ROOM>(inputs, count, inputs.iter().map(|input| verifier(input)).collect())
}

/// Prepares a batch of verifications; uses the inputs' keys if there are no prepared ones.
fn verifying<C: Curve, const ROOM: usize>(
    inputs: &[Arc<Input>; 8],
    count: usize,
    prepared: Vec<Verifier<C>>,
) -> Call {
    let keys = inputs.each_ref().map(|input| *private::<C>(&input.private).public_key());
    let inputs = inputs.clone();
    Box::new(move |first, _| {
        let bytes = |i: usize| if i == 0 { first } else { &inputs[i % 8].signature[0] };
        let signatures: [_; ROOM] = from_fn(|i| read::<C>(bytes(i % count)));
        if let Err(message) = &signatures[0] {
            return Err(message);
        }
        let mut jobs: [Job<'_, C>; ROOM] = from_fn(|i| {
            let signature = signatures[i].as_ref().expect("the library made it");
            let digest = &inputs[i % 8].digest;
            match prepared.get(i % 8) {
                Some(key) => Job::verify_prepared(key, digest, signature),
                None => Job::verify_prehashed(&keys[i % 8], digest, signature),
            }
        });
        let jobs = &mut jobs[..count];
        ecdsa::run_batch(jobs);
        let valid = jobs.iter().all(|job| job.outcome().is_ok());
        if valid { Ok(0) } else { Err("invalid signature in a batch") }
    })
}

pub(super) fn one<C: Curve>(task: Task, input: &Input) -> Call {
    let key = private::<C>(&input.private);
    let hash = hash(input.curve);
    match task {
        Task::Sign => Box::new(move |digest, output| {
            write(output, &[&key.sign_prehashed(hash, digest).to_fixed()])
        }),
        Task::Verify => {
            let (key, digest) = (*key.public_key(), input.digest.clone());
            Box::new(move |signature, _| valid(key.verify_prehashed(&digest, &read(signature)?)))
        }
        Task::Agree => Box::new(move |other, output| write(output, &[&key.agree(&parsed(other)?)])),
        Task::Generate => {
            let (mut rng, mut made) = (ChaCha20Rng::seed_from_u64(7), None);
            Box::new(move |other, output| {
                if other.is_empty() {
                    made = PrivateKey::<C>::generate(&mut rng).ok();
                    return Ok(0);
                }
                let key = made.as_ref().ok_or("no key was generated")?;
                let shared = key.agree(&parsed(other)?);
                write(output, &[&key.public_key().to_uncompressed(), &shared])
            })
        }
    }
}

pub(super) fn batch<C: Curve, const ROOM: usize>(
    task: Task,
    inputs: &[Arc<Input>; 8],
    count: usize,
) -> Option<Call> {
    let keys = inputs.each_ref().map(|input| private::<C>(&input.private));
    let hash = hash(inputs[0].curve);
    let inputs = inputs.clone();
    Some(match task {
        Task::Sign => Box::new(move |_, output| {
            let mut jobs: [Job<'_, C>; ROOM] =
                from_fn(|i| Job::sign_prehashed(&keys[i % 8], hash, &inputs[i % 8].digest));
            let jobs = &mut jobs[..count];
            ecdsa::run_batch(jobs);
            let mut length = 0;
            for job in jobs {
                let signature = job.signature().map_err(|_| FAILED)?;
                length += write(&mut output[length..], &[&signature.to_fixed()])?;
            }
            Ok(length)
        }),
        Task::Verify => verifying::<C, ROOM>(&inputs, count, Vec::new()),
        Task::Agree => Box::new(move |first, output| {
            let bytes = |i: usize| if i == 0 { first } else { &inputs[i % 8].other };
            let publics: [_; ROOM] = from_fn(|i| parsed::<C>(bytes(i % count)));
            publics[0]?;
            let mut jobs: [ecdh::Job<'_, C>; ROOM] = from_fn(|i| {
                ecdh::Job::agree(&keys[i % 8], publics[i].as_ref().expect("the library made it"))
            });
            let jobs = &mut jobs[..count];
            ecdh::run_batch(jobs);
            let mut length = 0;
            for job in jobs {
                length +=
                    write(&mut output[length..], &[&job.shared_secret().map_err(|_| FAILED)?])?;
            }
            Ok(length)
        }),
        Task::Generate => return None,
    })
}
