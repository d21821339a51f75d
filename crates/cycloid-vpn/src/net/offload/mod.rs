//! What a network card would do, done for a TUN device: splitting of the super-packets that the
//! kernel hands over, joining of packets to such as it takes, and checksums. Buffers in, buffers
//! out; nothing here calls the kernel.
//!
//! A packet of up to 64 KiB goes through the kernel's stack for the price of one. With
//! `IFF_VNET_HDR` each read from a TUN device brings a [`VirtioHeader`] and such a packet, and each
//! write may give one.
//!
//! Source: the virtio specification 1.2, section 5.1.6 ("struct virtio_net_hdr").

mod checksum;
mod headers;
mod join;
mod mss;
mod split;
#[cfg(test)]
mod tests;

pub use join::Joiner;
pub use mss::clamp_mss;
pub use split::{Malformed, Segments, split};

/// The transport checksum is still to be computed from `checksum_start` on.
const NEEDS_CHECKSUM: u8 = 1;

/// Not a super-packet.
const GSO_NONE: u8 = 0;
const GSO_TCP_V4: u8 = 1;
const GSO_TCP_V6: u8 = 4;
const GSO_UDP: u8 = 5;
/// Set beside a kind for TCP whose first segment alone is to say that the window was reduced.
const GSO_ECN: u8 = 0x80;

/// What stands before each packet that a TUN device gives or takes, with all that says nothing
/// being zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtioHeader {
    /// 1 where the checksum is to be computed.
    pub flags: u8,
    /// Which kind of super-packet it is, if it is one.
    pub gso_type: u8,
    /// Bytes of IP and transport headers together.
    pub header_length: u16,
    /// Bytes of payload of each segment but the last, which may have less.
    pub gso_size: u16,
    /// Where in the packet the checksum begins to count.
    pub checksum_start: u16,
    /// Where, from there, it is put.
    pub checksum_offset: u16,
}

impl VirtioHeader {
    /// Bytes of it.
    pub const LENGTH: usize = 10;

    /// The header in these bytes, whose numbers are in the machine's byte order.
    pub fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        let number = |at| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            header_length: number(2),
            gso_size: number(4),
            checksum_start: number(6),
            checksum_offset: number(8),
        }
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut bytes = [self.flags, self.gso_type, 0, 0, 0, 0, 0, 0, 0, 0];
        let numbers =
            [self.header_length, self.gso_size, self.checksum_start, self.checksum_offset];
        for (place, number) in bytes[2..].chunks_exact_mut(2).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        bytes
    }
}
