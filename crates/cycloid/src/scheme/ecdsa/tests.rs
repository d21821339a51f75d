//! Batches compared with single operations on every backend, and encodings.

use std::vec::Vec;

use super::batch::{
    next_group, sign_each_by, sign_eight, sign_eight_by, signings, verify_eight, verifyings,
};
use super::*;
use crate::machine::lanes::{self, LANES};
use crate::scheme::ec::{P224, P256, P384, P521, prepared_key_limbs};

fn key<C: Curve>(seed: u8) -> PrivateKey<C> {
    let mut bytes = [0; 66];
    let bytes = &mut bytes[66 - C::BYTES..];
    bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = seed.wrapping_mul(i as u8 ^ 0x5b));
    bytes[0] = 0;
    PrivateKey::from_bytes(bytes).unwrap()
}

fn batches<C: Curve>() {
    let keys: Vec<PrivateKey<C>> = (1..9).map(key::<C>).collect();
    let prepared: Vec<_> = keys
        .iter()
        .map(|key| {
            // More memory than needed, with arbitrary contents.
            let memory = std::vec![u64::MAX; prepared_key_limbs::<C>() + 3];
            PreparedPublicKey::new(*key.public_key(), memory).unwrap()
        })
        .collect();
    let digests: Vec<Vec<u8>> = vec_of_digests();
    for backend in lanes::Backend::available() {
        for count in [1, 3, 8] {
            let mut jobs: Vec<_> = (0..count)
                .map(|i| Job::sign_prehashed(&keys[i], Hash::Sha256, &digests[i]))
                .collect();
            assert_eq!(jobs[0].outcome(), Err(Error::NotDone));
            sign_eight(backend, &mut next_group(&mut signings(&mut jobs)).unwrap());
            let signatures: Vec<_> = jobs.iter().map(|job| job.signature().unwrap()).collect();
            for (i, signature) in signatures.iter().enumerate() {
                assert_eq!(*signature, keys[i].sign_prehashed(Hash::Sha256, &digests[i]));
                assert_eq!(keys[i].public_key().verify_prehashed(&digests[i], signature), Ok(()));
                for (j, key) in prepared.iter().enumerate() {
                    let expected = if i == j { Ok(()) } else { Err(Error::Verification) };
                    assert_eq!(key.verify_prehashed(&digests[i], signature), expected);
                }
            }
            // Another key, digest or signature in one lane at a time.
            for (bad, with) in (0..count).flat_map(|bad| [(bad, 0), (bad, 1), (bad, 8)]) {
                let mut jobs: Vec<_> = (0..count)
                    .map(|i| {
                        let key = if i == bad { (i + 1) % 8 } else { i };
                        // None, one, or all of the keys are prepared.
                        if i < with {
                            Job::verify_prepared(&prepared[key], &digests[i], &signatures[i])
                        } else {
                            let key = keys[key].public_key();
                            Job::verify_prehashed(key, &digests[i], &signatures[i])
                        }
                    })
                    .collect();
                verify_eight(backend, &mut next_group(&mut verifyings(&mut jobs)).unwrap());
                for (i, job) in jobs.iter().enumerate() {
                    let expected = if i == bad { Err(Error::Verification) } else { Ok(()) };
                    assert_eq!(job.outcome(), expected, "{} {i} {bad}", backend.name());
                }
            }
        }
    }
}

/// Returns digests of all lengths, including zero and all ones.
fn vec_of_digests() -> Vec<Vec<u8>> {
    [(0, 0u8), (1, 7), (20, 0), (28, 0xff), (32, 0xa5), (48, 0), (64, 0xff), (100, 0x3c)]
        .map(|(length, byte)| std::vec![byte; length])
        .to_vec()
}

/// Preparing a key needs exactly the documented memory.
#[test]
fn prepared_keys_need_exactly_the_documented_memory() {
    fn check<C: Curve>(expected: usize) {
        let needed = prepared_key_limbs::<C>();
        assert_eq!(8 * needed, expected);
        let key = key::<C>(5);
        let short = std::vec![0; needed - 1];
        let refused = PreparedPublicKey::new(*key.public_key(), short).unwrap_err();
        assert_eq!(refused, Error::MemoryTooSmall { needed, given: needed - 1 });
        let prepared = PreparedPublicKey::new(*key.public_key(), std::vec![0; needed]).unwrap();
        assert_eq!(prepared.public_key(), key.public_key());
        let signature = key.sign(Hash::Sha384, b"message");
        assert_eq!(prepared.verify(Hash::Sha384, b"message", &signature), Ok(()));
        let refused = Err(Error::Verification);
        assert_eq!(prepared.verify(Hash::Sha384, b"massage", &signature), refused);
    }
    check::<P224>(12 << 10);
    check::<P256>(18 << 10);
    check::<P384>(30 << 10);
    check::<P521>(62_208);
}

