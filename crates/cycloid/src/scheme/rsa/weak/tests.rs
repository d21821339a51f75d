use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;

use super::super::padding::pkcs1v15;
use super::super::tests::{FAULT, Key, bytes, components, number};
use super::super::{
    Batch, Error, Hash, KeyError, Oaep, batch_limbs, context_limbs, der_scratch_limbs,
    encrypt_scratch_limbs, generate_scratch_limbs, private_key_limbs, private_key_scratch_limbs,
    public_key_limbs, verify_scratch_limbs,
};
use super::*;
use crate::machine::lanes;
use crate::math::prime::tests::Counter;

const DER: &[u8] = include_bytes!("../../../../tests/data/rsa/1024.der");
const SIGNATURE: &[u8; 128] = include_bytes!("../../../../tests/data/rsa/1024-sha256.signature");
const PSS_SIGNATURE: &[u8; 128] =
    include_bytes!("../../../../tests/data/rsa/1024-pss-sha1.signature");

fn generate(bits: usize, seed: u64) -> Result<Key, Error> {
    let mut scratch = vec![0; generate_scratch_limbs(bits)];
    let memory = vec![0; private_key_limbs(bits)];
    PrivateKey::generate_legacy(bits, 65537, memory, &mut Counter(seed), &mut scratch)
}

fn loaded(components: &PrivateComponents<'_>) -> Result<Key, Error> {
    let mut scratch = vec![0; private_key_scratch_limbs(8 * components.modulus.len())];
    PrivateKey::new_legacy(components, vec![0; private_key_limbs(2048)], &mut scratch)
}

fn read() -> Key {
    let mut scratch = vec![0; der_scratch_limbs(1024)];
    PrivateKey::from_pkcs8_der_legacy(DER, vec![0; private_key_limbs(1024)], &mut scratch).unwrap()
}

fn public(key: &Key) -> PublicKey<Vec<Limb>> {
    let [modulus, ..] = bytes(key);
    let memory = vec![0; public_key_limbs(key.bits())];
    let mut scratch = vec![0; verify_scratch_limbs(key.bits())];
    PublicKey::new_legacy(&modulus, &[1, 0, 1], memory, &mut scratch).unwrap()
}

/// Returns a number of this many bits, big-endian.
fn odd_number(bits: usize) -> Vec<u8> {
    let top: BigUint = BigUint::from(1u8) << (bits - 1);
    (top + 0x1235u32).to_bytes_be()
}

#[test]
fn generated_keys_satisfy_the_standard() {
    for bits in [1024, 1026, 1536, 2040] {
        let key = generate(bits, bits as u64).unwrap();
        let [n, d, p, q, d_p, d_q, inverse] = bytes(&key).map(|part| BigUint::from_bytes_be(&part));
        let (p1, q1) = (&p - 1u8, &q - 1u8);
        assert_eq!((n.bits(), p.bits(), q.bits()), (bits as u64, bits as u64 / 2, bits as u64 / 2));
        assert_eq!(&p * &q, n);
        let e = BigUint::from(65537u32);
        let one = BigUint::from(1u8);
        assert!((&e * &d) % &p1 == one && (&e * &d) % &q1 == one);
        assert!(d_p == &d % &p1 && d_q == &d % &q1 && (inverse * &q) % &p == one);
        for prime in [p, q] {
            assert_eq!(BigUint::from(3u8).modpow(&(&prime - 1u8), &prime), one);
        }
        let parts = bytes(&key);
        assert_eq!(bytes(&loaded(&components(&parts, &[1, 0, 1])).unwrap()), parts);
    }
}

#[test]
fn other_lengths_are_refused_on_either_side() {
    for bits in [0, 512, 1022, 1023, 1025, 2041, 2042, 2048, usize::MAX] {
        let refused = generate_length(bits);
        assert_eq!(refused, Error::GeneratedLength { bits });
    }
    let long = super::super::tests::key();
    let parts = bytes(long);
    let refused = loaded(&components(&parts, &[1, 0, 1])).unwrap_err();
    assert_eq!(refused, Error::Key(KeyError::LegacyLength { bits: 2048 }));
    let refused = PublicKey::new_legacy(&parts[0], &[3], vec![0; 64], &mut [0; 512]).unwrap_err();
    assert_eq!(refused, Error::Key(KeyError::LegacyLength { bits: 2048 }));
    for (bits, known) in [(511, false), (512, true), (2040, true), (2041, false)] {
        let modulus = odd_number(bits);
        let read = PublicKey::new_legacy(&modulus, &[3], vec![0; 64], &mut [0; 512]);
        match known {
            true => assert_eq!(read.unwrap().bits(), bits),
            false => assert_eq!(read.unwrap_err(), Error::Key(KeyError::LegacyLength { bits })),
        }
    }
    // Nothing else accepts a short key.
    let parts = bytes(&read());
    let (memory, mut scratch) = (vec![0; private_key_limbs(2048)], vec![0; 600]);
    let refused = Error::Key(KeyError::ModulusLength { bits: 1024 });
    let given = components(&parts, &[1, 0, 1]);
    assert_eq!(PrivateKey::new(&given, memory.clone(), &mut scratch).unwrap_err(), refused);
    let read = PrivateKey::from_pkcs8_der(DER, memory.clone(), &mut scratch);
    assert_eq!(read.unwrap_err(), refused);
    assert_eq!(PrivateKey::from_der(DER, memory.clone(), &mut scratch).unwrap_err(), refused);
    assert_eq!(PublicKey::new(&parts[0], &[3], memory, &mut scratch).unwrap_err(), refused);
    let refused = Batch::new(1023, Counter(1), vec![0; batch_limbs(2048, 8)]).unwrap_err();
    assert_eq!(refused, Error::Key(KeyError::ModulusLength { bits: 1023 }));
}

