//! Pings of a crowd's clients: ICMP echo requests of 64 bytes and their answers.

use std::net::Ipv4Addr;

/// Bytes of a request with its IPv4 header.
const LENGTH: usize = 64;

const IPV4_HEADER: usize = 20;
const ICMP: u8 = 1;

/// Returns an echo request (RFC 792) with this sequence number in an IPv4 packet.
pub(super) fn request(from: Ipv4Addr, to: Ipv4Addr, sequence: u16) -> [u8; LENGTH] {
    let mut packet = [0; LENGTH];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&(LENGTH as u16).to_be_bytes());
    // Time to live, protocol.
    packet[8..10].copy_from_slice(&[64, ICMP]);
    packet[12..16].copy_from_slice(&from.octets());
    packet[16..20].copy_from_slice(&to.octets());
    let sum = checksum(&packet[..IPV4_HEADER]);
    packet[10..12].copy_from_slice(&sum);
    packet[IPV4_HEADER] = 8;
    packet[IPV4_HEADER + 6..][..2].copy_from_slice(&sequence.to_be_bytes());
    let sum = checksum(&packet[IPV4_HEADER..]);
    packet[IPV4_HEADER + 2..][..2].copy_from_slice(&sum);
    packet
}

/// Returns the sequence number of an IPv4 packet with an echo reply.
pub(super) fn answered(packet: &[u8]) -> Option<u16> {
    let is_reply = packet.len() == LENGTH
        && packet[0] == 0x45
        && packet[9] == ICMP
        && packet[IPV4_HEADER..][..2] == [0, 0];
    let at = IPV4_HEADER + 6;
    is_reply.then(|| u16::from_be_bytes([packet[at], packet[at + 1]]))
}

/// Returns the Internet checksum (RFC 1071) of an even number of bytes.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
    const SERVER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);

    #[test]
    fn a_request_has_valid_checksums() {
        let packet = request(OWN, SERVER, 500);
        assert_eq!(checksum(&packet[..IPV4_HEADER]), [0, 0]);
        assert_eq!(checksum(&packet[IPV4_HEADER..]), [0, 0]);
        assert_eq!(answered(&packet), None);
    }

    #[test]
    fn an_answer_is_recognised() {
        let mut packet = request(SERVER, OWN, 500);
        packet[IPV4_HEADER] = 0;
        assert_eq!(answered(&packet), Some(500));
        assert_eq!(answered(&packet[..63]), None);
        packet[9] = 17;
        assert_eq!(answered(&packet), None);
    }
}
