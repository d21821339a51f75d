//! RustCrypto's curves: p224, p256, p384 and p521.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;

use cycloid_lab::peers::Call;
use cycloid_lab::peers::ec::{Candidate, Curve, Encoding, Input, Task, refused, write};

/// Returns the implementations of a task on a curve.
pub(super) fn candidates(task: Task, curve: Curve) -> Vec<Candidate> {
    let (function, prepare): (_, fn(&Input) -> Option<Call>) = match (curve, task) {
        (Curve::P224, task) => in_p224::way(task),
        (Curve::P256, task) => in_p256::way(task),
        (Curve::P384, task) => in_p384::way(task),
        (Curve::P521, task) => in_p521::way(task),
        (Curve::Ed25519 | Curve::X25519, _) => return Vec::new(),
    };
    let prepare = move |input: &Arc<Input>| prepare(input).ok_or_else(|| refused(function));
    vec![Candidate::new(task, function, Encoding::Fixed, prepare)]
}

/// Defines the same functions for each curve, in a module named after it. Generic code over these
/// crates would need a page of trait bounds.
macro_rules! curve {
    ($($module:ident: $curve:ident;)*) => {$(
        mod $module {
            use ::$curve::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
            use ::$curve::ecdsa::{Signature, SigningKey, VerifyingKey};
            use ::$curve::elliptic_curve::Generate;
            use ::$curve::elliptic_curve::sec1::ToSec1Point;
            use ::$curve::{PublicKey, SecretKey};

            use super::*;

            pub(super) fn way(task: Task) -> (&'static str, fn(&Input) -> Option<Call>) {
                match task {
                    Task::Generate => ("SecretKey::generate_from_rng", generator),
                    Task::Sign => ("SigningKey::sign_prehash", signer),
                    Task::Verify => ("VerifyingKey::verify_prehash", verifier),
                    Task::Agree => ("SecretKey::diffie_hellman", agreement),
                }
            }

            fn signer(input: &Input) -> Option<Call> {
                let key = SigningKey::from_slice(&input.private).ok()?;
                Some(Box::new(move |digest, output| {
                    let signature: Signature =
                        key.sign_prehash(digest).map_err(|_| "sign_prehash failed")?;
                    write(output, &[&signature.to_bytes()])
                }))
            }

            fn verifier(input: &Input) -> Option<Call> {
                let key = VerifyingKey::from_sec1_bytes(&input.public).ok()?;
                let digest = input.digest.clone();
                Some(Box::new(move |signature, _| {
                    let signature =
                        Signature::from_slice(signature).map_err(|_| "malformed signature")?;
                    key.verify_prehash(&digest, &signature)
                        .map_err(|_| "invalid signature")?;
                    Ok(0)
                }))
            }

            fn agree(
                key: &SecretKey,
                other: &[u8],
                output: &mut [u8],
            ) -> Result<usize, &'static str> {
                let other = PublicKey::from_sec1_bytes(other);
                let other = other.map_err(|_| "invalid public key")?;
                write(output, &[key.diffie_hellman(&other).raw_secret_bytes()])
            }

            fn agreement(input: &Input) -> Option<Call> {
                let key = SecretKey::from_slice(&input.private).ok()?;
                Some(Box::new(move |other, shared| agree(&key, other, shared)))
            }

            fn generator(input: &Input) -> Option<Call> {
                let (length, mut rng) =
                    (input.curve.public_bytes(), ChaCha20Rng::seed_from_u64(4));
                let mut made = None;
                Some(Box::new(move |other, output| {
                    if other.is_empty() {
                        let key = SecretKey::generate_from_rng(&mut rng);
                        let public = key.public_key();
                        made = Some((key, public));
                        return Ok(0);
                    }
                    let (key, public) = made.as_ref().ok_or("no key was generated")?;
                    let (first, second) = output.split_at_mut(length);
                    let first = write(first, &[public.to_sec1_point(false).as_bytes()])?;
                    Ok(first + agree(key, other, second)?)
                }))
            }
        }
    )*};
}

curve! {
    in_p224: p224;
    in_p256: p256;
    in_p384: p384;
    in_p521: p521;
}
