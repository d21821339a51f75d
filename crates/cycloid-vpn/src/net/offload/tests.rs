//! Tests splitting and joining against packets built individually.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;

use super::headers::tcp::{ACK, CWR, ECE, FIN, PSH, SYN};
use super::*;

const URG: u8 = 0x20;

/// The common properties of a flow's packets.
#[derive(Clone, Debug)]
struct Flow {
    v6: bool,
    udp: bool,
    port: u16,
    /// Number of option words in the IPv4 and TCP headers.
    ip_options: usize,
    tcp_options: usize,
    dont_fragment: bool,
}

const TCP4: Flow =
    Flow { v6: false, udp: false, port: 443, ip_options: 0, tcp_options: 3, dont_fragment: true };
const TCP6: Flow = Flow { v6: true, ..TCP4 };
const UDP4: Flow = Flow { udp: true, ..TCP4 };
const UDP6: Flow = Flow { v6: true, ..UDP4 };

/// A word-by-word model, as RFC 1071 describes.
fn sum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for part in parts {
        for word in part.chunks(2) {
            sum += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
    }
    sum as u16
}

impl Flow {
    fn protocol(&self) -> u8 {
        if self.udp { 17 } else { 6 }
    }

    fn transport(&self) -> usize {
        if self.v6 { 40 } else { 20 + 4 * self.ip_options }
    }

    fn headers(&self) -> usize {
        self.transport() + if self.udp { 8 } else { 20 + 4 * self.tcp_options }
    }

    fn checksum_offset(&self) -> usize {
        if self.udp { 6 } else { 16 }
    }

    /// Returns a packet with all checksums; a super-packet's stay incomplete.
    fn packet(&self, id: u16, sequence: u32, flags: u8, payload: &[u8], partial: bool) -> Vec<u8> {
        let mut segment = [1000_u16.to_be_bytes(), self.port.to_be_bytes()].concat();
        if self.udp {
            segment.extend((8 + payload.len() as u16).to_be_bytes());
            segment.extend([0, 0]);
        } else {
            segment.extend(sequence.to_be_bytes());
            segment.extend(77_u32.to_be_bytes());
            segment.extend([(5 + self.tcp_options as u8) << 4, flags, 0x20, 0, 0, 0, 0, 0]);
            // An unknown option that fills the space, or none.
            let options = 4 * self.tcp_options;
            segment
                .extend((0..options).map(|at| [0xfe, options as u8].get(at).copied().unwrap_or(7)));
        }
        segment.extend(payload);
        let length = segment.len() as u16;
        let mut ip;
        let addresses;
        if self.v6 {
            ip = vec![0x6a, 0xbc, 0xde, 0xf0];
            ip.extend(length.to_be_bytes());
            ip.extend([self.protocol(), 64]);
            ip.extend((1..=32).map(|byte: u8| byte.wrapping_mul(29)));
            addresses = 8..40;
        } else {
            let total = self.transport() as u16 + length;
            ip = vec![0x45 + self.ip_options as u8, 2];
            ip.extend(total.to_be_bytes());
            ip.extend(id.to_be_bytes());
            ip.extend([if self.dont_fragment { 0x40 } else { 0 }, 0, 63, self.protocol(), 0, 0]);
            ip.extend([10, 8, 0, 2, 192, 168, 255, 1]);
            ip.extend(std::iter::repeat_n(1, 4 * self.ip_options));
            let checksum = !sum(&[&ip]);
            ip[10..12].copy_from_slice(&checksum.to_be_bytes());
            addresses = 12..20;
        }
        let pseudo = [&ip[addresses], &[0, self.protocol()], &length.to_be_bytes()].concat();
        let checksum = match (partial, sum(&[&pseudo, &segment])) {
            (true, _) => sum(&[&pseudo]),
            (false, 0xffff) => 0xffff,
            (false, sum) => !sum,
        };
        let at = self.checksum_offset();
        segment[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        [ip, segment].concat()
    }

    fn super_packet(
        &self,
        id: u16,
        sequence: u32,
        flags: u8,
        payload: &[u8],
        size: u16,
    ) -> (VirtioHeader, Vec<u8>) {
        let kind = match (self.udp, self.v6) {
            (true, _) => GSO_UDP,
            (false, true) => GSO_TCP_V6,
            (false, false) => GSO_TCP_V4,
        };
        let header = VirtioHeader {
            flags: NEEDS_CHECKSUM,
            gso_type: if flags & CWR != 0 && !self.udp { kind | GSO_ECN } else { kind },
            header_length: self.headers() as u16,
            gso_size: size,
            checksum_start: self.transport() as u16,
            checksum_offset: self.checksum_offset() as u16,
        };
        (header, self.packet(id, sequence, flags, payload, true))
    }

    /// Returns the expected packets of a super-packet.
    fn segments(
        &self,
        id: u16,
        sequence: u32,
        flags: u8,
        payload: &[u8],
        size: u16,
    ) -> Vec<Vec<u8>> {
        let chunks: Vec<_> = payload.chunks(usize::from(size)).collect();
        let flags = |index| match index {
            _ if chunks.len() == 1 => flags,
            0 => flags & !(FIN | PSH),
            _ if index + 1 == chunks.len() => flags & !CWR,
            _ => flags & !(FIN | PSH | CWR),
        };
        let segment = |(index, chunk): (usize, &&[u8])| {
            let sequence = sequence.wrapping_add(index as u32 * u32::from(size));
            self.packet(id.wrapping_add(index as u16), sequence, flags(index), chunk, false)
        };
        chunks.iter().enumerate().map(segment).collect()
    }
}

fn payload(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + at / 256) as u8).collect()
}

