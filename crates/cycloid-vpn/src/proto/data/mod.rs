//! The data channel: converts inner packets to datagrams and back.
//!
//! [`keys`] derives from a key exchange a [`Sealer`], which threads share, and an [`Opener`], which
//! the receiving thread owns. Neither allocates per packet.
//!
//! | | bytes, in order |
//! |---|---|
//! | `DATA_V2` | opcode 9 and key id (5 and 3 bits), peer id (24 bits) |
//! | `DATA_V1` | opcode 6 and key id |
//! | then, AEAD | packet id (32 bits), tag (16 bytes), ciphertext |
//! | or, AEAD with epochs | epoch (16 bits), packet id in it (48 bits), ciphertext, tag |
//! | or, CBC | HMAC, IV (16 bytes), ciphertext of packet id and inner packet, padded |
//!
//! Under a static key, there is no header, and the packet id has 64 bits: the number and the time at
//! which its series began.
//!
//! All numbers are big-endian. An AEAD's nonce is the packet id and eight shared bytes; its
//! additional data is everything before the tag, for `DATA_V1` without the opcode. The CBC HMAC
//! covers IV and ciphertext. Packet ids start at 1 and are used once. With epochs, a nonce is epoch
//! and packet id, exclusive-or twelve bytes of the epoch, and each epoch has its own packet ids.
//!
//! The inner packet has a compression framing, and before it the header of a fragment, where these
//! are configured.
//!
//! Source: draft-openvpn-wire-protocol, "Data channel".

mod cbc;
mod cipher;
mod direction;
mod epoch;
mod fragment;
mod framing;
mod keys;
mod lz4;
mod lzo;
mod open;
mod receive_epochs;
mod replay;
mod seal;
#[cfg(test)]
mod tests;

pub use cipher::{CbcCipher, Cipher, Digest};
pub use direction::Parameters;
pub use framing::Framing;
pub use keys::{KeyMaterial, RawKey, RawKeys, keys, raw_keys, static_keys};
pub use open::{Opened, Opener};
pub use replay::{MAX_REPLAY_WINDOW, ReplayWindow};
pub use seal::{Exhausted, Fragment, PacketId, PacketIds, Sealer};

use super::wire::KeyId;

/// An inner packet that only shows that its sender is alive.
pub const PING: [u8; 16] = [
    0x2a, 0x18, 0x7b, 0xf3, 0x64, 0x1e, 0xb4, 0xcb, 0x07, 0xed, 0x2d, 0x0a, 0x98, 0x1f, 0xc7, 0x48,
];

/// An inner packet that announces exit, for peers that cannot announce it inside TLS.
pub const OCC_EXIT: [u8; 17] = [
    0x28, 0x7f, 0x34, 0x6b, 0xd4, 0xef, 0x7a, 0x81, 0x2d, 0x56, 0xb8, 0xd3, 0xaf, 0xc5, 0x45, 0x9c,
    6,
];

/// Bytes of an AEAD's tag.
const TAG: usize = 16;

/// Bytes of a packet id.
const ID: usize = 4;

/// Bytes of an epoch and a packet id in it.
const EPOCH_ID: usize = 8;

const DATA_V1: u8 = 6;
const DATA_V2: u8 = 9;

/// Returns the header length before the packet id, by a packet's first byte, or `None` if it is not
/// a data channel packet.
fn header_length(first: u8) -> Option<usize> {
    match first >> 3 {
        DATA_V1 => Some(1),
        DATA_V2 => Some(4),
        _ => None,
    }
}

/// Returns the key id and, for `DATA_V2`, the peer id of a packet. Returns `None` if it is not a
/// data channel packet or too short. Nothing is authenticated yet.
pub fn data_header(packet: &[u8]) -> Option<(KeyId, Option<u32>)> {
    let first = *packet.first()?;
    let length = header_length(first)?;
    let peer_id = match packet.get(..length)? {
        [_, a, b, c] => Some(u32::from_be_bytes([0, *a, *b, *c])),
        _ => None,
    };
    Some((KeyId::new(first & 7)?, peer_id))
}
