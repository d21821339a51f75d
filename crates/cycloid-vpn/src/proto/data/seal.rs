//! Inner packets to datagrams.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use aws_lc_rs::aead::Aad;

use super::cbc::CbcSeal;
use super::framing::Framing;
use super::keys::{Aead, Half, Parameters};
use super::{DATA_V1, DATA_V2, ID, TAG};
use crate::proto::Error;

/// The key for packets that go out. Threads share it: what changes are three counters.
pub struct Sealer {
    key: Key,
    framing: Framing,
    header: [u8; 4],
    /// Bytes of the header: 1 or 4.
    header_length: usize,
    block_limit: u64,
    /// Packet ids given out.
    issued: AtomicU64,
    /// Bytes of the inner packets that were sealed.
    bytes: AtomicU64,
}

#[expect(clippy::large_enum_variant, reason = "a few are alive at a time")]
enum Key {
    Aead(Aead),
    Cbc(CbcSeal),
}

/// No packet may be sealed with the key any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl From<Exhausted> for Error {
    fn from(_: Exhausted) -> Self {
        Self::Exhausted
    }
}

/// The number of one packet under one key. It comes from the [`Sealer`] that it is used with, and
/// sealing consumes it: an AEAD whose nonce is used twice protects nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct PacketId(u32);

/// Packet ids in a row.
#[derive(Debug)]
pub struct PacketIds {
    next: u64,
    end: u64,
}

impl Iterator for PacketIds {
    type Item = PacketId;

