//! One-to-one translation of inner IPv4 addresses (`client-nat`), without state and without ports.
//!
//! A rule maps a network of addresses as they are here to an equally large one as the server knows
//! it. Outgoing packets are translated to the server's view, incoming ones back: `snat` rules
//! translate this end's addresses, `dnat` rules those of the other end.
//!
//! Source: openvpn(8), `--client-nat`; RFC 1624 for the checksums.

use std::net::Ipv4Addr;

/// Whose addresses a rule translates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `snat`: the sources of outgoing packets and the destinations of incoming ones.
    Here,
    /// `dnat`: the destinations of outgoing packets and the sources of incoming ones.
    There,
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Whose addresses it translates.
    pub side: Side,
    /// The network as it is here. Bits after the prefix are ignored, as in `alias`.
    pub network: Ipv4Addr,
    /// The prefix length of both networks.
    pub prefix: u8,
    /// The network as the server knows it.
    pub alias: Ipv4Addr,
}

/// The way of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From this end to the server.
    Out,
    /// From the server to this end.
    In,
}

/// Offsets in an IPv4 header.
const FRAGMENT: usize = 6;
const PROTOCOL: usize = 9;
const CHECKSUM: usize = 10;
const SOURCE: usize = 12;
const DESTINATION: usize = 16;
const HEADER: usize = 20;

/// Protocols whose checksum covers the addresses, and the offset of the checksum.
const TCP: (u8, usize) = (6, 16);
const UDP: (u8, usize) = (17, 6);

/// Translates the addresses of a packet by the first rule that matches each. Packets of other kinds
/// stay as they are.
///
/// The packet's checksums must be complete; they stay correct if they were.
pub fn translate(rules: &[Rule], packet: &mut [u8], way: Way) {
    if packet.len() < HEADER || packet[0] >> 4 != 4 {
        return;
    }
    for (at, side) in match way {
        Way::Out => [(SOURCE, Side::Here), (DESTINATION, Side::There)],
        Way::In => [(SOURCE, Side::There), (DESTINATION, Side::Here)],
    } {
        let Some((bytes, _)) = packet[at..].split_first_chunk::<4>() else { return };
        let old = Ipv4Addr::from(*bytes);
        let applicable = rules.iter().filter(|rule| rule.side == side);
        if let Some(new) = applicable.filter_map(|rule| apply(rule, old, way)).next() {
            replace(packet, at, old, new);
        }
    }
}

/// Returns the translated address, or `None` for an address outside the rule's network.
fn apply(rule: &Rule, address: Ipv4Addr, way: Way) -> Option<Ipv4Addr> {
    let (from, to) = match way {
        Way::Out => (rule.network, rule.alias),
        Way::In => (rule.alias, rule.network),
    };
    let mask = !u32::MAX.checked_shr(rule.prefix.into()).unwrap_or(0);
    let [address, from, to] = [address, from, to].map(u32::from);
    (address & mask == from & mask).then(|| ((address & !mask) | (to & mask)).into())
}

/// Replaces an address, and adjusts the checksums that cover it.
fn replace(packet: &mut [u8], at: usize, old: Ipv4Addr, new: Ipv4Addr) {
    packet[at..at + 4].copy_from_slice(&new.octets());
    adjust(packet, CHECKSUM, old, new);
    let header = 4 * usize::from(packet[0] & 0xf);
    // Only the first fragment has a transport header.
    let offset = u16::from_be_bytes([packet[FRAGMENT], packet[FRAGMENT + 1]]) & 0x1fff;
    if header < HEADER || offset != 0 {
        return;
    }
    let kinds = [TCP, UDP];
    let Some((kind, checksum)) = kinds.into_iter().find(|(kind, _)| *kind == packet[PROTOCOL])
    else {
        return;
    };
    let at = header + checksum;
    // A UDP checksum of 0 is none.
    if packet.len() < at + 2 || (kind == UDP.0 && packet[at..at + 2] == [0, 0]) {
        return;
    }
    adjust(packet, at, old, new);
    if kind == UDP.0 && packet[at..at + 2] == [0, 0] {
        packet[at..at + 2].fill(0xff);
    }
}

