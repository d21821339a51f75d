//! The structures and numbers that OpenSSL 3 and its providers share (`openssl/core.h`,
//! `openssl/core_dispatch.h`). They are the same in 3.0 to 3.6.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `OSSL_PARAM`: a named value, passed in or out.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Param {
    pub(crate) key: *const c_char,
    pub(crate) data_type: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) data_size: usize,
    pub(crate) return_size: usize,
}

impl Param {
    /// Ends an array of parameters.
    pub(crate) const END: Self = Self {
        key: std::ptr::null(),
        data_type: 0,
        data: std::ptr::null_mut(),
        data_size: 0,
        return_size: 0,
    };
}

pub(crate) const INTEGER: c_uint = 1;
pub(crate) const UNSIGNED_INTEGER: c_uint = 2;
pub(crate) const UTF8_STRING: c_uint = 4;
pub(crate) const OCTET_STRING: c_uint = 5;
pub(crate) const UTF8_POINTER: c_uint = 6;
pub(crate) const OCTET_POINTER: c_uint = 7;

/// The value of `return_size` before a parameter is set (`OSSL_PARAM_UNMODIFIED`).
pub(crate) const UNMODIFIED: usize = usize::MAX;

/// `OSSL_DISPATCH`: a function and its number.
#[repr(C)]
pub(crate) struct Dispatch {
    pub(crate) id: c_int,
    pub(crate) function: *const c_void,
}

/// `OSSL_ALGORITHM`: an implementation and its names.
#[repr(C)]
pub(crate) struct Algorithm {
    pub(crate) names: *const c_char,
    pub(crate) properties: *const c_char,
    pub(crate) implementation: *const Dispatch,
    pub(crate) description: *const c_char,
}

/// `OSSL_ITEM`: a number and a text.
#[repr(C)]
pub(crate) struct Item {
    pub(crate) id: c_uint,
    pub(crate) text: *const c_char,
}

/// `OSSL_CALLBACK`.
pub(crate) type Callback = unsafe extern "C" fn(*const Param, *mut c_void) -> c_int;

pub(crate) mod operation {
    use std::ffi::c_int;

    pub(crate) const KEY_MANAGEMENT: c_int = 10;
    pub(crate) const KEY_EXCHANGE: c_int = 11;
    pub(crate) const SIGNATURE: c_int = 12;
    pub(crate) const ASYMMETRIC_CIPHER: c_int = 13;
}

pub(crate) mod core {
    use std::ffi::c_int;

    pub(crate) const GET_PARAMS: c_int = 2;
    pub(crate) const NEW_ERROR: c_int = 5;
    pub(crate) const SET_ERROR_DEBUG: c_int = 6;
    pub(crate) const VSET_ERROR: c_int = 7;
}

pub(crate) mod provider {
    use std::ffi::c_int;

    pub(crate) const TEARDOWN: c_int = 1024;
    pub(crate) const GETTABLE_PARAMS: c_int = 1025;
    pub(crate) const GET_PARAMS: c_int = 1026;
    pub(crate) const QUERY_OPERATION: c_int = 1027;
    pub(crate) const GET_REASON_STRINGS: c_int = 1029;
    pub(crate) const GET_CAPABILITIES: c_int = 1030;
}

pub(crate) mod key_management {
    use std::ffi::c_int;

    pub(crate) const NEW: c_int = 1;
    pub(crate) const GEN_INIT: c_int = 2;
    pub(crate) const GEN_SET_TEMPLATE: c_int = 3;
    pub(crate) const GEN_SET_PARAMS: c_int = 4;
    pub(crate) const GEN_SETTABLE_PARAMS: c_int = 5;
    pub(crate) const GEN: c_int = 6;
    pub(crate) const GEN_CLEANUP: c_int = 7;
    pub(crate) const FREE: c_int = 10;
    pub(crate) const GET_PARAMS: c_int = 11;
    pub(crate) const GETTABLE_PARAMS: c_int = 12;
    pub(crate) const SET_PARAMS: c_int = 13;
    pub(crate) const SETTABLE_PARAMS: c_int = 14;
    pub(crate) const QUERY_OPERATION_NAME: c_int = 20;
    pub(crate) const HAS: c_int = 21;
    pub(crate) const VALIDATE: c_int = 22;
    pub(crate) const MATCH: c_int = 23;
    pub(crate) const IMPORT: c_int = 40;
    pub(crate) const IMPORT_TYPES: c_int = 41;
    pub(crate) const EXPORT: c_int = 42;
    pub(crate) const EXPORT_TYPES: c_int = 43;
    pub(crate) const DUP: c_int = 44;
}

