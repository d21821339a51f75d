//! Everything that touches C: OpenSSL's structures, the functions that it calls, and the functions
//! of OpenSSL that this module calls. All `unsafe` code is here.

pub(crate) mod abi;
pub(crate) mod asynchronous;
pub(crate) mod boundary;
pub(crate) mod cipher;
pub(crate) mod context;
pub(crate) mod default;
pub(crate) mod errors;
pub(crate) mod exchange;
pub(crate) mod key_management;
pub(crate) mod large_stack;
pub(crate) mod libcrypto;
mod loader;
pub(crate) mod params;
pub(crate) mod provider;
pub(crate) mod signature;