fn split_all(header: &VirtioHeader, packet: &[u8]) -> Result<Vec<Vec<u8>>, Malformed> {
    let mut packet = packet.to_vec();
    let mut segments = split(header, &mut packet)?;
    let mut all = Vec::new();
    let count = segments.remaining();
    while let Some(segment) = segments.next() {
        all.push(segment.to_vec());
        assert_eq!(segments.remaining(), count - all.len());
    }
    assert_eq!(all.len(), count);
    Ok(all)
}

/// Joins packets. Returns for each output the header, the packet and the number of slices.
fn join(packets: &[Vec<u8>]) -> Vec<(VirtioHeader, Vec<u8>, usize)> {
    join_with(&mut Joiner::new(true, true), packets)
}

fn join_with(joiner: &mut Joiner, packets: &[Vec<u8>]) -> Vec<(VirtioHeader, Vec<u8>, usize)> {
    // Gaps between packets, like those of tags and headers.
    let mut buffer = Vec::new();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for packet in packets {
        buffer.extend([0xaa; 24]);
        ranges.push(buffer.len()..buffer.len() + packet.len());
        buffer.extend(packet);
    }
    for range in ranges {
        joiner.push(&buffer, range);
    }
    let mut written = Vec::new();
    joiner.flush(&mut buffer, |slices| {
        let header = VirtioHeader::from_bytes((*slices[0]).try_into().unwrap());
        let packet = slices[1..].iter().flat_map(|slice| slice.iter().copied()).collect();
        written.push((header, packet, slices.len() - 1));
    });
    written
}

