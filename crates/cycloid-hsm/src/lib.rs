//! The HSM: keys wrapped at rest, a daemon, and an engine that gathers the requests of many clients
//! into eight-lane batches.
//!
//! The protocol between the daemon and programs, with its client, is the crate
//! [`cycloid_hsm_protocol`].

#![deny(unsafe_code)]

mod crypto;
pub mod daemon;
mod engine;
mod key;
pub mod key_file;
mod object;
pub mod spans;
pub mod store;

pub use key::Curve;

pub use cycloid_hsm_protocol::{Code, Error, Result, attribute, legacy, mechanism, rpc};
