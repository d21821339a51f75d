//! The protocol between daemon and programs: frames, messages, and a client.

mod bytes;
pub mod client;
pub mod frame;
pub mod message;
mod polling;
pub mod slot;
#[cfg(feature = "tls")]
pub mod tls;
pub mod version;

pub use bytes::{Bytes, Secret, append};
pub use client::{Client, HUNG_UP, TLS_FAILED, addresses, default_socket};
pub use message::{Mechanism, Page, Request, Response, Role, Unreadable, Usage};
pub use polling::Polling;
pub use version::VERSION;
