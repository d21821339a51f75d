//! Splits a super-packet from the kernel into packets.
//!
//! Each packet is built in the super-packet's buffer: its headers are written right before its
//! payload, over the payload of the previous packet, which the caller has already consumed. So each
//! packet is one slice, and sealing reads the payload where the kernel put it.

use std::fmt;

use super::checksum::Sum;
use super::headers::{
    IPV6_HEADER, Protocol, Version, ipv4_header_length, pseudo_header, set_length, tcp,
};
use super::{GSO_ECN, GSO_NONE, GSO_TCP_V4, GSO_TCP_V6, GSO_UDP, NEEDS_CHECKSUM, VirtioHeader};

/// The error for a packet whose virtio header does not match its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a packet from the device does not match its virtio header")
    }
}

impl std::error::Error for Malformed {}

/// Maximum header bytes: IPv4 and TCP with all options need 120; the rest is for IPv6 extension
/// headers.
const MAX_HEADERS: usize = 256;

/// The packets of a super-packet, made by [`split`].
pub struct Segments<'a> {
    packet: &'a mut [u8],
    kind: Kind,
    next: usize,
    count: usize,
}

#[expect(clippy::large_enum_variant, reason = "only one exists at a time, on the stack")]
enum Kind {
    /// A single packet.
    Whole,
    /// The common headers of the packets, and their length.
    Super {
        version: Version,
        protocol: Protocol,
        transport: usize,
        template: [u8; MAX_HEADERS],
        headers: usize,
        size: usize,
    },
}

/// Splits a packet from a TUN device, given its header. A packet that is not a super-packet is
/// returned whole, with its checksum completed if needed.
///
/// # Errors
///
/// [`Malformed`] if the header does not match the packet.
pub fn split<'a>(header: &VirtioHeader, packet: &'a mut [u8]) -> Result<Segments<'a>, Malformed> {
    split_checked(header, packet).ok_or(Malformed)
}

fn split_checked<'a>(header: &VirtioHeader, packet: &'a mut [u8]) -> Option<Segments<'a>> {
    let start = usize::from(header.checksum_start);
    let needs_checksum = header.flags & NEEDS_CHECKSUM != 0;
    let (version, protocol) = match header.gso_type & !GSO_ECN {
        GSO_NONE => {
            if needs_checksum {
                complete(packet, start, usize::from(header.checksum_offset))?;
            }
            return Some(Segments { packet, kind: Kind::Whole, next: 0, count: 1 });
        }
        GSO_TCP_V4 => (Version::V4, Protocol::Tcp),
        GSO_TCP_V6 => (Version::V6, Protocol::Tcp),
        GSO_UDP if packet.first()? >> 4 == 4 => (Version::V4, Protocol::Udp),
        GSO_UDP => (Version::V6, Protocol::Udp),
        _ => return None,
    };
    let (ip, number, next_header) = match (version, packet.first()? >> 4) {
        (Version::V4, 4) => (ipv4_header_length(packet)?, 4, *packet.get(9)?),
        (Version::V6, 6) => (IPV6_HEADER, 6, *packet.get(6)?),
        _ => return None,
    };
    // After IPv6 extension headers, the transport header starts at `checksum_start`.
    let transport = if number == 6 && needs_checksum { start } else { ip };
    let extended = transport > ip;
    if transport < ip
        || (!extended && next_header != protocol.number())
        || (needs_checksum
            && (start != transport
                || usize::from(header.checksum_offset) != protocol.checksum_offset()))
    {
        return None;
    }
    let headers = transport + protocol.header_length(packet.get(transport..)?)?;
    let size = usize::from(header.gso_size);
    // Headers store a segment's length in 16 bits.
    if headers > MAX_HEADERS || size == 0 || headers + size > usize::from(u16::MAX) {
        return None;
    }
    let mut template = [0; MAX_HEADERS];
    template[..headers].copy_from_slice(&packet[..headers]);
    let count = (packet.len() - headers).div_ceil(size).max(1);
    let kind = Kind::Super { version, protocol, transport, template, headers, size };
    Some(Segments { packet, kind, next: 0, count })
}

/// Completes a checksum whose field holds the pseudo-header sum.
fn complete(packet: &mut [u8], start: usize, offset: usize) -> Option<()> {
    let segment = packet.get_mut(start..)?;
    segment.get(offset..offset + 2)?;
    let checksum = Sum::default().bytes(segment).complement_not_zero();
    segment[offset..offset + 2].copy_from_slice(&checksum);
    Some(())
}

impl Segments<'_> {
    /// Returns the number of remaining packets.
    pub fn remaining(&self) -> usize {
        self.count - self.next
    }

    /// Returns the next packet with all checksums. Overwrites parts of the previous one.
    #[expect(clippy::should_implement_trait, reason = "each packet borrows the iterator")]
    pub fn next(&mut self) -> Option<&mut [u8]> {
        if self.next == self.count {
            return None;
        }
        let index = self.next;
        self.next += 1;
        let Kind::Super { version, protocol, transport, template, headers, size } = &self.kind
        else {
            return Some(self.packet);
        };
        let (version, protocol) = (*version, *protocol);
        let (transport, headers, size) = (*transport, *headers, *size);
        let last = self.next == self.count;
        let begin = index * size;
        let end = if last { self.packet.len() } else { begin + headers + size };
        let packet = &mut self.packet[begin..end];
        packet[..headers].copy_from_slice(&template[..headers]);
        if version == Version::V4 {
            let id = u16::from_be_bytes([template[4], template[5]]).wrapping_add(index as u16);
            packet[4..6].copy_from_slice(&id.to_be_bytes());
        }
        set_length(version, packet, packet.len(), transport);
        let length = packet.len() - transport;
        let pseudo_header = pseudo_header(version, protocol, packet, length);
        let segment = &mut packet[transport..];
        match protocol {
            Protocol::Tcp => {
                let sequence = u32::from_be_bytes([segment[4], segment[5], segment[6], segment[7]]);
                let sequence = sequence.wrapping_add(begin as u32);
                segment[4..8].copy_from_slice(&sequence.to_be_bytes());
                if index > 0 {
                    segment[tcp::FLAGS] &= !tcp::CWR;
                }
                if !last {
                    segment[tcp::FLAGS] &= !(tcp::FIN | tcp::PSH);
                }
            }
            Protocol::Udp => segment[4..6].copy_from_slice(&(length as u16).to_be_bytes()),
        }
        let at = protocol.checksum_offset();
        segment[at..at + 2].fill(0);
        let checksum = pseudo_header.bytes(segment).complement_not_zero();
        segment[at..at + 2].copy_from_slice(&checksum);
        Some(packet)
    }
}
