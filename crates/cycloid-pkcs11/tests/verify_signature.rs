//! Verification with the signature given first, and other functions of PKCS #11 3.2.

#[macro_use]
mod common;
mod real;
mod support;

use std::ptr::null_mut as n;

use common::{input, mechanism};
use cryptoki_sys::*;
use cycloid_hsm::attribute::ckk;
use cycloid_hsm::mechanism::ckm;
use cycloid_hsm::rpc::frame::MAX_LENGTH;
use real::RealBed;

const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

fn sign(bed: &RealBed, session: u64, number: u32, key: u64, data: &[u8]) -> Vec<u8> {
    must!(bed, C_SignInit(session, &mut mechanism(number), key));
    let ((data, count), mut made, mut length) = (input(data), vec![0; 64], 64);
    must!(bed, C_Sign(session, data, count, made.as_mut_ptr(), &raw mut length));
    made.truncate(length as usize);
    made
}

#[test]
fn a_signature_may_come_before_its_message() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let p256 = bed.pair(session, ckm::EC_KEY_PAIR_GEN, P256, false);
    let hmac = bed.secret(session, ckk::GENERIC_SECRET, &[3; 40]);
    let long = vec![7; 2 * MAX_LENGTH + 5];
    for (number, (public, private)) in [(ckm::ECDSA_SHA256, p256), (ckm::SHA384_HMAC, (hmac, hmac))]
    {
        for message in [&b"a message"[..], b"", &long] {
            let made = sign(&bed, session, number, private, message);
            let init = |signature: &[u8]| {
                let (signature, length) = input(signature);
                let how = &mut mechanism(number);
                must!(bed, C_VerifySignatureInit(session, how, public, signature, length));
            };
            let (data, count) = input(message);
            init(&made);
            must!(bed, C_VerifySignature(session, data, count));
            let ended = call!(bed, C_VerifySignature(session, data, count));
            assert_eq!(ended, CKR_OPERATION_NOT_INITIALIZED);
            init(&made);
            for part in message.chunks(999_999) {
                let (part, count) = input(part);
                must!(bed, C_VerifySignatureUpdate(session, part, count));
            }
            must!(bed, C_VerifySignatureFinal(session));
            let mut altered = made.clone();
            altered[1] ^= 1;
            init(&altered);
            let code = call!(bed, C_VerifySignature(session, data, count));
            assert_eq!(code, CKR_SIGNATURE_INVALID);
            init(&altered);
            must!(bed, C_VerifySignatureUpdate(session, data, count));
            assert_eq!(call!(bed, C_VerifySignatureFinal(session)), CKR_SIGNATURE_INVALID);
            for signature in [&made[1..], &[]] {
                init(signature);
                let code = call!(bed, C_VerifySignature(session, data, count));
                assert_eq!(code, CKR_SIGNATURE_LEN_RANGE);
            }
        }
    }
}

#[test]
fn the_two_kinds_of_verification_do_not_mix() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let hmac = bed.secret(session, ckk::GENERIC_SECRET, &[3; 40]);
    let made = sign(&bed, session, ckm::SHA256_HMAC, hmac, b"data");
    let ((data, count), (given, length)) = (input(b"data"), input(&made));
    let how = &mut mechanism(ckm::SHA256_HMAC);
    must!(bed, C_VerifySignatureInit(session, how, hmac, given, length));
    let code = call!(bed, C_VerifySignatureInit(session, how, hmac, given, length));
    assert_eq!([code, call!(bed, C_VerifyInit(session, how, hmac))], [CKR_OPERATION_ACTIVE; 2]);
    let others = [
        call!(bed, C_Verify(session, data, count, given, length)),
        call!(bed, C_VerifyUpdate(session, data, count)),
        call!(bed, C_VerifyFinal(session, given, length)),
    ];
    assert_eq!(others, [CKR_OPERATION_NOT_INITIALIZED; 3]);
    must!(bed, C_VerifySignatureUpdate(session, data, count));
    let code = call!(bed, C_VerifySignature(session, data, count));
    assert_eq!(code, CKR_OPERATION_ACTIVE, "after an update only the final function ends it");
    must!(bed, C_VerifyInit(session, how, hmac));
    let others = [
        call!(bed, C_VerifySignature(session, data, count)),
        call!(bed, C_VerifySignatureUpdate(session, data, count)),
        call!(bed, C_VerifySignatureFinal(session)),
    ];
    assert_eq!(others, [CKR_OPERATION_NOT_INITIALIZED; 3]);
    must!(bed, C_Verify(session, data, count, given, length));

    // An Init without a mechanism ends it.
    must!(bed, C_VerifySignatureInit(session, how, hmac, given, length));
    must!(bed, C_VerifySignatureInit(session, n(), 0, n(), 0));
    assert_eq!(call!(bed, C_VerifySignatureFinal(session)), CKR_OPERATION_NOT_INITIALIZED);
    // Hostile signatures.
    let code = call!(bed, C_VerifySignatureInit(session, how, hmac, n(), 32));
    assert_eq!(code, CKR_ARGUMENTS_BAD);
    for huge in [4097, 1 << 40, CK_ULONG::MAX] {
        let code = call!(bed, C_VerifySignatureInit(session, how, hmac, given, huge));
        assert_eq!(code, CKR_SIGNATURE_LEN_RANGE);
    }
}

#[test]
fn nothing_is_validated_and_nothing_is_asynchronous() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let mut flags = 77;
    must!(bed, C_GetSessionValidationFlags(session, 1, &raw mut flags));
    assert_eq!(flags, 0);
    for kind in [0, 2, CK_ULONG::MAX] {
        let code = call!(bed, C_GetSessionValidationFlags(session, kind, &raw mut flags));
        assert_eq!(code, CKR_ARGUMENTS_BAD);
    }
    assert_eq!(call!(bed, C_GetSessionValidationFlags(session, 1, n())), CKR_ARGUMENTS_BAD);
    let code = call!(bed, C_GetSessionValidationFlags(session + 1000, 1, &raw mut flags));
    assert_eq!(code, CKR_SESSION_HANDLE_INVALID);
    let mut opened = 0;
    let asked = CKF_SERIAL_SESSION | CKF_ASYNC_SESSION;
    let code = call!(bed, C_OpenSession(0, asked, n(), None, &raw mut opened));
    assert_eq!(code, CKR_SESSION_ASYNC_NOT_SUPPORTED);
}
