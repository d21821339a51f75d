//! Keys for RSASSA-PSS only: what they refuse and what they permit, alone and in batches.

use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::*;
use crate::machine::lanes::Backend;
use crate::math::prime::tests::Counter;
use crate::scheme::rsa::tests::{Key, bytes, components, key, load};
use crate::scheme::rsa::{
    Batch, Context, Job, Oaep, VerifyJob, batch_limbs, context_limbs, encrypt_scratch_limbs,
    verify_batch_scratch_limbs, verify_batch_with, verify_scratch_limbs,
};

const BITS: usize = 2048;
const LENGTH: usize = BITS / 8;
const MESSAGE: &[u8] = b"message";

/// SHA-384, another hash function for the mask, and a salt of at least 40 bytes.
const ALLOWED: Pss = Pss { hash: Hash::Sha384, mask_hash: Hash::Sha256, salt_length: 40 };
const WITH: Restriction = Restriction::PssWith(ALLOWED);
const OTHER: Result<(), Error> = Err(Error::RestrictedPss { allowed: ALLOWED });

fn restricted(to: Restriction) -> Key {
    let key = load(&components(&bytes(key()), &[1, 0, 1])).unwrap();
    assert_eq!(key.restriction(), Restriction::None);
    let key = key.restricted(to).unwrap();
    assert_eq!((key.restriction(), key.public().restriction()), (to, to));
    key
}

fn pss(hash: Hash, mask_hash: Hash, salt_length: usize) -> Pss {
    Pss { hash, mask_hash, salt_length }
}

/// Returns parameters, and whether a key with [`WITH`] permits them.
fn parameters() -> [(Pss, bool); 8] {
    use Hash::{Sha256, Sha384, Sha512};
    [
        (ALLOWED, true),
        (pss(Sha384, Sha256, 41), true),
        (pss(Sha384, Sha256, 100), true),
        (pss(Sha384, Sha256, 39), false),
        (pss(Sha384, Sha256, 0), false),
        (pss(Sha384, Sha384, 48), false),
        (pss(Sha256, Sha256, 40), false),
        (pss(Sha512, Sha512, 64), false),
    ]
}

fn expected(to: Restriction, fits: bool) -> Result<(), Error> {
    if to == WITH && !fits { OTHER } else { Ok(()) }
}

#[test]
fn alone() {
    for to in [Restriction::Pss, WITH] {
        let key = restricted(to);
        let public = key.public();
        let mut memory = vec![0; context_limbs(BITS)];
        let mut context = Context::new(&key, Counter(5), &mut memory).unwrap();
        let mut output = [0xaa; LENGTH];
        let mut scratch = vec![0; encrypt_scratch_limbs(BITS)];
        let refused = Err(Error::Restricted);
        let oaep = Oaep::new(Hash::Sha256);
        assert_eq!(context.sign_pkcs1v15(Hash::Sha256, MESSAGE, &mut output), refused);
        assert_eq!(context.decrypt_pkcs1v15(&[1; LENGTH], &mut output).map(|_| ()), refused);
        assert_eq!(context.decrypt_oaep(&oaep, &[1; LENGTH], &mut output).map(|_| ()), refused);
        let mut rng = Counter(3);
        let outcome = public.encrypt_pkcs1v15(MESSAGE, &mut rng, &mut output, &mut scratch);
        assert_eq!(outcome, refused);
        let outcome = public.encrypt_oaep(&oaep, MESSAGE, &mut rng, &mut output, &mut scratch);
        assert_eq!(outcome, refused);
        let outcome = public.verify_pkcs1v15(Hash::Sha256, MESSAGE, &[1; LENGTH], &mut scratch);
        assert_eq!(outcome, refused);
        #[cfg(feature = "hazardous")]
        {
            assert_eq!(context.raw_private_operation(&[1; LENGTH], &mut output), refused);
            let outcome = public.raw_public_operation(&[1; LENGTH], &mut output, &mut scratch);
            assert_eq!(outcome, refused);
        }
        assert_eq!(output, [0xaa; LENGTH]);

        for (pss, fits) in parameters() {
            let digest = pss.hash.digest(&[MESSAGE]);
            let expected = expected(to, fits);
            let mut output = [0xaa; LENGTH];
            assert_eq!(context.sign_pss_with(pss, &digest, &mut output), expected, "{pss:?}");
            if expected.is_err() {
                assert_eq!(output, [0xaa; LENGTH]);
                // An unrestricted key with the same parts signs with them.
                let key = self::key();
                let mut memory = vec![0; context_limbs(BITS)];
                let mut context = Context::new(key, Counter(5), &mut memory).unwrap();
                context.sign_pss_with(pss, &digest, &mut output).unwrap();
                self::key().public().verify_pss_with(pss, &digest, &output, &mut scratch).unwrap();
            }
            let outcome = public.verify_pss_with(pss, &digest, &output, &mut scratch);
            assert_eq!(outcome, expected, "{pss:?}");
        }
    }
}