/// Returns the error; the length is refused before any memory is touched.
fn generate_length(bits: usize) -> Error {
    PrivateKey::generate_legacy(bits, 65537, vec![], &mut Counter(1), &mut []).unwrap_err()
}

#[test]
fn parts_that_do_not_match_are_refused() {
    let right = bytes(&read());
    for part in 0..7 {
        let mut wrong = right.clone();
        wrong[part][40] ^= 4;
        assert!(loaded(&components(&wrong, &[1, 0, 1])).is_err(), "part {part}");
    }
    for length in 0..DER.len() {
        let memory = vec![0; private_key_limbs(1024)];
        let mut scratch = vec![0; der_scratch_limbs(1024)];
        let read = PrivateKey::from_pkcs8_der_legacy(&DER[..length], memory, &mut scratch);
        assert!(read.is_err(), "{length} bytes");
    }
}

#[test]
fn openssl_makes_the_same_signature() {
    let key = read();
    assert_eq!(key.bits(), 1024);
    let mut memory = vec![0; context_limbs(1024)];
    let mut context = Context::new(&key, Counter(5), &mut memory).unwrap();
    let mut signature = [0; 128];
    context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature).unwrap();
    assert_eq!(signature, *SIGNATURE);
    let mut scratch = vec![0; verify_scratch_limbs(1024)];
    let public = public(&key);
    public.verify_pkcs1v15(Hash::Sha256, b"message", SIGNATURE, &mut scratch).unwrap();
    public.verify_pss(Hash::Sha1, b"message", PSS_SIGNATURE, &mut scratch).unwrap();
}

/// A message to the power of d, by another implementation, at every backend and number of jobs.
#[test]
fn every_backend_computes_the_power() {
    for bits in [1024, 1090, 1536, 2040] {
        let keys = [1, 2, 3].map(|seed| generate(bits, seed).unwrap());
        let length = bits.div_ceil(8);
        let message = |i: usize| {
            let mut message = vec![i as u8 ^ 0x5a; length];
            message[0] = 0;
            message
        };
        let expected: Vec<Vec<u8>> = (0..9)
            .map(|i| {
                let key = keys[i % 3].borrowed();
                let (n, d) = (number(key.n()), number(key.d()));
                let power = BigUint::from_bytes_be(&message(i)).modpow(&d, &n).to_bytes_be();
                [vec![0; length - power.len()], power].concat()
            })
            .collect();
        for backend in lanes::tests::backends().into_iter().map(Some).chain([None]) {
            let mut memory = vec![0; batch_limbs(bits, 8)];
            let mut batch = Batch::with_backend(backend, bits, Counter(7), &mut memory).unwrap();
            for size in [1, 2, 3, 4, 5, 8, 9] {
                let inputs: Vec<_> = (0..size).map(message).collect();
                let mut outputs = vec![vec![0; length]; size];
                let mut jobs: Vec<_> = inputs
                    .iter()
                    .zip(&mut outputs)
                    .enumerate()
                    .map(|(i, (input, output))| {
                        Job::raw_private_operation(&keys[i % 3], input, output)
                    })
                    .collect();
                batch.run(&mut jobs);
                assert!(jobs.iter().all(|job| job.outcome() == Ok(length)));
                assert_eq!(outputs, expected[..size], "{backend:?}, {bits} bits, {size} jobs");
            }
        }
    }
}