/// Returns the digest for which s is 0 with this nonce: e = −r·d.
fn digest_without_signature<C: Curve>(key: &Scalar<C>, nonce: &Scalar<C>) -> Scalar<C> {
    multiply_base(nonce).unwrap().x_scalar().mul(key).negate()
}

/// FIPS 186-5, section 6.4.1, step 11: if s is 0 or the nonce's point is infinity, the next nonce
/// is taken.
fn nonces_that_give_no_signature<C: Curve>() {
    let key = key::<C>(7);
    let [first, second] = [11, 13].map(|byte| Scalar::<C>::from_leftmost_bits(&[byte; 66]));
    let digest = digest_without_signature(key.scalar(), &first);
    let expected = {
        let point = multiply_base(&second).unwrap();
        signature(key.scalar(), &digest, &point, &second.invert()).unwrap()
    };
    for refused in [&first, &Scalar::zero()] {
        let mut nonces = [refused, refused, &second].into_iter();
        let signature = sign_by(key.scalar(), &digest, || nonces.next().unwrap().clone());
        assert_eq!(signature, expected);
        assert_eq!(nonces.len(), 0);
    }
    let mut bytes = std::vec![0; C::BYTES];
    digest.to_bytes(&mut bytes);
    // A digest is as many leftmost bits as the order has, so for P-521 seven bits precede it.
    let bytes: Vec<u8> = match C::BITS % 8 {
        0 => bytes,
        bits => {
            let mut shifted = bytes.clone();
            for i in 0..bytes.len() {
                let next = bytes.get(i + 1).copied().unwrap_or(0);
                shifted[i] = bytes[i] << (8 - bits) | next >> bits;
            }
            shifted
        }
    };
    assert!(Scalar::<C>::from_leftmost_bits(&bytes).equal(&digest).reveal());
    assert_eq!(key.public_key().verify_prehashed(&bytes, &expected), Ok(()));

    // In a batch, only lanes with such a nonce start over.
    for backend in lanes::Backend::available().map(Some).chain([None]) {
        let keys: [PrivateKey<C>; LANES] = core::array::from_fn(|_| self::key::<C>(7));
        let mut jobs: Vec<_> =
            keys.iter().map(|key| Job::sign_prehashed(key, Hash::Sha256, &bytes)).collect();
        let nonce = |lane| match lane {
            2 | 5 => first.clone(),
            _ => second.clone(),
        };
        let mut signings = signings(&mut jobs);
        match backend {
            Some(backend) => {
                let digests = core::array::from_fn(|_| digest.clone());
                let mut eight = next_group(&mut signings).unwrap();
                sign_eight_by(backend, &mut eight, &digests, core::array::from_fn(nonce));
            }
            None => {
                let digests = core::array::from_fn(|_| digest.clone());
                let mut group = next_group(&mut signings).unwrap();
                let points = sign_each_by(&mut group, &digests, core::array::from_fn(nonce));
                let missing = [2, 5].map(|lane| points[lane].is_none());
                assert_eq!(missing, [true; 2], "their signatures have other nonces");
            }
        }
        drop(signings);
        for (lane, job) in jobs.iter().enumerate() {
            let expected = match lane {
                2 | 5 => key.sign_prehashed(Hash::Sha256, &bytes),
                _ => expected.clone(),
            };
            assert_eq!(job.signature(), Ok(expected), "{backend:?} {lane}");
        }
    }
}

