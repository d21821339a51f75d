//! The dalek crates, compiled in: ed25519-dalek and x25519-dalek.

use cycloid_lab::versions;
use std::sync::Arc;

use chacha20::ChaCha20Rng;
use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};
use rand_core::{Rng, SeedableRng};
use x25519_dalek::{PublicKey, StaticSecret};

use cycloid_lab::peers::ec::{Candidate, Curve, Encoding, Input, Task, refused, write};
use cycloid_lab::peers::{Call, Library};

pub(super) struct Dalek;

const NOTE_GENERATE: &str = "for key generation, dalek, RustCrypto and Cycloid draw random bytes \
    from ChaCha20; the others use their own generators";

impl Library for Dalek {
    fn version(&self) -> String {
        let [curve, ed25519, x25519] =
            [versions::CURVE25519_DALEK, versions::ED25519_DALEK, versions::X25519_DALEK];
        format!("curve25519 {curve}, ed25519 {ed25519}, x25519 {x25519}")
    }

    fn ec(&self, task: Task, curve: Curve) -> Vec<Candidate> {
        let (function, prepare): (_, fn(&Input) -> Option<Call>) = match (curve, task) {
            (Curve::Ed25519, Task::Generate) => ("SigningKey::from_bytes", signing_generator),
            (Curve::Ed25519, Task::Sign) => ("SigningKey::sign", signer),
            (Curve::Ed25519, Task::Verify) => ("VerifyingKey::verify", verifier),
            (Curve::X25519, Task::Generate) => ("PublicKey::from", generator),
            (Curve::X25519, Task::Agree) => ("StaticSecret::diffie_hellman", agreement),
            _ => return Vec::new(),
        };
        let prepare = move |input: &Arc<Input>| prepare(input).ok_or_else(|| refused(function));
        let candidate = Candidate::new(task, function, Encoding::Fixed, prepare);
        vec![if task == Task::Generate { candidate.noted(NOTE_GENERATE) } else { candidate }]
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

/// Draws 32 bytes for a key.
fn draw(rng: &mut ChaCha20Rng) -> [u8; 32] {
    let mut bytes = [0; 32];
    rng.fill_bytes(&mut bytes);
    bytes
}

fn signer(input: &Input) -> Option<Call> {
    let (key, message) = (SigningKey::from_bytes(&array(&input.private)?), input.message);
    Some(Box::new(move |_, signature| write(signature, &[&key.sign(&message).to_bytes()])))
}

fn verifier(input: &Input) -> Option<Call> {
    let key = VerifyingKey::from_bytes(&array(&input.public)?).ok()?;
    let message = input.message;
    Some(Box::new(move |signature, _| {
        let signature = Signature::from_slice(signature).map_err(|_| "malformed signature")?;
        key.verify(&message, &signature).map_err(|_| "invalid signature")?;
        Ok(0)
    }))
}

fn signing_generator(input: &Input) -> Option<Call> {
    let (mut rng, message) = (ChaCha20Rng::seed_from_u64(5), input.message);
    let mut made = None;
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            made = Some(SigningKey::from_bytes(&draw(&mut rng)));
            return Ok(0);
        }
        let key = made.as_ref().ok_or("no key was generated")?;
        write(output, &[key.verifying_key().as_bytes(), &key.sign(&message).to_bytes()])
    }))
}

/// Returns the secret that `secret` shares with the owner of `other`, unless it is zero.
fn agree(secret: &StaticSecret, other: &[u8]) -> Result<[u8; 32], &'static str> {
    let other: [u8; 32] = array(other).ok_or("invalid public key")?;
    let shared = secret.diffie_hellman(&PublicKey::from(other));
    if shared.was_contributory() { Ok(shared.to_bytes()) } else { Err("the shared secret is zero") }
}

fn agreement(input: &Input) -> Option<Call> {
    let secret = StaticSecret::from(array::<32>(&input.private)?);
    Some(Box::new(move |other, shared| write(shared, &[&agree(&secret, other)?])))
}

fn generator(_: &Input) -> Option<Call> {
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let mut made = None;
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            let secret = StaticSecret::from(draw(&mut rng));
            let public = PublicKey::from(&secret);
            made = Some((secret, public));
            return Ok(0);
        }
        let (secret, public) = made.as_ref().ok_or("no key was generated")?;
        write(output, &[public.as_bytes(), &agree(secret, other)?])
    }))
}
