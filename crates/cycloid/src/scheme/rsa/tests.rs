//! Keys, signatures and faults.

use std::cell::Cell;
use std::sync::OnceLock;
use std::vec;
use std::vec::Vec;

use num_bigint::BigUint;

use super::*;
use crate::machine::lanes::{self, LANES};
use crate::machine::words::{LIMB_BITS, Limb};
use crate::math::prime::tests::Counter;

std::thread_local! {
    /// The number of private operations before one with a fault.
    pub(super) static FAULT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Flips a bit of the result of the private operation for which a test has asked.
pub(super) fn disturb(result: &mut [Limb]) {
    let fault = FAULT.get();
    FAULT.set(fault.and_then(|before| before.checked_sub(1)));
    result[0] ^= Limb::from(fault == Some(0)) << 17;
}

pub(super) type Key = PrivateKey<Vec<Limb>>;

pub(super) fn generate(bits: usize, exponent: u32, seed: u64) -> Result<Key, Error> {
    let mut scratch = vec![0; generate_scratch_limbs(bits)];
    let memory = vec![0; private_key_limbs(bits)];
    PrivateKey::generate(bits, exponent, memory, &mut Counter(seed), &mut scratch)
}

pub(super) fn key() -> &'static Key {
    static KEY: OnceLock<Key> = OnceLock::new();
    KEY.get_or_init(|| generate(2048, 65537, 1).unwrap())
}

pub(super) fn number(limbs: &[Limb]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |sum, limb| (sum << 64) + limb)
}

/// Returns the parts of a key as bytes, in the order of PKCS #1 after the exponent.
pub(super) fn bytes(key: &Key) -> [Vec<u8>; 7] {
    let key = key.borrowed();
    let parts = key.halves().unwrap();
    [key.n(), key.d(), parts.p, parts.q, parts.d_p, parts.d_q, parts.q_inverse]
        .map(|part| number(part).to_bytes_be())
}

pub(super) fn components<'a>(bytes: &'a [Vec<u8>; 7], exponent: &'a [u8]) -> PrivateComponents<'a> {
    let [modulus, private_exponent, prime1, prime2, exponent1, exponent2, coefficient] = bytes;
    PrivateComponents {
        modulus,
        public_exponent: exponent,
        private_exponent,
        prime1,
        prime2,
        exponent1,
        exponent2,
        coefficient,
        other_primes: &[],
    }
}

pub(super) fn load(components: &PrivateComponents<'_>) -> Result<Key, Error> {
    PrivateKey::new(components, vec![0; private_key_limbs(8192)], &mut vec![0; 600])
}

#[test]
fn generated_keys_satisfy_the_standard() {
    for (bits, exponent) in [(2048, 65537), (2050, 0xffff_fffb), (2112, 65539)] {
        let key = generate(bits, exponent, bits as u64).unwrap();
        let [n, d, p, q, d_p, d_q, inverse] = bytes(&key).map(|part| BigUint::from_bytes_be(&part));
        let one = BigUint::from(1u8);
        let (p1, q1) = (&p - &one, &q - &one);
        assert_eq!((n.bits() as usize, p.bits() as usize), (bits, bits / 2));
        assert_eq!(&p * &q, n);
        let e = BigUint::from(exponent);
        let gcd = {
            let (mut a, mut b) = (p1.clone(), q1.clone());
            while b != BigUint::ZERO {
                (a, b) = (b.clone(), a % b);
            }
            a
        };
        let lambda = &p1 * &q1 / gcd;
        assert!(d < lambda && (&e * &d) % &lambda == one);
        assert!(d_p == &d % &p1 && d_q == &d % &q1);
        assert!((inverse * &q) % &p == one);
        for prime in [p, q] {
            let base = BigUint::from(3u8);
            assert_eq!(base.modpow(&(&prime - &one), &prime), one);
        }
    }
}

#[test]
fn lengths_and_exponents_that_are_refused() {
    for bits in [0, 512, 2046, 2049, 16386] {
        assert_eq!(generate(bits, 65537, 1).unwrap_err(), Error::GeneratedLength { bits });
    }
    for exponent in [0, 1, 2, 3, 65536, 65535] {
        assert_eq!(generate(2048, exponent, 1).unwrap_err(), Error::Key(KeyError::PublicExponent));
    }
}

