//! The OAEP encoding with every possible defect, and whole ciphertexts.

use std::vec;
use std::vec::Vec;

use super::super::padding::mgf1::mask;
use super::super::padding::oaep::decode;
use super::super::tests::key;
use super::*;
use crate::math::prime::tests::Counter;
use crate::scheme::Hash;
use crate::scheme::rsa::{Batch, Job, batch_limbs, context_limbs, encrypt_scratch_limbs};

const HASHES: [Hash; 5] = [Hash::Sha1, Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512];

/// Masks an encoded message given in the clear: Y, the seed and DB.
fn masked(oaep: &Oaep<'_>, y: u8, seed: &[u8], db: &[u8]) -> Vec<u8> {
    let (mut seed, mut db) = (seed.to_vec(), db.to_vec());
    mask(oaep.mask_hash.into(), &seed, &mut db);
    mask(oaep.mask_hash.into(), &db, &mut seed);
    [vec![y], seed, db].concat()
}

/// Returns lHash || zeros || rest, with the label's digest.
fn db(oaep: &Oaep<'_>, length: usize, rest: &[u8]) -> Vec<u8> {
    let mut db = oaep.hash.digest(&[oaep.label]).to_vec();
    db.resize(length - 1 - oaep.hash.digest_length() - rest.len(), 0);
    db.extend_from_slice(rest);
    db
}

#[test]
fn every_length_and_every_hash() {
    for length in [256, 257, 384] {
        for (hash, mask_hash) in HASHES.into_iter().flat_map(|h| HASHES.map(|m| (h, m))) {
            let oaep = Oaep { hash, mask_hash, label: b"label" };
            let longest = oaep.longest_message(length);
            assert_eq!(longest, length - 2 * hash.digest_length() - 2);
            let step = if hash == mask_hash { 1 } else { 37 };
            for given in (0..=longest).step_by(step).chain([longest]) {
                let message: Vec<u8> = (1..=given).map(|i| i as u8).collect();
                let mut encoded = vec![0xaa; length];
                encode(&mut encoded, &oaep.general(), &mut Counter(given as u64), &message)
                    .unwrap();
                assert_eq!(encoded[0], 0);
                let mut output = vec![0xaa; longest + 1];
                assert_eq!(decode(&mut encoded, &oaep.general(), &mut output), Ok(given));
                assert_eq!(output[..given], message);
                assert!(output[given..longest].iter().all(|byte| *byte == 0));
                assert_eq!(output[longest], 0xaa);
            }
            let (mut encoded, given) = (vec![0xaa; length], longest + 1);
            let outcome = encode(&mut encoded, &oaep.general(), &mut Counter(1), &vec![1; given]);
            assert_eq!(outcome, Err(Error::MessageTooLong { longest, given }));
            assert!(encoded.iter().all(|byte| *byte == 0xaa));
        }
    }
}

#[test]
fn invalid_encodings_are_refused_and_leave_the_output_unchanged() {
    let oaep = Oaep { label: b"label", ..Oaep::new(Hash::Sha256) };
    let h = oaep.hash.digest_length();
    let seed = [7; 32];
    let right = db(&oaep, 256, b"\x01message");
    let mut output = [0xaa; 190];
    let mut decoded = |oaep: &Oaep<'_>, y: u8, db: &[u8]| {
        output.fill(0xaa);
        let outcome = decode(&mut masked(oaep, y, &seed, db), &oaep.general(), &mut output);
        assert!(outcome.is_ok() || output == [0xaa; 190]);
        outcome
    };
    assert_eq!(decoded(&oaep, 0, &right), Ok(7));
    for y in 1..=255 {
        assert_eq!(decoded(&oaep, y, &right), Err(Error::Decryption), "Y = {y}");
    }
    // Flips every bit of every byte before the message.
    for i in 0..right.len() - 7 {
        for bit in 0..8 {
            let mut wrong = right.clone();
            wrong[i] ^= 1 << bit;
            // A one in the padding starts a longer message.
            let expected = if i >= h && i < right.len() - 8 && bit == 0 {
                Ok(right.len() - i - 1)
            } else {
                Err(Error::Decryption)
            };
            assert_eq!(decoded(&oaep, 0, &wrong), expected, "byte {i}, bit {bit}");
        }
    }
    // No separator; a separator only within the label's digest; an empty message.
    assert_eq!(decoded(&oaep, 0, &db(&oaep, 256, b"")), Err(Error::Decryption));
    assert_eq!(decoded(&oaep, 0, &db(&oaep, 256, b"\x02\x01")), Err(Error::Decryption));
    assert_eq!(decoded(&oaep, 0, &db(&oaep, 256, b"\x01")), Ok(0));
    // Parameters other than the sender's.
    let mut encoded = [0; 256];
    for (i, other) in [
        Oaep { label: b"other", ..oaep },
        Oaep { label: b"", ..oaep },
        Oaep { label: b"label\0", ..oaep },
        Oaep { hash: Hash::Sha384, ..oaep },
        Oaep { mask_hash: Hash::Sha1, ..oaep },
    ]
    .into_iter()
    .enumerate()
    {
        encode(&mut encoded, &oaep.general(), &mut Counter(1), b"message").unwrap();
        let outcome = decode(&mut encoded, &other.general(), &mut [0; 256]);
        assert_eq!(outcome, Err(Error::Decryption), "{i}");
    }
}

