//! Return values that only the module uses (PKCS #11 3.0, section 5.1).

use cryptoki_sys::{
    CK_RV, CKR_CRYPTOKI_ALREADY_INITIALIZED, CKR_FUNCTION_NOT_PARALLEL, CKR_NO_EVENT,
    CKR_RANDOM_SEED_NOT_SUPPORTED, CKR_SESSION_PARALLEL_NOT_SUPPORTED,
    CKR_SESSION_READ_WRITE_SO_EXISTS, CKR_TOKEN_NOT_PRESENT,
};
use cycloid_hsm_protocol::Code;

const fn code(value: CK_RV) -> Code {
    Code(value as u32)
}

pub(crate) const FUNCTION_NOT_PARALLEL: Code = code(CKR_FUNCTION_NOT_PARALLEL);
pub(crate) const NO_EVENT: Code = code(CKR_NO_EVENT);
pub(crate) const SESSION_PARALLEL_NOT_SUPPORTED: Code = code(CKR_SESSION_PARALLEL_NOT_SUPPORTED);
pub(crate) const SESSION_READ_WRITE_SO_EXISTS: Code = code(CKR_SESSION_READ_WRITE_SO_EXISTS);
pub(crate) const TOKEN_NOT_PRESENT: Code = code(CKR_TOKEN_NOT_PRESENT);
pub(crate) const RANDOM_SEED_NOT_SUPPORTED: Code = code(CKR_RANDOM_SEED_NOT_SUPPORTED);
pub(crate) const CRYPTOKI_ALREADY_INITIALIZED: Code = code(CKR_CRYPTOKI_ALREADY_INITIALIZED);
