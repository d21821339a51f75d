//! ring's curves.

use std::sync::Arc;

use ::ring::agreement::{self, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ::ring::rand::{SecureRandom, SystemRandom};
use ::ring::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, EcdsaVerificationAlgorithm, Ed25519KeyPair, KeyPair,
};

use cycloid_lab::peers::Call;
use cycloid_lab::peers::ec::{Candidate, Curve, Encoding, Input, Task, refused, write};

const NOTE_MESSAGE: &str = "ring, graviola and every Ed25519 take the message (32 bytes) and hash it \
    themselves; the others take its digest";

const NOTE_VERIFY: &str = "ring parses the public key in each verification";

const NOTE_ONCE: &str = "ring's private keys for agreement serve only once: each run uses a new key, made before \
    the clock starts";

/// Returns the implementations of a task on a curve.
pub(super) fn candidates(task: Task, curve: Curve) -> Vec<Candidate> {
    let (function, prepare): (_, fn(&Input) -> Option<Call>) = match (curve, task) {
        (Curve::Ed25519, Task::Generate) => {
            ("Ed25519KeyPair::from_seed_unchecked", signing_generator)
        }
        (Curve::Ed25519, Task::Sign) => ("Ed25519KeyPair::sign", ed25519_signer),
        (Curve::P256 | Curve::P384, Task::Sign) => ("EcdsaKeyPair::sign", signer),
        (Curve::P256 | Curve::P384 | Curve::Ed25519, Task::Verify) => {
            ("UnparsedPublicKey::verify", verifier)
        }
        (Curve::P256 | Curve::P384 | Curve::X25519, Task::Agree) => ("agree_ephemeral", agreer),
        (Curve::P256 | Curve::P384 | Curve::X25519, Task::Generate) => {
            ("EphemeralPrivateKey::generate, compute_public_key", generator)
        }
        _ => return Vec::new(),
    };
    let prepare = move |input: &Arc<Input>| prepare(input).ok_or_else(|| refused(function));
    let candidate = Candidate::new(task, function, Encoding::Fixed, prepare);
    vec![match task {
        Task::Sign => candidate.noted(NOTE_MESSAGE),
        Task::Verify => candidate.noted(NOTE_VERIFY),
        Task::Agree => Candidate { once: true, ..candidate.noted(NOTE_ONCE) },
        Task::Generate => candidate,
    }]
}

fn signing(curve: Curve) -> &'static EcdsaSigningAlgorithm {
    match curve {
        Curve::P384 => &signature::ECDSA_P384_SHA384_FIXED_SIGNING,
        _ => &signature::ECDSA_P256_SHA256_FIXED_SIGNING,
    }
}

fn verifying(curve: Curve) -> &'static EcdsaVerificationAlgorithm {
    match curve {
        Curve::P384 => &signature::ECDSA_P384_SHA384_FIXED,
        _ => &signature::ECDSA_P256_SHA256_FIXED,
    }
}

fn agreeing(curve: Curve) -> &'static agreement::Algorithm {
    match curve {
        Curve::P384 => &agreement::ECDH_P384,
        Curve::X25519 => &agreement::X25519,
        _ => &agreement::ECDH_P256,
    }
}

fn signer(input: &Input) -> Option<Call> {
    let (random, message) = (SystemRandom::new(), input.message);
    let key = EcdsaKeyPair::from_private_key_and_public_key(
        signing(input.curve),
        &input.private,
        &input.public,
        &random,
    );
    let key = key.ok()?;
    Some(Box::new(move |_, output| {
        let signature = key.sign(&random, &message).map_err(|_| "EcdsaKeyPair::sign failed")?;
        write(output, &[signature.as_ref()])
    }))
}

fn ed25519_signer(input: &Input) -> Option<Call> {
    let key = Ed25519KeyPair::from_seed_and_public_key(&input.private, &input.public).ok()?;
    let message = input.message;
    Some(Box::new(move |_, output| write(output, &[key.sign(&message).as_ref()])))
}

fn verifier(input: &Input) -> Option<Call> {
    let (message, public) = (input.message, input.public.clone());
    let algorithm: &dyn signature::VerificationAlgorithm = match input.curve {
        Curve::Ed25519 => &signature::ED25519,
        curve => verifying(curve),
    };
    let key = signature::UnparsedPublicKey::new(algorithm, public);
    Some(Box::new(move |signature, _| {
        key.verify(&message, signature).map_err(|_| "invalid signature")?;
        Ok(0)
    }))
}

fn agree(
    private: EphemeralPrivateKey,
    curve: Curve,
    other: &[u8],
    output: &mut [u8],
) -> Result<usize, &'static str> {
    let other = UnparsedPublicKey::new(agreeing(curve), other);
    agree_ephemeral(private, &other, |shared| write(output, &[shared]))
        .map_err(|_| "agree_ephemeral failed")?
}

fn agreer(input: &Input) -> Option<Call> {
    let curve = input.curve;
    let private = EphemeralPrivateKey::generate(agreeing(curve), &SystemRandom::new()).ok()?;
    let public = private.compute_public_key().ok()?;
    let mut private = Some(private);
    Some(Box::new(move |other, output| {
        let private = private.take().ok_or("the private key is already used")?;
        let length = agree(private, curve, other, output)?;
        Ok(length + write(&mut output[length..], &[public.as_ref()])?)
    }))
}

fn generator(input: &Input) -> Option<Call> {
    let (curve, random) = (input.curve, SystemRandom::new());
    let mut made = None;
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            let private = EphemeralPrivateKey::generate(agreeing(curve), &random)
                .map_err(|_| "generate failed")?;
            let public = private.compute_public_key().map_err(|_| "compute_public_key failed")?;
            made = Some((private, public));
            return Ok(0);
        }
        let (private, public) = made.take().ok_or("no key was generated")?;
        let (first, second) = output.split_at_mut(curve.public_bytes());
        Ok(write(first, &[public.as_ref()])? + agree(private, curve, other, second)?)
    }))
}

fn signing_generator(input: &Input) -> Option<Call> {
    let (random, message) = (SystemRandom::new(), input.message);
    let mut made = None;
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            let mut seed = [0; 32];
            random.fill(&mut seed).map_err(|_| "no random bytes available")?;
            let key =
                Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| "key generation failed")?;
            made = Some(key);
            return Ok(0);
        }
        let key = made.as_ref().ok_or("no key was generated")?;
        write(output, &[key.public_key().as_ref(), key.sign(&message).as_ref()])
    }))
}