#[test]
fn parts_that_do_not_match_are_refused() {
    let right = bytes(key());
    let e = [1, 0, 1];
    let loaded = load(&components(&right, &e)).unwrap();
    assert_eq!(bytes(&loaded), right);
    let padded = right.clone().map(|part| [vec![0; 3], part].concat());
    assert_eq!(bytes(&load(&components(&padded, &[0, 0, 1, 0, 1])).unwrap()), right);

    let errors = [
        Error::Key(KeyError::Product),
        Error::Key(KeyError::PrivateExponent),
        Error::Key(KeyError::Product),
        Error::Key(KeyError::Product),
        Error::Key(KeyError::PrivateExponent),
        Error::Key(KeyError::PrivateExponent),
        Error::Key(KeyError::PrivateExponent),
    ];
    for (i, error) in errors.into_iter().enumerate() {
        let mut wrong = right.clone();
        wrong[i][40] ^= 4;
        assert_eq!(load(&components(&wrong, &e)).unwrap_err(), error, "part {i}");
        let mut long = right.clone();
        long[i].insert(0, 1);
        assert!(load(&components(&long, &e)).is_err(), "part {i}");
    }
    // Residues that are congruent modulo p − 1 and so on, but not reduced.
    let [n, d, p, q, d_p, ..] = right.clone().map(|part| BigUint::from_bytes_be(&part));
    let mut larger = right.clone();
    larger[4] = (&d_p + &p - 1u8).to_bytes_be();
    assert_eq!(load(&components(&larger, &e)).unwrap_err(), Error::Key(KeyError::PrivateExponent));
    // A private exponent modulo (p − 1)(q − 1) instead of the least common multiple is valid too.
    let phi = (&p - 1u8) * (&q - 1u8);
    let mut other = right.clone();
    other[1] = BigUint::from(65537u32).modinv(&phi).unwrap().to_bytes_be();
    assert!(load(&components(&other, &e)).is_ok());
    // It is less than the modulus; the next one here is as long as the modulus.
    let past = &d + (&n - &d + &phi) / &phi * &phi;
    assert!(past >= n && past.bits() == 2048);
    other[1] = past.to_bytes_be();
    assert_eq!(load(&components(&other, &e)).unwrap_err(), Error::Key(KeyError::PrivateExponent));

    for wrong in [&[][..], &[0], &[1], &[2], &[1, 0, 0], &[1, 0, 0, 0, 0, 0, 0, 0, 1]] {
        assert_eq!(
            load(&components(&right, wrong)).unwrap_err(),
            Error::Key(KeyError::PublicExponent)
        );
    }
    let mut even = right.clone();
    even[0] = (&n + 1u8).to_bytes_be();
    assert_eq!(load(&components(&even, &e)).unwrap_err(), Error::Key(KeyError::Product));
    even[2] = (&p + 1u8).to_bytes_be();
    assert_eq!(load(&components(&even, &e)).unwrap_err(), Error::Key(KeyError::Even));
    let mut square = right.clone();
    (square[0], square[3]) = ((&p * &p).to_bytes_be(), p.to_bytes_be());
    assert_eq!(load(&components(&square, &e)).unwrap_err(), Error::Key(KeyError::Primes));
    let mut short = right.clone();
    short[0].truncate(128);
    assert_eq!(
        load(&components(&short, &e)).unwrap_err(),
        Error::Key(KeyError::ModulusLength { bits: 1024 })
    );
    let outcome = PrivateKey::new(&components(&right, &e), vec![0; 207], &mut vec![0; 600]);
    assert_eq!(outcome.unwrap_err(), Error::MemoryTooSmall { needed: 208, given: 207 });
    let outcome = PrivateKey::new(&components(&right, &e), vec![0; 208], &mut vec![0; 131]);
    assert_eq!(outcome.unwrap_err(), Error::MemoryTooSmall { needed: 132, given: 131 });
}

#[test]
fn roca_keys_are_refused() {
    // A power of 65537 modulo the product of the first small primes, plus a multiple of the
    // product.
    let product = [
        3u32, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89,
        97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
    ]
    .into_iter()
    .fold(BigUint::from(2u8), |product, prime| product * prime);
    let power = BigUint::from(65537u32).modpow(&BigUint::from(987_654_321u32), &product);
    let modulus = (BigUint::from(1u8) << 2047) / &product * &product + &product + power;
    let new = |modulus: &BigUint| {
        let mut scratch = vec![0; verify_scratch_limbs(2048)];
        PublicKey::new(&modulus.to_bytes_be(), &[3], vec![0; public_key_limbs(2048)], &mut scratch)
            .map(|key| key.bits())
    };
    assert_eq!(new(&modulus), Err(Error::Key(KeyError::Fingerprint)));
    assert_eq!(new(&(modulus + 2u8)), Ok(2048));
}

