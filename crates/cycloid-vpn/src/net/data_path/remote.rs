//! The ids and addresses of peers and streams.

use super::vlan::Vlans;
use crate::net::udp::Endpoint;

/// A peer's id, 24 bits, as in data channel packets.
pub type PeerId = u32;

/// A stream's id, never reused.
pub type StreamId = u64;

/// The address of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remote {
    /// Reached through a socket of a group.
    Udp {
        /// The index of the group, in the order passed to [`start`](super::start).
        group: usize,
        /// The peer's address, and this end's address.
        endpoint: Endpoint,
    },
    /// Reached through a stream.
    Tcp(StreamId),
}

impl Remote {
    /// Drops this end's address, which does not identify the peer.
    pub(super) fn peer_only(self) -> Self {
        match self {
            Self::Udp { group, endpoint } => {
                Self::Udp { group, endpoint: Endpoint { local: None, ..endpoint } }
            }
            tcp @ Self::Tcp(_) => tcp,
        }
    }
}

/// The routing mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// A single peer receives everything and may send everything: a client, or a point-to-point
    /// server.
    One {
        /// The peer is answered at the address of its latest packet (`float`).
        floats: bool,
    },
    /// A single peer with a static key: each packet is a data packet without a header.
    Static {
        /// The peer is answered at the address of its latest packet.
        floats: bool,
    },
    /// Each peer has its own inner addresses and may send only from them: a server for many.
    Many {
        /// Packets between peers bypass the TUN device (`client-to-client`).
        client_to_client: bool,
        /// Each peer is in a VLAN of the TAP device (`vlan-tagging`).
        vlans: Option<Vlans>,
    },
}

impl Peers {
    /// Returns whether there is a single peer.
    pub(super) fn is_one(self) -> bool {
        !matches!(self, Self::Many { .. })
    }

    /// Returns whether a peer is answered at the address of its latest packet at once.
    pub(super) fn floats(self) -> bool {
        match self {
            Self::One { floats } | Self::Static { floats } => floats,
            Self::Many { .. } => true,
        }
    }
}
