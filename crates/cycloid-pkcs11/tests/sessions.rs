//! Sessions, logins, and the objects that end with them.

#[macro_use]
mod common;

use std::ptr::{self, null_mut as n};
use std::thread;

use common::daemon::{OFFICER_PIN, USER_PIN};
use common::{TestBed, attribute, input, mechanism};
use cryptoki_sys::*;
use cycloid_hsm::attribute::{cka, cko};
use cycloid_hsm::mechanism::ckm;

#[test]
fn states_follow_logins_in_all_sessions() {
    let bed = TestBed::initialised();
    let (write, read) = (bed.open(true), bed.open(false));
    let states = || (bed.state(write), bed.state(read));
    assert_eq!(states(), (CKS_RW_PUBLIC_SESSION, CKS_RO_PUBLIC_SESSION));
    assert_eq!(call!(bed, C_Logout(read)), CKR_USER_NOT_LOGGED_IN);
    assert_eq!(bed.login(read, CKU_USER, USER_PIN), CKR_OK);
    assert_eq!(states(), (CKS_RW_USER_FUNCTIONS, CKS_RO_USER_FUNCTIONS));
    assert_eq!(bed.login(write, CKU_USER, USER_PIN), CKR_USER_ALREADY_LOGGED_IN);
    assert_eq!(bed.login(write, CKU_SO, OFFICER_PIN), CKR_USER_ANOTHER_ALREADY_LOGGED_IN);
    must!(bed, C_Logout(write));
    assert_eq!(states(), (CKS_RW_PUBLIC_SESSION, CKS_RO_PUBLIC_SESSION));
}

#[test]
fn the_security_officer_and_read_only_sessions_exclude_each_other() {
    let bed = TestBed::initialised();
    let (write, read) = (bed.open(true), bed.open(false));
    assert_eq!(bed.login(write, CKU_SO, OFFICER_PIN), CKR_SESSION_READ_ONLY_EXISTS);
    must!(bed, C_CloseSession(read));
    assert_eq!(bed.login(write, CKU_SO, OFFICER_PIN), CKR_OK);
    assert_eq!(bed.state(write), CKS_RW_SO_FUNCTIONS);
    assert_eq!(bed.try_open(false).0, CKR_SESSION_READ_WRITE_SO_EXISTS);
    assert_eq!(bed.state(bed.open(true)), CKS_RW_SO_FUNCTIONS);
}

#[test]
fn the_auditor_has_a_user_type_and_no_name() {
    let bed = TestBed::initialised();
    let session = bed.open(false);
    let (pin, length) = input(USER_PIN.as_bytes());
    let user = cycloid_pkcs11::CKU_AUDITOR;
    let code = call!(bed, C_LoginUser(session, user, pin, length, pin, length));
    assert_eq!(code, CKR_ARGUMENTS_BAD);
    must!(bed, C_LoginUser(session, user, pin, length, ptr::null_mut(), 0));
    assert_eq!(bed.state(session), CKS_RO_USER_FUNCTIONS);
}

#[test]
fn the_last_session_to_close_logs_out() {
    let (bed, session) = TestBed::logged_in();
    let other = bed.open(false);
    must!(bed, C_CloseSession(session));
    assert_eq!(bed.state(other), CKS_RO_USER_FUNCTIONS);
    must!(bed, C_CloseSession(other));
    assert_eq!(bed.daemon.asked("Logout"), 1);
    let session = bed.open(true);
    assert_eq!(bed.state(session), CKS_RW_PUBLIC_SESSION);
    assert_eq!(bed.login(session, CKU_USER, USER_PIN), CKR_OK);
    must!(bed, C_CloseAllSessions(0));
    assert_eq!(bed.daemon.asked("Logout"), 2);
    assert_eq!(call!(bed, C_CloseSession(session)), CKR_SESSION_HANDLE_INVALID);
}

