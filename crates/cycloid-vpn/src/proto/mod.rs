//! The protocol core: no sockets, no clock, no global state.
//!
//! A core is given what arrived and what time it is, and puts what it wants done into a sink. The
//! control channel ends here; of the data channel it makes the keys, and whoever moves packets uses
//! these without asking it again.

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
pub use error::Error;

/// A moment, given by the caller.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Since an arbitrary start; never goes back.
    pub monotonic: Duration,
    /// Seconds since the start of 1970, UTC.
    pub unix: u64,
}

/// Which end of the TLS connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opened the connection.
    Client,
    /// Was connected to.
    Server,
}

/// What carries the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Datagrams: lost, repeated and out of order at times.
    Udp,
    /// A stream: each packet behind its length, 16 bits, big-endian.
    Tcp,
}

/// The longest control packet, in bytes, all protection included.
pub const MAX_CONTROL_PACKET: usize = 1250;

/// Fills with random bytes.
pub type Random<'a> = dyn FnMut(&mut [u8]) + 'a;
