//! Signatures and their verification for several messages with one key.

#[macro_use]
mod common;
mod real;
mod support;

use std::ptr::null_mut as n;

use common::{input, mechanism, mechanism_with};
use cryptoki_sys::*;
use cycloid_hsm::attribute::ckk;
use cycloid_hsm::mechanism::ckm;
use cycloid_hsm::rpc::frame::MAX_LENGTH;
use real::RealBed;
use support::USER_PIN;

const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const ED25519: &[u8] = &[6, 3, 0x2b, 0x65, 0x70];

fn sign(bed: &RealBed, session: u64, data: &[u8], length: usize) -> (CK_RV, Vec<u8>) {
    let (data, count) = input(data);
    let (mut made, mut made_length) = (vec![0; length], length as CK_ULONG);
    let to = made.as_mut_ptr();
    let code = call!(bed, C_SignMessage(session, n(), 0, data, count, to, &raw mut made_length));
    (code, made)
}

fn verify(bed: &RealBed, session: u64, data: &[u8], signature: &[u8]) -> CK_RV {
    let ((data, count), (given, length)) = (input(data), input(signature));
    call!(bed, C_VerifyMessage(session, n(), 0, data, count, given, length))
}

#[test]
fn messages_are_signed_and_verified_one_after_the_other() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let p256 = bed.pair(session, ckm::EC_KEY_PAIR_GEN, P256, false);
    let ed25519 = bed.pair(session, ckm::EC_EDWARDS_KEY_PAIR_GEN, ED25519, false);
    let hmac = bed.secret(session, ckk::GENERIC_SECRET, &[3; 40]);
    for (number, (public, private), length) in [
        (ckm::ECDSA_SHA256, p256, 64),
        (ckm::EDDSA, ed25519, 64),
        (ckm::SHA256_HMAC, (hmac, hmac), 32),
    ] {
        let how = &mut mechanism(number);
        must!(bed, C_MessageSignInit(session, how, private));
        must!(bed, C_MessageVerifyInit(session, how, public));
        for message in [&b"one"[..], b"", b"another"] {
            let (code, made) = sign(&bed, session, message, length);
            assert_eq!(code, CKR_OK);
            assert_eq!(verify(&bed, session, message, &made), CKR_OK);
            // A wrong signature ends nothing.
            assert_eq!(verify(&bed, session, b"wrong", &made), CKR_SIGNATURE_INVALID);
            assert_eq!(verify(&bed, session, message, &made[1..]), CKR_SIGNATURE_LEN_RANGE);
            assert_eq!(verify(&bed, session, message, &[]), CKR_SIGNATURE_LEN_RANGE);

            // In parts.
            must!(bed, C_VerifyMessageBegin(session, n(), 0));
            must!(bed, C_SignMessageBegin(session, n(), 0));
            let half = message.len() / 2;
            let ((first, count), (rest, left)) = (input(&message[..half]), input(&message[half..]));
            must!(bed, C_SignMessageNext(session, n(), 0, first, count, n(), n()));
            let (mut parts, mut parts_length) = (vec![0; length], 0);
            let place = &raw mut parts_length;
            must!(bed, C_SignMessageNext(session, n(), 0, rest, left, n(), place));
            assert_eq!(parts_length as usize, length);
            parts_length -= 1;
            let to = parts.as_mut_ptr();
            let code = call!(bed, C_SignMessageNext(session, n(), 0, rest, left, to, place));
            assert_eq!((code, parts_length as usize), (CKR_BUFFER_TOO_SMALL, length));
            must!(bed, C_SignMessageNext(session, n(), 0, rest, left, to, place));
            must!(bed, C_VerifyMessageNext(session, n(), 0, first, count, n(), 0));
            let (given, given_length) = input(&parts);
            must!(bed, C_VerifyMessageNext(session, n(), 0, rest, left, given, given_length));
            if number != ckm::ECDSA_SHA256 {
                assert_eq!(parts, made, "it is deterministic");
            }
        }
        must!(bed, C_MessageSignFinal(session));
        must!(bed, C_MessageVerifyFinal(session));
        // The same signature by the functions for one message.
        must!(bed, C_MessageSignInit(session, how, private));
        let (_, made) = sign(&bed, session, b"message", length);
        let ((data, count), (given, given_length)) = (input(b"message"), input(&made));
        must!(bed, C_VerifyInit(session, how, public));
        must!(bed, C_Verify(session, data, count, given, given_length));
        must!(bed, C_MessageSignFinal(session));
    }
}

