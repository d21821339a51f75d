//! The module as C programs load it, with a real daemon.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test uses some of it")]

use std::ptr;
use std::sync::MutexGuard;

use cryptoki_sys::*;
use cycloid_hsm::attribute::{cka, cko};

use crate::common::{alone, attribute, load, mechanism};
use crate::support::{TestBed as Daemon, USER_PIN};

/// The initialised module, with the user logged in, and a daemon. Tests use it one at a time.
pub struct RealBed {
    pub functions: CK_FUNCTION_LIST_3_2,
    pub daemon: Daemon,
    _library: libloading::Library,
    _alone: MutexGuard<'static, ()>,
}

impl RealBed {
    pub fn logged_in() -> Self {
        let alone = alone();
        let daemon = Daemon::new();
        let (library, functions) = load(daemon.socket());
        let bed = Self { functions, daemon, _library: library, _alone: alone };
        must!(bed, C_Initialize(ptr::null_mut()));
        let session = bed.open();
        let pin = USER_PIN.as_ptr().cast_mut();
        must!(bed, C_Login(session, CKU_USER, pin, USER_PIN.len() as CK_ULONG));
        bed
    }

    /// Opens a read-write session.
    pub fn open(&self) -> CK_SESSION_HANDLE {
        let mut session = 0;
        let flags = CKF_SERIAL_SESSION | CKF_RW_SESSION;
        must!(self, C_OpenSession(0, flags, ptr::null_mut(), None, &raw mut session));
        session
    }

    /// Generates a pair on a curve, given by its identifier, for signatures. Returns the public and
    /// the private key, which may require the PIN before each use.
    pub fn pair(
        &self,
        session: CK_SESSION_HANDLE,
        number: u32,
        curve: &[u8],
        always_authenticate: bool,
    ) -> (CK_OBJECT_HANDLE, CK_OBJECT_HANDLE) {
        let always = [u8::from(always_authenticate)];
        let mut public = [attribute(cka::EC_PARAMS, curve)];
        let mut private = [attribute(cka::ALWAYS_AUTHENTICATE, &always)];
        let (mut one, mut other) = (0, 0);
        must!(
            self,
            C_GenerateKeyPair(
                session,
                &mut mechanism(number),
                public.as_mut_ptr(),
                1,
                private.as_mut_ptr(),
                1,
                &raw mut one,
                &raw mut other,
            )
        );
        (one, other)
    }

    /// Creates a secret key with a known value, for data and codes.
    pub fn secret(&self, session: CK_SESSION_HANDLE, kind: u32, value: &[u8]) -> CK_OBJECT_HANDLE {
        let (class, kind) = (CK_ULONG::from(cko::SECRET_KEY), CK_ULONG::from(kind));
        let yes = [1u8];
        let mut given = [
            attribute(cka::CLASS, &class),
            attribute(cka::KEY_TYPE, &kind),
            attribute(cka::VALUE, value),
            attribute(cka::SIGN, &yes),
            attribute(cka::VERIFY, &yes),
            attribute(cka::ENCRYPT, &yes),
            attribute(cka::DECRYPT, &yes),
        ];
        let mut object = 0;
        let count = given.len() as CK_ULONG;
        must!(self, C_CreateObject(session, given.as_mut_ptr(), count, &raw mut object));
        object
    }
}

impl Drop for RealBed {
    fn drop(&mut self) {
        call!(self, C_Finalize(ptr::null_mut()));
    }
}
