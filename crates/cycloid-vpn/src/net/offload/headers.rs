//! Parses the headers of TCP and UDP packets that can be split and joined.

use super::checksum::Sum;

/// The IP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V4,
    V6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Tcp,
    Udp,
}

impl Protocol {
    /// Returns the IP protocol number.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }

    /// Returns the checksum's offset in the transport header.
    pub(super) fn checksum_offset(self) -> usize {
        match self {
            Self::Tcp => 16,
            Self::Udp => 6,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        [Self::Tcp, Self::Udp].into_iter().find(|protocol| protocol.number() == number)
    }

    /// Returns the length of the transport header at the start of `segment`, or `None` if it does
    /// not fit.
    pub(super) fn header_length(self, segment: &[u8]) -> Option<usize> {
        let length = match self {
            Self::Tcp => usize::from(segment.get(12)? >> 4) * 4,
            Self::Udp => 8,
        };
        let least = if self == Self::Tcp { 20 } else { 8 };
        (least..=segment.len()).contains(&length).then_some(length)
    }
}

pub(super) const IPV6_HEADER: usize = 40;

/// The flags byte of TCP and its bits.
pub(super) mod tcp {
    pub(in super::super) const FLAGS: usize = 13;
    pub(in super::super) const FIN: u8 = 0x01;
    pub(in super::super) const SYN: u8 = 0x02;
    pub(in super::super) const PSH: u8 = 0x08;
    pub(in super::super) const ACK: u8 = 0x10;
    pub(in super::super) const ECE: u8 = 0x40;
    pub(in super::super) const CWR: u8 = 0x80;
}

/// The headers of a TCP or UDP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Headers {
    pub(super) version: Version,
    pub(super) protocol: Protocol,
    /// Offset of the transport header.
    pub(super) transport: usize,
    /// Offset of the payload.
    pub(super) payload: usize,
}

impl Headers {
    /// Parses a complete TCP or UDP packet with consistent lengths. Returns `None` for all other
    /// packets, including fragments and IPv6 with extension headers.
    pub(super) fn parse(packet: &[u8]) -> Option<Self> {
        let (version, transport, length, protocol) = match packet.first()? >> 4 {
            4 => {
                let header = packet.first_chunk::<20>()?;
                // More fragments, or not the first fragment.
                if u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0 {
                    return None;
                }
                let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
                (Version::V4, ipv4_header_length(packet)?, length, header[9])
            }
            6 => {
                let header = packet.first_chunk::<IPV6_HEADER>()?;
                let length = usize::from(u16::from_be_bytes([header[4], header[5]]));
                (Version::V6, IPV6_HEADER, IPV6_HEADER + length, header[6])
            }
            _ => return None,
        };
        let protocol = Protocol::from_number(protocol)?;
        let segment = packet.get(transport..)?;
        let payload = transport + protocol.header_length(segment)?;
        if length != packet.len()
            || (protocol == Protocol::Udp
                && usize::from(u16::from_be_bytes([segment[4], segment[5]])) != segment.len())
        {
            return None;
        }
        Some(Self { version, protocol, transport, payload })
    }

    /// Returns whether the checksums of a packet with these headers are correct. A UDP packet
    /// without a checksum fails.
    pub(super) fn verify(&self, packet: &[u8]) -> bool {
        let segment = &packet[self.transport..];
        let none = self.protocol == Protocol::Udp && segment[6..8] == [0, 0];
        !none
            && (self.version == Version::V6
                || Sum::default().bytes(&packet[..self.transport]).verifies())
            && pseudo_header(self.version, self.protocol, packet, segment.len())
                .bytes(segment)
                .verifies()
    }
}

/// Returns the length of an IPv4 header with options, or `None` if it does not fit.
pub(super) fn ipv4_header_length(packet: &[u8]) -> Option<usize> {
    let length = usize::from(packet.first()? & 0xf) * 4;
    (20..=packet.len()).contains(&length).then_some(length)
}

/// Writes a packet's length, at most 65,535, into its IP header, and updates the IPv4 header
/// checksum. The header, extensions included, ends at `transport`.
pub(super) fn set_length(version: Version, packet: &mut [u8], length: usize, transport: usize) {
    match version {
        Version::V4 => {
            packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            packet[10..12].fill(0);
            let checksum = Sum::default().bytes(&packet[..transport]).complement();
            packet[10..12].copy_from_slice(&checksum);
        }
        Version::V6 => {
            let length = (length - IPV6_HEADER) as u16;
            packet[4..6].copy_from_slice(&length.to_be_bytes());
        }
    }
}

/// Returns the pseudo-header sum: addresses, protocol and segment length (RFC 9293, section 3.1,
/// and RFC 8200, section 8.1).
pub(super) fn pseudo_header(
    version: Version,
    protocol: Protocol,
    packet: &[u8],
    length: usize,
) -> Sum {
    let addresses = match version {
        Version::V4 => &packet[12..20],
        Version::V6 => &packet[8..IPV6_HEADER],
    };
    // A segment has at most 65,535 bytes, so the upper half of IPv6's length field is zero.
    Sum::default().bytes(addresses).number(u16::from(protocol.number())).number(length as u16)
}
