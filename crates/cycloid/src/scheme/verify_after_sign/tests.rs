//! Flips every bit of a key in memory and checks the signatures made with it.

use std::vec::Vec;

use crate::machine::lanes;
use crate::scheme::ec::{self, Curve, P224, P256, P384, P521, PrivateKey};
use crate::scheme::ecdsa::{self, run_batch_with as run_ecdsa_batch_with};
use crate::scheme::ed25519::{self, Error, Job, SigningKey, Variant, run_batch_with};
use crate::scheme::{Hash, random};

/// Returns all backends for a batch, and none.
fn backends() -> impl Iterator<Item = Option<lanes::Backend>> {
    lanes::Backend::available().map(Some).chain([None])
}

fn ecdsa_key<C: Curve>(seed: u8) -> PrivateKey<C> {
    let mut bytes = std::vec![seed; C::BYTES];
    bytes[0] = 0;
    PrivateKey::from_bytes(&bytes).unwrap()
}

/// Flips a bit of the scalar or, for higher indices, of a coordinate.
fn flip<C: Curve>(key: &mut PrivateKey<C>, bit: usize) {
    let mut limbs = key.memory().into_iter().flatten();
    *limbs.nth(bit / 64).unwrap() ^= 1 << (bit % 64);
}

/// Flips every `step`-th bit of the scalar and of both coordinates.
fn ecdsa<C: Curve>(step: usize) {
    let sound = ecdsa_key::<C>(0x35);
    let (public, digest) = (*sound.public_key(), [0xa7; 32]);
    let bits = 64 * ecdsa_key::<C>(1).memory().iter().map(|limbs| limbs.len()).sum::<usize>();
    let (mut tried, mut wrong, mut refused) = (0, 0, 0);
    for bit in (0..bits).step_by(step) {
        let mut key = ecdsa_key::<C>(0x35);
        flip(&mut key, bit);
        tried += 1;
        let unchecked = key.sign_prehashed(Hash::Sha256, &digest);
        let is_wrong = public.verify_prehashed(&digest, &unchecked).is_err();
        wrong += usize::from(is_wrong);
        for random in [&[][..], b"random"] {
            let checked = key.verify_after_sign().sign_hedged(Hash::Sha256, &digest, random);
            match &checked {
                Ok(signature) => assert_eq!(public.verify_prehashed(&digest, signature), Ok(())),
                Err(error) => assert_eq!(*error, ec::Error::Fault, "{} {bit}", C::NAME),
            }
            assert!(checked.is_err() || !is_wrong, "{} {bit}", C::NAME);
            refused += usize::from(random.is_empty() && checked.is_err());
        }
    }
    // A flip in the scalar makes the signature wrong; a flip in the public key makes its check
    // fail. Only bits beyond the length of the prime may have no effect.
    assert!(tried >= 32 && wrong >= tried / 4, "{wrong} of {tried}");
    assert!(refused >= tried * 4 / 5, "{refused} of {tried}");
    let signature = sound.verify_after_sign().sign_prehashed(Hash::Sha256, &digest);
    assert_eq!(signature, Ok(sound.sign_prehashed(Hash::Sha256, &digest)));
    let signature = sound.verify_after_sign().sign(Hash::Sha256, b"message");
    assert_eq!(signature, Ok(sound.sign(Hash::Sha256, b"message")));
}

#[test]
fn ecdsa_releases_no_wrong_signature() {
    ecdsa::<P224>(7);
    ecdsa::<P256>(1);
    ecdsa::<P384>(11);
    ecdsa::<P521>(13);
}

