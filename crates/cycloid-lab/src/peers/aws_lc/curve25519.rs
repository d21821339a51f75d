//! AWS-LC's Ed25519 and X25519, which take keys as bytes.

use std::sync::Arc;

use aws_lc_sys as aws;

use super::super::Call;
use super::super::ec::{Candidate, Encoding, Input, Task, refused, write};

/// Returns the implementations of a task on Ed25519.
pub(super) fn ed25519(task: Task) -> Vec<Candidate> {
    let (function, prepare): (_, fn(&Input) -> Option<Call>) = match task {
        Task::Generate => ("ED25519_keypair", signing_generator),
        Task::Sign => ("ED25519_sign", signer),
        Task::Verify => ("ED25519_verify", verifier),
        Task::Agree => return Vec::new(),
    };
    candidates(task, function, prepare)
}

/// Returns the implementations of a task on X25519.
pub(super) fn x25519(task: Task) -> Vec<Candidate> {
    let (function, prepare): (_, fn(&Input) -> Option<Call>) = match task {
        Task::Generate => ("X25519_keypair", generator),
        Task::Agree => ("X25519", agreement),
        Task::Sign | Task::Verify => return Vec::new(),
    };
    candidates(task, function, prepare)
}

fn candidates(
    task: Task,
    function: &'static str,
    prepare: fn(&Input) -> Option<Call>,
) -> Vec<Candidate> {
    let prepare = move |input: &Arc<Input>| prepare(input).ok_or_else(|| refused(function));
    vec![Candidate::new(task, function, Encoding::Fixed, prepare)]
}

fn sign(private: &[u8; 64], message: &[u8]) -> Result<[u8; 64], &'static str> {
    let mut signature = [0; 64];
    // SAFETY: reads the message and a private key of 64 bytes, and writes 64 bytes.
    let done = unsafe {
        let (message, length) = (message.as_ptr(), message.len());
        aws::ED25519_sign(signature.as_mut_ptr(), message, length, private.as_ptr())
    };
    if done == 1 { Ok(signature) } else { Err("ED25519_sign failed") }
}

fn agree(private: &[u8; 32], public: &[u8]) -> Result<[u8; 32], &'static str> {
    let public: &[u8; 32] = public.try_into().map_err(|_| "invalid public key")?;
    let mut shared = [0; 32];
    // SAFETY: reads two keys and writes a secret, each of 32 bytes.
    let done = unsafe { aws::X25519(shared.as_mut_ptr(), private.as_ptr(), public.as_ptr()) };
    if done == 1 { Ok(shared) } else { Err("X25519 failed") }
}

fn signer(input: &Input) -> Option<Call> {
    let (mut public, mut private) = ([0; 32], [0; 64]);
    let (seed, message): (&[u8; 32], _) =
        (input.private.as_slice().try_into().ok()?, input.message);
    // SAFETY: reads a seed of 32 bytes, and writes a public key of 32 bytes and a private key of
    // 64.
    unsafe {
        aws::ED25519_keypair_from_seed(public.as_mut_ptr(), private.as_mut_ptr(), seed.as_ptr());
    }
    Some(Box::new(move |_, signature| write(signature, &[&sign(&private, &message)?])))
}

fn verifier(input: &Input) -> Option<Call> {
    let message = input.message;
    let public: [u8; 32] = input.public.as_slice().try_into().ok()?;
    Some(Box::new(move |signature, _| {
        let signature: &[u8; 64] = signature.try_into().map_err(|_| "malformed signature")?;
        // SAFETY: reads the message, a signature of 64 bytes and a public key of 32.
        let done = unsafe {
            let (message, length) = (message.as_ptr(), message.len());
            aws::ED25519_verify(message, length, signature.as_ptr(), public.as_ptr())
        };
        if done == 1 { Ok(0) } else { Err("invalid signature") }
    }))
}

fn agreement(input: &Input) -> Option<Call> {
    let private: [u8; 32] = input.private.as_slice().try_into().ok()?;
    Some(Box::new(move |other, shared| write(shared, &[&agree(&private, other)?])))
}

fn signing_generator(input: &Input) -> Option<Call> {
    let (mut public, mut private, message) = ([0; 32], [0; 64], input.message);
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            // SAFETY: writes a public key of 32 bytes and a private key of 64.
            unsafe { aws::ED25519_keypair(public.as_mut_ptr(), private.as_mut_ptr()) };
            return Ok(0);
        }
        write(output, &[&public, &sign(&private, &message)?])
    }))
}

fn generator(_: &Input) -> Option<Call> {
    let (mut public, mut private) = ([0; 32], [0; 32]);
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            // SAFETY: writes two keys of 32 bytes.
            unsafe { aws::X25519_keypair(public.as_mut_ptr(), private.as_mut_ptr()) };
            return Ok(0);
        }
        write(output, &[&public, &agree(&private, other)?])
    }))
}
