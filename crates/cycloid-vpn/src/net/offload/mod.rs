//! Segmentation offload for a TUN device in software: splits super-packets from the kernel, joins
//! packets into super-packets, and computes checksums. Works on buffers only and never calls the
//! kernel.
//!
//! A packet of up to 64 KiB passes through the kernel's stack at the cost of one. With
//! `IFF_VNET_HDR`, each read from a TUN device returns a [`VirtioHeader`] and such a packet, and
//! each write may pass one.
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

/// The transport checksum from `checksum_start` on is still to be computed.
const NEEDS_CHECKSUM: u8 = 1;

/// Not a super-packet.
const GSO_NONE: u8 = 0;
const GSO_TCP_V4: u8 = 1;
const GSO_TCP_V6: u8 = 4;
const GSO_UDP: u8 = 5;
/// Combined with a TCP type: only the first segment keeps the CWR flag.
const GSO_ECN: u8 = 0x80;

/// The header before each packet of a TUN device. Unused fields are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VirtioHeader {
    /// 1 if the checksum is to be computed.
    pub flags: u8,
    /// The type of super-packet, if any.
    pub gso_type: u8,
    /// Length of the IP and transport headers in bytes.
    pub header_length: u16,
    /// Payload bytes of each segment; the last may be shorter.
    pub gso_size: u16,
    /// Offset in the packet where the checksummed data starts.
    pub checksum_start: u16,
    /// Offset of the checksum field from there.
    pub checksum_offset: u16,
}

impl VirtioHeader {
    /// Length of the header in bytes.
    pub const LENGTH: usize = 10;

    /// Decodes a header; its numbers have the machine's byte order.
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

    /// Encodes the header.
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