/// A lane with a flipped bit fails alone; a lane without verification returns the result of a
/// single signature.
fn ecdsa_batches<C: Curve>() {
    let digest = [0x5c; 32];
    let mut keys: Vec<PrivateKey<C>> = (1..=11).map(ecdsa_key).collect();
    let expected: Vec<_> =
        keys.iter().map(|key| key.sign_prehashed(Hash::Sha256, &digest)).collect();
    // The scalar, the x coordinate, the y coordinate.
    for (lane, part) in [(0, 0), (3, 1), (7, 2), (9, 0)] {
        keys[lane].memory()[part][1] ^= 1 << 17;
    }
    let changed: Vec<_> =
        keys.iter().map(|key| key.sign_prehashed(Hash::Sha256, &digest)).collect();
    for backend in backends() {
        for count in [1, 3, 8, 11] {
            let job = |i: usize| ecdsa::Job::sign_prehashed(&keys[i], Hash::Sha256, &digest);
            let mut jobs: Vec<_> = (0..count).map(|i| job(i).verify_after_sign()).collect();
            run_ecdsa_batch_with(backend, &mut jobs);
            for (i, job) in jobs.iter().enumerate() {
                let right = Ok(expected[i].clone());
                let outcome = if [0, 3, 7, 9].contains(&i) { Err(ec::Error::Fault) } else { right };
                assert_eq!(job.signature(), outcome, "{} {backend:?} {i} of {count}", C::NAME);
            }
            // Only some jobs are verified.
            let mut jobs: Vec<_> = (0..count)
                .map(|i| if i % 3 == 0 { job(i).verify_after_sign() } else { job(i) })
                .collect();
            run_ecdsa_batch_with(backend, &mut jobs);
            for (i, job) in jobs.iter().enumerate() {
                let alone = Ok(changed[i].clone());
                let outcome = if [0, 3, 9].contains(&i) { Err(ec::Error::Fault) } else { alone };
                assert_eq!(job.signature(), outcome, "{} {backend:?} {i} of {count}", C::NAME);
            }
        }
    }
    let mut jobs: [ecdsa::Job<'_, C>; 0] = [];
    run_ecdsa_batch_with(None, &mut jobs);
}

#[test]
fn ecdsa_batches_release_no_wrong_signature() {
    ecdsa_batches::<P256>();
    ecdsa_batches::<P521>();
}

const ED25519_BITS: usize = 4 * 256 + 16 * 64;

#[test]
fn ed25519_releases_no_wrong_signature() {
    let sound = SigningKey::from_seed(&[0x35; 32]);
    let expected = sound.sign(b"message");
    let public = *sound.verifying_key();
    let mut refused = [0; 4];
    for bit in 0..ED25519_BITS {
        let mut key = SigningKey::from_seed(&[0x35; 32]);
        key.flip(bit);
        let unchecked = key.sign(b"message");
        let signature = key.verify_after_sign().sign(b"message");
        if let Ok(signature) = signature {
            // The prefix only determines the nonce, and any other nonce is as good.
            assert_eq!(public.verify_strict(b"message", &signature), Ok(()), "{bit}");
            assert_eq!(signature == expected, !(512..768).contains(&bit), "{bit}");
        }
        let is_wrong = public.verify(b"message", &unchecked).is_err();
        assert_eq!(signature.is_err(), is_wrong, "{bit}");
        assert_eq!(signature.err(), is_wrong.then_some(Error::Fault), "{bit}");
        refused[(bit / 256).min(4) % 4] += usize::from(is_wrong && bit < 1024);
        // The same for the other variants.
        let context = key.verify_after_sign().sign_context(b"message", b"context");
        assert_eq!(context.is_err(), is_wrong, "{bit}");
        let prehashed = key.verify_after_sign().sign_prehashed(&[7; 64], b"context");
        assert_eq!(prehashed.is_err(), is_wrong, "{bit}");
    }
    // Flips in the seed and the prefix make no signature wrong. Flips in the scalar do, and so do
    // flips in the bytes of the public key: checked against the unchanged point stored with them,
    // the signature would verify.
    assert_eq!(refused, [0, 256, 0, 256]);
    let checked = sound.verify_after_sign();
    assert_eq!(checked.sign(b"message"), Ok(expected));
    assert_eq!(checked.sign_context(b"a", b"b"), sound.sign_context(b"a", b"b"));
    assert_eq!(checked.sign_context(b"a", &[0; 256]), Err(Error::ContextTooLong));
    assert_eq!(checked.sign_with(Variant::Prehashed(b""), b"short"), Err(Error::DigestLength));
}

#[test]
fn ed25519_batches_release_no_wrong_signature() {
    const JOBS: usize = 19;
    let mut keys: Vec<_> = (0..JOBS as u8).map(|i| SigningKey::from_seed(&[i; 32])).collect();
    let expected: Vec<_> = keys.iter().map(|key| key.sign(b"message")).collect();
    let wrong = [0, 5, 11, 18];
    for (lane, bit) in wrong.into_iter().zip([256 + 100, 768 + 7, 256, 1023]) {
        keys[lane].flip(bit);
    }
    let changed: Vec<_> = keys.iter().map(|key| key.sign(b"message")).collect();
    for backend in backends() {
        for every in [1, 2] {
            let mut signatures = [[0xee; 64]; JOBS];
            let mut jobs: Vec<_> = keys
                .iter()
                .zip(&mut signatures)
                .enumerate()
                .map(|(i, (key, place))| {
                    let job = Job::sign(key, Variant::Plain, b"message", place);
                    if i % every == 0 { job.verify_after_sign() } else { job }
                })
                .collect();
            run_batch_with(backend, &mut jobs);
            let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
            for (i, found) in outcomes.into_iter().enumerate() {
                let is_refused = wrong.contains(&i) && i % every == 0;
                let outcome = if is_refused { Err(Error::Fault) } else { Ok(()) };
                assert_eq!(found, outcome, "{backend:?} {i}");
                let signature = if is_refused { [0xee; 64] } else { changed[i] };
                assert_eq!(signatures[i], signature, "{backend:?} {i}");
                assert_eq!(signatures[i] == expected[i], !wrong.contains(&i));
            }
        }
    }
    // Jobs that verify are unaffected.
    let key = SigningKey::from_seed(&[3; 32]);
    let signature = key.sign(b"message");
    let verify = |message: &'static [u8]| {
        let rule = ed25519::Rule::Strict;
        Job::verify(key.verifying_key(), rule, Variant::Plain, message, &signature)
            .verify_after_sign()
    };
    let mut jobs = [verify(b"message"), verify(b"massage")];
    run_batch_with(None, &mut jobs);
    assert_eq!(jobs.map(|job| job.outcome()), [Ok(()), Err(Error::Signature)]);
}

