//! Message authentication codes over data longer than a message of the protocol.

#[macro_use]
mod common;
mod real;
mod support;

use std::ptr::null_mut as n;

use common::daemon::signature;
use common::{Mood, TestBed, input, mechanism, mechanism_with};
use cryptoki_sys::*;
use cycloid_hsm::attribute::{ckk, cko};
use cycloid_hsm::mechanism::ckm;
use cycloid_hsm::rpc::frame::MAX_LENGTH;
use real::RealBed;

fn long(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

#[test]
fn the_daemon_gets_every_byte_once_and_in_order() {
    let (bed, session) = TestBed::logged_in();
    let hmac = bed.daemon.find(cko::SECRET_KEY, "hmac");
    let half = MAX_LENGTH / 2;
    for (length, part) in [
        (half, half),
        (half + 1, half + 1),
        (MAX_LENGTH, 1 << 16),
        (3 * MAX_LENGTH + 5, 3 * MAX_LENGTH + 5),
        (2 * MAX_LENGTH, half),
        (2 * MAX_LENGTH + 3, 99_991),
        (4 * half, half + 1),
    ] {
        let data = long(length);
        let expected = signature(ckm::SHA256_HMAC, &data, false, 32);
        let how = &mut mechanism(ckm::SHA256_HMAC);
        assert_eq!(bed.sign_init(session, ckm::SHA256_HMAC, hmac), CKR_OK);
        for part in data.chunks(part) {
            let (part, count) = input(part);
            must!(bed, C_SignUpdate(session, part, count));
        }
        let (mut made, mut count) = (vec![0; 32], 31);
        let code = call!(bed, C_SignFinal(session, made.as_mut_ptr(), &raw mut count));
        assert_eq!((code, count), (CKR_BUFFER_TOO_SMALL, 32), "the operation continues");
        must!(bed, C_SignFinal(session, n(), &raw mut count));
        must!(bed, C_SignFinal(session, made.as_mut_ptr(), &raw mut count));
        assert_eq!(made, expected, "{length} in parts of {part}");

        assert_eq!(bed.sign_init(session, ckm::SHA256_HMAC, hmac), CKR_OK);
        assert_eq!(bed.sign(session, &data, 32).2, expected, "{length} at once");

        must!(bed, C_VerifyInit(session, how, hmac));
        for part in data.chunks(part) {
            let (part, count) = input(part);
            must!(bed, C_VerifyUpdate(session, part, count));
        }
        let (given, given_count) = input(&expected);
        must!(bed, C_VerifyFinal(session, given, given_count));
        must!(bed, C_VerifyInit(session, how, hmac));
        let (data, count) = input(&data);
        let code = call!(bed, C_Verify(session, data, count - 1, given, given_count));
        assert_eq!(code, CKR_SIGNATURE_INVALID);
        assert_eq!(bed.daemon.running(), 0);
    }
}

#[test]
fn an_operation_that_ends_early_ends_at_the_daemon() {
    let (bed, session) = TestBed::logged_in();
    let hmac = bed.daemon.find(cko::SECRET_KEY, "hmac");
    let data = long(MAX_LENGTH);
    let (part, count) = input(&data);
    let begin = |session| {
        assert_eq!(bed.sign_init(session, ckm::SHA256_HMAC, hmac), CKR_OK);
        must!(bed, C_SignUpdate(session, part, count));
        assert_eq!(bed.daemon.running(), 1);
    };
    begin(session);
    must!(bed, C_SessionCancel(session, CKF_SIGN));
    assert_eq!(bed.daemon.running(), 0);
    begin(session);
    must!(bed, C_SignInit(session, n(), 0));
    assert_eq!(bed.daemon.running(), 0);
    begin(session);
    assert_eq!(bed.sign(session, b"rest", 32).0, CKR_OPERATION_ACTIVE);
    assert_eq!(bed.daemon.running(), 0);
    // A signature of an invalid length is refused here.
    must!(bed, C_VerifyInit(session, &mut mechanism(ckm::SHA256_HMAC), hmac));
    must!(bed, C_VerifyUpdate(session, part, count));
    assert_eq!(call!(bed, C_VerifyFinal(session, part, 31)), CKR_SIGNATURE_LEN_RANGE);
    assert_eq!(bed.daemon.running(), 0);
    let other = bed.open(true);
    begin(other);
    must!(bed, C_CloseSession(other));
    assert_eq!(bed.daemon.running(), 0);
    // A refusal ends the operation.
    begin(session);
    bed.daemon.destroy(hmac);
    bed.daemon.set_mood(Mood::Wrong);
    assert_eq!(call!(bed, C_SignUpdate(session, part, count)), CKR_DEVICE_ERROR);
    bed.daemon.set_mood(Mood::Sound);
    assert_eq!(call!(bed, C_SignUpdate(session, part, count)), CKR_OPERATION_NOT_INITIALIZED);
}

#[test]
fn a_lost_daemon_ends_a_long_code() {
    let (bed, session) = TestBed::logged_in();
    let hmac = bed.daemon.find(cko::SECRET_KEY, "hmac");
    let data = long(MAX_LENGTH);
    let (part, count) = input(&data);
    assert_eq!(bed.sign_init(session, ckm::SHA256_HMAC, hmac), CKR_OK);
    must!(bed, C_SignUpdate(session, part, count));
    bed.daemon.stop();
    assert_eq!(call!(bed, C_SignUpdate(session, part, count)), CKR_DEVICE_REMOVED);
    assert_eq!(call!(bed, C_SignUpdate(session, part, count)), CKR_SESSION_HANDLE_INVALID);
}

/// Threads that share a session wait for each other; each has the codes of its own sessions.
#[test]
fn threads_compute_long_codes() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let data = long(MAX_LENGTH + 9);
    let key = bed.secret(session, ckk::GENERIC_SECRET, &[3; 40]);
    let sign = |session: CK_SESSION_HANDLE, number: usize| {
        must!(bed, C_SignInit(session, &mut mechanism(ckm::SHA256_HMAC), key));
        let (data, count) = input(&data[number..]);
        let (mut made, mut length) = (vec![0u8; 32], 32);
        must!(bed, C_Sign(session, data, count, made.as_mut_ptr(), &raw mut length));
        made
    };
    let expected: Vec<_> = (0..4).map(|number| sign(session, number)).collect();
    std::thread::scope(|scope| {
        for (number, expected) in expected.iter().enumerate() {
            let (bed, sign) = (&bed, &sign);
            scope.spawn(move || {
                let own = bed.open();
                (0..5).for_each(|_| assert_eq!(sign(own, number), *expected));
            });
        }
        // All of these use one session at once: each call has a defined outcome.
        for _ in 0..4 {
            let (bed, data) = (&bed, &data);
            scope.spawn(move || {
                for _ in 0..10 {
                    let how = &mut mechanism(ckm::SHA256_HMAC);
                    let begun = call!(bed, C_SignInit(session, how, key));
                    assert!([CKR_OK, CKR_OPERATION_ACTIVE].contains(&begun));
                    let (data, count) = input(data);
                    let updated = call!(bed, C_SignUpdate(session, data, count));
                    let (mut made, mut length) = (vec![0u8; 32], 32);
                    let ended =
                        call!(bed, C_SignFinal(session, made.as_mut_ptr(), &raw mut length));
                    let known = [CKR_OK, CKR_OPERATION_NOT_INITIALIZED];
                    assert!(known.contains(&updated) && known.contains(&ended));
                }
            });
        }
    });
}