/// A daemon ends all logins when the keystore is locked or the token reinitialised.
#[test]
fn a_program_logs_in_again_after_the_daemon_has_ended_its_login() {
    let (bed, session) = TestBed::logged_in();
    bed.daemon.log_out();
    must!(bed, C_Logout(session));
    assert_eq!(bed.state(session), CKS_RW_PUBLIC_SESSION);
    assert_eq!(bed.login(session, CKU_USER, USER_PIN), CKR_OK);
    // The same with the end of the last session.
    bed.daemon.log_out();
    must!(bed, C_CloseSession(session));
    let session = bed.open(true);
    assert_eq!(bed.state(session), CKS_RW_PUBLIC_SESSION);
    assert_eq!(bed.login(session, CKU_USER, USER_PIN), CKR_OK);
    bed.daemon.log_out();
    must!(bed, C_CloseAllSessions(0));
    assert_eq!(bed.login(bed.open(true), CKU_USER, USER_PIN), CKR_OK);
}

/// A login lasts as long as its thread's session is open, even if another thread closes its own
/// session, the only one until then, at the same moment.
#[test]
fn the_end_of_the_last_session_does_not_end_a_login_in_the_next_one() {
    let bed = TestBed::initialised();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let session = bed.open(true);
                    let login = bed.login(session, CKU_USER, USER_PIN);
                    assert!([CKR_OK, CKR_USER_ALREADY_LOGGED_IN].contains(&login), "{login:#x}");
                    for _ in 0..3 {
                        assert_eq!(bed.state(session), CKS_RW_USER_FUNCTIONS);
                    }
                    must!(bed, C_CloseSession(session));
                }
            });
        }
    });
}

#[test]
fn sessions_must_be_serial_and_of_the_slot() {
    let bed = TestBed::initialised();
    let mut session = 0;
    let code = call!(bed, C_OpenSession(0, CKF_RW_SESSION, n(), None, &raw mut session));
    assert_eq!(code, CKR_SESSION_PARALLEL_NOT_SUPPORTED);
    let code = call!(bed, C_OpenSession(1, CKF_SERIAL_SESSION, n(), None, &raw mut session));
    assert_eq!(code, CKR_SLOT_ID_INVALID);
}

fn create(bed: &TestBed, session: u64, token: bool) -> (CK_RV, u64) {
    let (class, token) = (CK_ULONG::from(cko::DATA), [u8::from(token)]);
    let mut attributes = [
        attribute(cka::CLASS, &class),
        attribute(cka::TOKEN, &token),
        attribute(cka::LABEL, b"made"),
    ];
    let mut object = 0;
    let list = attributes.as_mut_ptr();
    (call!(bed, C_CreateObject(session, list, 3, &raw mut object)), object)
}

#[test]
fn a_read_only_session_changes_only_its_own_objects() {
    let (bed, _) = TestBed::logged_in();
    let read = bed.open(false);
    assert_eq!(create(&bed, read, true).0, CKR_SESSION_READ_ONLY);
    let key = bed.daemon.find(cko::PUBLIC_KEY, "rsa");
    assert_eq!(call!(bed, C_DestroyObject(read, key)), CKR_SESSION_READ_ONLY);
    let mut label = attribute(cka::LABEL, b"other");
    let label = &raw mut label;
    assert_eq!(call!(bed, C_SetAttributeValue(read, key, label, 1)), CKR_SESSION_READ_ONLY);
    let mut copy = 0;
    let code = call!(bed, C_CopyObject(read, key, ptr::null_mut(), 0, &raw mut copy));
    assert_eq!(code, CKR_SESSION_READ_ONLY, "a copy is stored like its original");
    let pin = input(b"new pin");
    assert_eq!(call!(bed, C_SetPIN(read, pin.0, pin.1, pin.0, pin.1)), CKR_SESSION_READ_ONLY);
    let (code, object) = create(&bed, read, false);
    assert_eq!(code, CKR_OK);
    must!(bed, C_SetAttributeValue(read, object, label, 1));
    must!(bed, C_DestroyObject(read, object));
}

