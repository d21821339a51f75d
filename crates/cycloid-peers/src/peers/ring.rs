//! ring, compiled in.

mod ec;

use ::ring::rand::SystemRandom;
use ::ring::rsa::{KeyPair, PublicKeyComponents};
use ::ring::signature::{
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RSA_PSS_SHA256, RsaEncoding,
};
use cycloid_lab::versions;

use cycloid_lab::Failure;
use cycloid_lab::peers::rsa::{Candidate, Input, Key, Task};
use cycloid_lab::peers::{Call, Library, ec as curves};

pub(super) struct Ring;

/// The longest private key that ring accepts.
const MAX_PRIVATE_BITS: usize = 4096;

const NOTE_SIGN: &str = "ring and graviola take the message (32 bytes) and hash it themselves; \
    neither uses blinding";

const NOTE_VERIFY: &str = "ring and graviola hash the message (32 bytes); ring also prepares the \
    public key in each verification";

impl Library for Ring {
    fn version(&self) -> String {
        versions::RING.into()
    }

    fn rsa(&self, task: Task, bits: usize) -> Vec<Candidate> {
        let candidate = |function, note, prepare: fn(&Input) -> Result<Call, Failure>| {
            vec![Candidate {
                label: task.label(),
                function,
                constant_time: true,
                note: Some(note),
                prepare: Box::new(prepare),
            }]
        };
        match task {
            Task::Sign if bits <= MAX_PRIVATE_BITS => {
                candidate("KeyPair::sign", NOTE_SIGN, |input| signer(input, &RSA_PKCS1_SHA256))
            }
            Task::SignPss if bits <= MAX_PRIVATE_BITS => {
                candidate("KeyPair::sign", NOTE_SIGN, |input| signer(input, &RSA_PSS_SHA256))
            }
            Task::Verify => candidate("PublicKeyComponents::verify", NOTE_VERIFY, verifier),
            _ => Vec::new(),
        }
    }

    fn ec(&self, task: curves::Task, curve: curves::Curve) -> Vec<curves::Candidate> {
        ec::candidates(task, curve)
    }
}

fn signer(input: &Input, padding: &'static dyn RsaEncoding) -> Result<Call, Failure> {
    let key = KeyPair::from_der(&input.key.pkcs1).map_err(|error| {
        Failure::new(
            format!("ring rejects the key: {error}"),
            "exclude it with --peers, or report this",
        )
    })?;
    let (message, random) = (input.message, SystemRandom::new());
    Ok(Box::new(move |_, signature| {
        let signature = &mut signature[..key.public().modulus_len()];
        key.sign(padding, &random, &message, signature).map_err(|_| "KeyPair::sign failed")?;
        Ok(signature.len())
    }))
}

fn verifier(input: &Input) -> Result<Call, Failure> {
    // Without the leading zero, which ring rejects.
    let [_, e @ ..] = Key::public_exponent();
    let key = PublicKeyComponents { n: input.key.modulus.clone(), e: e.to_vec() };
    let message = input.message;
    Ok(Box::new(move |signature, _| {
        key.verify(&RSA_PKCS1_2048_8192_SHA256, &message, signature)
            .map_err(|_| "invalid signature")?;
        Ok(0)
    }))
}