#[test]
fn the_seed_is_random() {
    let encoded = |seed| {
        let mut encoded = [0; 256];
        encode(&mut encoded, &Oaep::new(Hash::Sha1).general(), &mut Counter(seed), b"").unwrap();
        encoded
    };
    assert_eq!(encoded(1), encoded(1));
    assert!(encoded(1).iter().zip(encoded(2)).filter(|(a, b)| **a == *b).count() < 20);
}

#[test]
fn ciphertexts_one_by_one_and_in_a_batch() {
    let mut scratch = vec![0; encrypt_scratch_limbs(2048)];
    let labels = [&b""[..], b"one", b"two"];
    let oaep = |i: usize| Oaep { label: labels[i % 3], ..Oaep::new(HASHES[i % 5]) };
    let message = |i: usize| vec![i as u8; oaep(i).longest_message(256) * i / 19];
    let mut ciphertexts: Vec<Vec<u8>> = (0..20)
        .map(|i| {
            let mut ciphertext = vec![0; 256];
            let (public, rng) = (key().public(), &mut Counter(i as u64));
            public.encrypt_oaep(&oaep(i), &message(i), rng, &mut ciphertext, &mut scratch).unwrap();
            ciphertext
        })
        .collect();
    // Invalid neighbours: another job's ciphertext, random bytes, too long, too short.
    ciphertexts[3] = ciphertexts[4].clone();
    ciphertexts[8][100] ^= 1;
    ciphertexts[9].fill(0xff);
    ciphertexts[17].pop();
    let expected = |i: usize| match i {
        3 | 8 => Err(Error::Decryption),
        9 => Err(Error::OutOfRange),
        17 => Err(Error::Length { needed: 256, given: 255 }),
        _ => Ok(message(i).len()),
    };

    let mut memory = vec![0; context_limbs(2048)];
    let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
    let mut memory = vec![0; batch_limbs(2048, 8)];
    let mut batch = Batch::new(2048, Counter(6), &mut memory).unwrap();
    let mut outputs = vec![vec![0xaa; 256]; 20];
    let mut jobs: Vec<Job<'_>> = ciphertexts
        .iter()
        .zip(&mut outputs)
        .enumerate()
        .map(|(i, (ciphertext, output))| Job::decrypt_oaep(key(), oaep(i), ciphertext, output))
        .collect();
    batch.run(&mut jobs);
    let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
    for i in 0..20 {
        let mut output = [0xaa; 256];
        let outcome = context.decrypt_oaep(&oaep(i), &ciphertexts[i], &mut output);
        assert_eq!(outcome, expected(i), "{i}");
        assert_eq!(outcomes[i], outcome, "{i}");
        assert_eq!(outputs[i], output, "{i}");
        match outcome {
            Ok(length) => assert_eq!(output[..length], message(i)),
            Err(_) => assert_eq!(output, [0xaa; 256]),
        }
    }
}

#[test]
fn wrong_arguments_are_errors() {
    let oaep = Oaep::new(Hash::Sha256);
    let mut memory = vec![0; context_limbs(2048)];
    let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
    let mut output = [0xaa; 190];
    let outcome = context.decrypt_oaep(&oaep, &[0; 256], &mut output[1..]);
    assert_eq!(outcome, Err(Error::OutputTooSmall { needed: 190, given: 189 }));
    let mut scratch = vec![0; encrypt_scratch_limbs(2048)];
    let mut ciphertext = [0xaa; 256];
    let public = key().public();
    let mut encrypt = |message: &[u8], length: usize, scratch: &mut [Limb]| {
        let ciphertext = &mut ciphertext[..length];
        let outcome = public.encrypt_oaep(&oaep, message, &mut Counter(1), ciphertext, scratch);
        assert!(ciphertext.iter().all(|byte| *byte == 0xaa));
        outcome.unwrap_err()
    };
    let error = encrypt(&[1; 191], 256, &mut scratch);
    assert_eq!(error, Error::MessageTooLong { longest: 190, given: 191 });
    assert_eq!(encrypt(&[1; 190], 255, &mut scratch), Error::Length { needed: 256, given: 255 });
    let (needed, given) = (scratch.len(), scratch.len() - 1);
    let error = encrypt(&[1; 190], 256, &mut scratch[1..]);
    assert_eq!(error, Error::MemoryTooSmall { needed, given });
    assert_eq!(output, [0xaa; 190]);
}

#[test]
fn the_scratch_of_encryption_is_wiped() {
    let mut scratch = vec![!0; encrypt_scratch_limbs(2048)];
    let mut ciphertext = [0; 256];
    let oaep = Oaep::new(Hash::Sha256);
    key()
        .public()
        .encrypt_oaep(&oaep, b"message", &mut Counter(1), &mut ciphertext, &mut scratch)
        .unwrap();
    assert!(scratch.iter().all(|limb| *limb == 0));
}
