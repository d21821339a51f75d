//! Padding and synthetic message compared with a straightforward model, the draft's test vectors,
//! and whole ciphertexts.

use std::collections::HashMap;
use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;
use rand_core::{TryCryptoRng, TryRng};
use sha2::{Digest, Sha256};

use super::super::padding::pkcs1v15_encryption::{OVERHEAD, Rejection, decode, longest_message};
use super::super::tests::key;
use super::*;
use crate::machine::words;
use crate::math::prime::tests::Counter;
use crate::scheme::rsa::{
    Batch, Job, PrivateComponents, PrivateKey, any_private_key_scratch_limbs, batch_limbs,
    context_limbs, encrypt_scratch_limbs, private_key_limbs,
};

/// HMAC-SHA-256 by its definition (RFC 2104), for keys as long as a digest.
fn hmac_model(key: &[u8], data: &[u8]) -> Vec<u8> {
    let pad = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(pad, key)| *pad ^= key);
        block.to_vec()
    };
    let inner = Sha256::digest([pad(0x36), data.to_vec()].concat());
    Sha256::digest([pad(0x5c), inner.to_vec()].concat()).to_vec()
}

/// Computes the synthetic message step by step as the draft describes it.
fn synthetic_model(d: &BigUint, ciphertext: &[u8]) -> Vec<u8> {
    let k = ciphertext.len();
    let d = d.to_bytes_be();
    let d = [vec![0; k - d.len()], d].concat();
    let kdk = hmac_model(&Sha256::digest(d), ciphertext);
    let prf = |label: &[u8], length: usize| {
        let mut output = Vec::new();
        for i in 0..length.div_ceil(32) as u16 {
            let bits = (8 * length as u16).to_be_bytes();
            output.extend(hmac_model(&kdk, &[&i.to_be_bytes(), label, &bits].concat()));
        }
        output.truncate(length);
        output
    };
    let mut mask = 1;
    while mask < k - 10 {
        mask = 2 * mask + 1;
    }
    let length = prf(b"length", 256)
        .chunks(2)
        .map(|pair| (usize::from(pair[0]) << 8 | usize::from(pair[1])) & mask)
        .rfind(|length| *length < k - 10)
        .unwrap_or(0);
    prf(b"message", k)[k - length..].to_vec()
}

/// Returns the message in `encoded`, if there is one, in variable time.
fn parse_model(encoded: &[u8]) -> Option<&[u8]> {
    let rest = encoded.strip_prefix(&[0, 2])?;
    let separator = rest.iter().position(|byte| *byte == 0)?;
    (separator >= 8).then(|| &rest[separator + 1..])
}

fn number(limbs: &[Limb]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
}

/// Decodes with an arbitrary exponent and ciphertext, and compares with the models.
fn check(encoded: &[u8], seed: u8) -> bool {
    let k = encoded.len();
    let ciphertext: Vec<u8> = (0..k).map(|i| (i as u8).wrapping_mul(7) ^ seed).collect();
    let d: Vec<Limb> = (1..=k.div_ceil(8) as Limb).collect();
    let mut output = vec![0xaa; k];
    let rejection = Rejection::new(&d, &ciphertext);
    let length = decode(&mut encoded.to_vec(), &rejection, &mut output);
    let expected = parse_model(encoded).map(<[u8]>::to_vec);
    let good = expected.is_some();
    let expected = expected.unwrap_or_else(|| synthetic_model(&number(&d), &ciphertext));
    assert_eq!(output[..length], expected);
    assert!(output[length..k - OVERHEAD].iter().all(|byte| *byte == 0));
    assert!(output[k - OVERHEAD..].iter().all(|byte| *byte == 0xaa));
    good
}

/// A generator that returns a zero for about every fourth byte.
struct Zeros(Counter);

impl TryRng for Zeros {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for byte in bytes {
            let random = self.try_next_u32()?;
            *byte = if random & 0x300 == 0 { 0 } else { random as u8 };
        }
        Ok(())
    }
}

impl TryCryptoRng for Zeros {}