#[test]
fn session_objects_end_with_the_session_that_made_them() {
    let (bed, session) = TestBed::logged_in();
    let before = bed.daemon.objects();
    let other = bed.open(true);
    let (_, mine) = create(&bed, session, false);
    let (_, theirs) = create(&bed, other, false);
    let (_, token) = create(&bed, other, true);
    let mut copy = 0;
    must!(bed, C_CopyObject(other, theirs, ptr::null_mut(), 0, &raw mut copy));
    let (mut public, mut private) = (0, 0);
    let yes = [1u8];
    let mut stays = attribute(cka::TOKEN, &yes);
    let how = &mut mechanism(ckm::EC_KEY_PAIR_GEN);
    let stays = &raw mut stays;
    let (to_public, to_private) = (&raw mut public, &raw mut private);
    must!(bed, C_GenerateKeyPair(other, how, stays, 1, n(), 0, to_public, to_private));
    assert_eq!(bed.daemon.objects(), before + 6);
    must!(bed, C_CloseSession(other));
    assert_eq!(bed.daemon.objects(), before + 3, "session objects and token objects");
    let mut size = 0;
    for (object, code) in [
        (mine, CKR_OK),
        (token, CKR_OK),
        (public, CKR_OK),
        (theirs, CKR_OBJECT_HANDLE_INVALID),
        (copy, CKR_OBJECT_HANDLE_INVALID),
        (private, CKR_OBJECT_HANDLE_INVALID),
    ] {
        assert_eq!(call!(bed, C_GetObjectSize(session, object, &raw mut size)), code);
    }
}

#[test]
fn closing_a_session_ends_its_operations_in_other_threads() {
    let (bed, session) = TestBed::logged_in();
    let keep = bed.open(true);
    let key = bed.daemon.find(cko::PRIVATE_KEY, "rsa");
    assert_eq!(bed.sign_init(session, ckm::RSA_PKCS, key), CKR_OK);
    must!(bed, C_CloseSession(session));
    assert_eq!(bed.sign(session, b"data", 256).0, CKR_SESSION_HANDLE_INVALID);

    // Threads that sign while their sessions are closed get no other error.
    let sessions: Vec<u64> = (0..8).map(|_| bed.open(true)).collect();
    thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(|| {
                loop {
                    match bed.sign_init(*session, ckm::RSA_PKCS, key) {
                        CKR_OK => {}
                        code => return assert_eq!(code, CKR_SESSION_HANDLE_INVALID),
                    }
                    match bed.sign(*session, b"data", 256).0 {
                        CKR_OK | CKR_OPERATION_NOT_INITIALIZED => {}
                        code => return assert_eq!(code, CKR_SESSION_HANDLE_INVALID),
                    }
                }
            });
        }
        for session in &sessions {
            thread::sleep(std::time::Duration::from_millis(5));
            must!(bed, C_CloseSession(*session));
        }
    });
    assert_eq!(bed.state(keep), CKS_RW_USER_FUNCTIONS);
}

#[test]
fn a_forked_child_must_initialise_again_and_does_not_affect_its_parent() {
    let (bed, session) = TestBed::logged_in();
    let key = bed.daemon.find(cko::PRIVATE_KEY, "p256");
    assert_eq!(bed.sign_init(session, ckm::ECDSA, key), CKR_OK);
    // SAFETY: the child calls the module and then exits without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut failed = 0;
        for (at, (_, code)) in every_function!(bed, session).into_iter().enumerate() {
            if code != CKR_CRYPTOKI_NOT_INITIALIZED {
                failed = at as i32 + 100;
            }
        }
        let steps = [
            call!(bed, C_Finalize(ptr::null_mut())) == CKR_CRYPTOKI_NOT_INITIALIZED,
            call!(bed, C_Initialize(ptr::null_mut())) == CKR_OK,
            call!(bed, C_Initialize(ptr::null_mut())) == CKR_CRYPTOKI_ALREADY_INITIALIZED,
            call!(bed, C_CloseSession(session)) == CKR_SESSION_HANDLE_INVALID,
            bed.try_open(true).0 == CKR_OK,
            call!(bed, C_Finalize(ptr::null_mut())) == CKR_OK,
        ];
        if let Some(step) = steps.iter().position(|well| !well) {
            failed = step as i32 + 1;
        }
        // SAFETY: it ends the process.
        unsafe { libc::_exit(failed) };
    }
    let mut status = 0;
    // SAFETY: the child of this process.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "a step, or 100 and a function, in the child: {:#x}", status);
    assert_eq!(bed.daemon.asked("Hello"), 2, "the child is a separate application");
    let (code, length, _) = bed.sign(session, &[7; 32], 64);
    assert_eq!((code, length), (CKR_OK, 64), "the parent continues");
}
