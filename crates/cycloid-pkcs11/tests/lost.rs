//! Daemons that are absent, go away, or send malformed answers.

#[macro_use]
mod common;

use std::ptr::{self, null_mut as n};

use common::daemon::USER_PIN;
use common::{Mood, TestBed, mechanism};
use cryptoki_sys::*;
use cycloid_hsm::attribute::cko;
use cycloid_hsm::mechanism::ckm;

fn slots(bed: &TestBed, with_token: bool) -> CK_ULONG {
    let mut count = 9;
    must!(bed, C_GetSlotList(with_token.into(), ptr::null_mut(), &raw mut count));
    count
}

#[test]
fn without_a_daemon_the_slot_is_empty_until_one_comes() {
    let bed = TestBed::initialised();
    bed.daemon.stop();
    assert_eq!((slots(&bed, false), slots(&bed, true)), (1, 0));
    let mut info = CK_TOKEN_INFO::default();
    assert_eq!(call!(bed, C_GetTokenInfo(0, &raw mut info)), CKR_TOKEN_NOT_PRESENT);
    assert_eq!(bed.try_open(true).0, CKR_TOKEN_NOT_PRESENT);
    let mut count = 0;
    let code = call!(bed, C_GetMechanismList(0, ptr::null_mut(), &raw mut count));
    assert_eq!(code, CKR_TOKEN_NOT_PRESENT);
    bed.daemon.listen();
    assert_eq!((slots(&bed, false), slots(&bed, true)), (1, 1));
    must!(bed, C_GetTokenInfo(0, &raw mut info));
    assert_eq!(&info.label[..9], b"a token  ");
    assert_eq!((info.firmwareVersion.major, info.firmwareVersion.minor), (7, 9));
    bed.open(true);
}

#[test]
fn a_lost_daemon_is_reported_once_and_ends_the_sessions() {
    let (bed, session) = TestBed::logged_in();
    let other = bed.open(false);
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
    bed.daemon.stop();
    assert_eq!(bed.sign(session, b"data", 256).0, CKR_DEVICE_REMOVED);
    assert_eq!(bed.sign(session, b"data", 256).0, CKR_SESSION_HANDLE_INVALID);
    assert_eq!(call!(bed, C_CloseSession(other)), CKR_SESSION_HANDLE_INVALID);
    assert_eq!(bed.try_open(true).0, CKR_TOKEN_NOT_PRESENT);
    bed.daemon.listen();
    let session = bed.open(true);
    assert_eq!(bed.state(session), CKS_RW_PUBLIC_SESSION, "nobody is logged in any more");
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_KEY_HANDLE_INVALID);
    assert_eq!(bed.login(session, CKU_USER, USER_PIN), CKR_OK);
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
    assert_eq!(bed.sign(session, b"data", 256).0, CKR_OK);
}

#[test]
fn a_replacement_daemon_is_not_mistaken_for_the_first() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    bed.daemon.stop();
    bed.daemon.listen();
    // The new daemon has no login, so the session must not silently continue there.
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_DEVICE_REMOVED);
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_SESSION_HANDLE_INVALID);

    let session = bed.open(true);
    bed.daemon.stop();
    bed.daemon.listen();
    let again = bed.open(true);
    assert_eq!(call!(bed, C_CloseSession(session)), CKR_SESSION_HANDLE_INVALID);
    bed.daemon.stop();
    bed.daemon.listen();
    let mut info = CK_TOKEN_INFO::default();
    must!(bed, C_GetTokenInfo(0, &raw mut info));
    assert_eq!(call!(bed, C_CloseSession(again)), CKR_SESSION_HANDLE_INVALID);
}

#[test]
fn a_daemon_that_refuses_further_connections_is_not_lost() {
    let (bed, session) = TestBed::logged_in();
    let other = bed.open(true);
    bed.daemon.set_full(true);
    std::thread::scope(|scope| {
        let (pause, received) = (bed.daemon.pause(), bed.daemon.received());
        let first = scope.spawn(|| call!(bed, C_FindObjectsInit(session, n(), 0)));
        // Wait until the only connection is in use.
        while bed.daemon.received() == received {
            std::thread::yield_now();
        }
        assert_eq!(call!(bed, C_FindObjectsInit(other, n(), 0)), CKR_DEVICE_MEMORY);
        drop(pause);
        assert_eq!(first.join().unwrap(), CKR_OK);
    });
    must!(bed, C_FindObjectsInit(other, n(), 0));
    assert_eq!(bed.state(other), CKS_RW_USER_FUNCTIONS);
}