#[test]
fn a_salt_of_any_length_is_long_enough() {
    let allowed = Pss { salt_length: 33, ..Pss::new(Hash::Sha256) };
    let key = restricted(Restriction::PssWith(allowed));
    let mut memory = vec![0; context_limbs(BITS)];
    let mut context = Context::new(self::key(), Counter(5), &mut memory).unwrap();
    let mut scratch = vec![0; verify_scratch_limbs(BITS)];
    let mut wide = vec![0; verify_batch_scratch_limbs(BITS)];
    let digest = Hash::Sha256.digest(&[MESSAGE]);
    for (salt, outcome) in [(0, Err(Error::Signature)), (32, Err(Error::Signature)), (33, Ok(()))] {
        let mut signature = [0; LENGTH];
        context.sign_pss_prehashed(Hash::Sha256, &digest, salt, &mut signature).unwrap();
        let public = key.public();
        let verified =
            public.verify_pss_prehashed(Hash::Sha256, &digest, None, &signature, &mut scratch);
        assert_eq!(verified, outcome, "{salt}");
        let mut one = [VerifyJob::pss_prehashed(&public, Hash::Sha256, &digest, None, &signature)];
        verify_batch_with(None, &mut one, &mut wide);
        assert_eq!(one[0].outcome(), outcome, "{salt}");
    }
    let refused = Err(Error::RestrictedPss { allowed });
    let outcome = key.public().verify_pss(Hash::Sha256, MESSAGE, &[1; LENGTH], &mut scratch);
    assert_eq!(outcome, refused);
    let outcome =
        key.public().verify_pss_prehashed(Hash::Sha384, &[0; 48], None, &[1; LENGTH], &mut scratch);
    assert_eq!(outcome, refused);
}

#[test]
fn in_a_batch_beside_keys_that_are_not_restricted() {
    let [any, only, with] = [Restriction::None, Restriction::Pss, WITH].map(restricted);
    let oaep = Oaep::new(Hash::Sha256);
    for backend in [Backend::best(), None] {
        let mut memory = vec![0; batch_limbs(BITS, 8)];
        let mut batch = Batch::with_backend(backend, BITS, Counter(7), &mut memory).unwrap();
        let mut outputs = [[0xaa; LENGTH]; 13];
        let digest = Hash::Sha384.digest(&[MESSAGE]);
        let ciphertext = [1; LENGTH];
        let mut jobs: Vec<_> = outputs
            .iter_mut()
            .enumerate()
            .map(|(i, output)| match i {
                1 => Job::sign_pkcs1v15(&only, Hash::Sha256, MESSAGE, output),
                3 => Job::sign_pkcs1v15(&with, Hash::Sha256, MESSAGE, output),
                4 => Job::decrypt_pkcs1v15(&only, &ciphertext, output),
                6 => Job::decrypt_oaep(&with, oaep, &ciphertext, output),
                7 => Job::sign_pss(&with, Hash::Sha256, MESSAGE, output),
                9 => Job::sign_pss_with(&with, ALLOWED, &digest, output),
                10 => Job::sign_pss(&only, Hash::Sha512, MESSAGE, output),
                _ => Job::sign_pkcs1v15(&any, Hash::Sha256, MESSAGE, output),
            })
            .collect();
        batch.run(&mut jobs);
        let outcomes: Vec<_> = jobs.iter().map(|job| job.outcome().map(|_| ())).collect();
        for (i, (outcome, output)) in outcomes.into_iter().zip(&outputs).enumerate() {
            let expected = match i {
                1 | 3 | 4 | 6 => Err(Error::Restricted),
                7 => OTHER,
                _ => Ok(()),
            };
            assert_eq!(outcome, expected, "job {i}");
            assert_eq!(*output == [0xaa; LENGTH], expected.is_err(), "job {i}");
        }
        let publics = [any.public(), only.public(), with.public()];
        let mut verifications: Vec<_> = outputs
            .iter()
            .enumerate()
            .map(|(i, output)| match i {
                1 => VerifyJob::pkcs1v15(&publics[1], Hash::Sha256, MESSAGE, output),
                3 => VerifyJob::pkcs1v15(&publics[2], Hash::Sha256, MESSAGE, output),
                9 => VerifyJob::pss_with(&publics[2], ALLOWED, &digest, output),
                10 => VerifyJob::pss(&publics[1], Hash::Sha512, MESSAGE, output),
                4 | 7 => VerifyJob::pss(&publics[2], Hash::Sha256, MESSAGE, output),
                _ => VerifyJob::pkcs1v15(&publics[0], Hash::Sha256, MESSAGE, output),
            })
            .collect();
        let mut scratch = vec![0; verify_batch_scratch_limbs(BITS)];
        verify_batch_with(backend, &mut verifications, &mut scratch);
        for (i, verification) in verifications.iter().enumerate() {
            let expected = match i {
                1 | 3 => Err(Error::Restricted),
                4 | 7 => OTHER,
                6 => Err(Error::Signature),
                _ => Ok(()),
            };
            assert_eq!(verification.outcome(), expected, "verification {i}");
        }
    }
}

