//! An OpenSSL 3 provider on Cycloid: RSA, ECDSA and ECDH on the NIST curves, Ed25519 and X25519.
//!
//! OpenSSL loads `libcycloid_openssl.so` by its configuration (`docs/openssl.md`). Programs then
//! use Cycloid without a change.
//!
//! - **Unusual keys and parameters** fall through to OpenSSL's own default provider, which this
//!   module loads into a library context of its own: short RSA keys, other curves, explicit curve
//!   parameters, SHA-1, key derivation within an agreement. A key has two forms, Cycloid's and the
//!   default provider's, each made from the other when it is needed (`ffi::key_management`).
//! - **Asynchronous jobs** (`ASYNC_start_job`) park until eight operations are together or a deadline
//!   passes, on processors that compute eight at once faster (`queue`).
//! - **No panic** crosses the boundary; threads may use one key at once; no state survives a fork
//!   that both processes could repeat.

mod digest;
mod failure;
#[allow(unsafe_code)]
mod ffi;
mod key;
mod log;
mod queue;
mod random;
mod scheme;