#[test]
fn signatures_match_the_model_and_verify() {
    let key = key();
    let [n, d, ..] = bytes(key).map(|part| BigUint::from_bytes_be(&part));
    for memory in [minimum_context_limbs(2048), context_limbs(2048)] {
        let mut memory = vec![0; memory];
        let mut context = Context::new(key, Counter(5), &mut memory).unwrap();
        let mut scratch = vec![0; verify_scratch_limbs(2048)];
        // More than one blinding's uses.
        for i in 0..40u8 {
            let hash = [Hash::Sha256, Hash::Sha384, Hash::Sha512][usize::from(i) % 3];
            let message = [i; 7];
            let mut signature = [0; 256];
            context.sign_pkcs1v15(hash, &message, &mut signature).unwrap();
            // The slow model: the encoded message raised to d.
            let s = BigUint::from_bytes_be(&signature);
            let encoded = s.modpow(&BigUint::from(65537u32), &n);
            assert_eq!(encoded.modpow(&d, &n), s);
            let public = key.public();
            public.verify_pkcs1v15(hash, &message, &signature, &mut scratch).unwrap();
            let other = public.verify_pkcs1v15(hash, &[i], &signature, &mut scratch);
            assert_eq!(other, Err(Error::Signature));

            context.sign_pss(hash, &message, &mut signature).unwrap();
            public.verify_pss(hash, &message, &signature, &mut scratch).unwrap();
            let other = public.verify_pss(hash, &[i], &signature, &mut scratch);
            assert_eq!(other, Err(Error::Signature));
            signature[usize::from(i)] ^= 1;
            let other = public.verify_pss(hash, &message, &signature, &mut scratch);
            assert_eq!(other, Err(Error::Signature));
        }
    }
}

#[test]
fn minimum_memory_stays_within_its_documented_bound() {
    assert!(minimum_context_limbs(2048) * 8 <= 2244, "{}", minimum_context_limbs(2048) * 8);
}

#[test]
fn a_modulus_with_an_odd_number_of_limbs() {
    let key = generate(2112, 65537, 3).unwrap();
    let mut memory = vec![0; context_limbs(2112)];
    let mut context = Context::new(&key, Counter(5), &mut memory).unwrap();
    let mut signature = [0; 264];
    context.sign_pss(Hash::Sha512, b"message", &mut signature).unwrap();
    let mut scratch = vec![0; verify_scratch_limbs(2112)];
    key.public().verify_pss(Hash::Sha512, b"message", &signature, &mut scratch).unwrap();
}

#[test]
fn salts_of_every_length() {
    let mut memory = vec![0; context_limbs(2048)];
    let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
    let mut scratch = vec![0; verify_scratch_limbs(2048)];
    let digest = [7; 32];
    let mut signature = [0; 256];
    for salt in [0, 1, 31, 63, 64, 65, 128, 129, 221, 222] {
        context.sign_pss_prehashed(Hash::Sha256, &digest, salt, &mut signature).unwrap();
        let mut verify = |salt| {
            key().public().verify_pss_prehashed(
                Hash::Sha256,
                &digest,
                salt,
                &signature,
                &mut scratch,
            )
        };
        assert_eq!(verify(Some(salt)), Ok(()));
        assert_eq!(verify(None), Ok(()));
        assert_eq!(verify(Some(salt + 1)), Err(Error::Signature));
    }
    let outcome = context.sign_pss_prehashed(Hash::Sha256, &digest, 223, &mut signature);
    assert_eq!(outcome, Err(Error::SaltTooLong));
}

#[test]
fn nothing_is_released_after_a_fault() {
    let mut memory = vec![0; context_limbs(2048)];
    let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
    let mut signature = [0xaa; 256];
    FAULT.set(Some(0));
    let outcome = context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature);
    FAULT.set(None);
    assert_eq!(outcome, Err(Error::Fault));
    assert_eq!(signature, [0xaa; 256]);
    context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature).unwrap();
}

