//! Files that are cut short, changed, or put together at random.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::scheme::rsa::{Context, context_limbs};

const DER: Error = Error::Format(FormatError::Der);
const PEM: Error = Error::Format(FormatError::Pem);

#[test]
fn cut_short_or_made_longer() {
    let key = from_pem(KEY).unwrap();
    let files = [pkcs8(&key), pkcs1(&key), decoded(PSS_KEY)];
    for file in files {
        for length in 0..file.len() {
            assert_eq!(from_der(&file[..length]).unwrap_err(), DER, "{length}");
        }
        for more in [&[0][..], &[5, 0], &file] {
            assert_eq!(from_der(&[&file, more].concat()).unwrap_err(), DER);
        }
    }
    for file in [spki(&key.public()), public_pkcs1(&key.public())] {
        for length in 0..file.len() {
            assert_eq!(public_from_der(&file[..length]).unwrap_err(), DER, "{length}");
        }
        for more in [&[0][..], &[5, 0], &file] {
            assert_eq!(public_from_der(&[&file, more].concat()).unwrap_err(), DER);
        }
    }
    for length in 0..KEY.len() - 1 {
        assert_eq!(from_pem(&KEY[..length]).unwrap_err(), PEM, "{length}");
    }
}

/// A file that is read gives a key that is written as the same file, or as a file of the same key:
/// DER is unique except for the parameters of hash functions, and the input was checked.
fn assert_sound(file: &[u8]) {
    if let Ok(key) = from_der(file) {
        let mut memory = vec![0; context_limbs(key.bits())];
        let rng = crate::math::prime::tests::Counter(7);
        let mut context = Context::new(&key, rng, &mut memory).unwrap();
        let mut signature = vec![0; key.bits().div_ceil(8)];
        match key.restriction() {
            Restriction::None => {
                assert!(file == pkcs8(&key) || file == pkcs1(&key), "{file:x?}");
                context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature).unwrap();
            }
            restriction => {
                let again = from_der(&pkcs8(&key)).unwrap();
                assert_eq!((again.restriction(), pkcs8(&again)), (restriction, pkcs8(&key)));
                let outcome = context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature);
                assert_eq!(outcome, Err(Error::Restricted));
            }
        }
    }
    if let Ok(key) = public_from_der(file) {
        if key.restriction() == Restriction::None {
            assert!(file == spki(&key) || file == public_pkcs1(&key), "{file:x?}");
        } else {
            let again = public_from_der(&spki(&key)).unwrap();
            assert_eq!(again.restriction(), key.restriction());
        }
    }
}

#[test]
fn every_byte_changed() {
    let key = from_pem(KEY).unwrap();
    let restricted = from_pem(PSS_SHA256_KEY).unwrap();
    let files = [
        pkcs8(&key),
        pkcs1(&key),
        spki(&key.public()),
        public_pkcs1(&key.public()),
        spki(&restricted.public()),
    ];
    for file in files {
        let mut changed = file.clone();
        for i in 0..file.len() {
            for change in [0x01, 0x02, 0x10, 0x80, 0xff, file[i]] {
                changed[i] ^= change;
                assert_sound(&changed);
                changed[i] = file[i];
            }
        }
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        assert_sound(&bytes);
        let _ = from_pem(&bytes);
    }

    #[test]
    fn pieces_of_files(
        pieces in proptest::collection::vec((0..1200usize, 0..400usize, any::<bool>()), 1..6),
    ) {
        let key = from_pem(KEY).unwrap();
        let (private, public) = (pkcs8(&key), spki(&key.public()));
        let mut file = Vec::new();
        for (start, length, which) in pieces {
            let from = if which { &private } else { &public };
            file.extend(from.iter().skip(start).take(length));
        }
        assert_sound(&file);
    }

    #[test]
    fn elements_of_any_shape(
        tags in proptest::collection::vec((0..6usize, 0..40usize), 0..12),
    ) {
        // Random but well-formed sequences, numbers and strings.
        let elements: Vec<Vec<u8>> = tags
            .iter()
            .map(|(tag, length)| tlv([2, 3, 4, 5, 6, 0x30][*tag], &[&vec![1; *length]]))
            .collect();
        let file = tlv(0x30, &elements.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert_sound(&file);
    }
}
