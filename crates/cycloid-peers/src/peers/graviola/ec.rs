//! graviola's curves.

use std::sync::Arc;

use ::graviola::hashing::{Hash, Sha256, Sha384};
use ::graviola::key_agreement::{p256, p384, x25519};
use ::graviola::signing::ecdsa::{self, SigningKey, VerifyingKey};
use ::graviola::signing::eddsa::{Ed25519SigningKey, Ed25519VerifyingKey};

use cycloid_lab::peers::Call;
use cycloid_lab::peers::ec::{Candidate, Curve, Encoding, Input, Task, refused, write};

const NOTE: &str = "graviola adds randomness to its nonces, and derives no public key when it loads a private \
    one";

/// Returns the implementations of a task on a curve.
pub(super) fn candidates(task: Task, curve: Curve) -> Vec<Candidate> {
    let (function, prepare): (_, fn(&Input) -> Option<Call>) = match (curve, task) {
        (Curve::P256, Task::Sign) => ("SigningKey::sign", |input| {
            let private_key = p256::StaticPrivateKey::from_bytes(&input.private).ok()?;
            Some(signer::<_, Sha256>(SigningKey::<ecdsa::P256> { private_key }, input))
        }),
        (Curve::P384, Task::Sign) => ("SigningKey::sign", |input| {
            let private_key = p384::StaticPrivateKey::from_bytes(&input.private).ok()?;
            Some(signer::<_, Sha384>(SigningKey::<ecdsa::P384> { private_key }, input))
        }),
        (Curve::Ed25519, Task::Sign) => ("Ed25519SigningKey::sign", |input| {
            let key = Ed25519SigningKey::from_bytes(&input.private).ok()?;
            let message = input.message;
            Some(Box::new(move |_, output| write(output, &[&key.sign(&message)])))
        }),
        (Curve::P256, Task::Verify) => ("VerifyingKey::verify", verifier::<ecdsa::P256, Sha256>),
        (Curve::P384, Task::Verify) => ("VerifyingKey::verify", verifier::<ecdsa::P384, Sha384>),
        (Curve::Ed25519, Task::Verify) => ("Ed25519VerifyingKey::verify", |input| {
            let key = Ed25519VerifyingKey::from_bytes(&input.public).ok()?;
            let message = input.message;
            Some(Box::new(move |signature, _| {
                key.verify(signature, &message).map_err(|_| "invalid signature")?;
                Ok(0)
            }))
        }),
        (Curve::P256, Task::Agree) => ("StaticPrivateKey::diffie_hellman", |input| {
            let key = p256::StaticPrivateKey::from_bytes(&input.private).ok()?;
            Some(Box::new(move |other, shared| write(shared, &[&agree_p256(&key, other)?])))
        }),
        (Curve::P384, Task::Agree) => ("StaticPrivateKey::diffie_hellman", |input| {
            let key = p384::StaticPrivateKey::from_bytes(&input.private).ok()?;
            Some(Box::new(move |other, shared| write(shared, &[&agree_p384(&key, other)?])))
        }),
        (Curve::X25519, Task::Agree) => ("StaticPrivateKey::diffie_hellman", |input| {
            let key = x25519::StaticPrivateKey::try_from_slice(&input.private).ok()?;
            Some(Box::new(move |other, shared| write(shared, &[&agree_x25519(&key, other)?])))
        }),
        (Curve::P256, Task::Generate) => ("StaticPrivateKey::new_random", |_| {
            generator(
                |key| key.public_key_uncompressed().to_vec(),
                p256::StaticPrivateKey::new_random,
                |key, other| agree_p256(key, other).map(|shared| shared.to_vec()),
            )
        }),
        (Curve::P384, Task::Generate) => ("StaticPrivateKey::new_random", |_| {
            generator(
                |key| key.public_key_uncompressed().to_vec(),
                p384::StaticPrivateKey::new_random,
                |key, other| agree_p384(key, other).map(|shared| shared.to_vec()),
            )
        }),
        (Curve::X25519, Task::Generate) => ("StaticPrivateKey::new_random", |_| {
            generator(
                |key| key.public_key().as_bytes().to_vec(),
                x25519::StaticPrivateKey::new_random,
                |key, other| agree_x25519(key, other).map(|shared| shared.to_vec()),
            )
        }),
        (Curve::Ed25519, Task::Generate) => ("Ed25519SigningKey::generate", |input| {
            let message = input.message;
            generator(
                |key| key.public_key().as_bytes().to_vec(),
                Ed25519SigningKey::generate,
                move |key, _| Ok(key.sign(&message).to_vec()),
            )
        }),
        _ => return Vec::new(),
    };
    let prepare = move |input: &Arc<Input>| prepare(input).ok_or_else(|| refused(function));
    let candidate = Candidate::new(task, function, Encoding::Fixed, prepare);
    vec![if task == Task::Sign { candidate.noted(NOTE) } else { candidate }]
}

fn signer<C: ecdsa::Curve + 'static, H: Hash>(key: SigningKey<C>, input: &Input) -> Call {
    let message = input.message;
    Box::new(move |_, output| {
        let signature =
            key.sign::<H>(&[&message], output).map_err(|_| "SigningKey::sign failed")?;
        Ok(signature.len())
    })
}

fn verifier<C: ecdsa::Curve + 'static, H: Hash>(input: &Input) -> Option<Call> {
    let key = VerifyingKey::<C>::from_x962_uncompressed(&input.public).ok()?;
    let message = input.message;
    Some(Box::new(move |signature, _| {
        key.verify::<H>(&[&message], signature).map_err(|_| "invalid signature")?;
        Ok(0)
    }))
}

const REFUSED: &str = "invalid public key";

const FAILED: &str = "diffie_hellman failed";

fn agree_p256(key: &p256::StaticPrivateKey, other: &[u8]) -> Result<[u8; 32], &'static str> {
    let other = p256::PublicKey::from_x962_uncompressed(other).map_err(|_| REFUSED)?;
    key.diffie_hellman(&other).map(|shared| shared.0).map_err(|_| FAILED)
}

fn agree_p384(key: &p384::StaticPrivateKey, other: &[u8]) -> Result<[u8; 48], &'static str> {
    let other = p384::PublicKey::from_x962_uncompressed(other).map_err(|_| REFUSED)?;
    key.diffie_hellman(&other).map(|shared| shared.0).map_err(|_| FAILED)
}

fn agree_x25519(key: &x25519::StaticPrivateKey, other: &[u8]) -> Result<[u8; 32], &'static str> {
    let other = x25519::PublicKey::try_from_slice(other).map_err(|_| REFUSED)?;
    key.diffie_hellman(&other).map(|shared| shared.as_bytes()).map_err(|_| FAILED)
}

/// Wraps a key generator: `make` returns a key with its public key, and a second function proves
/// that the key works.
fn generator<K: 'static, E: 'static>(
    public: impl Fn(&K) -> Vec<u8> + 'static,
    make: impl Fn() -> Result<K, E> + 'static,
    prove: impl Fn(&K, &[u8]) -> Result<Vec<u8>, &'static str> + 'static,
) -> Option<Call> {
    let mut made = None;
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            let key = make().map_err(|_| "key generation failed")?;
            let public = public(&key);
            made = Some((key, public));
            return Ok(0);
        }
        let (key, public) = made.as_ref().ok_or("no key was generated")?;
        write(output, &[public, &prove(key, other)?])
    }))
}