#[test]
fn calls_in_the_wrong_order_and_bad_arguments_are_refused() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let hmac = bed.secret(session, ckk::GENERIC_SECRET, &[3; 40]);
    let how = &mut mechanism(ckm::SHA256_HMAC);
    let (data, count) = input(b"data");
    let (mut made, mut length) = ([0; 32], 32);
    let (to, left) = (made.as_mut_ptr(), &raw mut length);
    let signs = || {
        [
            call!(bed, C_SignMessage(session, n(), 0, data, count, to, left)),
            call!(bed, C_SignMessageBegin(session, n(), 0)),
            call!(bed, C_SignMessageNext(session, n(), 0, data, count, n(), n())),
            call!(bed, C_SignMessageNext(session, n(), 0, data, count, to, left)),
        ]
    };
    let verifies = || {
        [
            call!(bed, C_VerifyMessage(session, n(), 0, data, count, to, 32)),
            call!(bed, C_VerifyMessageBegin(session, n(), 0)),
            call!(bed, C_VerifyMessageNext(session, n(), 0, data, count, n(), 0)),
            call!(bed, C_VerifyMessageNext(session, n(), 0, data, count, to, 32)),
        ]
    };
    assert_eq!(
        (signs(), verifies()),
        ([CKR_OPERATION_NOT_INITIALIZED; 4], [CKR_OPERATION_NOT_INITIALIZED; 4])
    );
    must!(bed, C_MessageSignInit(session, how, hmac));
    must!(bed, C_MessageVerifyInit(session, how, hmac));
    assert_eq!(call!(bed, C_MessageSignInit(session, how, hmac)), CKR_OPERATION_ACTIVE);
    assert_eq!(call!(bed, C_MessageVerifyInit(session, how, hmac)), CKR_OPERATION_ACTIVE);
    assert_eq!(signs(), [CKR_OK; 4]);
    let invalid = CKR_SIGNATURE_INVALID;
    assert_eq!(verifies(), [invalid, CKR_OK, CKR_OK, CKR_OK], "that of both parts");
    must!(bed, C_SignMessageBegin(session, n(), 0));
    must!(bed, C_VerifyMessageBegin(session, n(), 0));
    assert_eq!(signs()[..2], [CKR_OPERATION_ACTIVE; 2]);
    must!(bed, C_VerifyMessageNext(session, n(), 0, data, count, n(), 0));
    assert_eq!(call!(bed, C_VerifyMessageBegin(session, n(), 0)), CKR_OPERATION_ACTIVE);
    let code = call!(bed, C_VerifyMessage(session, n(), 0, data, count, to, 32));
    assert_eq!(code, CKR_OPERATION_ACTIVE);
    must!(bed, C_SessionCancel(session, CKF_MESSAGE_SIGN | CKF_MESSAGE_VERIFY));
    assert_eq!(call!(bed, C_MessageSignFinal(session)), CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(call!(bed, C_MessageVerifyFinal(session)), CKR_OPERATION_NOT_INITIALIZED);
    assert_eq!(call!(bed, C_MessageSignInit(session, n(), 0)), CKR_ARGUMENTS_BAD);
    must!(bed, C_MessageSignInit(session, how, hmac));
    must!(bed, C_MessageSignInit(session, n(), 0));

    // Parameters of messages, pointers, and huge lengths.
    must!(bed, C_MessageSignInit(session, how, hmac));
    must!(bed, C_MessageVerifyInit(session, how, hmac));
    let some = to.cast();
    let codes = [
        call!(bed, C_SignMessage(session, some, 1, data, count, to, left)),
        call!(bed, C_SignMessageBegin(session, some, 1)),
        call!(bed, C_VerifyMessage(session, some, 1, data, count, to, 32)),
        call!(bed, C_VerifyMessageBegin(session, some, CK_ULONG::MAX)),
    ];
    assert_eq!(codes, [CKR_MECHANISM_PARAM_INVALID; 4]);
    let codes = [
        call!(bed, C_SignMessage(session, n(), 0, data, count, to, n())),
        call!(bed, C_SignMessage(session, n(), 0, n(), 1, to, left)),
        call!(bed, C_SignMessage(session, n(), 0, data, CK_ULONG::MAX, to, left)),
        call!(bed, C_VerifyMessage(session, n(), 0, n(), 1, to, 32)),
        call!(bed, C_VerifyMessage(session, n(), 0, data, count, n(), 32)),
        call!(bed, C_VerifyMessageNext(session, n(), 0, data, count, n(), 32)),
    ];
    assert_eq!(codes, [CKR_ARGUMENTS_BAD; 6]);
}

