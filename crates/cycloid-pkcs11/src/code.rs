//! Return values that only the module uses (PKCS #11 3.0, section 5.1).

use cycloid_hsm_protocol::Code;

pub(crate) const FUNCTION_NOT_PARALLEL: Code = Code(0x51);
pub(crate) const NO_EVENT: Code = Code(0x8);
pub(crate) const SESSION_PARALLEL_NOT_SUPPORTED: Code = Code(0xb4);
pub(crate) const SESSION_READ_WRITE_SO_EXISTS: Code = Code(0xb8);
pub(crate) const TOKEN_NOT_PRESENT: Code = Code(0xe0);
pub(crate) const RANDOM_SEED_NOT_SUPPORTED: Code = Code(0x120);
pub(crate) const CRYPTOKI_ALREADY_INITIALIZED: Code = Code(0x191);
