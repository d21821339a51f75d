//! The protocol core, without sockets, clock or global state.
//!
//! A core takes received packets and the current time, and passes its actions to a sink. It
//! terminates the control channel and creates the keys of the data channel; the data path uses
//! these keys without calling the core.

mod agreement;
mod armor;
pub mod auth_token;
pub mod client;
pub mod cookie;
pub mod data;
mod error;
pub mod key_method;
pub mod message;
pub mod options;
pub mod packet_id;
pub mod peer_info;
pub mod prf;
pub mod push;
pub mod reliable;
pub mod server;
mod session;
pub mod static_key;
pub mod timing;
pub mod tls;
pub mod tunnel;
pub mod wire;
pub mod wrap;

use std::time::Duration;

pub use armor::KeyFileError;
pub use error::{Error, IDLE, SILENT};

/// The current time, given by the caller.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Time since an arbitrary start; never goes back.
    pub monotonic: Duration,
    /// Seconds since 1970, UTC.
    pub unix: u64,
}

/// The role of this end in the TLS connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens the connection.
    Client,
    /// Accepts the connection.
    Server,
}

/// The transport of the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Datagrams, which may be lost, duplicated or reordered.
    Udp,
    /// A stream of packets, each with a length prefix of 16 bits, big-endian.
    Tcp,
}

/// The longest control packet sent, in bytes, including all protection.
pub const MAX_CONTROL_PACKET: usize = 1250;

/// Fills a buffer with random bytes.
pub type Random<'a> = dyn FnMut(&mut [u8]) + 'a;