#[test]
fn a_daemon_that_hangs_up_does_not_kill_the_program_by_sigpipe() {
    // SAFETY: SIGPIPE's default action, which C programs have, unlike Rust programs.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let (bed, session) = TestBed::logged_in();
    bed.daemon.stop();
    assert_eq!(call!(bed, C_FindObjectsInit(session, n(), 0)), CKR_DEVICE_REMOVED);
    bed.daemon.listen();
    let session = bed.open(true);
    bed.daemon.set_mood(Mood::HangsUp);
    assert_eq!(call!(bed, C_FindObjectsInit(session, n(), 0)), CKR_DEVICE_REMOVED);
}

#[test]
fn malformed_answers_end_the_connection() {
    for mood in [Mood::NoFrame, Mood::NoMessage, Mood::HangsUp] {
        let (bed, session) = TestBed::logged_in();
        bed.daemon.set_mood(mood);
        assert_eq!(call!(bed, C_FindObjectsInit(session, n(), 0)), CKR_DEVICE_REMOVED, "{mood:?}");
        let code = call!(bed, C_FindObjectsInit(session, n(), 0));
        assert_eq!(code, CKR_SESSION_HANDLE_INVALID, "{mood:?}");
        bed.daemon.set_mood(Mood::Sound);
        let session = bed.open(true);
        must!(bed, C_FindObjectsInit(session, n(), 0));
    }
}

#[test]
fn the_token_of_a_daemon_of_another_version_is_not_recognized() {
    let bed = TestBed::initialised();
    bed.daemon.set_mood(Mood::Version1);
    assert_eq!((slots(&bed, false), slots(&bed, true)), (1, 0));
    let mut info = CK_TOKEN_INFO::default();
    assert_eq!(call!(bed, C_GetTokenInfo(0, &raw mut info)), CKR_TOKEN_NOT_RECOGNIZED);
    assert_eq!(bed.try_open(true).0, CKR_TOKEN_NOT_RECOGNIZED);
    bed.daemon.set_mood(Mood::Sound);
    bed.open(true);
}

#[test]
fn answers_of_the_wrong_kind_are_device_errors() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    let mut object = 0;
    let to = &raw mut object;
    for mood in [Mood::Wrong, Mood::RefusesWithZero] {
        assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
        bed.daemon.set_mood(mood);
        assert_eq!(bed.sign(session, b"data", 256).0, CKR_DEVICE_ERROR, "{mood:?}");
        let how = &mut mechanism(ckm::AES_KEY_GEN);
        let mut random = [0; 8];
        let codes = [
            call!(bed, C_FindObjectsInit(session, n(), 0)),
            call!(bed, C_CreateObject(session, n(), 0, to)),
            call!(bed, C_GenerateKey(session, how, n(), 0, to)),
            call!(bed, C_GetObjectSize(session, key, to)),
            call!(bed, C_GenerateRandom(session, random.as_mut_ptr(), 8)),
            call!(bed, C_DestroyObject(session, key)),
            call!(bed, C_Logout(session)),
        ];
        assert_eq!(codes, [CKR_DEVICE_ERROR; 7], "{mood:?}");
        bed.daemon.set_mood(Mood::Sound);
    }
}

#[test]
fn signatures_and_ciphertexts_of_wrong_lengths_are_not_passed_on() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
    let public = bed.daemon.find(cko::PUBLIC_KEY, "rsa");
    let how = &mut mechanism(ckm::RSA_PKCS);
    must!(bed, C_EncryptInit(session, how, public));
    must!(bed, C_DecryptInit(session, how, key));
    bed.daemon.set_mood(Mood::WrongLength);
    assert_eq!(bed.sign(session, b"data", 256).0, CKR_DEVICE_ERROR);
    let mut room = vec![0; 10_000];
    let (to, data) = (room.as_mut_ptr(), [1; 256].as_mut_ptr());
    let mut length = 10_000;
    let code = call!(bed, C_Encrypt(session, data, 4, to, &raw mut length));
    assert_eq!(code, CKR_DEVICE_ERROR);
    let code = call!(bed, C_Decrypt(session, data, 256, to, &raw mut length));
    assert_eq!(code, CKR_DEVICE_ERROR);
    assert_eq!(call!(bed, C_GenerateRandom(session, to, 16)), CKR_DEVICE_ERROR);
    assert!(room.iter().all(|byte| *byte == 0));
}
