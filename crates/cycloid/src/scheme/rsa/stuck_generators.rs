//! Encryption with generators that repeat themselves.

use std::vec;

use super::Error;
use crate::math::prime::tests::{Repeating, STUCK};
use crate::scheme::Hash;
use crate::scheme::rsa::tests::key;
use crate::scheme::rsa::{Oaep, encrypt_scratch_limbs};

#[test]
fn nothing_is_encrypted_with_a_generator_that_is_stuck() {
    let public = key().public();
    let mut ciphertext = [0xaa; 256];
    let mut scratch = vec![7; encrypt_scratch_limbs(2048)];
    for values in STUCK {
        for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha512] {
            let mut rng = Repeating::new(values);
            let oaep = Oaep::new(hash);
            let outcome =
                public.encrypt_oaep(&oaep, b"message", &mut rng, &mut ciphertext, &mut scratch);
            assert_eq!(outcome, Err(Error::RandomGenerator), "{values:x?}, {hash:?}");
        }
        let mut rng = Repeating::new(values);
        let outcome = public.encrypt_pkcs1v15(b"message", &mut rng, &mut ciphertext, &mut scratch);
        assert_eq!(outcome, Err(Error::RandomGenerator), "{values:x?}");
    }
    // The shortest padding has eight bytes; a zero among them must be redrawn.
    let mut rng = Repeating::new(&[0]);
    let message = [1; 256 - 11];
    let outcome = public.encrypt_pkcs1v15(&message, &mut rng, &mut ciphertext, &mut scratch);
    assert_eq!(outcome, Err(Error::RandomGenerator));
    assert!(rng.given < 100, "{}", rng.given);
    assert_eq!(ciphertext, [0xaa; 256]);
    assert!(scratch.iter().all(|limb| *limb == 0));
}

#[test]
fn a_zero_in_the_padding_is_redrawn() {
    let public = key().public();
    let mut ciphertext = [0; 256];
    let mut scratch = vec![0; encrypt_scratch_limbs(2048)];
    // Fifteen draws of zero and a nonzero byte pass; one more zero is refused.
    for (zeros, outcome) in [(14, Ok(())), (15, Err(Error::RandomGenerator))] {
        let mut values = vec![0x0101_0101_0101_0100];
        values.extend(vec![0; zeros]);
        values.push(5);
        let mut rng = Repeating::new(&values);
        let message = [1; 256 - 11];
        let encrypted = public.encrypt_pkcs1v15(&message, &mut rng, &mut ciphertext, &mut scratch);
        assert_eq!(encrypted, outcome, "{zeros} zeros");
    }
}
