//! Where in a packet its headers end, for such packets as can be taken apart.

use super::checksum::Sum;

/// Version of IP.
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
    /// Its number in IP.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }

    /// Where in its header the checksum stands.
    pub(super) fn checksum_offset(self) -> usize {
        match self {
            Self::Tcp => 16,
            Self::Udp => 6,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        [Self::Tcp, Self::Udp].into_iter().find(|protocol| protocol.number() == number)
    }

    /// Bytes of the header that `segment` begins with; `None` where it does not fit.
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

/// Flags of TCP, in the byte that has them.
pub(super) mod tcp {
    pub(in super::super) const FLAGS: usize = 13;
    pub(in super::super) const FIN: u8 = 0x01;
    pub(in super::super) const SYN: u8 = 0x02;
    pub(in super::super) const PSH: u8 = 0x08;
    pub(in super::super) const ACK: u8 = 0x10;
    pub(in super::super) const ECE: u8 = 0x40;
    pub(in super::super) const CWR: u8 = 0x80;
}

/// The headers of a packet of TCP or UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Headers {
    pub(super) version: Version,
    pub(super) protocol: Protocol,
    /// Where the transport's header begins.
    pub(super) transport: usize,
    /// Where the payload begins.
    pub(super) payload: usize,
}

impl Headers {
    /// The headers of a whole packet of TCP or UDP whose lengths are all as they say; `None` for
    /// every other packet, also for fragments and IPv6 with extension headers.
    pub(super) fn parse(packet: &[u8]) -> Option<Self> {
        let (version, transport, length, protocol) = match packet.first()? >> 4 {
            4 => {
                let header = packet.first_chunk::<20>()?;
                // More fragments, or not the first.
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

    /// Whether the checksums of a packet with these headers verify; a UDP packet's that has none
    /// does not.
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

/// Bytes of an IPv4 header with its options; `None` where it does not fit.
pub(super) fn ipv4_header_length(packet: &[u8]) -> Option<usize> {
    let length = usize::from(packet.first()? & 0xf) * 4;
    (20..=packet.len()).contains(&length).then_some(length)
}

/// Puts the length of a packet, 65,535 at most, into its IP header, and IPv4's header checksum. The
/// header, extensions included, ends at `transport`.
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

/// The sum of the addresses, the protocol and the length of a segment (RFC 9293, section 3.1, and
/// RFC 8200, section 8.1).
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
    // A segment has no more than 65,535 bytes, so the upper half of IPv6's length is zero.
    Sum::default().bytes(addresses).number(u16::from(protocol.number())).number(length as u16)
}
