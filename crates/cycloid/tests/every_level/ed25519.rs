//! Ed25519 with the vectors of RFC 8032, and batches compared with single operations, on every
//! backend.

use crate::support::Generator;
use crate::support::levels::{at_every_level, bytes, hex};
use cycloid::scheme::ed25519::{self, Error, Job, Rule, SigningKey, Variant, VerifyingKey};
use sha2::Digest;

const RULES: [Rule; 3] = [Rule::Cofactorless, Rule::Strict, Rule::Cofactored];

/// L, little-endian.
const ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

struct Vector {
    variant: String,
    key: SigningKey,
    message: Vec<u8>,
    context: Vec<u8>,
    signature: [u8; 64],
}

impl Vector {
    fn variant(&self) -> Variant<'_> {
        match self.variant.as_str() {
            "plain" => Variant::Plain,
            "context" => Variant::Context(&self.context),
            "prehashed" => Variant::Prehashed(&self.context),
            other => panic!("{other}"),
        }
    }
}

fn vectors() -> Vec<Vector> {
    let text = include_str!("../data/ed25519/rfc8032.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let vectors: Vec<_> = lines
        .map(|line| {
            let mut fields = line.split(' ').map(|field| field.trim_matches('-'));
            let mut next = || fields.next().unwrap();
            let variant = next().to_owned();
            let key = SigningKey::from_seed(&hex(next()));
            assert_eq!(key.verifying_key().as_bytes(), &hex(next()));
            let mut message = bytes(next());
            if variant == "prehashed" {
                message = sha2::Sha512::digest(message).to_vec();
            }
            Vector { variant, key, message, context: bytes(next()), signature: hex(next()) }
        })
        .collect();
    assert_eq!(vectors.len(), 10);
    vectors
}

#[test]
fn vectors_of_rfc_8032() {
    at_every_level(|| {
        for vector in vectors() {
            let Vector { key, message, context, signature, .. } = &vector;
            let signed = match vector.variant() {
                Variant::Plain => key.sign(message),
                Variant::Context(context) => key.sign_context(message, context).unwrap(),
                Variant::Prehashed(context) => {
                    key.sign_prehashed(&message[..].try_into().unwrap(), context).unwrap()
                }
            };
            assert_eq!(&signed, signature);
            let public = VerifyingKey::new(key.verifying_key().as_bytes()).unwrap();
            for rule in RULES {
                let verify = |variant: Variant<'_>, message: &[u8], signature: &[u8; 64]| {
                    public.verify_with(rule, variant, message, signature)
                };
                assert_eq!(verify(vector.variant(), message, signature), Ok(()));
                let others =
                    [Variant::Plain, Variant::Context(context), Variant::Prehashed(context)];
                for other in others.into_iter().filter(|other| *other != vector.variant()) {
                    let expected = match other {
                        Variant::Prehashed(_) if message.len() != 64 => Error::DigestLength,
                        _ => Error::Signature,
                    };
                    assert_eq!(verify(other, message, signature), Err(expected));
                }
                let longer = [&message[..], &[0]].concat();
                if vector.variant != "prehashed" {
                    let outcome = verify(vector.variant(), &longer, signature);
                    assert_eq!(outcome, Err(Error::Signature));
                }
                for bit in (0..512).step_by(37) {
                    let mut wrong = *signature;
                    wrong[bit / 8] ^= 1 << (bit % 8);
                    let outcome = verify(vector.variant(), message, &wrong);
                    assert_eq!(outcome, Err(Error::Signature), "bit {bit}");
                }
            }
        }
    });
}

#[test]
fn contexts_and_digests_have_their_lengths() {
    let key = SigningKey::from_seed(&[3; 32]);
    let public = key.verifying_key();
    let longest = [1; ed25519::MAX_CONTEXT];
    let signature = key.sign_context(b"message", &longest).unwrap();
    let variant = Variant::Context(&longest);
    public.verify_with(Rule::Strict, variant, b"message", &signature).unwrap();
    let too_long = [1; ed25519::MAX_CONTEXT + 1];
    assert_eq!(key.sign_context(b"message", &too_long), Err(Error::ContextTooLong));
    assert_eq!(key.sign_prehashed(&[0; 64], &too_long), Err(Error::ContextTooLong));
    for length in [0, 63, 65] {
        let outcome = key.sign_with(Variant::Prehashed(b""), &vec![0; length]);
        assert_eq!(outcome, Err(Error::DigestLength));
    }
    // An empty context differs from no context.
    assert_ne!(key.sign_context(b"message", b"").unwrap(), key.sign(b"message"));
}

