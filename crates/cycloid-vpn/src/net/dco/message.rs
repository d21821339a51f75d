//! Encodes requests to the family, and decodes its answers and notifications.
//!
//! A message has a netlink header (length, kind, flags, sequence number, port), a header of generic
//! netlink (command, version, two bytes), and attributes.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::fd::RawFd;
use std::time::Duration;

use zeroize::Zeroizing;

use super::attribute::{Attributes, Writer};
use super::numbers::{
    CipherNumber, DeletionReason, Slot, VERSION, command, direction, key, peer, top,
};
use crate::proto::data::{RawKey, RawKeys};
use crate::proto::wire::KeyId;

/// Flags of netlink: a request, and one that is acknowledged.
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;

/// Bytes of the headers of netlink and generic netlink.
const NETLINK_HEADER: usize = 16;
pub(super) const HEADER: usize = NETLINK_HEADER + 4;

/// A peer over UDP.
#[derive(Clone, Copy, Debug)]
pub struct NewPeer {
    /// The peer id in its packets, 24 bits.
    pub id: u32,
    /// The descriptor of a bound UDP socket of this process.
    pub socket: RawFd,
    /// The peer's address.
    pub remote: SocketAddr,
    /// This end's address for its packets; `None` lets the kernel choose.
    pub local: Option<IpAddr>,
}

/// The times of pings, in whole seconds on the wire. Zero is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// How long this end sends nothing before the kernel sends a ping.
    pub interval: Duration,
    /// How long the peer may be silent before the kernel deletes it.
    pub timeout: Duration,
}

/// The state of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerInformation {
    /// The peer id.
    pub id: u32,
    /// The peer's present address.
    pub remote: Option<SocketAddr>,
    /// The times of pings.
    pub keepalive: Keepalive,
    /// The traffic.
    pub counters: PeerCounters,
}

/// The traffic of a peer since it was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerCounters {
    /// Bytes of inner packets, received and sent.
    pub inner_bytes: (u64, u64),
    /// Bytes on the wire, received and sent.
    pub bytes: (u64, u64),
    /// Packets on the wire, received and sent.
    pub packets: (u64, u64),
}

/// A key in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInformation {
    /// The peer id.
    pub peer: u32,
    /// The slot.
    pub slot: Slot,
    /// The key id.
    pub key_id: KeyId,
    /// The cipher.
    pub cipher: CipherNumber,
}

/// A notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The kernel has deleted a peer.
    Deleted {
        /// The peer id.
        peer: u32,
        /// Why.
        reason: DeletionReason,
    },
    /// The peer's packets come from another address now.
    Floated {
        /// The peer id.
        peer: u32,
        /// The address.
        remote: SocketAddr,
    },
    /// The key for sending is used up.
    KeyUsedUp {
        /// The peer id.
        peer: u32,
        /// The key id.
        key_id: KeyId,
    },
}

