//! Ed25519 and X25519.

use std::array::from_fn;
use std::sync::Arc;

use chacha20::ChaCha20Rng;
use cycloid::scheme::ed25519::{self, Rule, SigningKey, Variant, VerifyingKey};
use cycloid::scheme::x25519::{self, PrivateKey};
use rand_core::SeedableRng;

use crate::peers::Call;
use crate::peers::ec::{Input, Task, write};

const FAILED: &str = "a job failed";

fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], &'static str> {
    bytes.try_into().map_err(|_| "wrong length")
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
                key.verify(&message, array(signature)?).map_err(|_| "invalid signature")?;
                Ok(0)
            })
        }
        Task::Generate => {
            let (mut rng, mut made) = (ChaCha20Rng::seed_from_u64(8), None);
            Box::new(move |other, output| {
                if other.is_empty() {
                    made = SigningKey::generate(&mut rng).ok();
                    return Ok(0);
                }
                let key = made.as_ref().ok_or("no key was generated")?;
                write(output, &[key.verifying_key().as_bytes(), &key.sign(&message)])
            })
        }
        Task::Sign | Task::Agree => {
            Box::new(move |_, output| write(output, &[&key.sign(&message)]))
        }
    }
}

/// Computes the shared secret, if the other party's key yields one.
fn shared(key: &PrivateKey, other: &[u8]) -> Result<x25519::SharedSecret, &'static str> {
    key.agree(array(other)?).map_err(|_| "agreement failed")
}

pub(super) fn one_agreement(task: Task, input: &Input) -> Call {
    let key = private(&input.private);
    if task != Task::Generate {
        return Box::new(move |other, output| write(output, &[shared(&key, other)?.as_bytes()]));
    }
    let (mut rng, mut made) = (ChaCha20Rng::seed_from_u64(9), None);
    Box::new(move |other, output| {
        if other.is_empty() {
            let key = PrivateKey::generate(&mut rng).map_err(|_| "key generation failed")?;
            let public = key.public_key();
            made = Some((key, public));
            return Ok(0);
        }
        let (key, public) = made.as_ref().ok_or("no key was generated")?;
        write(output, &[public, shared(key, other)?.as_bytes()])
    })
}

pub(super) fn signatures<const ROOM: usize>(
    task: Task,
    inputs: &[Arc<Input>; 8],
    count: usize,
) -> Option<Call> {
    let keys = inputs.each_ref().map(|input| signer(&input.private));
    let inputs = inputs.clone();
    Some(match task {
        Task::Sign => Box::new(move |_, output| {
            let mut signatures = [[0; 64]; ROOM];
            let mut rooms = signatures.iter_mut();
            let mut jobs: [ed25519::Job<'_>; ROOM] = from_fn(|i| {
                let room = rooms.next().expect("there is one per job");
                ed25519::Job::sign(&keys[i % 8], Variant::Plain, &inputs[i % 8].message, room)
            });
            ed25519::run_batch(&mut jobs[..count]);
            let done = jobs[..count].iter().all(|job| job.outcome().is_ok());
            if done { write(output, &[signatures[..count].as_flattened()]) } else { Err(FAILED) }
        }),
        Task::Verify => Box::new(move |first, _| {
            let first: &[u8; 64] = array(first)?;
            let mut jobs: [ed25519::Job<'_>; ROOM] = from_fn(|i| {
                let Input { message, signature, .. } = &*inputs[i % 8];
                let signature =
                    if i == 0 { first } else { array(&signature[0]).expect("the library made it") };
                let key = keys[i % 8].verifying_key();
                ed25519::Job::verify(key, Rule::Cofactorless, Variant::Plain, message, signature)
            });
            let jobs = &mut jobs[..count];
            ed25519::run_batch(jobs);
            let valid = jobs.iter().all(|job| job.outcome().is_ok());
            if valid { Ok(0) } else { Err("invalid signature in a batch") }
        }),
        Task::Generate | Task::Agree => return None,
    })
}

pub(super) fn agreements<const ROOM: usize>(
    task: Task,
    inputs: &[Arc<Input>; 8],
    count: usize,
) -> Option<Call> {
    let keys = inputs.each_ref().map(|input| private(&input.private));
    let inputs = inputs.clone();
    Some(match task {
        Task::Agree => Box::new(move |first, output| {
            let first: &[u8; 32] = array(first)?;
            let mut secrets = [[0; 32]; ROOM];
            let mut rooms = secrets.iter_mut();
            let mut jobs: [x25519::Job<'_>; ROOM] = from_fn(|i| {
                let other = &inputs[i % 8].other;
                let other = if i == 0 { first } else { array(other).expect("the library made it") };
                let room = rooms.next().expect("there is one per job");
                x25519::Job::agree(&keys[i % 8], other, room)
            });
            x25519::run_batch(&mut jobs[..count]);
            let done = jobs[..count].iter().all(|job| job.outcome().is_ok());
            if done { write(output, &[secrets[..count].as_flattened()]) } else { Err(FAILED) }
        }),
        Task::Generate => {
            let mut rng = ChaCha20Rng::seed_from_u64(10);
            let mut made: Option<[PrivateKey; ROOM]> = None;
            let mut publics = [[0; 32]; ROOM];
            Box::new(move |other, output| {
                if other.is_empty() {
                    let keys = made.insert(from_fn(|_| {
                        PrivateKey::generate(&mut rng).expect("a sound generator")
                    }));
                    let mut rooms = publics.iter_mut();
                    let mut jobs: [x25519::Job<'_>; ROOM] = from_fn(|i| {
                        x25519::Job::public_key(
                            &keys[i],
                            rooms.next().expect("there is one per job"),
                        )
                    });
                    let jobs = &mut jobs[..count];
                    x25519::run_batch(jobs);
                    let done = jobs.iter().all(|job| job.outcome().is_ok());
                    return if done { Ok(0) } else { Err(FAILED) };
                }
                let keys = made.as_ref().ok_or("no keys were generated")?;
                let pairs = || keys.iter().zip(&publics).take(count);
                if pairs().any(|(key, public)| key.public_key() != *public) {
                    return Err("a lane's public key differs from that of a single operation");
                }
                write(output, &[&publics[0], shared(&keys[0], other)?.as_bytes()])
            })
        }
        Task::Sign | Task::Verify => return None,
    })
}
