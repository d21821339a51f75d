//! The library's curve operations, and the inputs of all subjects.

mod curve25519;
mod nist;

use std::sync::Arc;

use cycloid::scheme::Hash;
use cycloid::scheme::ec::{self, P224, P256, P384, P521};
use sha2::{Digest, Sha256, Sha384, Sha512};

use crate::measure::random::Random;
use crate::peers::Call;
use crate::peers::ec::{Curve, Encoding, Input, Task};
use nist::hash;

/// Calls a generic function for a NIST curve, or another expression for each of the two other
/// curves.
macro_rules! on {
    ($curve:expr, nist::$function:ident($($argument:expr),*), $ed25519:expr, $x25519:expr) => {
        match $curve {
            Curve::P224 => nist::$function::<P224>($($argument),*),
            Curve::P256 => nist::$function::<P256>($($argument),*),
            Curve::P384 => nist::$function::<P384>($($argument),*),
            Curve::P521 => nist::$function::<P521>($($argument),*),
            Curve::Ed25519 => $ed25519,
            Curve::X25519 => $x25519,
        }
    };
}

/// Returns the input of one of eight operations, the same on every run.
pub(super) fn input(curve: Curve, number: u64) -> Input {
    let mut random = Random::new(number);
    let mut draw = || {
        let mut bytes: Vec<u8> = (0..curve.bytes()).map(|_| random.next() as u8).collect();
        // Below the order of each curve.
        bytes[0] &= if curve == Curve::P521 { 0 } else { 0x7f };
        bytes
    };
    let (private, other_private) = (draw(), draw());
    let message = std::array::from_fn(|_| random.next() as u8);
    let digest = digest(curve, &message);
    Input {
        curve,
        public: public(curve, &private),
        other: public(curve, &other_private),
        signature: signature(curve, &private, &message, &digest),
        private,
        other_private,
        message,
        digest,
    }
}

fn digest(curve: Curve, message: &[u8]) -> Vec<u8> {
    match hash(curve) {
        Hash::Sha384 => Sha384::digest(message).to_vec(),
        Hash::Sha512 => Sha512::digest(message).to_vec(),
        _ => Sha256::digest(message).to_vec(),
    }
}

fn public(curve: Curve, private: &[u8]) -> Vec<u8> {
    on!(
        curve,
        nist::public(private),
        curve25519::signer(private).verifying_key().as_bytes().into(),
        curve25519::private(private).public_key().into()
    )
}

/// Returns a signature in both encodings; empty on a curve without signatures.
fn signature(curve: Curve, private: &[u8], message: &[u8], digest: &[u8]) -> [Vec<u8>; 2] {
    on!(
        curve,
        nist::signature(private, hash(curve), digest),
        [curve25519::signer(private).sign(message).into(), Vec::new()],
        [Vec::new(), Vec::new()]
    )
}

/// Returns whether it is a signature of the input's message.
pub(super) fn is_signature(
    curve: Curve,
    public: &[u8],
    input: &Input,
    signature: &[u8],
    encoding: Encoding,
) -> bool {
    let digest = &input.digest;
    on!(
        curve,
        nist::is_signature(public, digest, signature, encoding),
        curve25519::is_signature(public, &input.message, signature),
        false
    )
}

/// Returns the secret shared between a private key and the owner of a public key.
pub(super) fn agree(curve: Curve, private: &[u8], public: &[u8]) -> Option<Vec<u8>> {
    on!(curve, nist::agree(private, public), None, curve25519::agree(private, public))
}

/// Returns the name of the function for a task.
pub(super) const fn function(task: Task, curve: Curve) -> &'static str {
    match (curve, task) {
        (Curve::Ed25519, Task::Generate) => "ed25519::SigningKey::generate",
        (Curve::Ed25519, Task::Sign) => "ed25519::SigningKey::sign",
        (Curve::Ed25519, _) => "ed25519::VerifyingKey::verify",
        (Curve::X25519, Task::Generate) => "x25519::PrivateKey::generate, public_key",
        (Curve::X25519, _) => "x25519::PrivateKey::agree",
        (_, Task::Generate) => "ec::PrivateKey::generate",
        (_, Task::Sign) => "ec::PrivateKey::sign_prehashed",
        (_, Task::Verify) => "ec::PublicKey::verify_prehashed",
        (_, Task::Agree) => "ec::PublicKey::from_sec1, ec::PrivateKey::agree",
    }
}

/// Returns the name of the batch function for a task.
pub(super) const fn batch_function(task: Task, curve: Curve) -> &'static str {
    match (curve, task) {
        (Curve::Ed25519, _) => "ed25519::run_batch",
        (Curve::X25519, _) => "x25519::run_batch",
        (_, Task::Sign | Task::Verify) => "ecdsa::run_batch",
        (_, Task::Generate | Task::Agree) => "ecdh::run_batch",
    }
}

/// Prepares one operation per call.
pub(super) fn one(task: Task, input: &Input) -> Call {
    let curve = input.curve;
    on!(
        curve,
        nist::one(task, input),
        curve25519::one_signature(task, input),
        curve25519::one_agreement(task, input)
    )
}

/// Prepares verification with public keys prepared for many uses, one or `count` per call, and
/// returns the bytes of a key's memory. `None` on curves without such keys.
pub(super) fn prepared(inputs: &[Arc<Input>; 8], count: Option<usize>) -> Option<(Call, usize)> {
    fn calls<C: ec::Curve>(inputs: &[Arc<Input>; 8], count: Option<usize>) -> (Call, usize) {
        let call = match count {
            None => nist::one_prepared::<C>(&inputs[0]),
            Some(count @ ..=8) => nist::batch_prepared::<C, 8>(inputs, count),
            Some(count) => nist::batch_prepared::<C, MOST>(inputs, count),
        };
        (call, nist::prepared_bytes::<C>())
    }
    Some(match inputs[0].curve {
        Curve::P224 => calls::<P224>(inputs, count),
        Curve::P256 => calls::<P256>(inputs, count),
        Curve::P384 => calls::<P384>(inputs, count),
        Curve::P521 => calls::<P521>(inputs, count),
        Curve::Ed25519 | Curve::X25519 => return None,
    })
}

/// The largest batch.
pub(super) const MOST: usize = 64;

/// Prepares this many operations per call, with the inputs' keys in turn, if the task has a batch.
/// The call's input belongs to the first operation; the results are written one after the other.
///
/// The jobs are in an array, to avoid allocations that would count as the library's.
pub(super) fn batch(task: Task, inputs: &[Arc<Input>; 8], count: usize) -> Option<Call> {
    if count <= 8 {
        batch_in::<8>(task, inputs, count)
    } else {
        batch_in::<MOST>(task, inputs, count)
    }
}

fn batch_in<const ROOM: usize>(task: Task, inputs: &[Arc<Input>; 8], count: usize) -> Option<Call> {
    match inputs[0].curve {
        Curve::P224 => nist::batch::<P224, ROOM>(task, inputs, count),
        Curve::P256 => nist::batch::<P256, ROOM>(task, inputs, count),
        Curve::P384 => nist::batch::<P384, ROOM>(task, inputs, count),
        Curve::P521 => nist::batch::<P521, ROOM>(task, inputs, count),
        Curve::Ed25519 => curve25519::signatures::<ROOM>(task, inputs, count),
        Curve::X25519 => curve25519::agreements::<ROOM>(task, inputs, count),
    }
}
