//! Joins consecutive packets of a flow into super-packets, which the kernel accepts in one write.
//!
//! Packets are joined only if splitting would restore them: headers are equal except for counters,
//! and checksums verify. All other packets are passed on unchanged, and no packet overtakes another
//! of its flow. Payloads are not copied: a super-packet is a list of slices.

use std::io::IoSlice;
use std::ops::Range;

use super::headers::{Headers, Protocol, Version, pseudo_header, set_length, tcp};
use super::{GSO_TCP_V4, GSO_TCP_V6, GSO_UDP, NEEDS_CHECKSUM, VirtioHeader};

/// Maximum number of joined packets; for UDP the limit of kernels before 6.9.
const MAX_JOINED: usize = 64;

/// Joins received packets. Reused for each batch, so that it does not allocate.
#[derive(Debug)]
pub struct Joiner {
    tcp: bool,
    udp: bool,
    /// The packets to write, in order.
    outputs: Vec<Output>,
    /// The slices of all outputs, each with the index of its output's next slice.
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    range: Range<usize>,
    next: Option<usize>,
}

/// A packet, or several joined ones.
#[derive(Debug)]
struct Output {
    first: usize,
    last: usize,
    /// Number of packets in it.
    count: usize,
    /// State needed to append another packet; `None` if none may follow.
    open: Option<Open>,
    /// Set if several packets were joined.
    joined: Option<Joined>,
}

/// The expected continuation of an output.
#[derive(Clone, Copy, Debug)]
struct Open {
    headers: Headers,
    tag: u64,
    /// Payload bytes per packet.
    size: usize,
    /// Total payload bytes.
    total: usize,
}

#[derive(Clone, Copy, Debug)]
struct Joined {
    headers: Headers,
    size: usize,
    total: usize,
    push: bool,
}

impl Joiner {
    /// Returns a joiner for TCP and UDP, as far as the device accepts such super-packets.
    pub fn new(tcp: bool, udp: bool) -> Self {
        Self { tcp, udp, outputs: Vec::new(), pieces: Vec::new() }
    }

    /// Adds the packet at `range` of `buffer` after all others.
    ///
    /// # Panics
    ///
    /// If `range` is outside of the buffer. All packets of a batch must be in the same buffer, and
    /// must not change before they are written.
    pub fn push(&mut self, buffer: &[u8], range: Range<usize>) {
        let packet = &buffer[range.clone()];
        let headers = Headers::parse(packet);
        let Some(headers) = headers.filter(|headers| self.joins(headers.protocol)) else {
            // The packet's flow may be unknown, so nothing that follows may overtake it.
            for output in &mut self.outputs {
                output.open = None;
            }
            return self.start(range, None);
        };
        let tag = flow_tag(&headers, packet);
        let place = self.outputs.iter().rposition(|output| {
            output.open.is_some_and(|open| {
                open.tag == tag
                    && same_flow(&open.headers, self.first(output, buffer), &headers, packet)
            })
        });
        let candidate = can_be_joined(&headers, packet);
        if let Some(place) = place {
            if candidate && self.append(buffer, place, &headers, range.clone()) {
                return;
            }
            self.outputs[place].open = None;
        }
        let open = Open { headers, tag, size: packet.len() - headers.payload, total: packet.len() };
        let candidate = candidate && !is_pushed(&headers, packet);
        self.start(range, candidate.then_some(open));
    }

    /// Passes each output to `write` as slices of one device write, starting with a
    /// [`VirtioHeader`]. Empties the joiner.
    ///
    /// `buffer` is the buffer that the packets were added from.
    pub fn flush(&mut self, buffer: &mut [u8], mut write: impl FnMut(&[IoSlice<'_>])) {
        for output in &self.outputs {
            let header = match &output.joined {
                Some(joined) => joined.finish(&mut buffer[self.pieces[output.first].range.clone()]),
                None => VirtioHeader::default(),
            };
            let header = header.to_bytes();
            let mut slices = [IoSlice::new(&[]); 1 + MAX_JOINED];
            slices[0] = IoSlice::new(&header);
            let mut next = Some(output.first);
            let mut count = 1;
            while let Some(piece) = next {
                let piece = &self.pieces[piece];
                slices[count] = IoSlice::new(&buffer[piece.range.clone()]);
                count += 1;
                next = piece.next;
            }
            write(&slices[..count]);
        }
        self.outputs.clear();
        self.pieces.clear();
    }

    fn joins(&self, protocol: Protocol) -> bool {
        match protocol {
            Protocol::Tcp => self.tcp,
            Protocol::Udp => self.udp,
        }
    }

    /// Returns the first packet of an output.
    fn first<'a>(&self, output: &Output, buffer: &'a [u8]) -> &'a [u8] {
        &buffer[self.pieces[output.first].range.clone()]
    }

    fn start(&mut self, range: Range<usize>, open: Option<Open>) {
        let first = self.pieces.len();
        self.pieces.push(Piece { range, next: None });
        self.outputs.push(Output { first, last: first, count: 1, open, joined: None });
    }