/// Parts of a key (`OSSL_KEYMGMT_SELECT_*`).
pub(crate) mod selection {
    use std::ffi::c_int;

    pub(crate) const PRIVATE_KEY: c_int = 0x01;
    pub(crate) const PUBLIC_KEY: c_int = 0x02;
    pub(crate) const DOMAIN_PARAMETERS: c_int = 0x04;
    pub(crate) const OTHER_PARAMETERS: c_int = 0x80;
    pub(crate) const KEY_PAIR: c_int = PRIVATE_KEY | PUBLIC_KEY;
    pub(crate) const ALL: c_int = KEY_PAIR | DOMAIN_PARAMETERS | OTHER_PARAMETERS;
}

pub(crate) mod signature {
    use std::ffi::c_int;

    pub(crate) const NEW_CONTEXT: c_int = 1;
    pub(crate) const SIGN_INIT: c_int = 2;
    pub(crate) const SIGN: c_int = 3;
    pub(crate) const VERIFY_INIT: c_int = 4;
    pub(crate) const VERIFY: c_int = 5;
    pub(crate) const RECOVER_INIT: c_int = 6;
    pub(crate) const RECOVER: c_int = 7;
    pub(crate) const DIGEST_SIGN_INIT: c_int = 8;
    pub(crate) const DIGEST_SIGN_UPDATE: c_int = 9;
    pub(crate) const DIGEST_SIGN_FINAL: c_int = 10;
    pub(crate) const DIGEST_SIGN: c_int = 11;
    pub(crate) const DIGEST_VERIFY_INIT: c_int = 12;
    pub(crate) const DIGEST_VERIFY_UPDATE: c_int = 13;
    pub(crate) const DIGEST_VERIFY_FINAL: c_int = 14;
    pub(crate) const DIGEST_VERIFY: c_int = 15;
    pub(crate) const FREE_CONTEXT: c_int = 16;
    pub(crate) const DUP_CONTEXT: c_int = 17;
    pub(crate) const GET_PARAMS: c_int = 18;
    pub(crate) const GETTABLE_PARAMS: c_int = 19;
    pub(crate) const SET_PARAMS: c_int = 20;
    pub(crate) const SETTABLE_PARAMS: c_int = 21;
}

pub(crate) mod exchange {
    use std::ffi::c_int;

    pub(crate) const NEW_CONTEXT: c_int = 1;
    pub(crate) const INIT: c_int = 2;
    pub(crate) const DERIVE: c_int = 3;
    pub(crate) const SET_PEER: c_int = 4;
    pub(crate) const FREE_CONTEXT: c_int = 5;
    pub(crate) const DUP_CONTEXT: c_int = 6;
    pub(crate) const SET_PARAMS: c_int = 7;
    pub(crate) const SETTABLE_PARAMS: c_int = 8;
    pub(crate) const GET_PARAMS: c_int = 9;
    pub(crate) const GETTABLE_PARAMS: c_int = 10;
}

pub(crate) mod cipher {
    use std::ffi::c_int;

    pub(crate) const NEW_CONTEXT: c_int = 1;
    pub(crate) const ENCRYPT_INIT: c_int = 2;
    pub(crate) const ENCRYPT: c_int = 3;
    pub(crate) const DECRYPT_INIT: c_int = 4;
    pub(crate) const DECRYPT: c_int = 5;
    pub(crate) const FREE_CONTEXT: c_int = 6;
    pub(crate) const DUP_CONTEXT: c_int = 7;
    pub(crate) const GET_PARAMS: c_int = 8;
    pub(crate) const GETTABLE_PARAMS: c_int = 9;
    pub(crate) const SET_PARAMS: c_int = 10;
    pub(crate) const SETTABLE_PARAMS: c_int = 11;
}