/// Adjusts a checksum to a changed address: HC' = ~(~HC + ~m + m') (RFC 1624, equation 3).
fn adjust(packet: &mut [u8], at: usize, old: Ipv4Addr, new: Ipv4Addr) {
    let words = |address: Ipv4Addr| {
        let address = u32::from(address);
        [address >> 16, address & 0xffff]
    };
    let mut sum = u32::from(!u16::from_be_bytes([packet[at], packet[at + 1]]));
    for (old, new) in words(old).into_iter().zip(words(new)) {
        sum += (0xffff - old) + new;
    }
    // Below 2¹⁶ + 5 after the first step.
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    packet[at..at + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The checksum of RFC 1071, word by word.
    fn checksum(parts: &[&[u8]]) -> u16 {
        let mut sum = 0_u32;
        for part in parts {
            for word in part.chunks(2) {
                sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
                sum = (sum & 0xffff) + (sum >> 16);
            }
        }
        !(sum as u16)
    }

    /// Returns a packet with correct checksums. Options are in units of four bytes.
    fn packet(
        protocol: u8,
        options: usize,
        addresses: [Ipv4Addr; 2],
        payload: &[u8],
        has_checksum: bool,
    ) -> Vec<u8> {
        let mut packet = vec![0x45 + options as u8, 0, 0, 0, 1, 2, 0, 0, 64, protocol, 0, 0];
        packet.extend(addresses.iter().flat_map(Ipv4Addr::octets));
        packet.resize(HEADER + 4 * options, 1);
        let header = packet.len();
        let sum = checksum(&[&packet]).to_be_bytes();
        packet[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum);
        packet.extend([3; 20]);
        packet.extend(payload);
        if let Some((_, at)) = [TCP, UDP].into_iter().find(|(kind, _)| *kind == protocol) {
            packet[header + at..header + at + 2].fill(0);
            let length = ((packet.len() - header) as u16).to_be_bytes();
            let pseudo = [&packet[SOURCE..HEADER], &[0, protocol], &length].concat();
            let sum = match checksum(&[&pseudo, &packet[header..]]) {
                0 if protocol == UDP.0 => 0xffff,
                sum => sum,
            };
            if has_checksum {
                packet[header + at..header + at + 2].copy_from_slice(&sum.to_be_bytes());
            }
        }
        packet
    }

    fn rule(side: Side, network: [u8; 4], prefix: u8, alias: [u8; 4]) -> Rule {
        Rule { side, network: network.into(), prefix, alias: alias.into() }
    }

    proptest! {
        #[test]
        fn packets_equal_those_made_with_the_other_addresses(
            protocol in prop_oneof![Just(TCP.0), Just(UDP.0), Just(1_u8)],
            options in 0_usize..11,
            hosts: [u8; 2],
            payload in prop::collection::vec(any::<u8>(), 0..90),
            has_checksum: bool,
        ) {
            // TCP has no packets without a checksum; a sum of 0 for UDP is tested by itself.
            let has_checksum = has_checksum || protocol == TCP.0;
            let rules = [
                rule(Side::Here, [192, 168, 1, 9], 24, [10, 64, 0, 0]),
                rule(Side::There, [172, 16, 0, 0], 12, [172, 32, 0, 0]),
            ];
            let here = [[192, 168, 1, hosts[0]].into(), [172, 17, 3, hosts[1]].into()];
            let there = [[10, 64, 0, hosts[0]].into(), [172, 33, 3, hosts[1]].into()];
            let make = |addresses| packet(protocol, options, addresses, &payload, has_checksum);
            let mut out = make(here);
            translate(&rules, &mut out, Way::Out);
            prop_assert_eq!(&out, &make(there));
            let back = |[a, b]: [Ipv4Addr; 2]| [b, a];
            let mut answer = make(back(there));
            translate(&rules, &mut answer, Way::In);
            prop_assert_eq!(answer, make(back(here)));
        }

        #[test]
        fn any_bytes_keep_their_length_and_what_no_rule_names(
            mut bytes in prop::collection::vec(any::<u8>(), 0..70),
            prefix in 0_u8..=32,
        ) {
            let before = bytes.clone();
            translate(&[rule(Side::Here, [1, 2, 3, 4], prefix, [5, 6, 7, 8])], &mut bytes, Way::Out);
            prop_assert_eq!(bytes.len(), before.len());
            if before.len() < HEADER || before[0] >> 4 != 4 {
                prop_assert_eq!(&bytes, &before);
            }
        }
    }

    #[test]
    fn fragments_and_other_addresses() {
        let rules = [rule(Side::Here, [192, 168, 1, 0], 24, [10, 64, 0, 0])];
        let here = [[192, 168, 1, 5].into(), [8, 8, 8, 8].into()];
        let there = [[10, 64, 0, 5].into(), [8, 8, 8, 8].into()];
        let mut later = packet(TCP.0, 0, here, &[7; 30], true);
        later[FRAGMENT + 1] = 9;
        let sum = checksum(&[&later[..CHECKSUM], &later[SOURCE..HEADER]]).to_be_bytes();
        later[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum);
        let transport = later[HEADER..].to_vec();
        translate(&rules, &mut later, Way::Out);
        assert_eq!(later[SOURCE..SOURCE + 4], [10, 64, 0, 5]);
        assert_eq!(checksum(&[&later[..HEADER]]), 0);
        assert_eq!(later[HEADER..], transport, "it has no transport header");
        // The destination of an outgoing packet is not this end's, nor its source the other end's.
        for (addresses, way) in [(here, Way::In), (there, Way::Out)] {
            let packet = packet(UDP.0, 0, addresses, b"abc", true);
            let mut same = packet.clone();
            translate(&rules, &mut same, way);
            assert_eq!(same, packet);
        }
    }

    #[test]
    fn the_first_rule_that_matches_counts() {
        let rules = [
            rule(Side::Here, [10, 0, 0, 1], 32, [10, 0, 0, 2]),
            rule(Side::Here, [0, 0, 0, 0], 0, [77, 0, 0, 1]),
        ];
        let mut first = packet(1, 0, [[10, 0, 0, 1].into(), [9, 9, 9, 9].into()], &[], true);
        translate(&rules, &mut first, Way::Out);
        assert_eq!(first[SOURCE..SOURCE + 4], [10, 0, 0, 2]);
        // A prefix of 0 keeps every bit.
        let mut other = packet(1, 0, [[10, 0, 0, 3].into(), [9, 9, 9, 9].into()], &[], true);
        translate(&rules, &mut other, Way::Out);
        assert_eq!(other[SOURCE..SOURCE + 4], [10, 0, 0, 3]);
    }

    #[test]
    fn a_udp_checksum_never_becomes_none() {
        // Some host gives a sum of 0, which is sent as 0xFFFF.
        let rules = [rule(Side::Here, [192, 168, 0, 0], 16, [10, 1, 0, 0])];
        let mut zeros = 0;
        for host in 0..=u16::MAX {
            let [high, low] = host.to_be_bytes();
            let there = [[10, 1, high, low].into(), [9, 9, 9, 9].into()];
            let here = [[192, 168, high, low].into(), [9, 9, 9, 9].into()];
            let mut out = packet(UDP.0, 0, here, &[], true);
            translate(&rules, &mut out, Way::Out);
            let expected = packet(UDP.0, 0, there, &[], true);
            assert_eq!(out, expected);
            zeros += u32::from(expected[HEADER + UDP.1..][..2] == [0xff, 0xff]);
        }
        assert!(zeros > 0);
    }
}