#[test]
fn a_restriction_is_never_removed() {
    let key = || load(&components(&bytes(key()), &[1, 0, 1])).unwrap();
    let narrower = Restriction::PssWith(Pss { salt_length: 41, ..ALLOWED });
    let other = OTHER.unwrap_err();
    for (from, to, outcome) in [
        (Restriction::None, Restriction::None, Ok(Restriction::None)),
        (Restriction::Pss, Restriction::None, Err(Error::Restricted)),
        (Restriction::Pss, Restriction::Pss, Ok(Restriction::Pss)),
        (Restriction::Pss, WITH, Ok(WITH)),
        (WITH, WITH, Ok(WITH)),
        (WITH, Restriction::Pss, Err(other)),
        (WITH, Restriction::None, Err(other)),
        (WITH, narrower, Err(other)),
    ] {
        let private = key().restricted(from).unwrap().restricted(to);
        assert_eq!(private.map(|key| key.restriction()), outcome, "{from:?} to {to:?}");
        let key = key();
        let public = key.public().restricted(from).unwrap().restricted(to);
        assert_eq!(public.map(|key| key.restriction()), outcome, "{from:?} to {to:?}");
    }
    // 256 bytes hold a digest of 48, a salt of 206 and two more.
    for (salt_length, outcome) in [(206, Ok(())), (207, Err(Error::SaltTooLong))] {
        let to = Restriction::PssWith(Pss { salt_length, ..ALLOWED });
        assert_eq!(key().restricted(to).map(|_| ()), outcome);
    }
}

#[test]
fn errors_say_what_the_key_is_for() {
    let said = OTHER.unwrap_err().to_string();
    for part in ["Sha384", "MGF1 with Sha256", "40 bytes or more"] {
        assert!(said.contains(part), "{said}");
    }
}

#[cfg(feature = "encoding")]
#[test]
fn restricted_keys_are_not_written_as_pkcs1() {
    for to in [Restriction::Pss, WITH] {
        let key = restricted(to);
        let mut output = [0xaa; 4000];
        let refused = Some(Error::Restricted);
        assert_eq!(key.to_pkcs1_der(&mut output).err(), refused);
        assert_eq!(key.to_pkcs1_pem(&mut output).err(), refused);
        assert_eq!(key.public().to_pkcs1_der(&mut output).err(), refused);
        assert_eq!(key.public().to_pkcs1_pem(&mut output).err(), refused);
        assert_eq!(output, [0xaa; 4000]);
    }
}

#[cfg(feature = "signature")]
#[test]
fn the_traits_respect_the_restriction() {
    use signature::{Signer, Verifier};

    use crate::scheme::rsa::{KeyPair, SignatureScheme, SigningKey, VerifyingKey};

    let allowed = Pss::new(Hash::Sha256);
    let key = KeyPair::from_components(&components(&bytes(key()), &[1, 0, 1])).unwrap();
    let key = key.restricted(Restriction::PssWith(allowed)).unwrap();
    let signing = |scheme| SigningKey::new(key.clone(), scheme, || Counter(5));
    let pkcs1v15 = SignatureScheme::Pkcs1v15(Hash::Sha256);
    assert_eq!(signing(pkcs1v15).err(), Some(Error::Restricted));
    let other = SignatureScheme::pss(Hash::Sha384);
    assert_eq!(signing(other).err(), Some(Error::RestrictedPss { allowed }));
    let scheme = SignatureScheme::Pss(allowed);
    let signature = signing(scheme).unwrap().try_sign(MESSAGE).unwrap();
    let verifies = |scheme| {
        VerifyingKey::new(key.public_key().clone(), scheme).verify(MESSAGE, &signature).is_ok()
    };
    assert!(verifies(scheme) && !verifies(other) && !verifies(pkcs1v15));
}
