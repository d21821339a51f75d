//! Clamps the TCP maximum segment size so that inner packets fit the tunnel.

use super::headers::{Headers, IPV6_HEADER, Protocol, Version, tcp};

/// TCP options (RFC 9293, section 3.2).
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;

/// Lowers the maximum segment size that a SYN announces, so that packets of the connection have at
/// most `largest` bytes, IP header included. Leaves all other packets unchanged.
///
/// The packet's checksum must be complete; it stays correct if it was.
pub fn clamp_mss(packet: &mut [u8], largest: u16) {
    let Some(headers) = Headers::parse(packet) else { return };
    let segment = &mut packet[headers.transport..headers.payload];
    if headers.protocol != Protocol::Tcp || segment[tcp::FLAGS] & tcp::SYN == 0 {
        return;
    }
    let ip = if headers.version == Version::V4 { 20 } else { IPV6_HEADER as u16 };
    let limit = largest.saturating_sub(ip + 20);
    let Some(at) = find_mss(segment) else { return };
    let old = [segment[at], segment[at + 1]];
    if limit == 0 || u16::from_be_bytes(old) <= limit {
        return;
    }
    let new = limit.to_be_bytes();
    segment[at..at + 2].copy_from_slice(&new);
    // An option may start at an odd offset. Then its bytes belong to two words, and count as if
    // swapped.
    let word = |bytes: [u8; 2]| {
        let word = u16::from_be_bytes(bytes);
        u32::from(if at % 2 == 0 { word } else { word.swap_bytes() })
    };
    // RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
    let checksum = u16::from_be_bytes([segment[16], segment[17]]);
    let sum = u32::from(!checksum) + (0xffff - word(old)) + word(new);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    segment[16..18].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// Returns the offset of the announced size in a TCP header. `None` if it is missing, or if the
/// options before it are malformed.
fn find_mss(header: &[u8]) -> Option<usize> {
    let mut at = 20;
    loop {
        match *header.get(at)? {
            END => return None,
            NO_OPERATION => at += 1,
            kind => {
                let length = usize::from(*header.get(at + 1)?);
                if length < 2 || at + length > header.len() {
                    return None;
                }
                if kind == MAXIMUM_SEGMENT_SIZE {
                    return (length == 4).then_some(at + 2);
                }
                at += length;
            }
        }
    }
}
