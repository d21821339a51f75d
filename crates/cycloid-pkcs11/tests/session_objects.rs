//! Objects that end with their session, with a real daemon.

#![allow(missing_docs)]

#[macro_use]
mod common;
mod real;
mod support;

use common::attribute;
use cryptoki_sys::*;
use cycloid_hsm::attribute::{cka, cko};
use real::RealBed;

/// Creates a data object that may not be destroyed.
fn create(bed: &RealBed, session: CK_SESSION_HANDLE, token: bool) -> CK_OBJECT_HANDLE {
    let (class, token, no) = (CK_ULONG::from(cko::DATA), [u8::from(token)], [0u8]);
    let mut given = [
        attribute(cka::CLASS, &class),
        attribute(cka::TOKEN, &token),
        attribute(cka::DESTROYABLE, &no),
    ];
    let mut object = 0;
    must!(bed, C_CreateObject(session, given.as_mut_ptr(), 3, &raw mut object));
    object
}

#[test]
fn a_session_object_that_may_not_be_destroyed_ends_with_its_session() {
    let bed = RealBed::logged_in();
    let (session, other) = (bed.open(), bed.open());
    let (ends, stays) = (create(&bed, session, false), create(&bed, session, true));
    for object in [ends, stays] {
        for session in [session, other] {
            assert_eq!(call!(bed, C_DestroyObject(session, object)), CKR_ACTION_PROHIBITED);
        }
    }
    must!(bed, C_CloseSession(session));
    let mut size = 0;
    let code = call!(bed, C_GetObjectSize(other, ends, &raw mut size));
    assert_eq!(code, CKR_OBJECT_HANDLE_INVALID);
    must!(bed, C_GetObjectSize(other, stays, &raw mut size));
    assert_eq!(call!(bed, C_DestroyObject(other, stays)), CKR_ACTION_PROHIBITED);
}