#[cfg(feature = "bls12-381")]
mod bls {
    use super::random;
    use crate::scheme::bls12_381::backend::Group;
    use crate::scheme::bls12_381::signature::{
        MinPk, MinSig, PublicKey, Scheme, SecretKey, SignatureBackend, Variant,
    };
    use crate::scheme::bls12_381::{Affine, Cycloid, Error, Fr};

    fn flips<V: Variant>(flipped_public: impl Fn(&PublicKey<Cycloid, V>) -> PublicKey<Cycloid, V>)
    where
        Cycloid: SignatureBackend<V>,
    {
        let sound = SecretKey::<Cycloid, V>::generate(&mut random::tests::working()).unwrap();
        let public = sound.public_key();
        let (mut wrong, mut tried) = (0, 0);
        for bit in (0..256).step_by(5) {
            let mut scalar = *sound.scalar().raw();
            scalar[bit / 64] ^= 1 << (bit % 64);
            let key = SecretKey::<Cycloid, V>::from_scalar(Fr::from_raw(scalar)).unwrap();
            let signature = key.sign(Scheme::ProofOfPossession, b"message");
            let verified = public.verify(Scheme::ProofOfPossession, b"message", &signature);
            wrong += usize::from(verified.is_err());
            tried += 1;
            let checked = key.verify_after_sign(&public);
            assert_eq!(checked.sign(Scheme::ProofOfPossession, b"message"), Err(Error::Fault));
            if bit % 4 == 0 {
                assert_eq!(checked.sign(Scheme::MessageAugmentation, b"a"), Err(Error::Fault));
                assert_eq!(checked.sign_with_tag(b"message", b"tag"), Err(Error::Fault));
                assert_eq!(checked.prove_possession(), Err(Error::Fault));
            }
        }
        assert!(tried >= 32 && wrong == tried, "{wrong} of {tried}");
        let checked = sound.verify_after_sign(&public);
        for scheme in [Scheme::Basic, Scheme::MessageAugmentation, Scheme::ProofOfPossession] {
            assert_eq!(checked.sign(scheme, b"message"), Ok(sound.sign(scheme, b"message")));
        }
        assert_eq!(checked.sign_with_tag(b"a", b"tag"), Ok(sound.sign_with_tag(b"a", b"tag")));
        assert_eq!(checked.prove_possession(), Ok(sound.prove_possession()));
        // A changed public key releases nothing.
        let public = flipped_public(&public);
        let checked = sound.verify_after_sign(&public);
        for scheme in [Scheme::Basic, Scheme::MessageAugmentation, Scheme::ProofOfPossession] {
            assert_eq!(checked.sign(scheme, b"message"), Err(Error::Fault));
        }
        assert_eq!(checked.prove_possession(), Err(Error::Fault));
    }

    fn changed<B: Group<G, Affine = A>, G: crate::scheme::bls12_381::SourceGroup, A: Copy>(
        point: &Affine<B, G>,
        flip: impl Fn(&mut A),
    ) -> Affine<B, G> {
        let mut raw = *point.raw();
        flip(&mut raw);
        Affine::from_raw(raw)
    }

    #[test]
    fn no_wrong_signature_is_released() {
        flips::<MinPk>(|key| {
            let flip = |raw: &mut [[u64; 6]; 2]| raw[1][2] ^= 1 << 40;
            PublicKey::from_affine(changed(key.as_affine(), flip)).unwrap()
        });
        flips::<MinSig>(|key| {
            let flip = |raw: &mut [[[u64; 6]; 2]; 2]| raw[0][1][3] ^= 1 << 7;
            PublicKey::from_affine(changed(key.as_affine(), flip)).unwrap()
        });
    }
}
