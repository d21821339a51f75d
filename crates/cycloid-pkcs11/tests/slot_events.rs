//! Slot events: the token appears, goes away, or is locked.

#[macro_use]
mod common;
mod real;
mod support;

use std::ptr::{self, null_mut as n};
use std::sync::mpsc;

use common::TestBed;
use cryptoki_sys::*;
use cycloid_hsm::rpc::{Client, Request, Role, Secret};
use real::RealBed;
use support::OFFICER_PIN;

/// Calls C_WaitForSlotEvent, which must name the slot if there is an event.
macro_rules! wait {
    ($bed:expr, $flags:expr) => {{
        let mut slot = 77;
        let code = call!($bed, C_WaitForSlotEvent($flags, &raw mut slot, n()));
        assert_eq!(slot, if code == CKR_OK { 0 } else { 77 });
        code
    }};
}

#[test]
fn each_change_is_an_event_once() {
    let bed = TestBed::initialised();
    let look = || wait!(bed, CKF_DONT_BLOCK);
    assert_eq!([look(), look()], [CKR_NO_EVENT; 2]);
    bed.daemon.stop();
    assert_eq!([look(), look()], [CKR_OK, CKR_NO_EVENT]);
    bed.daemon.listen();
    assert_eq!([look(), look()], [CKR_OK, CKR_NO_EVENT]);
    // Gone and back is an event, although the slot looks as before.
    bed.daemon.stop();
    bed.daemon.listen();
    assert_eq!([look(), look()], [CKR_OK, CKR_NO_EVENT]);
    bed.daemon.set_locked(true);
    assert_eq!([look(), look()], [CKR_OK, CKR_NO_EVENT]);
    bed.daemon.set_locked(false);
    assert_eq!([look(), look()], [CKR_OK, CKR_NO_EVENT]);
    // Sessions are no events.
    bed.open(true);
    assert_eq!(look(), CKR_NO_EVENT);
}

#[test]
fn what_the_program_has_seen_before_is_no_event() {
    let bed = TestBed::initialised();
    bed.daemon.stop();
    assert_eq!(wait!(bed, CKF_DONT_BLOCK), CKR_NO_EVENT);
    bed.daemon.listen();
    assert_eq!(wait!(bed, CKF_DONT_BLOCK), CKR_OK);
    // Events end with the module.
    bed.daemon.stop();
    must!(bed, C_Finalize(n()));
    must!(bed, C_Initialize(n()));
    assert_eq!(wait!(bed, CKF_DONT_BLOCK), CKR_NO_EVENT);
}

#[test]
fn what_other_functions_found_first_is_what_counts() {
    let bed = TestBed::initialised();
    bed.daemon.stop();
    let mut count = 0;
    must!(bed, C_GetSlotList(CK_TRUE, n(), &raw mut count));
    assert_eq!(count, 0);
    bed.daemon.listen();
    assert_eq!(wait!(bed, CKF_DONT_BLOCK), CKR_OK);
    must!(bed, C_Finalize(n()));
    must!(bed, C_Initialize(n()));
    bed.open(true);
    bed.daemon.stop();
    assert_eq!(wait!(bed, CKF_DONT_BLOCK), CKR_OK);
}

#[test]
fn a_thread_waits_for_the_daemon_to_go_and_to_come() {
    let bed = TestBed::initialised();
    std::thread::scope(|scope| {
        let (send, events) = mpsc::channel();
        let bed = &bed;
        scope.spawn(move || {
            for _ in 0..3 {
                send.send(wait!(bed, 0)).unwrap();
            }
        });
        // The first state is known once it was asked for and the answer has arrived.
        while bed.daemon.asked("Token") < 2 {
            std::thread::yield_now();
        }
        bed.daemon.stop();
        assert_eq!(events.recv(), Ok(CKR_OK));
        bed.daemon.listen();
        assert_eq!(events.recv(), Ok(CKR_OK));
        must!(bed, C_Finalize(n()));
        assert_eq!(events.recv(), Ok(CKR_CRYPTOKI_NOT_INITIALIZED));
    });
}

#[test]
fn finalise_ends_all_that_wait() {
    for present in [true, false] {
        let bed = TestBed::initialised();
        if !present {
            bed.daemon.stop();
        }
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..4).map(|_| scope.spawn(|| wait!(bed, 0))).collect();
            while present && bed.daemon.asked("Token") < 4 {
                std::thread::yield_now();
            }
            // Another thread may finalise at any time.
            must!(bed, C_Finalize(n()));
            for thread in waiting {
                assert_eq!(thread.join().unwrap(), CKR_CRYPTOKI_NOT_INITIALIZED);
            }
        });
        assert_eq!(wait!(bed, 0), CKR_CRYPTOKI_NOT_INITIALIZED);
    }
}

#[test]
fn an_event_wakes_one_of_several() {
    let bed = TestBed::initialised();
    std::thread::scope(|scope| {
        let (send, events) = mpsc::channel();
        for _ in 0..3 {
            let (bed, send) = (&bed, send.clone());
            scope.spawn(move || send.send(wait!(bed, 0)).unwrap());
        }
        while bed.daemon.asked("Token") < 4 {
            std::thread::yield_now();
        }
        bed.daemon.set_locked(true);
        assert_eq!(events.recv(), Ok(CKR_OK));
        // Each of the others has asked again.
        let asked = bed.daemon.asked("Token");
        while bed.daemon.asked("Token") < asked + 4 {
            std::thread::yield_now();
        }
        assert_eq!(events.try_recv(), Err(mpsc::TryRecvError::Empty));
        must!(bed, C_Finalize(n()));
        assert_eq!(events.recv(), Ok(CKR_CRYPTOKI_NOT_INITIALIZED));
        assert_eq!(events.recv(), Ok(CKR_CRYPTOKI_NOT_INITIALIZED));
    });
}

#[test]
fn bad_arguments_do_not_wait() {
    let bed = TestBed::initialised();
    let mut slot = 0;
    for flags in [0, CKF_DONT_BLOCK] {
        assert_eq!(call!(bed, C_WaitForSlotEvent(flags, n(), n())), CKR_ARGUMENTS_BAD);
        let reserved = ptr::dangling_mut();
        let code = call!(bed, C_WaitForSlotEvent(flags, &raw mut slot, reserved));
        assert_eq!(code, CKR_ARGUMENTS_BAD);
    }
    for flags in [2, 3, CK_FLAGS::MAX] {
        let code = call!(bed, C_WaitForSlotEvent(flags, &raw mut slot, n()));
        assert_eq!(code, CKR_ARGUMENTS_BAD);
    }
}

#[test]
fn a_real_daemon_is_locked_and_unlocked() {
    let bed = RealBed::logged_in();
    assert_eq!(wait!(bed, CKF_DONT_BLOCK), CKR_NO_EVENT);
    let officer = Client::connect(bed.daemon.socket(), "officer").unwrap();
    let pin = Secret::new(OFFICER_PIN.as_bytes());
    officer.call(&Request::Login { role: Role::SecurityOfficer, pin }).unwrap();
    officer.call(&Request::Lock {}).unwrap();
    assert_eq!(wait!(bed, CKF_DONT_BLOCK), CKR_OK);
    assert_eq!(wait!(bed, CKF_DONT_BLOCK), CKR_NO_EVENT);
    let key_file = Some(Secret::new(&[7; 32]));
    officer.call(&Request::Unlock { passphrase: None, key_file }).unwrap();
    assert_eq!(wait!(bed, 0), CKR_OK);
}
