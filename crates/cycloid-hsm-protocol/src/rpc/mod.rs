//! The protocol between daemon and programs: frames, messages, and a client.

pub mod client;
pub mod codec;
pub mod frame;
pub mod message;
#[cfg(feature = "tls")]
pub mod tls;

pub use client::{Client, default_socket};
pub use codec::{Bytes, Malformed, Secret, Value};
pub use message::{Mechanism, Request, Response, Role, Usage};

/// The protocol version of this code. A daemon refuses other versions.
pub const VERSION: u16 = 1;