#[test]
fn every_length_of_a_message() {
    for length in [256, 257, 384, 1024] {
        let longest = longest_message(length);
        for given in (0..=longest).step_by(if length == 256 { 1 } else { 31 }).chain([longest]) {
            let message: Vec<u8> = (0..given).map(|i| (i % 5) as u8).collect();
            let mut encoded = vec![0; length];
            encode(&mut encoded, &mut Zeros(Counter(given as u64)), &message).unwrap();
            assert_eq!(parse_model(&encoded), Some(&message[..]));
            assert!(check(&encoded, given as u8));
        }
        let mut encoded = vec![0xaa; length];
        let outcome = encode(&mut encoded, &mut Counter(1), &vec![1; longest + 1]);
        assert_eq!(outcome, Err(Error::MessageTooLong { longest, given: longest + 1 }));
        assert!(encoded.iter().all(|byte| *byte == 0xaa));
    }
}

#[test]
fn every_kind_of_wrong_padding() {
    for k in [256, 257, 384, 520] {
        let right = [&[0, 2][..], &[0x55; 20], &[0], &vec![0x66; k - 23]].concat();
        assert!(check(&right, 0));
        // The first two bytes, with each bit flipped, and swapped.
        for (i, bit) in (0..2).flat_map(|i| (0..8).map(move |bit| (i, bit))) {
            let mut wrong = right.clone();
            wrong[i] ^= 1 << bit;
            assert!(!check(&wrong, bit));
        }
        for start in [[0, 0], [0, 1], [1, 2], [2, 0], [2, 2], [0xff, 0xff]] {
            let mut wrong = right.clone();
            wrong[..2].copy_from_slice(&start);
            assert!(!check(&wrong, 1));
        }
        // An extra separator before the right one, at each position.
        for i in 2..k {
            let mut other = right.clone();
            other[i] = 0;
            assert_eq!(check(&other, i as u8), i >= 10, "separator at {i}");
        }
        // The only separator at each position, and none.
        let none = [&[0, 2][..], &vec![0x80; k - 2]].concat();
        assert!(!check(&none, 2));
        for i in 2..k {
            let mut other = none.clone();
            other[i] = 0;
            assert_eq!(check(&other, 0), i >= 10, "separator at {i}");
        }
        for fill in [0, 2, 0xff] {
            assert!(!check(&vec![fill; k], fill));
        }
    }
}

#[test]
fn synthetic_messages_have_every_length() {
    let none = [0xff; 256];
    let mut seen = [false; 246];
    for i in 0..3000u16 {
        let mut ciphertext = [1; 256];
        ciphertext[100..102].copy_from_slice(&i.to_be_bytes());
        let rejection = Rejection::new(&[3; 32], &ciphertext);
        seen[decode(&mut none.clone(), &rejection, &mut [0; 245])] = true;
    }
    // The probability that a length is missing from so many is below 2^−9.
    assert!(seen.iter().all(|seen| *seen));
}

/// The parts of a key by name.
type Parts = HashMap<&'static str, Vec<u8>>;

/// A ciphertext and its decryption.
type Case = [Vec<u8>; 2];

/// Parses the keys and cases of the vectors.
fn vectors() -> Vec<(Parts, Vec<Case>)> {
    let mut keys: Vec<(Parts, Vec<Case>)> = Vec::new();
    for line in include_str!("vectors.txt").lines() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        let bytes: Vec<u8> = (0..value.len() / 2)
            .map(|i| u8::from_str_radix(&value[2 * i..][..2], 16).unwrap())
            .collect();
        match name {
            "n" => keys.push((HashMap::from([("n", bytes)]), Vec::new())),
            "c" => keys.last_mut().unwrap().1.push([bytes, Vec::new()]),
            "m" => keys.last_mut().unwrap().1.last_mut().unwrap()[1] = bytes,
            _ => assert!(keys.last_mut().unwrap().0.insert(name, bytes).is_none()),
        }
    }
    keys
}