/// Each number modulo L has exactly one accepted encoding.
#[test]
fn numbers_of_l_or_more_are_refused() {
    at_every_level(|| {
        let key = SigningKey::from_seed(&[5; 32]);
        let signature = key.sign(b"message");
        let order = hex::<32>(ORDER);
        // S + L, S + 2L, …, while they fit in 32 bytes.
        let mut signatures = vec![signature];
        loop {
            let mut next = *signatures.last().unwrap();
            let mut carry = 0;
            for (byte, order) in next[32..].iter_mut().zip(order) {
                carry += u16::from(*byte) + u16::from(order);
                *byte = carry as u8;
                carry >>= 8;
            }
            if carry != 0 {
                break;
            }
            signatures.push(next);
        }
        assert!(signatures.len() >= 15);
        for rule in RULES {
            let mut jobs: Vec<_> = signatures
                .iter()
                .flat_map(|wrong| [wrong, &signature])
                .map(|s| Job::verify(key.verifying_key(), rule, Variant::Plain, b"message", s))
                .collect();
            ed25519::run_batch(&mut jobs);
            for (i, job) in jobs.iter().enumerate() {
                let expected = if i % 2 == 0 && i > 0 { Err(Error::Signature) } else { Ok(()) };
                assert_eq!(job.outcome(), expected, "{i}");
            }
        }
    });
}

/// Jobs of all kinds, valid and invalid, in every number and order.
#[test]
fn batches_equal_single_operations_on_every_backend() {
    at_every_level(|| {
        let mut rng = Generator::new(7);
        let keys: Vec<_> = (0..5).map(|_| SigningKey::generate(&mut rng).unwrap()).collect();
        let too_long = [0; 256];
        let variants = [
            Variant::Plain,
            Variant::Context(b"context"),
            Variant::Prehashed(b""),
            Variant::Context(&too_long),
        ];
        let digest = [8; 64];
        let messages: [&[u8]; 3] = [b"", &digest, b"some message"];
        for count in (0..20).chain([40]) {
            let kinds: Vec<_> = (0..count)
                .map(|i| (&keys[i % 5], variants[i * i % 4], messages[i % 3], RULES[i / 2 % 3]))
                .collect();
            let expected: Vec<_> =
                kinds.iter().map(|(key, variant, m, _)| key.sign_with(*variant, m)).collect();
            let mut signatures = vec![[9; 64]; count];
            let mut jobs: Vec<_> = kinds
                .iter()
                .zip(&mut signatures)
                .map(|((key, variant, m, _), place)| Job::sign(key, *variant, m, place))
                .collect();
            assert!(jobs.iter().all(|job| job.outcome() == Err(Error::NotDone)));
            ed25519::run_batch(&mut jobs);
            let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
            for ((outcome, signature), expected) in outcomes.iter().zip(&signatures).zip(&expected)
            {
                // On an error, nothing is written.
                assert_eq!(outcome, &expected.map(|_| ()));
                assert_eq!(signature, &expected.unwrap_or([9; 64]));
            }

            for (i, signature) in signatures.iter_mut().enumerate().filter(|(i, _)| i % 3 == 1) {
                signature[i % 64] ^= 0x20;
            }
            let signed = vec![[0; 64]; count];
            let mut places = signed.clone();
            let mut jobs: Vec<_> = Vec::new();
            for (((key, variant, m, rule), signature), place) in
                kinds.iter().zip(&signatures).zip(&mut places)
            {
                jobs.push(Job::verify(key.verifying_key(), *rule, *variant, m, signature));
                // A signing job between verification jobs.
                jobs.push(Job::sign(key, *variant, m, place));
            }
            ed25519::run_batch(&mut jobs);
            for (i, (key, variant, m, rule)) in kinds.iter().enumerate() {
                let public = key.verifying_key();
                let verified = public.verify_with(*rule, *variant, m, &signatures[i]);
                assert_eq!(jobs[2 * i].outcome(), verified);
                assert_eq!(jobs[2 * i + 1].outcome(), expected[i].map(|_| ()));
                assert_eq!(verified.is_ok(), expected[i].is_ok() && i % 3 != 1);
            }
        }
    });
}