/// Signatures, hedged or not, and verifications in any order, with several hash functions.
#[test]
fn mixed_batches() {
    let keys: Vec<PrivateKey<P256>> = (1..4).map(key::<P256>).collect();
    let digest = [0x3c; 48];
    let random: [&[u8]; 3] = [&[], &[1; 32], &[2; 200]];
    let signature = keys[0].sign_prehashed(Hash::Sha384, &digest);
    let hash =
        |i: usize| if i < 20 { Hash::Sha256 } else { [Hash::Sha256, Hash::Sha512][i / 4 % 2] };
    for backend in lanes::Backend::available().map(Some).chain([None]) {
        for count in [1, 5, 12, 40] {
            let mut jobs: Vec<_> = (0..count)
                .map(|i| match i % 4 {
                    3 => Job::verify_prehashed(keys[i % 3].public_key(), &digest, &signature),
                    j => Job::sign_hedged(&keys[i % 3], hash(i), &digest, random[j]),
                })
                .collect();
            run_batch_with(backend, &mut jobs);
            for (i, job) in jobs.iter().enumerate() {
                let expected = match i % 4 {
                    3 if i % 3 == 0 => Ok(signature.clone()),
                    3 => Err(Error::Verification),
                    j => Ok(keys[i % 3].sign_hedged(hash(i), &digest, random[j])),
                };
                assert_eq!(job.signature(), expected, "{i} of {count}");
                assert_eq!(job.outcome(), expected.map(|_| ()));
            }
        }
    }
}

#[test]
fn the_next_nonce_is_taken_where_one_gives_no_signature() {
    nonces_that_give_no_signature::<P224>();
    nonces_that_give_no_signature::<P256>();
    nonces_that_give_no_signature::<P384>();
    nonces_that_give_no_signature::<P521>();
}

/// Memory that can be truncated after a key was prepared in it.
struct Shrinking(core::cell::Cell<usize>, Vec<u64>);

impl AsRef<[u64]> for Shrinking {
    fn as_ref(&self) -> &[u64] {
        &self.1[..self.0.get()]
    }
}

impl AsMut<[u64]> for Shrinking {
    fn as_mut(&mut self) -> &mut [u64] {
        &mut self.1[..self.0.get()]
    }
}

/// Such a key verifies nothing, alone or in a batch; its neighbours in the batch are unaffected.
#[test]
fn prepared_keys_whose_memory_shrank() {
    let needed = prepared_key_limbs::<P256>();
    let key = key::<P256>(5);
    let prepare = || {
        let memory = Shrinking(core::cell::Cell::new(needed), std::vec![0; needed]);
        PreparedPublicKey::new(*key.public_key(), memory).unwrap()
    };
    let (shrunk, whole) = (prepare(), prepare());
    let digest = [7; 32];
    let signature = key.sign_prehashed(Hash::Sha256, &digest);
    let wrong = key.sign_prehashed(Hash::Sha256, &[8; 32]);
    for given in [needed - 1, 1, 0] {
        shrunk.memory().0.set(given);
        let refused = Err(Error::MemoryTooSmall { needed, given });
        assert_eq!(shrunk.verify_prehashed(&digest, &signature), refused);
        for backend in lanes::Backend::available().map(Some).chain([None]) {
            let mut jobs: Vec<_> = (0..8)
                .map(|i| match i {
                    2 => Job::verify_prepared(&shrunk, &digest, &signature),
                    3 => Job::verify_prepared(&whole, &digest, &wrong),
                    _ => Job::verify_prepared(&whole, &digest, &signature),
                })
                .collect();
            run_batch_with(backend, &mut jobs);
            for (i, job) in jobs.iter().enumerate() {
                let expected = match i {
                    2 => refused,
                    3 => Err(Error::Verification),
                    _ => Ok(()),
                };
                assert_eq!(job.outcome(), expected, "{i}");
            }
        }
    }
}

/// A job with the message itself has the outcome of the prepared key alone.
#[test]
fn prepared_keys_verify_messages_in_batches() {
    let key = key::<P384>(5);
    let memory = std::vec![0; prepared_key_limbs::<P384>()];
    let prepared = PreparedPublicKey::new(*key.public_key(), memory).unwrap();
    let signature = key.sign(Hash::Sha512, b"message");
    let inputs: [(Hash, &[u8], Result<(), Error>); 5] = [
        (Hash::Sha512, b"message", Ok(())),
        (Hash::Sha256, b"message", Err(Error::Verification)),
        (Hash::Sha512, b"another", Err(Error::Verification)),
        (Hash::Sha512, b"message", Ok(())),
        (Hash::Sha512, b"", Err(Error::Verification)),
    ];
    for backend in lanes::Backend::available().map(Some).chain([None]) {
        let mut jobs = inputs.map(|(hash, message, _)| {
            Job::verify_message_prepared(&prepared, hash, message, &signature)
        });
        run_batch_with(backend, &mut jobs);
        for (job, (hash, message, expected)) in jobs.iter().zip(inputs) {
            assert_eq!(job.outcome(), expected);
            assert_eq!(prepared.verify(hash, message, &signature), expected);
        }
    }
}

#[test]
fn batches_agree_with_single_operations() {
    batches::<P224>();
    batches::<P256>();
    batches::<P384>();
    batches::<P521>();
}

