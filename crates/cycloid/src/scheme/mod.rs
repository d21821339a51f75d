//! Floor 3: algorithms as standards specify them. Bytes in and bytes out.
//!
//! # Batches
//!
//! All schemes run many operations, eight side by side, in the same way:
//!
//! 1. A `Job` is created by a function with the name of the single operation, such as
//!    [`ecdsa::Job::sign`].
//! 2. `run_batch` runs any number of jobs of one scheme, in any order and with different keys.
//! 3. `Job::outcome` returns the job's own error or `Ok`. The result is in the caller's buffer or,
//!    if it has a type of its own, in the job.
//!
//! | | jobs | run by | memory |
//! |---|---|---|---|
//! | [`ecdsa`] | [`ecdsa::Job`] | [`ecdsa::run_batch`] | stack |
//! | [`ecdh`] | [`ecdh::Job`] | [`ecdh::run_batch`] | stack |
//! | [`ed25519`] | [`ed25519::Job`] | [`ed25519::run_batch`] | stack |
//! | [`x25519`] | [`x25519::Job`] | [`x25519::run_batch`] | stack |
//! | [`dh`] | [`dh::Job`] | [`dh::run_batch`] | scratch |
//! | [`rsa`], private keys | [`rsa::Job`] | [`rsa::Batch::run`] | the batch's own, with blinding |
//! | [`rsa`], public keys | [`rsa::VerifyJob`] | [`rsa::verify_batch`] | scratch |
//!
//! [`ec::PrivateKey::generate_each`] generates keys side by side.

#[cfg(feature = "bls12-381")]
pub mod bls12_381;
mod conversions;
pub mod curve25519;
pub mod dh;
#[cfg(all(feature = "alloc", feature = "pkcs8"))]
mod documents;
pub mod ec;
pub mod ecdh;
pub mod ecdsa;
pub mod ed25519;
#[cfg(feature = "sha3")]
pub mod ed448;
#[cfg(feature = "encoding")]
mod encoding;
#[cfg(feature = "encoding")]
mod format_error;
mod hash;
mod hmac;
#[cfg(all(feature = "alloc", feature = "encoding"))]
pub mod key_file;
mod little_endian;
pub mod nist;
mod random;
#[cfg(feature = "encoding")]
mod rfc8410;
pub mod rsa;
#[cfg(feature = "serde")]
mod serialized;
#[cfg(feature = "signature-2")]
mod signature_2;
pub mod stack_use;
mod verify_after_sign;
pub mod x25519;

#[cfg(feature = "encoding")]
pub use format_error::FormatError;
pub use hash::Hash;
pub use verify_after_sign::VerifyAfterSign;