    fn next(&mut self) -> Option<PacketId> {
        (self.next < self.end).then(|| {
            self.next += 1;
            PacketId(self.next as u32)
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.end - self.next) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for PacketIds {}

/// The packets that a key may seal: ids begin at 1.
const PACKET_LIMIT: u64 = u32::MAX as u64;

/// Blocks of 16 bytes that the longest inner packet takes, and one that each packet counts on top.
const BLOCKS_A_PACKET: u64 = 4096 + 1;

impl Sealer {
    pub(super) fn new(half: Half<'_>, parameters: &Parameters) -> Result<Self, Error> {
        let &Parameters { cipher, key_id, peer_id, framing, .. } = parameters;
        let key = match Aead::new(half, cipher)? {
            Some(aead) => Key::Aead(aead),
            None => Key::Cbc(CbcSeal::new(half, cipher)?),
        };
        let (header, header_length) = match peer_id {
            Some(id) => ((u32::from(DATA_V2 << 3 | key_id.get()) << 24 | id).to_be_bytes(), 4),
            None => ([DATA_V1 << 3 | key_id.get(), 0, 0, 0], 1),
        };
        Ok(Self {
            key,
            framing,
            header,
            header_length,
            block_limit: cipher.block_limit().unwrap_or(u64::MAX),
            issued: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        })
    }

    /// The most bytes by which a datagram is longer than its inner packet. For an AEAD without
    /// framing it is by just as many.
    pub fn overhead(&self) -> usize {
        self.payload_offset()
            + self.framing.overhead()
            + match &self.key {
                Key::Aead(_) => 0,
                Key::Cbc(_) => ID + CbcSeal::MAX_PADDING,
            }
    }

    /// Where in a datagram the ciphertext begins.
    fn payload_offset(&self) -> usize {
        self.header_length
            + match &self.key {
                Key::Aead(_) => Aead::OVERHEAD,
                Key::Cbc(cbc) => cbc.prefix(),
            }
    }

    /// Ids for so many packets, in one step for all. Over a transport that keeps the order they
    /// are to be used in turn and all of them: a peer may take a gap for an attack.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] where the ids, or the blocks that the cipher may encrypt, would not suffice.
    pub fn reserve(&self, packets: u32) -> Result<PacketIds, Exhausted> {
        let packets = u64::from(packets);
        // Looked at first, so that the counter stays near its limit however often it is asked.
        self.allow(self.issued.load(Relaxed), packets)?;
        let next = self.issued.fetch_add(packets, Relaxed);
        self.allow(next, packets)?;
        Ok(PacketIds { next, end: next + packets })
    }

    fn allow(&self, issued: u64, packets: u64) -> Result<(), Exhausted> {
        let enough = issued + packets <= PACKET_LIMIT
            && self.blocks(issued) + packets * BLOCKS_A_PACKET <= self.block_limit;
        if enough { Ok(()) } else { Err(Exhausted) }
    }

    /// Blocks encrypted so far, at most: a packet's last may be a part of one, and one is counted
    /// on top of each packet.
    fn blocks(&self, issued: u64) -> u64 {
        self.bytes.load(Relaxed) / 16 + 2 * issued
    }

    /// Whether it is time for another key, well before this one is [`Exhausted`].
    pub fn wants_rekey(&self) -> bool {
        let issued = self.issued.load(Relaxed);
        issued >= 0xf000_0000 || self.blocks(issued) >= self.block_limit / 8 * 7
    }

    /// Packets whose ids were reserved, and bytes of the inner packets that were sealed.
    pub fn used(&self) -> (u64, u64) {
        (self.issued.load(Relaxed).min(PACKET_LIMIT), self.bytes.load(Relaxed))
    }

    /// Seals an inner packet, given in parts, into `out`, and says how many bytes the datagram
    /// takes. A packet in one part is encrypted straight into `out`; several are copied there
    /// first.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where the packet is longer than 65,535 bytes or `out` than the datagram
    /// is not: [`overhead`](Self::overhead) says how much is enough.
    pub fn seal(&self, id: PacketId, parts: &[&[u8]], out: &mut [u8]) -> Result<usize, Error> {
        const TOO_LONG: Error = Error::Malformed("inner packet too long for its datagram");
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > usize::from(u16::MAX) {
            return Err(TOO_LONG);
        }
        let offset = self.payload_offset();
        let (prefix, body) = out.split_at_mut_checked(offset).ok_or(TOO_LONG)?;
        prefix[..self.header_length].copy_from_slice(&self.header[..self.header_length]);
        let id = id.0.to_be_bytes();
        let sealed = match &self.key {
            Key::Aead(aead) => {
                let (prefix, tag) = prefix.split_at_mut(self.header_length + ID);
                prefix[self.header_length..].copy_from_slice(&id);
                let tag: &mut [u8; TAG] = tag.try_into().expect("the offset leaves room for a tag");
                let additional = if self.header_length == 1 { &prefix[1..] } else { &prefix[..] };
                let (nonce, additional) = (aead.nonce(id), Aad::from(additional));
                if let [packet] = parts
                    && self.framing.is_plain(packet)
                {
                    let body = body.get_mut(..length).ok_or(TOO_LONG)?;
                    aead.key
                        .seal_out_of_place_scatter(nonce, additional, packet, body, &[], tag)
                        .map(|()| length)
                } else {
                    let length = self.framing.write(parts, body).ok_or(TOO_LONG)?;
                    aead.key
                        .seal_in_place_scatter(nonce, additional, &mut body[..length], &[], tag)
                        .map(|()| length)
                }
                .map_err(|_| TOO_LONG)?
            }
            Key::Cbc(cbc) => {
                let (packet_id, packet) = body.split_at_mut_checked(ID).ok_or(TOO_LONG)?;
                packet_id.copy_from_slice(&id);
                let length = ID + self.framing.write(parts, packet).ok_or(TOO_LONG)?;
                cbc.seal(&mut out[self.header_length..], length).ok_or(TOO_LONG)?
            }
        };
        self.bytes.fetch_add(length as u64, Relaxed);
        Ok(offset + sealed)
    }
}

#[cfg(test)]
impl PacketId {
    pub(super) fn number(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
impl Sealer {
    /// As if so much had been sealed already.
    pub(super) fn age(&self, issued: u64, bytes: u64) {
        self.issued.store(issued, Relaxed);
        self.bytes.store(bytes, Relaxed);
    }
}