fn encodings<C: Curve>() {
    let key = key::<C>(3);
    let signature = key.sign(Hash::Sha512, b"message");
    assert_eq!(Signature::from_fixed(&signature.to_fixed()), Ok(signature.clone()));
    let der = signature.to_der();
    assert_eq!(Signature::from_der(&der), Ok(signature.clone()));
    for cut in 0..der.len() {
        assert_eq!(Signature::<C>::from_der(&der[..cut]), Err(Error::SignatureFormat));
    }
    let longer: Vec<u8> = der.iter().copied().chain([0]).collect();
    assert_eq!(Signature::<C>::from_der(&longer), Err(Error::SignatureFormat));
    let other = Signature::new(signature.r().clone(), signature.s().negate()).unwrap();
    assert_ne!(signature.is_low_s(), other.is_low_s());
    assert_eq!(signature.normalize_s(), other.normalize_s());
    assert!(signature.normalize_s().is_low_s());
    assert_eq!(key.public_key().verify(Hash::Sha512, b"message", &other), Ok(()));
    let refused = Err(Error::Verification);
    assert_eq!(key.public_key().verify(Hash::Sha512, b"massage", &other), refused);
    // r or s out of range.
    let mut fixed = signature.to_fixed().to_vec();
    fixed[C::BYTES..].fill(0);
    assert_eq!(Signature::<C>::from_fixed(&fixed), Err(Error::SignatureRange));
    fixed[C::BYTES..].fill(0xff);
    assert_eq!(Signature::<C>::from_fixed(&fixed), Err(Error::SignatureRange));
    for bytes in [
        &[0x30, 6, 2, 1, 0, 2, 1, 1][..],
        &[0x30, 6, 2, 1, 1, 2, 1, 0],
        &[0x30, 6, 2, 1, 0x81, 2, 1, 1],
    ] {
        assert_eq!(Signature::<C>::from_der(bytes), Err(Error::SignatureRange), "{bytes:?}");
    }
    assert!(Signature::<C>::from_der(&[0x30, 6, 2, 1, 1, 2, 1, 1]).is_ok());
    for bytes in [
        &[][..],
        &[0x31, 6, 2, 1, 1, 2, 1, 1],
        &[0x30, 7, 2, 1, 1, 2, 1, 1, 0],
        &[0x30, 0x81, 6, 2, 1, 1, 2, 1, 1],
        &[0x30, 7, 2, 2, 0, 1, 2, 1, 1],
        &[0x30, 5, 2, 0, 2, 1, 1],
        &[0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0],
    ] {
        assert_eq!(Signature::<C>::from_der(bytes), Err(Error::SignatureFormat), "{bytes:?}");
    }
}

#[test]
fn encodings_are_read_and_refused() {
    encodings::<P224>();
    encodings::<P256>();
    encodings::<P384>();
    encodings::<P521>();
}

/// RFC 6979, appendix A.2.5, and hedging: other randomness gives another signature, and both
/// verify.
#[test]
fn nonces_are_deterministic_or_hedged() {
    let secret = [
        0xc9, 0xaf, 0xa9, 0xd8, 0x45, 0xba, 0x75, 0x16, 0x6b, 0x5c, 0x21, 0x57, 0x67, 0xb1, 0xd6,
        0x93, 0x4e, 0x50, 0xc3, 0xdb, 0x36, 0xe8, 0x9b, 0x12, 0x7b, 0x8a, 0x62, 0x2b, 0x12, 0x0f,
        0x67, 0x21,
    ];
    let key = PrivateKey::<P256>::from_bytes(&secret).unwrap();
    let signature = key.sign(Hash::Sha256, b"sample").to_fixed();
    assert_eq!(signature[..8], [0xef, 0xd4, 0x8b, 0x2a, 0xac, 0xb6, 0xa8, 0xfd]);
    assert_eq!(signature[32..40], [0xf7, 0xcb, 0x1c, 0x94, 0x2d, 0x65, 0x7c, 0x41]);
    let digest = Hash::Sha256.digest(&[b"sample"]);
    let hedged = [&[][..], b"a", b"b"].map(|random| key.sign_hedged(Hash::Sha256, &digest, random));
    assert_eq!(*hedged[0].to_fixed(), *signature);
    assert_ne!(hedged[1], hedged[2]);
    for signature in &hedged {
        assert_eq!(key.public_key().verify(Hash::Sha256, b"sample", signature), Ok(()));
    }
}
