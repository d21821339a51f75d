//! Parses Ethernet frames: their addresses, and the IP packet inside.
//!
//! Source: IEEE 802.3, clause 3.2; IEEE 802.1Q, clause 9.5 (tags).

use std::fmt;
use std::ops::Range;

use crate::proto::data::OCC_EXIT;

/// Bytes of a header without a tag: two addresses and a type.
const HEADER: usize = 14;

/// Bytes of a VLAN tag.
pub(super) const TAG: usize = 4;

/// The most VLAN tags of a frame.
const MAX_TAGS: usize = 2;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
pub(super) const VLAN: u16 = 0x8100;
pub(super) const SERVICE_VLAN: u16 = 0x88a8;

/// Bytes that begin each message of OpenVPN's option check. As the first bytes of a frame they
/// would be an address and a type that nobody has.
const MESSAGE: usize = 16;

/// A hardware address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Mac(pub(super) [u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl Mac {
    /// Returns whether it is the broadcast or a multicast address.
    pub(super) fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// Returns whether it is an address of a single interface.
    pub(super) fn is_single(self) -> bool {
        !self.is_group() && self.0 != [0; 6]
    }
}

/// Returns source and destination of a frame, or `None` if it is too short.
pub(super) fn addresses(frame: &[u8]) -> Option<(Mac, Mac)> {
    let header = frame.first_chunk::<HEADER>()?;
    let mac = |at: usize| Mac(std::array::from_fn(|index| header[at + index]));
    Some((mac(6), mac(0)))
}

/// Returns whether a packet from a peer is a message to this program instead of a frame.
pub(super) fn is_message(packet: &[u8]) -> bool {
    packet.starts_with(&OCC_EXIT[..MESSAGE])
}

/// Returns the place of the IP packet in a frame, without the padding behind it. Returns `None` for
/// frames with other contents.
pub(super) fn ip_packet(frame: &[u8]) -> Option<Range<usize>> {
    let number = |at: usize| Some(u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]));
    let mut start = HEADER;
    let mut kind = number(start - 2)?;
    while matches!(kind, VLAN | SERVICE_VLAN) && start < HEADER + MAX_TAGS * TAG {
        start += TAG;
        kind = number(start - 2)?;
    }
    let length = match kind {
        IPV4 => usize::from(number(start + 2)?),
        IPV6 => 40 + usize::from(number(start + 4)?),
        _ => return None,
    };
    let packet = start..start + length;
    (packet.end <= frame.len()).then_some(packet)
}

/// Returns the IP packet in a frame; an empty slice for frames with other contents.
pub(super) fn ip_packet_mut(frame: &mut [u8]) -> &mut [u8] {
    match ip_packet(frame) {
        Some(place) => &mut frame[place],
        None => &mut [],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a frame with these bytes after the addresses.
    fn frame(rest: &[u8]) -> Vec<u8> {
        [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], rest].concat()
    }

    #[test]
    fn addresses_and_their_kinds() {
        let (source, destination) = addresses(&frame(&[8, 6])).unwrap();
        assert_eq!(source.to_string(), "02:00:00:00:00:02");
        assert_eq!(destination, Mac([2, 0, 0, 0, 0, 1]));
        assert!(addresses(&frame(&[8])).is_none());
        for (mac, group, single) in [
            ([0xff; 6], true, false),
            ([0x33, 0x33, 0, 0, 0, 1], true, false),
            ([0; 6], false, false),
            ([0xfe, 1, 2, 3, 4, 5], false, true),
        ] {
            assert_eq!((Mac(mac).is_group(), Mac(mac).is_single()), (group, single), "{mac:?}");
        }
    }

    #[test]
    fn the_packet_inside_is_found_behind_tags_and_before_padding() {
        let ipv4 = [&[0x45, 0, 0, 24][..], &[9; 20]].concat();
        let ipv6 = [&[0x60, 0, 0, 0, 0, 2, 17, 64][..], &[9; 34]].concat();
        for (kind, packet) in [([0x08, 0], &ipv4), ([0x86, 0xdd], &ipv6)] {
            for tags in
                [&[][..], &[0x81, 0, 0, 5], &[0x88, 0xa8, 0, 9, 0x81, 0, 0, 5], &[0x81, 0, 0x20, 0]]
            {
                for padding in [0, 7] {
                    let padding = vec![0; padding];
                    let mut frame = frame(&[tags, &kind, packet, &padding].concat());
                    assert_eq!(ip_packet_mut(&mut frame), packet);
                    frame.truncate(frame.len() - padding.len() - 1);
                    assert_eq!(ip_packet(&frame), None, "cut off");
                }
            }
        }
        let three = [0x81, 0, 0, 1].repeat(3);
        assert_eq!(ip_packet(&frame(&[&three[..], &[8, 0], &ipv4].concat())), None);
        let mut arp = frame(&[8, 6, 0, 1, 8, 0]);
        assert!(ip_packet_mut(&mut arp).is_empty());
    }

    #[test]
    fn messages_are_no_frames() {
        assert!(is_message(&OCC_EXIT));
        assert!(!is_message(&OCC_EXIT[..15]));
        assert!(!is_message(&frame(&[8, 0])));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_parsed_without_a_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..80),
            kind in prop::sample::select(vec![IPV4, IPV6, VLAN, SERVICE_VLAN, 0x0806]),
        ) {
            if bytes.len() >= HEADER {
                bytes[12..14].copy_from_slice(&kind.to_be_bytes());
            }
            let _ = (addresses(&bytes), is_message(&bytes));
            if let Some(place) = ip_packet(&bytes) {
                prop_assert!(place.end <= bytes.len());
            }
            ip_packet_mut(&mut bytes);
        }
    }
}