#[test]
fn a_wrong_result_is_not_released() {
    let key = read();
    for count in [1, 8] {
        let mut memory = vec![0; batch_limbs(1024, 8)];
        let mut batch = Batch::new(1024, Counter(7), &mut memory).unwrap();
        let mut signatures = vec![[0xaa; 128]; count];
        let mut jobs: Vec<_> = signatures
            .iter_mut()
            .map(|signature| Job::sign_pkcs1v15(&key, Hash::Sha256, b"message", signature))
            .collect();
        FAULT.set(Some(0));
        batch.run(&mut jobs);
        FAULT.set(None);
        assert_eq!(jobs[0].outcome(), Err(Error::Fault));
        assert_eq!(signatures[0], [0xaa; 128]);
    }
}

#[test]
fn sha_1_signs_on_request_alone() {
    let key = read();
    let public = public(&key);
    let (pss, digest) = (Pss::new(Hash::Sha1), Hash::Sha1.digest(&[b"message"]));
    let mut signature = [0; 128];
    let mut memory = vec![0; context_limbs(1024)];
    let mut context = Context::new(&key, Counter(5), &mut memory).unwrap();
    let refused = context.sign_pss_with(pss, &digest, &mut signature);
    assert_eq!(refused, Err(Error::HashRetired));
    let refused = context.sign_pss_legacy(pss, &digest[1..], &mut signature);
    assert_eq!(refused, Err(Error::DigestLength));
    context.sign_pss_legacy(pss, &digest, &mut signature).unwrap();
    let mut scratch = vec![0; verify_scratch_limbs(1024)];
    public.verify_pss(Hash::Sha1, b"message", &signature, &mut scratch).unwrap();

    let mut memory = vec![0; batch_limbs(1024, 8)];
    let mut batch = Batch::new(1024, Counter(7), &mut memory).unwrap();
    let mut signature = [0; 128];
    let mut jobs = [Job::sign_pss_legacy(&key, pss, &digest, &mut signature)];
    batch.run(&mut jobs);
    assert_eq!(jobs[0].outcome(), Ok(128));
    public.verify_pss(Hash::Sha1, b"message", &signature, &mut scratch).unwrap();
}

#[test]
fn a_padding_that_does_not_fit_is_an_error() {
    let key = read();
    let public = public(&key);
    let mut memory = vec![0; context_limbs(1024)];
    let mut context = Context::new(&key, Counter(5), &mut memory).unwrap();
    let digest = Hash::Sha512.digest(&[b"message"]);
    let mut signature = [0; 128];
    for (salt_length, outcome) in
        [(62, Ok(())), (63, Err(Error::SaltTooLong)), (usize::MAX, Err(Error::SaltTooLong))]
    {
        let pss = Pss { salt_length, ..Pss::new(Hash::Sha512) };
        assert_eq!(context.sign_pss_with(pss, &digest, &mut signature), outcome);
    }
    let oaep = Oaep::new(Hash::Sha512);
    let mut scratch = vec![0; encrypt_scratch_limbs(1024)];
    for message in [&b""[..], b"m"] {
        let refused =
            public.encrypt_oaep(&oaep, message, &mut Counter(3), &mut signature, &mut scratch);
        assert_eq!(refused, Err(Error::ModulusTooShort));
    }
    let refused = context.decrypt_oaep(&oaep, &[0; 128], &mut [0; 128]);
    assert_eq!(refused, Err(Error::ModulusTooShort));
    // SHA-384 leaves 30 bytes.
    let oaep = Oaep::new(Hash::Sha384);
    let mut ciphertext = [0; 128];
    let message = [7; 30];
    public.encrypt_oaep(&oaep, &message, &mut Counter(3), &mut ciphertext, &mut scratch).unwrap();
    let mut output = [0; 30];
    assert_eq!(context.decrypt_oaep(&oaep, &ciphertext, &mut output), Ok(30));
    assert_eq!(output, message);
    assert_eq!(pkcs1v15::encode(&mut [0; 128], &[0; 117]), Ok(()));
    assert_eq!(pkcs1v15::encode(&mut [0; 128], &[0; 118]), Err(Error::ModulusTooShort));

    // A modulus of 512 bits has no room for SHA-512, and verification says no more than "invalid".
    let modulus = odd_number(512);
    let mut scratch = vec![0; verify_scratch_limbs(512)];
    let short = PublicKey::new_legacy(&modulus, &[3], vec![0; 16], &mut scratch).unwrap();
    for salt_length in [0, 64, usize::MAX] {
        let pss = Pss { salt_length, ..Pss::new(Hash::Sha512) };
        let refused = short.verify_pss_with(pss, &digest, &[1; 64], &mut scratch);
        assert_eq!(refused, Err(Error::Signature));
    }
    let refused = short.verify_pkcs1v15_prehashed(Hash::Sha512, &digest, &[1; 64], &mut scratch);
    assert_eq!(refused, Err(Error::Signature));
}