/// A request to the family.
pub(super) enum Request<'a> {
    NewPeer(&'a NewPeer),
    SetKeepalive { peer: u32, keepalive: Keepalive },
    Peer { peer: u32 },
    DeletePeer { peer: u32 },
    NewKey { slot: Slot, keys: &'a RawKeys },
    Key { peer: u32, slot: Slot },
    SwapKeys { peer: u32 },
    DeleteKey { peer: u32, slot: Slot },
}

/// The answer to a request that asks for something.
pub(super) enum Answer {
    Peer(PeerInformation),
    Key(KeyInformation),
}

impl Request<'_> {
    /// Returns the whole message. Wiped on drop.
    pub(super) fn encode(&self, family: u16, sequence: u32, interface: u32) -> Zeroizing<Vec<u8>> {
        let mut writer = Writer::new();
        // The length is set at the end, and the port is the kernel's.
        writer.bytes(&[0; 4]);
        writer.bytes(&family.to_ne_bytes());
        writer.bytes(&(REQUEST | ACKNOWLEDGE).to_ne_bytes());
        writer.bytes(&sequence.to_ne_bytes());
        writer.bytes(&[0; 4]);
        writer.bytes(&[self.command(), VERSION, 0, 0]);
        writer.number(top::IFINDEX, interface);
        match self {
            Self::NewPeer(new) => writer.nest(top::PEER, |writer| new_peer(writer, new)),
            Self::SetKeepalive { peer: id, keepalive } => writer.nest(top::PEER, |writer| {
                writer.number(peer::ID, *id);
                writer.number(peer::KEEPALIVE_INTERVAL, seconds(keepalive.interval));
                writer.number(peer::KEEPALIVE_TIMEOUT, seconds(keepalive.timeout));
            }),
            Self::Peer { peer: id } | Self::DeletePeer { peer: id } => {
                writer.nest(top::PEER, |writer| writer.number(peer::ID, *id));
            }
            Self::NewKey { slot, keys } => {
                writer.nest(top::KEYCONF, |writer| new_key(writer, *slot, keys));
            }
            Self::Key { peer, slot } | Self::DeleteKey { peer, slot } => {
                writer.nest(top::KEYCONF, |writer| {
                    writer.number(key::PEER_ID, *peer);
                    writer.number(key::SLOT, *slot as u32);
                });
            }
            Self::SwapKeys { peer } => {
                writer.nest(top::KEYCONF, |writer| writer.number(key::PEER_ID, *peer));
            }
        }
        writer.finish()
    }

    fn command(&self) -> u8 {
        match self {
            Self::NewPeer(_) => command::PEER_NEW,
            Self::SetKeepalive { .. } => command::PEER_SET,
            Self::Peer { .. } => command::PEER_GET,
            Self::DeletePeer { .. } => command::PEER_DEL,
            Self::NewKey { .. } => command::KEY_NEW,
            Self::Key { .. } => command::KEY_GET,
            Self::SwapKeys { .. } => command::KEY_SWAP,
            Self::DeleteKey { .. } => command::KEY_DEL,
        }
    }
}

fn new_peer(writer: &mut Writer, new: &NewPeer) {
    writer.number(peer::ID, new.id);
    writer.number(peer::SOCKET, new.socket.cast_unsigned());
    writer.address(peer::REMOTE_IPV4, peer::REMOTE_IPV6, new.remote.ip());
    if let SocketAddr::V6(address) = new.remote
        && address.scope_id() != 0
    {
        writer.number(peer::REMOTE_IPV6_SCOPE_ID, address.scope_id());
    }
    writer.attribute(peer::REMOTE_PORT, &new.remote.port().to_be_bytes());
    if let Some(local) = new.local {
        writer.address(peer::LOCAL_IPV4, peer::LOCAL_IPV6, local);
    }
}

fn new_key(writer: &mut Writer, slot: Slot, keys: &RawKeys) {
    let cipher = CipherNumber::of(keys.cipher).expect("raw keys are those of an AEAD");
    writer.number(key::PEER_ID, keys.peer_id);
    writer.number(key::SLOT, slot as u32);
    writer.number(key::KEY_ID, keys.key_id.get().into());
    writer.number(key::CIPHER_ALG, cipher as u32);
    for (kind, raw) in [(key::ENCRYPT_DIR, &keys.sealing), (key::DECRYPT_DIR, &keys.opening)] {
        writer.nest(kind, |writer| {
            let RawKey { key, nonce_tail } = raw;
            writer.attribute(direction::CIPHER_KEY, key);
            writer.attribute(direction::NONCE_TAIL, &nonce_tail[..]);
        });
    }
}

/// Rounds up: a zero means never.
fn seconds(time: Duration) -> u32 {
    let up = u64::from(time.subsec_nanos() > 0);
    u32::try_from(time.as_secs() + up).unwrap_or(u32::MAX)
}