#[test]
fn vectors_of_the_draft() {
    let mut counts = Vec::new();
    for (parts, cases) in vectors() {
        let components = PrivateComponents {
            modulus: &parts["n"],
            public_exponent: &parts["e"],
            private_exponent: &parts["d"],
            prime1: &parts["p"],
            prime2: &parts["q"],
            exponent1: &parts["dp"],
            exponent2: &parts["dq"],
            coefficient: &parts["qi"],
            other_primes: &[],
        };
        let [n, d] = ["n", "d"].map(|part| BigUint::from_bytes_be(&parts[part]));
        let mut memory = vec![0; context_limbs(3072)];
        let k = parts["n"].len();
        // The primes of the key of 2049 bits differ in length.
        let mut scratch = vec![0; any_private_key_scratch_limbs(3072)];
        let key = PrivateKey::new(&components, vec![0; private_key_limbs(3072)], &mut scratch);
        let key = key.unwrap();
        let mut context = Context::new(&key, Counter(1), &mut memory).unwrap();
        for [ciphertext, expected] in &cases {
            let mut output = vec![0; k];
            let length = context.decrypt_pkcs1v15(ciphertext, &mut output).unwrap();
            assert_eq!(&output[..length], expected);
            let power = BigUint::from_bytes_be(ciphertext).modpow(&d, &n).to_bytes_be();
            let mut encoded = [vec![0; k - power.len()], power].concat();
            let mut limbs = vec![0; k.div_ceil(8)];
            words::from_be_bytes(&mut limbs, &parts["d"]);
            let rejection = Rejection::new(&limbs, ciphertext);
            let length = decode(&mut encoded, &rejection, &mut output);
            assert_eq!(&output[..length], expected);
        }
        counts.push((k, cases.len()));
    }
    assert_eq!(counts, [(256, 19), (257, 7), (384, 14)]);
}

#[test]
fn ciphertexts_one_by_one_and_in_a_batch() {
    let mut scratch = vec![0; encrypt_scratch_limbs(2048)];
    let message = |i: usize| vec![i as u8; 245 * i / 19];
    let mut ciphertexts: Vec<Vec<u8>> = (0..20)
        .map(|i| {
            let mut ciphertext = vec![0; 256];
            let (public, rng) = (key().public(), &mut Counter(i as u64));
            public.encrypt_pkcs1v15(&message(i), rng, &mut ciphertext, &mut scratch).unwrap();
            ciphertext
        })
        .collect();
    ciphertexts[3][200] ^= 1;
    ciphertexts[4].fill(0);
    ciphertexts[9].fill(0xff);
    ciphertexts[17].pop();
    let d = number(key().borrowed().d());
    let expected = |i: usize| match i {
        3 | 4 => Ok(synthetic_model(&d, &ciphertexts[i])),
        9 => Err(Error::OutOfRange),
        17 => Err(Error::Length { needed: 256, given: 255 }),
        _ => Ok(message(i)),
    };

    let mut memory = vec![0; context_limbs(2048)];
    let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
    let mut memory = vec![0; batch_limbs(2048, 8)];
    let mut batch = Batch::new(2048, Counter(6), &mut memory).unwrap();
    let mut outputs = vec![vec![0xaa; 250]; 20];
    let mut jobs: Vec<Job<'_>> = ciphertexts
        .iter()
        .zip(&mut outputs)
        .map(|(ciphertext, output)| Job::decrypt_pkcs1v15(key(), ciphertext, output))
        .collect();
    batch.run(&mut jobs);
    let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
    for i in 0..20 {
        let mut output = [0xaa; 250];
        let outcome = context.decrypt_pkcs1v15(&ciphertexts[i], &mut output);
        assert_eq!(outcome.map(|length| output[..length].to_vec()), expected(i), "{i}");
        assert_eq!(outcomes[i], outcome, "{i}");
        assert_eq!(outputs[i], output, "{i}");
        assert!(outcome.is_ok() || output == [0xaa; 250]);
    }
}

#[test]
fn wrong_arguments_are_errors() {
    let mut memory = vec![0; context_limbs(2048)];
    let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
    let mut output = [0xaa; 245];
    let outcome = context.decrypt_pkcs1v15(&[0; 256], &mut output[1..]);
    assert_eq!(outcome, Err(Error::OutputTooSmall { needed: 245, given: 244 }));
    let outcome = context.decrypt_pkcs1v15(&[0; 257], &mut output);
    assert_eq!(outcome, Err(Error::Length { needed: 256, given: 257 }));
    assert_eq!(output, [0xaa; 245]);
    let mut scratch = vec![0; encrypt_scratch_limbs(2048)];
    let mut ciphertext = [0xaa; 256];
    let mut rng = Counter(1);
    let outcome =
        key().public().encrypt_pkcs1v15(&[1; 246], &mut rng, &mut ciphertext, &mut scratch);
    assert_eq!(outcome, Err(Error::MessageTooLong { longest: 245, given: 246 }));
    assert_eq!(ciphertext, [0xaa; 256]);
}