/// The codes are those of OpenSSL.
#[test]
fn long_codes_are_those_of_openssl() {
    let bed = RealBed::logged_in();
    let session = bed.open();
    let data = long(3 * MAX_LENGTH + 7);
    bed.daemon.write("data", &data);
    let mut iv = [9u8; 12];
    let mut gmac = CK_GCM_PARAMS {
        pIv: iv.as_mut_ptr(),
        ulIvLen: 12,
        ulIvBits: 96,
        pAAD: n(),
        ulAADLen: 0,
        ulTagBits: 128,
    };
    let generic = bed.secret(session, ckk::GENERIC_SECRET, &[0x33; 40]);
    let aes = bed.secret(session, ckk::AES, &[0x44; 32]);
    let hexkey = |byte: &str, count| byte.repeat(count);
    let cases = [
        (
            mechanism(ckm::SHA512_HMAC),
            generic,
            format!("-digest SHA512 -macopt hexkey:{} HMAC", hexkey("33", 40)),
        ),
        (
            mechanism(ckm::SHA3_256_HMAC),
            generic,
            format!("-digest SHA3-256 -macopt hexkey:{} HMAC", hexkey("33", 40)),
        ),
        (
            mechanism(ckm::AES_CMAC),
            aes,
            format!("-cipher AES-256-CBC -macopt hexkey:{} CMAC", hexkey("44", 32)),
        ),
        (
            mechanism_with(ckm::AES_GMAC, &mut gmac),
            aes,
            format!(
                "-cipher AES-256-GCM -macopt hexkey:{} -macopt hexiv:{} GMAC",
                hexkey("44", 32),
                hexkey("09", 12)
            ),
        ),
    ];
    for (mut how, key, options) in cases {
        let expected = bed.daemon.must("openssl", &format!("mac -in data {options}"));
        must!(bed, C_SignInit(session, &raw mut how, key));
        for part in data.chunks(1_000_003) {
            let (part, count) = input(part);
            must!(bed, C_SignUpdate(session, part, count));
        }
        let (mut made, mut length) = (vec![0u8; 64], 64);
        must!(bed, C_SignFinal(session, made.as_mut_ptr(), &raw mut length));
        made.truncate(length as usize);
        let text: String = made.iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(text, expected.trim(), "{options}");
        must!(bed, C_VerifyInit(session, &raw mut how, key));
        let ((data, count), (made, length)) = (input(&data), input(&made));
        must!(bed, C_Verify(session, data, count, made, length));
    }
}