    /// Appends a packet to an output of its flow, if it is the expected continuation.
    fn append(
        &mut self,
        buffer: &[u8],
        place: usize,
        headers: &Headers,
        range: Range<usize>,
    ) -> bool {
        let output = &self.outputs[place];
        let Some(open) = output.open else { return false };
        let (first, packet) = (self.first(output, buffer), &buffer[range.clone()]);
        let size = packet.len() - headers.payload;
        let total = open.total + size;
        if size > open.size
            || total > usize::from(u16::MAX)
            || output.count == MAX_JOINED
            || *headers != open.headers
            || !follows(headers, first, packet, output.count, open.total - headers.payload)
            || !(output.count > 1 || headers.verify(first))
            || !headers.verify(packet)
        {
            return false;
        }
        let piece = self.pieces.len();
        self.pieces.push(Piece { range: range.start + headers.payload..range.end, next: None });
        let output = &mut self.outputs[place];
        self.pieces[output.last].next = Some(piece);
        output.last = piece;
        output.count += 1;
        let push = is_pushed(headers, packet);
        output.joined = Some(Joined { headers: *headers, size: open.size, total, push });
        // A shorter packet, or one with PSH, is the last.
        output.open = (size == open.size && !push).then_some(Open { total, ..open });
        true
    }
}

impl Joined {
    /// Updates the first packet's headers for the joined packet.
    fn finish(&self, first: &mut [u8]) -> VirtioHeader {
        let Headers { version, protocol, transport, payload } = self.headers;
        let length = self.total - transport;
        // The pseudo-header sum, for the completion of the checksum.
        let sum = pseudo_header(version, protocol, first, length).fold();
        let segment = &mut first[transport..];
        let at = protocol.checksum_offset();
        segment[at..at + 2].copy_from_slice(&sum);
        match protocol {
            Protocol::Tcp if self.push => segment[tcp::FLAGS] |= tcp::PSH,
            Protocol::Tcp => {}
            Protocol::Udp => segment[4..6].copy_from_slice(&(length as u16).to_be_bytes()),
        }
        set_length(version, first, self.total, transport);
        VirtioHeader {
            flags: NEEDS_CHECKSUM,
            gso_type: match (protocol, version) {
                (Protocol::Tcp, Version::V4) => GSO_TCP_V4,
                (Protocol::Tcp, Version::V6) => GSO_TCP_V6,
                (Protocol::Udp, _) => GSO_UDP,
            },
            header_length: payload as u16,
            gso_size: self.size as u16,
            checksum_start: transport as u16,
            checksum_offset: at as u16,
        }
    }
}

/// Returns a tag that is equal for packets of one flow, and rarely equal for others.
fn flow_tag(headers: &Headers, packet: &[u8]) -> u64 {
    let word = |at: usize| {
        u64::from(u32::from_ne_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]]))
    };
    let addresses = match headers.version {
        Version::V4 => word(12) << 32 | word(16),
        // The lower halves of the addresses, which differ between hosts of a network.
        Version::V6 => (word(16) << 32 | word(20)) ^ (word(32) << 32 | word(36)).rotate_left(17),
    };
    let ports = word(headers.transport).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    addresses ^ ports ^ u64::from(headers.protocol.number())
}

fn same_flow(one: &Headers, first: &[u8], other: &Headers, packet: &[u8]) -> bool {
    let addresses = match one.version {
        Version::V4 => 12..20,
        Version::V6 => 8..40,
    };
    let ports = |headers: &Headers| headers.transport..headers.transport + 4;
    one.version == other.version
        && one.protocol == other.protocol
        && first[addresses.clone()] == packet[addresses]
        && first[ports(one)] == packet[ports(other)]
}

/// Returns whether a packet contains plain data only.
fn can_be_joined(headers: &Headers, packet: &[u8]) -> bool {
    let segment = &packet[headers.transport..];
    let plain = match headers.protocol {
        Protocol::Tcp => segment[tcp::FLAGS] & !(tcp::PSH | tcp::ECE) == tcp::ACK,
        Protocol::Udp => segment[6..8] != [0, 0],
    };
    plain && packet.len() > headers.payload
}

fn is_pushed(headers: &Headers, packet: &[u8]) -> bool {
    headers.protocol == Protocol::Tcp && packet[headers.transport + tcp::FLAGS] & tcp::PSH != 0
}

/// Returns whether a packet has the same headers as the first, and continues after `count` packets
/// with `payload` bytes in total.
fn follows(headers: &Headers, first: &[u8], packet: &[u8], count: usize, payload: usize) -> bool {
    let equal = |range: Range<usize>| first[range.clone()] == packet[range];
    let ip = match headers.version {
        Version::V4 => {
            // Type of service and ECN; flags, time to live, protocol; options. The id of an atomic
            // packet is meaningless (RFC 6864); other ids count up.
            let id = |packet: &[u8]| u16::from_be_bytes([packet[4], packet[5]]);
            let atomic = first[6] & 0x40 != 0;
            equal(0..2)
                && equal(6..10)
                && equal(20..headers.transport)
                && (atomic || id(packet) == id(first).wrapping_add(count as u16))
        }
        // Traffic class and flow label; hop limit.
        Version::V6 => equal(0..4) && equal(6..8),
    };
    let at = headers.transport;
    let sequence = |packet: &[u8]| {
        u32::from_be_bytes([packet[at + 4], packet[at + 5], packet[at + 6], packet[at + 7]])
    };
    ip && match headers.protocol {
        // Acknowledgement and header length; flags; window; urgent pointer and options.
        Protocol::Tcp => {
            let flags = |packet: &[u8]| packet[at + tcp::FLAGS] & !tcp::PSH;
            sequence(packet) == sequence(first).wrapping_add(payload as u32)
                && equal(at + 8..at + 13)
                && flags(packet) == flags(first)
                && equal(at + 14..at + 16)
                && equal(at + 18..headers.payload)
        }
        Protocol::Udp => true,
    }
}