#[test]
fn wrong_arguments_are_errors() {
    let mut memory = vec![0; context_limbs(2048)];
    let given = minimum_context_limbs(2048) - 1;
    let outcome = Context::new(key(), Counter(5), &mut memory[..given]).map(|_| ());
    assert_eq!(outcome, Err(Error::MemoryTooSmall { needed: given + 1, given }));
    let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
    let mut signature = [0xaa; 256];
    assert_eq!(
        context.sign_pkcs1v15(Hash::Sha1, b"message", &mut signature),
        Err(Error::HashRetired)
    );
    assert_eq!(
        context.sign_pkcs1v15_prehashed(Hash::Sha256, &[0; 31], &mut signature),
        Err(Error::DigestLength)
    );
    assert_eq!(
        context.sign_pss(Hash::Sha256, b"message", &mut signature[1..]),
        Err(Error::Length { needed: 256, given: 255 })
    );
    assert_eq!(signature, [0xaa; 256]);
    let mut scratch = vec![0; verify_scratch_limbs(2048)];
    let public = key().public();
    for wrong in [&[][..], &[0; 255], &[0; 257], &[0xff; 256]] {
        let outcome = public.verify_pkcs1v15(Hash::Sha256, b"message", wrong, &mut scratch);
        assert_eq!(outcome, Err(Error::Signature));
    }
    let short = &mut scratch[1..];
    let (needed, given) = (verify_scratch_limbs(2048), verify_scratch_limbs(2048) - 1);
    let outcome = public.verify_pss(Hash::Sha256, b"message", &[0; 256], short);
    assert_eq!(outcome, Err(Error::MemoryTooSmall { needed, given }));
}

/// Returns some keys of `bits` bits, with exponents of different lengths.
fn keys(bits: usize) -> Vec<Key> {
    [(65537, 1), (65539, 2), (0x0123_4567, 3)]
        .map(|(exponent, seed)| generate(bits, exponent, seed).unwrap())
        .into()
}

fn batch_memory(bits: usize) -> Vec<Limb> {
    vec![0; batch_limbs(bits, 0)]
}

#[test]
fn a_batch_equals_single_operations() {
    for bits in [2048, 2112] {
        let keys = keys(bits);
        let length = bits / 8;
        let mut memory = vec![0; context_limbs(bits)];
        let mut single = |key: &Key, message: &[u8]| {
            let mut context = Context::new(key, Counter(5), &mut memory).unwrap();
            let mut signature = vec![0; length];
            context.sign_pkcs1v15(Hash::Sha256, message, &mut signature).unwrap();
            signature
        };
        let messages: Vec<[u8; 1]> = (0..19).map(|i| [i]).collect();
        let expected: Vec<_> = messages
            .iter()
            .map(|message| single(&keys[message[0] as usize % 3], message))
            .collect();
        let backends = lanes::tests::backends().into_iter().map(Some).chain([None]);
        for backend in backends {
            let mut memory = batch_memory(bits);
            let mut batch = Batch::with_backend(backend, bits, Counter(7), &mut memory).unwrap();
            // Slow backends run one group of each kind only.
            let sizes: &[usize] = match backend.map(lanes::Backend::name) {
                Some("avx512") | None => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 17, 19],
                _ => &[3, 6],
            };
            for &size in sizes {
                let mut signatures = vec![vec![0; length]; size];
                let mut jobs: Vec<Job<'_>> = signatures
                    .iter_mut()
                    .zip(&messages)
                    .map(|(signature, message)| {
                        let key = &keys[message[0] as usize % 3];
                        Job::sign_pkcs1v15(key, Hash::Sha256, message, signature)
                    })
                    .collect();
                assert!(jobs.iter().all(|job| job.outcome() == Err(Error::NotDone)));
                batch.run(&mut jobs);
                assert!(jobs.iter().all(|job| job.outcome() == Ok(length)));
                assert_eq!(signatures, expected[..size], "{backend:?}, {bits} bits, {size} jobs");
            }
        }
    }
}

