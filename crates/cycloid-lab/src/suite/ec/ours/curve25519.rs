//! Ed25519 and X25519.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use cycloid::scheme::ed25519::{self, Rule, SigningKey, Variant, VerifyingKey};
use cycloid::scheme::x25519::{self, PrivateKey};
use rand_core::SeedableRng;

use crate::peers::Call;
use crate::peers::ec::{Input, Task, write};

const FAILED: &str = "a job failed";

fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], &'static str> {
    bytes.try_into().map_err(|_| "not as many bytes as it has to be")
}

pub(super) fn signer(seed: &[u8]) -> SigningKey {
    SigningKey::from_seed(array(seed).expect("a seed has 32 bytes"))
}

pub(super) fn private(bytes: &[u8]) -> PrivateKey {
    PrivateKey::from(*array(bytes).expect("a key has 32 bytes"))
}

pub(super) fn is_signature(public: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let (Ok(public), Ok(signature)) = (array(public), array(signature)) else { return false };
    VerifyingKey::new(public).and_then(|key| key.verify(message, signature)).is_ok()
}

pub(super) fn agree(private_bytes: &[u8], public: &[u8]) -> Option<Vec<u8>> {
    let shared = private(private_bytes).agree(array(public).ok()?).ok()?;
    Some(shared.as_bytes().to_vec())
}

pub(super) fn one_signature(task: Task, input: &Input) -> Call {
    let (key, message) = (signer(&input.private), input.message);
    match task {
        Task::Verify => {
            let key = *key.verifying_key();
            Box::new(move |signature, _| {
                key.verify(&message, array(signature)?)
                    .map_err(|_| "the signature is not valid")?;
                Ok(0)
            })
        }
        Task::Generate => {
            let (mut rng, mut made) = (ChaCha20Rng::seed_from_u64(8), None);
            Box::new(move |other, output| {
                if other.is_empty() {
                    made = Some(SigningKey::generate(&mut rng));
                    return Ok(0);
                }
                let key = made.as_ref().ok_or("there is no key")?;
                write(output, &[key.verifying_key().as_bytes(), &key.sign(&message)])
            })
        }
        Task::Sign | Task::Agree => {
            Box::new(move |_, output| write(output, &[&key.sign(&message)]))
        }
    }
}

/// The shared secret, if the other party's key gives one.
fn shared(key: &PrivateKey, other: &[u8]) -> Result<x25519::SharedSecret, &'static str> {
    key.agree(array(other)?).map_err(|_| "the agreement failed")
}

pub(super) fn one_agreement(task: Task, input: &Input) -> Call {
    let key = private(&input.private);
    if task != Task::Generate {
        return Box::new(move |other, output| write(output, &[shared(&key, other)?.as_bytes()]));
    }
    let (mut rng, mut made) = (ChaCha20Rng::seed_from_u64(9), None);
    Box::new(move |other, output| {
        if other.is_empty() {
            let key = PrivateKey::generate(&mut rng);
            let public = key.public_key();
            made = Some((key, public));
            return Ok(0);
        }
        let (key, public) = made.as_ref().ok_or("there is no key")?;
        write(output, &[public, shared(key, other)?.as_bytes()])
    })
}

pub(super) fn signatures(task: Task, inputs: &[Arc<Input>; 8], count: usize) -> Option<Call> {
    let keys = inputs.each_ref().map(|input| signer(&input.private));
    let inputs = inputs.clone();
    Some(match task {
        Task::Sign => Box::new(move |_, output| {
            let mut signatures = vec![[0; 64]; count];
            let job = |(i, signature): (usize, _)| {
                let (key, input): (&SigningKey, &Input) = (&keys[i % 8], &*inputs[i % 8]);
                ed25519::Job::sign(key, Variant::Plain, &input.message, signature)
            };
            let mut jobs: Vec<_> = signatures.iter_mut().enumerate().map(job).collect();
            ed25519::run_batch(&mut jobs);
            let done = jobs.iter().all(|job| job.outcome().is_ok());
            drop(jobs);
            if done { write(output, &[signatures.as_flattened()]) } else { Err(FAILED) }
        }),
        Task::Verify => Box::new(move |first, _| {
            let signature =
                |i: usize| array(if i == 0 { first } else { &inputs[i % 8].signature[0] });
            let signatures = (0..count).map(signature).collect::<Result<Vec<&[u8; 64]>, _>>()?;
            let job = |(i, signature): (usize, _)| {
                let (key, input): (&SigningKey, &Input) = (&keys[i % 8], &*inputs[i % 8]);
                let (key, message) = (key.verifying_key(), &input.message);
                ed25519::Job::verify(key, Rule::Cofactorless, Variant::Plain, message, signature)
            };
            let mut jobs: Vec<_> = signatures.into_iter().enumerate().map(job).collect();
            ed25519::run_batch(&mut jobs);
            let valid = jobs.iter().all(|job| job.outcome().is_ok());
            if valid { Ok(0) } else { Err("a signature is not valid") }
        }),
        Task::Generate | Task::Agree => return None,
    })
}

pub(super) fn agreements(task: Task, inputs: &[Arc<Input>; 8], count: usize) -> Option<Call> {
    let keys = inputs.each_ref().map(|input| private(&input.private));
    let inputs = inputs.clone();
    Some(match task {
        Task::Agree => Box::new(move |first, output| {
            let mut secrets = vec![[0; 32]; count];
            let mut jobs = Vec::with_capacity(count);
            for (i, secret) in secrets.iter_mut().enumerate() {
                let other = array(if i == 0 { first } else { &inputs[i % 8].other })?;
                jobs.push(x25519::Job::agree(&keys[i % 8], other, secret));
            }
            x25519::run_batch(&mut jobs);
            let done = jobs.iter().all(|job| job.outcome().is_ok());
            drop(jobs);
            if done { write(output, &[secrets.as_flattened()]) } else { Err(FAILED) }
        }),
        Task::Generate => {
            let mut rng = ChaCha20Rng::seed_from_u64(10);
            let (mut keys, mut publics) = (Vec::new(), vec![[0; 32]; count]);
            Box::new(move |other, output| {
                if other.is_empty() {
                    keys = (0..count).map(|_| PrivateKey::generate(&mut rng)).collect();
                    let job = |(key, public)| x25519::Job::public_key(key, public);
                    let mut jobs: Vec<_> = keys.iter().zip(&mut publics).map(job).collect();
                    x25519::run_batch(&mut jobs);
                    let done = jobs.iter().all(|job| job.outcome().is_ok());
                    return if done { Ok(0) } else { Err(FAILED) };
                }
                if keys.iter().zip(&publics).any(|(key, public)| key.public_key() != *public) {
                    return Err("a lane gave another public key than one operation does");
                }
                let key = keys.first().ok_or("there are no keys")?;
                write(output, &[&publics[0], shared(key, other)?.as_bytes()])
            })
        }
        Task::Sign | Task::Verify => return None,
    })
}
