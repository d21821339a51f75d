//! Cases for the signatures of a variant.

use std::hint::black_box;

use cycloid::bls12_381::signature::{
    PublicKey, Scheme, SecretKey, Signature, SignatureBackend, Variant, aggregate_verify,
    batch_verify, fast_aggregate_verify,
};

use super::super::case::{Case, case};
use super::inputs::{message, rng};

/// The number of signatures verified in one call.
const SIGNATURES: usize = 64;

/// Keys, messages and signatures.
struct Signed<B: SignatureBackend<V>, V: Variant> {
    secret: Vec<SecretKey<B, V>>,
    public: Vec<PublicKey<B, V>>,
    messages: Vec<&'static [u8]>,
    signatures: Vec<Signature<B, V>>,
}

impl<B: SignatureBackend<V>, V: Variant> Signed<B, V> {
    fn new(n: usize) -> Self {
        let mut rng = rng();
        let secret: Vec<SecretKey<B, V>> =
            (0..n).map(|_| SecretKey::generate(&mut rng).expect("a sound generator")).collect();
        let public = secret.iter().map(SecretKey::public_key).collect();
        let messages: Vec<&[u8]> = (0..n).map(message).collect();
        let pairs = secret.iter().zip(&messages);
        let signatures = pairs.map(|(key, message)| key.sign(Scheme::Basic, message)).collect();
        Self { secret, public, messages, signatures }
    }
}

pub(super) fn of<B: SignatureBackend<V>, V: Variant>(variant: &str) -> Vec<Case> {
    let right = |result: &bool| vec![u8::from(*result)];
    let name = |what: &str| format!("{what}, {variant}");
    let key_bytes = |key: &PublicKey<B, V>| key.to_bytes().as_ref().to_vec();
    let signature_bytes = |signature: &Signature<B, V>| signature.to_bytes().as_ref().to_vec();
    vec![
        case(
            name("public key"),
            "SecretKey::public_key",
            || {
                let signed = Signed::<B, V>::new(1);
                move || black_box(&signed.secret[0]).public_key()
            },
            key_bytes,
        ),
        case(
            name("sign"),
            "SecretKey::sign",
            || {
                let signed = Signed::<B, V>::new(1);
                move || signed.secret[0].sign(Scheme::Basic, black_box(signed.messages[0]))
            },
            signature_bytes,
        ),
        case(
            name("verify"),
            "PublicKey::verify",
            || {
                let Signed { public, messages, signatures, .. } = Signed::<B, V>::new(1);
                move || {
                    let signature = black_box(&signatures[0]);
                    public[0].verify(Scheme::Basic, messages[0], signature).is_ok()
                }
            },
            right,
        )
        .of_public(),
        case(
            name(&format!("aggregate {SIGNATURES}")),
            "Signature::aggregate",
            || {
                let signed = Signed::<B, V>::new(SIGNATURES);
                move || Signature::aggregate(black_box(&signed.signatures)).ok()
            },
            |sum: &Option<Signature<B, V>>| {
                sum.map_or_else(Vec::new, |sum| sum.to_bytes().as_ref().to_vec())
            },
        )
        .of_public(),
        case(
            name(&format!("verify aggregate of {SIGNATURES}")),
            "aggregate_verify",
            || {
                let signed = Signed::<B, V>::new(SIGNATURES);
                let sum = Signature::aggregate(&signed.signatures);
                move || {
                    sum.is_ok_and(|sum| {
                        aggregate_verify(Scheme::Basic, &signed.public, &signed.messages, &sum)
                            .is_ok()
                    })
                }
            },
            right,
        )
        .of_public()
        .of_several(SIGNATURES),
        case(
            name(&format!("verify one message of {SIGNATURES}")),
            "fast_aggregate_verify",
            || {
                let signed = Signed::<B, V>::new(SIGNATURES);
                let sign = |key: &SecretKey<B, V>| key.sign(Scheme::ProofOfPossession, b"message");
                let signatures: Vec<_> = signed.secret.iter().map(sign).collect();
                let sum = Signature::aggregate(&signatures);
                move || {
                    let verify =
                        |sum| fast_aggregate_verify(&signed.public, b"message", &sum).is_ok();
                    sum.is_ok_and(verify)
                }
            },
            right,
        )
        .of_public(),
        case(
            name(&format!("verify {SIGNATURES}")),
            "batch_verify",
            || {
                let signed = Signed::<B, V>::new(SIGNATURES);
                let mut rng = rng();
                move || {
                    let Signed { public, messages, signatures, .. } = &signed;
                    batch_verify(Scheme::Basic, public, messages, signatures, &mut rng).is_ok()
                }
            },
            right,
        )
        .of_public()
        .of_several(SIGNATURES),
    ]
}