#[test]
fn an_observer_hears_the_steps_in_order() {
    let mut memory = batch_memory(2048);
    let mut batch = Batch::new(2048, Counter(7), &mut memory).unwrap();
    for count in [1, LANES] {
        let mut signatures = vec![[0; 256]; count];
        let mut jobs: Vec<_> = signatures
            .iter_mut()
            .map(|signature| Job::sign_pkcs1v15(key(), Hash::Sha256, b"message", signature))
            .collect();
        let mut steps = Vec::new();
        batch.run_observed(&mut jobs, &mut |step| steps.push(step));
        assert!(jobs.iter().all(|job| job.outcome() == Ok(256)));
        let start = steps.iter().position(|step| *step == Step::Blinding).unwrap();
        assert!(steps[..start].iter().all(|step| *step == Step::Representation));
        let once = [
            Step::Blinding,
            Step::Exponentiation,
            Step::Recombination,
            Step::Verification,
            Step::Blinding,
            Step::Delivery,
        ];
        let rest = steps[start..].iter().filter(|step| **step != Step::Representation);
        let rest: Vec<_> = rest.copied().collect();
        // With vectors eight run together; without, one by one.
        assert!(rest.chunks(once.len()).all(|steps| steps == once), "{rest:?}");
    }
}

#[test]
fn an_invalid_job_does_not_affect_others() {
    let keys = keys(2048);
    let other = generate(2112, 65537, 1).unwrap();
    let mut memory = batch_memory(2048);
    let mut batch = Batch::new(2048, Counter(7), &mut memory).unwrap();
    for fault in [None, Some(0), Some(2), Some(5)] {
        let mut signatures = vec![[0xaa; 256]; 11];
        let mut jobs: Vec<Job<'_>> = signatures
            .iter_mut()
            .enumerate()
            .map(|(i, signature)| match i {
                1 => Job::sign_pss(&keys[0], Hash::Sha1, b"message", signature),
                3 => Job::sign_pss(&keys[1], Hash::Sha256, b"message", &mut signature[1..]),
                5 => Job::sign_pss(&other, Hash::Sha256, b"message", signature),
                i => Job::sign_pss(&keys[i % 3], Hash::Sha256, b"message", signature),
            })
            .collect();
        FAULT.set(fault);
        batch.run(&mut jobs);
        FAULT.set(None);
        let outcomes: Vec<_> = jobs.iter().map(Job::outcome).collect();
        let mut scratch = vec![0; verify_scratch_limbs(2048)];
        let good = (0..11).filter(|i| ![1, 3, 5].contains(i));
        for (order, i) in good.enumerate() {
            if fault == Some(order) {
                assert_eq!(outcomes[i], Err(Error::Fault));
                assert_eq!(signatures[i], [0xaa; 256]);
            } else {
                assert_eq!(outcomes[i], Ok(256));
                let public = keys[i % 3].public();
                public.verify_pss(Hash::Sha256, b"message", &signatures[i], &mut scratch).unwrap();
            }
        }
        assert_eq!(outcomes[1], Err(Error::HashRetired));
        assert_eq!(outcomes[3], Err(Error::Length { needed: 256, given: 255 }));
        assert_eq!(outcomes[5], Err(Error::KeyLength { needed: 2048, given: 2112 }));
        assert!([1, 3, 5].iter().all(|i| signatures[*i] == [0xaa; 256]));
    }
}

#[test]
fn keys_that_share_a_modulus_do_not_share_blindings() {
    let first = generate(2048, 65537, 1).unwrap();
    let mut parts = bytes(&first);
    let [_, _, p, q, ..] = parts.clone().map(|part| BigUint::from_bytes_be(&part));
    let (p1, q1) = (p - 1u8, q - 1u8);
    let exponent = [65539u32, 65543, 65551, 65557]
        .into_iter()
        .find(|e| BigUint::from(*e).modinv(&(&p1 * &q1)).is_some())
        .unwrap();
    for (i, order) in [(1, &p1 * &q1), (4, p1.clone()), (5, q1.clone())] {
        parts[i] = BigUint::from(exponent).modinv(&order).unwrap().to_bytes_be();
    }
    let second = load(&components(&parts, &exponent.to_be_bytes())).unwrap();
    for backend in [lanes::Backend::best(), None] {
        let mut memory = batch_memory(2048);
        let mut batch = Batch::with_backend(backend, 2048, Counter(7), &mut memory).unwrap();
        let mut scratch = vec![0; verify_scratch_limbs(2048)];
        for key in [&first, &second, &first] {
            let mut signatures = [[0; 256]; 8];
            let mut jobs: Vec<Job<'_>> = signatures
                .iter_mut()
                .map(|signature| Job::sign_pkcs1v15(key, Hash::Sha256, b"message", signature))
                .collect();
            batch.run(&mut jobs);
            for signature in &signatures {
                let public = key.public();
                public.verify_pkcs1v15(Hash::Sha256, b"message", signature, &mut scratch).unwrap();
            }
        }
    }
}