/// Two codes with one initialisation vector reveal the key of its hash function.
#[test]
fn a_code_with_an_initialisation_vector_is_for_one_message() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let aes = bed.secret(session, ckk::AES, &[4; 32]);
    let mut iv = [9u8; 12];
    let how = &mut mechanism_with(ckm::AES_GMAC, &mut iv);
    assert_eq!(call!(bed, C_MessageSignInit(session, how, aes)), CKR_MECHANISM_INVALID);
    assert_eq!(call!(bed, C_MessageVerifyInit(session, how, aes)), CKR_MECHANISM_INVALID);
    must!(bed, C_SignInit(session, how, aes));
}

#[test]
fn a_long_message_is_sent_in_pieces() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let hmac = bed.secret(session, ckk::GENERIC_SECRET, &[3; 40]);
    let how = &mut mechanism(ckm::SHA256_HMAC);
    let long = vec![7; 2 * MAX_LENGTH + 9];
    must!(bed, C_SignInit(session, how, hmac));
    let (data, count) = input(&long);
    let (mut expected, mut length) = (vec![0; 32], 32);
    must!(bed, C_Sign(session, data, count, expected.as_mut_ptr(), &raw mut length));
    must!(bed, C_MessageSignInit(session, how, hmac));
    for _ in 0..2 {
        assert_eq!(sign(&bed, session, &long, 32), (CKR_OK, expected.clone()));
    }
    must!(bed, C_SignMessageBegin(session, n(), 0));
    must!(bed, C_SignMessageNext(session, n(), 0, data, count, n(), n()));
    must!(bed, C_MessageSignFinal(session));
}

/// Each message of a key with `CKA_ALWAYS_AUTHENTICATE` needs the PIN.
#[test]
fn a_key_asks_for_the_pin_before_each_message() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let (public, private) = bed.pair(session, ckm::EC_KEY_PAIR_GEN, P256, true);
    let pin = || {
        let pin = USER_PIN.as_ptr().cast_mut();
        call!(bed, C_Login(session, CKU_CONTEXT_SPECIFIC, pin, USER_PIN.len() as CK_ULONG))
    };
    let how = &mut mechanism(ckm::ECDSA_SHA256);
    must!(bed, C_MessageSignInit(session, how, private));
    must!(bed, C_MessageVerifyInit(session, how, public));
    assert_eq!(sign(&bed, session, b"message", 64).0, CKR_USER_NOT_LOGGED_IN);
    for _ in 0..2 {
        assert_eq!(pin(), CKR_OK);
        assert_eq!(pin(), CKR_OPERATION_NOT_INITIALIZED, "once is enough");
        let (code, made) = sign(&bed, session, b"message", 64);
        assert_eq!((code, verify(&bed, session, b"message", &made)), (CKR_OK, CKR_OK));
        assert_eq!(sign(&bed, session, b"message", 64).0, CKR_USER_NOT_LOGGED_IN);
    }
}
