//! The protocol between the HSM's daemon and programs: [`rpc`] has its messages, its frames and a
//! client; [`attribute`] and [`mechanism`] have the numbers of PKCS #11; [`Error`] is a refusal.
//!
//! The daemon and its clients build on this crate. It holds no key and does no cryptography, except
//! for the TLS connection to a daemon on another machine (feature `tls`, on by default).

#![deny(unsafe_code)]

pub mod attribute;
mod error;
pub mod legacy;
pub mod mechanism;
mod numbers;
pub mod rpc;

pub use error::{Code, Error, Result};