#[test]
fn lanes_of_every_length_fit_the_halves() {
    for bits in length::MIN_LEGACY_BITS..=MAX_BITS {
        let (whole, half) = (eight::whole_lanes(bits), eight::half_lanes(bits));
        assert!((half..=2 * half).contains(&whole), "{bits} bits");
        let excess = whole * lanes::LANE_LIMB_BITS - limbs(bits) * LIMB_BITS;
        assert!(3 * excess < whole * lanes::LANE_LIMB_BITS, "{bits} bits");
    }
}

#[test]
fn a_batch_redraws_blindings_and_evicts_old_ones() {
    let keys = keys(2048);
    let mut memory = vec![0; batch_limbs(2048, 9)];
    let mut batch = Batch::new(2048, Counter(7), &mut memory).unwrap();
    let mut scratch = vec![0; verify_scratch_limbs(2048)];
    // More than one blinding's uses, with more keys in lanes than there are blindings.
    for round in 0..36 {
        let mut signatures = [[0; 256]; 8];
        let mut jobs: Vec<Job<'_>> = signatures
            .iter_mut()
            .enumerate()
            .map(|(i, signature)| {
                let key = &keys[(i + round / 12) % 3];
                Job::sign_pkcs1v15(key, Hash::Sha512, &[round as u8], signature)
            })
            .collect();
        batch.run(&mut jobs);
        for (i, signature) in signatures.iter().enumerate() {
            let public = keys[(i + round / 12) % 3].public();
            let message = [round as u8];
            public.verify_pkcs1v15(Hash::Sha512, &message, signature, &mut scratch).unwrap();
        }
    }
}

#[test]
fn signatures_verified_together_are_as_valid_as_alone() {
    let keys: Vec<Key> = keys(2048).into_iter().chain(keys(2112)).collect();
    let mut signed = Vec::new();
    for (i, key) in keys.iter().cycle().take(27).enumerate() {
        let mut memory = vec![0; context_limbs(key.bits())];
        let mut context = Context::new(key, Counter(i as u64), &mut memory).unwrap();
        let mut signature = vec![0; key.bits() / 8];
        context.sign_pss(Hash::Sha256, &[i as u8], &mut signature).unwrap();
        match i % 5 {
            1 => signature[i] ^= 1,
            2 => signature.truncate(200),
            3 => signature.fill(0xff),
            _ => {}
        }
        signed.push((key.public(), [i as u8], signature));
    }
    let mut scratch = vec![0; verify_scratch_limbs(2112)];
    let alone: Vec<_> = signed
        .iter()
        .map(|(key, message, signature)| {
            key.verify_pss(Hash::Sha256, message, signature, &mut scratch)
        })
        .collect();
    assert!(alone.contains(&Ok(())) && alone.contains(&Err(Error::Signature)));
    let backends = lanes::tests::backends().into_iter().map(Some).chain([None]);
    for backend in backends {
        for from in [0, 1, 5, 20, 26, 27] {
            let mut scratch = vec![7; verify_batch_scratch_limbs(2112)];
            let mut verifications: Vec<_> = signed[from..]
                .iter()
                .map(|(key, message, signature)| {
                    VerifyJob::pss(key, Hash::Sha256, message, signature)
                })
                .collect();
            verify_batch_with(backend, &mut verifications, &mut scratch);
            let outcomes: Vec<_> = verifications.iter().map(VerifyJob::outcome).collect();
            assert_eq!(outcomes, alone[from..], "{backend:?} from {from}");
        }
    }
    let (key, _, signature) = &signed[0];
    let mut one = [VerifyJob::pss_prehashed(key, Hash::Sha256, &[0; 31], None, signature)];
    assert_eq!(one[0].outcome(), Err(Error::NotDone));
    verify_batch(&mut one, &mut vec![0; verify_batch_scratch_limbs(2048)]);
    assert_eq!(one[0].outcome(), Err(Error::DigestLength));
    let mut one = [VerifyJob::pkcs1v15(key, Hash::Sha256, &[0; 31], signature)];
    verify_batch(&mut one, &mut []);
    assert!(matches!(one[0].outcome(), Err(Error::MemoryTooSmall { given: 0, .. })));
}