/// Returns command and attributes of a message of the family.
fn parse(family: u16, message: &[u8]) -> Option<(u8, Attributes<'_>)> {
    let length = u32::from_ne_bytes(*message.first_chunk()?) as usize;
    let message = message.get(..length)?;
    let kind = u16::from_ne_bytes(*message.get(4..)?.first_chunk()?);
    let attributes = message.get(HEADER..)?;
    (kind == family).then_some((message[NETLINK_HEADER], Attributes(attributes)))
}

pub(super) fn answer(family: u16, message: &[u8]) -> Option<Answer> {
    match parse(family, message)? {
        (command::PEER_GET, attributes) => {
            peer_information(attributes.nested(top::PEER)?).map(Answer::Peer)
        }
        (command::KEY_GET, attributes) => {
            let key = attributes.nested(top::KEYCONF)?;
            Some(Answer::Key(KeyInformation {
                peer: number(key, key::PEER_ID)?,
                slot: Slot::from_number(key.number(key::SLOT)?)?,
                key_id: key_id(key)?,
                cipher: CipherNumber::from_number(key.number(key::CIPHER_ALG)?)?,
            }))
        }
        _ => None,
    }
}

fn peer_information(peer: Attributes<'_>) -> Option<PeerInformation> {
    let count = |kind| peer.number(kind).unwrap_or(0);
    let time = |kind| Duration::from_secs(count(kind));
    Some(PeerInformation {
        id: number(peer, peer::ID)?,
        remote: remote(peer),
        keepalive: Keepalive {
            interval: time(peer::KEEPALIVE_INTERVAL),
            timeout: time(peer::KEEPALIVE_TIMEOUT),
        },
        counters: PeerCounters {
            inner_bytes: (count(peer::VPN_RX_BYTES), count(peer::VPN_TX_BYTES)),
            bytes: (count(peer::LINK_RX_BYTES), count(peer::LINK_TX_BYTES)),
            packets: (count(peer::LINK_RX_PACKETS), count(peer::LINK_TX_PACKETS)),
        },
    })
}

/// Returns the interface of a notification, and the notification.
pub(super) fn notice(family: u16, message: &[u8]) -> Option<(u32, Notice)> {
    let (command, attributes) = parse(family, message)?;
    let notice = match command {
        command::PEER_DEL_NTF => {
            let peer = attributes.nested(top::PEER)?;
            let reason = DeletionReason::from_number(peer.number(peer::DEL_REASON)?)?;
            Notice::Deleted { peer: number(peer, peer::ID)?, reason }
        }
        command::PEER_FLOAT_NTF => {
            let peer = attributes.nested(top::PEER)?;
            Notice::Floated { peer: number(peer, peer::ID)?, remote: remote(peer)? }
        }
        command::KEY_SWAP_NTF => {
            let key = attributes.nested(top::KEYCONF)?;
            Notice::KeyUsedUp { peer: number(key, key::PEER_ID)?, key_id: key_id(key)? }
        }
        _ => return None,
    };
    Some((number(attributes, top::IFINDEX)?, notice))
}

fn number(attributes: Attributes<'_>, kind: u16) -> Option<u32> {
    attributes.number(kind)?.try_into().ok()
}

fn key_id(key: Attributes<'_>) -> Option<KeyId> {
    KeyId::new(key.number(key::KEY_ID)?.try_into().ok()?)
}

fn remote(peer: Attributes<'_>) -> Option<SocketAddr> {
    let port = peer.port(peer::REMOTE_PORT)?;
    Some(match peer.address(peer::REMOTE_IPV4, peer::REMOTE_IPV6)? {
        IpAddr::V4(address) => SocketAddr::new(address.into(), port),
        IpAddr::V6(address) => {
            let scope = number(peer, peer::REMOTE_IPV6_SCOPE_ID).unwrap_or(0);
            SocketAddrV6::new(address, port, 0, scope).into()
        }
    })
}