fn flows() -> impl Strategy<Value = Flow> {
    (any::<[bool; 3]>(), 1..4_u16, 0..3_usize, 0..6_usize).prop_map(
        |([v6, udp, dont_fragment], port, ip_options, tcp_options)| Flow {
            v6,
            udp,
            port,
            ip_options,
            tcp_options,
            dont_fragment,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn splitting_returns_the_expected_packets(
        flow in flows(),
        id: u16,
        sequence in prop_oneof![any::<u32>(), Just(u32::MAX - 100)],
        flags in prop::sample::subsequence(vec![FIN, PSH, CWR, ECE, URG], 0..5),
        length in prop_oneof![1..200_usize, 1..20_000_usize],
        size in prop_oneof![1..40_u16, 500..1500_u16, Just(9000)],
    ) {
        let flags = flags.into_iter().fold(ACK, |all, flag| all | flag);
        let payload = payload(length);
        let (header, packet) = flow.super_packet(id, sequence, flags, &payload, size);
        let expected = flow.segments(id, sequence, flags, &payload, size);
        prop_assert_eq!(split_all(&header, &packet).unwrap(), expected);
    }

    #[test]
    fn joining_keeps_every_packet_and_the_order_of_each_flow(
        steps in prop::collection::vec(
            (0..4_usize, 0..12_u8, prop_oneof![4 => Just(100_usize), 1 => 0..120_usize]), 1..60),
    ) {
        let flows = [TCP4, Flow { dont_fragment: false, ..TCP4 }, TCP6, UDP4];
        let mut state = [(5_u16, u32::MAX - 150); 4];
        let packets: Vec<Vec<u8>> = steps.into_iter().map(|(which, oddity, length)| {
            let mut flow = flows[which].clone();
            flow.port += which as u16;
            let (id, sequence) = &mut state[which];
            let flags = ACK | match oddity { 0 => PSH, 1 => FIN, 2 => ECE, _ => 0 };
            let mut packet = flow.packet(*id, *sequence, flags, &payload(length), false);
            *sequence = sequence.wrapping_add(length as u32);
            *id = id.wrapping_add(1);
            match oddity {
                3 => *sequence = sequence.wrapping_add(1),
                4 => { let end = packet.len() - 1; packet[end] ^= 1; }
                5 => packet[1] ^= 4,
                6 if !flow.v6 => packet[6] |= 0x20,
                _ => {}
            }
            packet
        }).collect();
        let mut out = Vec::new();
        for (header, packet, pieces) in join(&packets) {
            let segments = split_all(&header, &packet).unwrap();
            prop_assert_eq!(segments.len(), pieces);
            out.extend(segments);
        }
        // Grouped by the fields that identify a flow; for fragments, the bytes at the ports' place
        // count too.
        let by_flow = |packets: &[Vec<u8>]| {
            let mut flows = BTreeMap::<_, Vec<Vec<u8>>>::new();
            for packet in packets {
                let mut packet = packet.clone();
                let v6 = packet[0] >> 4 == 6;
                let at = if v6 { 40 } else { 20 };
                // The id of an atomic packet is meaningless.
                if !v6 && packet[6] & 0x40 != 0 {
                    packet[4..6].fill(0);
                    packet[10..12].fill(0);
                }
                flows.entry((v6, packet[at..at + 4].to_vec())).or_default().push(packet);
            }
            flows
        };
        prop_assert_eq!(by_flow(&out), by_flow(&packets));
    }

    #[test]
    fn arbitrary_input_does_not_panic(
        bytes: [u8; 10],
        gso_type in prop_oneof![Just(GSO_TCP_V4), Just(GSO_TCP_V6), Just(GSO_UDP), any::<u8>()],
        start in prop_oneof![0..70_u16, any::<u16>()],
        first in prop_oneof![Just(0x45_u8), Just(0x60), any::<u8>()],
        rest in prop::collection::vec(any::<u8>(), 0..150),
        change in (any::<prop::sample::Index>(), any::<u8>()),
        flow in flows(),
    ) {
        let header = VirtioHeader { gso_type, checksum_start: start, ..VirtioHeader::from_bytes(bytes) };
        let wild = [&[first], &rest[..]].concat();
        let mut changed = flow.packet(1, 2, ACK | SYN, &rest, false);
        let at = change.0.index(flow.headers());
        changed[at] = change.1;
        for packet in [&wild[..], &changed, &changed[..at], &[]] {
            let _ = split_all(&header, packet);
            let known = VirtioHeader { flags: 1, gso_size: 20, checksum_offset: flow.checksum_offset() as u16, ..header };
            let _ = split_all(&known, packet);
            clamp_mss(&mut packet.to_vec(), 100);
            let joined = join(&[packet.to_vec(), packet.to_vec(), changed.clone()]);
            prop_assert_eq!(joined.iter().map(|(.., pieces)| pieces).sum::<usize>(), 3);
        }
    }

    #[test]
    fn a_clamped_syn_verifies(
        flow in flows(),
        before in 0..4_usize,
        announced: u16,
        largest: u16,
        ack: bool,
    ) {
        let flow = Flow { udp: false, tcp_options: 2, ..flow };
        // A 4-byte option after this much padding, so also at odd offsets.
        let mut packet = flow.packet(1, 2, SYN | if ack { ACK } else { 0 }, b"", true);
        let at = flow.transport() + 20;
        packet[at..at + 8].fill(1);
        packet[at + before..at + before + 2].copy_from_slice(&[2, 4]);
        packet[at + before + 2..at + before + 4].copy_from_slice(&announced.to_be_bytes());
        let header = VirtioHeader {
            flags: NEEDS_CHECKSUM,
            checksum_start: flow.transport() as u16,
            checksum_offset: 16,
            ..VirtioHeader::default()
        };
        let mut packet = split_all(&header, &packet).unwrap().remove(0);
        let headers = headers::Headers::parse(&packet).unwrap();
        prop_assert!(headers.verify(&packet));
        clamp_mss(&mut packet, largest);
        prop_assert!(headers.verify(&packet));
        let room = largest.saturating_sub(if flow.v6 { 60 } else { 40 });
        let expected = if room == 0 { announced } else { announced.min(room) };
        let place = at + before + 2;
        prop_assert_eq!(&packet[place..place + 2], &expected.to_be_bytes());
    }
}

#[test]
fn a_whole_packet_has_its_checksum_completed() {
    for flow in [TCP4, TCP6, UDP4, UDP6] {
        let (header, partial) = flow.super_packet(1, 2, ACK, b"payload", 0);
        let header = VirtioHeader { gso_type: GSO_NONE, gso_size: 0, ..header };
        let whole = flow.packet(1, 2, ACK, b"payload", false);
        assert_eq!(split_all(&header, &partial), Ok(vec![whole.clone()]));
        assert_eq!(split_all(&VirtioHeader::default(), &whole), Ok(vec![whole]));
        let beyond = VirtioHeader { checksum_offset: 60, ..header };
        assert_eq!(split_all(&beyond, &partial), Err(Malformed));
    }
}

#[test]
fn a_header_that_does_not_fit_its_packet_is_refused() {
    let (good, packet) = TCP4.super_packet(1, 2, ACK, &payload(300), 100);
    assert_eq!(split_all(&good, &packet).unwrap().len(), 3);
    for bad in [
        VirtioHeader { gso_size: 0, ..good },
        VirtioHeader { gso_size: u16::MAX, ..good },
        VirtioHeader { gso_type: GSO_TCP_V6, ..good },
        VirtioHeader { gso_type: GSO_UDP, ..good },
        VirtioHeader { gso_type: 3, ..good },
        VirtioHeader { checksum_start: 24, ..good },
        VirtioHeader { checksum_offset: 6, ..good },
    ] {
        assert_eq!(split_all(&bad, &packet), Err(Malformed), "{bad:?}");
    }
    for length in 0..TCP4.headers() {
        assert_eq!(split_all(&good, &packet[..length]), Err(Malformed));
    }
    let ipv4_of_six = Flow { ip_options: 1, ..TCP4 };
    let (header, mut packet) = ipv4_of_six.super_packet(1, 2, ACK, &payload(300), 100);
    packet[0] = 0x44;
    assert_eq!(split_all(&header, &packet), Err(Malformed));
}

#[test]
fn extension_headers_are_carried_along() {
    let (header, packet) = TCP6.super_packet(0, 9, ACK, &payload(250), 100);
    // Hop-by-hop options, all padding.
    let extend = |packet: &[u8]| {
        let mut extended = [&packet[..40], &[6, 0, 1, 4, 0, 0, 0, 0], &packet[40..]].concat();
        extended[6] = 0;
        let length = extended.len() as u16 - 40;
        extended[4..6].copy_from_slice(&length.to_be_bytes());
        extended
    };
    let header = VirtioHeader { checksum_start: 48, ..header };
    let expected: Vec<_> =
        TCP6.segments(0, 9, ACK, &payload(250), 100).iter().map(|packet| extend(packet)).collect();
    assert_eq!(split_all(&header, &extend(&packet)).unwrap(), expected);
    // Packets with extension headers are not joined.
    assert_eq!(join(&expected).len(), 3);
}

#[test]
fn consecutive_packets_are_joined() {
    for flow in [TCP4, TCP6, UDP4, UDP6, Flow { dont_fragment: false, ip_options: 2, ..TCP4 }] {
        let payload = payload(1000);
        let packets = flow.segments(65_530, u32::MAX - 450, ACK | PSH, &payload, 99);
        let (header, packet) = flow.super_packet(65_530, u32::MAX - 450, ACK | PSH, &payload, 99);
        assert_eq!(join(&packets), [(header, packet, 11)], "{flow:?}");
    }
}

#[test]
fn a_joiner_is_reusable_and_respects_its_protocols() {
    let packets = TCP4.segments(1, 2, ACK, &payload(300), 100);
    let mut joiner = Joiner::new(true, false);
    assert_eq!(join_with(&mut joiner, &packets).len(), 1);
    assert_eq!(join_with(&mut joiner, &packets).len(), 1);
    let packets = UDP4.segments(1, 2, 0, &payload(300), 100);
    assert_eq!(join_with(&mut joiner, &packets).len(), 3);
    assert_eq!(join_with(&mut Joiner::new(false, true), &packets).len(), 1);
}

#[test]
fn interleaved_flows_are_kept_apart() {
    let flows: Vec<_> = [TCP4, TCP6, UDP4, UDP6, Flow { port: 80, ..TCP4 }].into();
    let streams: Vec<_> =
        flows.iter().map(|flow| flow.segments(1, 2, ACK, &payload(500), 100)).collect();
    let mixed: Vec<_> = (0..5).flat_map(|n| streams.iter().map(move |s| s[n].clone())).collect();
    let joined = join(&mixed);
    assert_eq!(joined.len(), flows.len());
    for (flow, (header, packet, _)) in flows.iter().zip(joined) {
        assert_eq!((header, packet), flow.super_packet(1, 2, ACK, &payload(500), 100));
    }
}

#[test]
fn differing_packets_are_not_joined() {
    let next = |flow: &Flow, flags, length| flow.packet(2, 102, flags, &payload(length), false);
    // A change to the second of two packets that are otherwise joined.
    let cases: [(&str, Flow, Vec<u8>); 13] = [
        ("a gap", TCP4, TCP4.packet(2, 103, ACK, &payload(100), false)),
        ("repeated", TCP4, TCP4.packet(2, 2, ACK, &payload(100), false)),
        ("longer", TCP4, next(&TCP4, ACK, 101)),
        ("empty", TCP4, next(&TCP4, ACK, 0)),
        ("FIN", TCP4, next(&TCP4, ACK | FIN, 100)),
        ("SYN", TCP4, next(&TCP4, ACK | SYN, 100)),
        ("URG", TCP4, next(&TCP4, ACK | URG, 100)),
        ("CWR", TCP4, next(&TCP4, ACK | CWR, 100)),
        ("ECE", TCP4, next(&TCP4, ACK | ECE, 100)),
        ("no ACK", TCP4, next(&TCP4, 0, 100)),
        ("options", TCP4, next(&Flow { tcp_options: 4, ..TCP4 }, ACK, 100)),
        ("port", UDP4, next(&Flow { port: 1, ..UDP4 }, ACK, 100)),
        ("longer datagram", UDP6, next(&UDP6, ACK, 101)),
    ];
    for flow in [TCP4, UDP4, UDP6] {
        let first = flow.packet(1, 2, ACK, &payload(100), false);
        assert_eq!(join(&[first, next(&flow, ACK, 100)]).len(), 1, "{flow:?}");
    }
    for (what, flow, second) in cases {
        let first = flow.packet(1, 2, ACK, &payload(100), false);
        let written = join(&[first.clone(), second.clone()]);
        let plain = VirtioHeader::default();
        assert_eq!(written, [(plain, first, 1), (plain, second, 1)], "{what}");
    }
    // Any header byte, with checksums corrected where possible: type of service, fragments, time to
    // live, options; for IPv6 traffic class, flow label, hop limit.
    for (flow, at) in [(&TCP4, vec![1, 6, 7, 8, 20]), (&TCP6, vec![0, 1, 2, 3, 7])] {
        for at in at {
            let flow = Flow { ip_options: 1, ..flow.clone() };
            let first = flow.packet(1, 2, ACK, &payload(100), false);
            let mut second = next(&flow, ACK, 100);
            second[at] ^= if at == 6 { 0x20 } else { 2 };
            if !flow.v6 {
                second[10..12].fill(0);
                let checksum = !sum(&[&second[..24]]);
                second[10..12].copy_from_slice(&checksum.to_be_bytes());
            }
            assert_eq!(join(&[first, second]).len(), 2, "byte {at}");
        }
    }
}

#[test]
fn packets_with_wrong_checksums_are_not_joined() {
    for flow in [TCP4, TCP6, UDP4, UDP6] {
        let packets = flow.segments(1, 2, ACK, &payload(200), 100);
        for which in [0, 1] {
            let checksums = [flow.transport() + flow.checksum_offset(), 11];
            let count = if flow.v6 { 1 } else { 2 };
            for at in checksums.into_iter().take(count).chain([packets[0].len() - 1]) {
                let mut packets = packets.clone();
                packets[which][at] ^= 0x10;
                assert_eq!(join(&packets).len(), 2, "byte {at} of {which}");
            }
        }
    }
    // A datagram without a checksum.
    let mut packets = UDP4.segments(1, 2, ACK, &payload(200), 100);
    packets[1][26..28].fill(0);
    assert_eq!(join(&packets).len(), 2);
}

#[test]
fn a_pushed_packet_ends_a_super_packet() {
    let mut packets = TCP4.segments(1, 2, ACK | PSH, &payload(300), 100);
    packets.extend(TCP4.segments(4, 302, ACK, &payload(300), 100));
    let joined = join(&packets);
    assert_eq!(joined.iter().map(|(.., pieces)| *pieces).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(joined[0].1[20 + 13], ACK | PSH);
    assert_eq!(joined[1].1[20 + 13], ACK);
    // A shorter packet does too.
    let mut packets = UDP4.segments(1, 0, 0, &payload(250), 100);
    packets.extend(UDP4.segments(4, 0, 0, &payload(50), 100));
    assert_eq!(join(&packets).len(), 2);
}

#[test]
fn no_packet_overtakes_one_that_is_not_joined() {
    let packets = TCP4.segments(1, 2, ACK, &payload(300), 100);
    let answer = TCP4.packet(9, 102, ACK | URG, b"", false);
    let mixed = [&packets[0], &answer, &packets[1], &packets[2]].map(Clone::clone);
    let joined = join(&mixed);
    assert_eq!(joined.iter().map(|(.., pieces)| *pieces).collect::<Vec<_>>(), [1, 1, 2]);
    assert_eq!(joined[1].1, answer);
    // A fragment may belong to any flow.
    let mut fragment = TCP4.packet(9, 102, ACK, &payload(100), false);
    fragment[7] = 20;
    let joined = join(&[packets[0].clone(), fragment, packets[1].clone(), packets[2].clone()]);
    assert_eq!(joined.iter().map(|(.., pieces)| *pieces).collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn a_super_packet_has_at_most_64_kib_and_64_packets() {
    let packets = TCP4.segments(0, 0, ACK, &payload(50 * 1400), 1400);
    let joined = join(&packets);
    assert_eq!(joined.iter().map(|(.., pieces)| *pieces).collect::<Vec<_>>(), [46, 4]);
    assert_eq!(joined[0].1.len(), TCP4.headers() + 46 * 1400);
    let packets = UDP6.segments(0, 0, 0, &payload(130 * 10), 10);
    let joined = join(&packets);
    assert_eq!(joined.iter().map(|(.., pieces)| *pieces).collect::<Vec<_>>(), [64, 64, 2]);
}

#[test]
fn only_a_syn_is_clamped() {
    let mut syn = TCP4.packet(1, 2, SYN, b"", false);
    syn[40..44].copy_from_slice(&[2, 4, 0x05, 0xb4]);
    let clamped = |packet: &[u8]| {
        let mut packet = packet.to_vec();
        clamp_mss(&mut packet, 1000);
        u16::from_be_bytes([packet[42], packet[43]])
    };
    assert_eq!(clamped(&syn), 960);
    let mut data = TCP4.packet(1, 2, ACK, b"", false);
    data[40..44].copy_from_slice(&[2, 4, 0x05, 0xb4]);
    assert_eq!(clamped(&data), 1460);
    for options in
        [[2, 3, 5, 0xb4], [2, 200, 5, 0xb4], [0, 4, 5, 0xb4], [9, 0, 5, 0xb4], [9, 1, 5, 0xb4]]
    {
        syn[40..44].copy_from_slice(&options);
        assert_eq!(clamped(&syn), 1460);
    }
    let mut fragment = syn.clone();
    fragment[40..44].copy_from_slice(&[2, 4, 0x05, 0xb4]);
    fragment[6] |= 0x20;
    assert_eq!(clamped(&fragment), 1460);
}

#[test]
fn headers_have_native_byte_order() {
    let header = VirtioHeader {
        flags: 1,
        gso_type: 4,
        header_length: 0x0102,
        gso_size: 0x0304,
        checksum_start: 0x0506,
        checksum_offset: 0x0708,
    };
    let bytes = header.to_bytes();
    assert_eq!(bytes[..2], [1, 4]);
    assert_eq!(bytes[4..6], 0x0304_u16.to_ne_bytes());
    assert_eq!(VirtioHeader::from_bytes(bytes), header);
}
