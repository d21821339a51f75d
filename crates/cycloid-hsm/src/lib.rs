//! The HSM: keys wrapped at rest, a daemon, and an engine that gathers the requests of many clients
//! into eight-lane batches.
//!
//! [`rpc`] is the protocol between programs and the daemon, and depends on nothing else here.
//! Without the feature `daemon`, this crate is the client half alone, on which the PKCS #11 module
//! builds.

#![deny(unsafe_code)]

pub mod attribute;
mod error;
pub mod mechanism;
pub mod rpc;

pub use error::{Code, Error, Result};

#[cfg(feature = "daemon")]
mod crypto;
#[cfg(feature = "daemon")]
pub mod daemon;
#[cfg(feature = "daemon")]
mod engine;
#[cfg(feature = "daemon")]
mod key;
#[cfg(feature = "daemon")]
mod object;
#[cfg(feature = "daemon")]
pub mod spans;
#[cfg(feature = "daemon")]
pub mod store;
