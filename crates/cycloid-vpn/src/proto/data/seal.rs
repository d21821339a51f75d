//! Seals inner packets into datagrams.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use aws_lc_rs::aead::Aad;

use super::cbc::CbcSeal;
use super::direction::{Aead, Half, Parameters};
use super::framing::Framing;
use super::{DATA_V1, DATA_V2, ID, TAG};
use crate::proto::Error;

/// The key for sending. Threads share it; only three counters change.
pub struct Sealer {
    key: Key,
    framing: Framing,
    header: [u8; 4],
    /// Header length in bytes: 1 or 4.
    header_length: usize,
    block_limit: u64,
    /// Number of issued packet ids.
    issued: AtomicU64,
    /// Total bytes of sealed inner packets.
    bytes: AtomicU64,
}

#[expect(clippy::large_enum_variant, reason = "only a few exist at a time")]
enum Key {
    Aead(Aead),
    Cbc(CbcSeal),
}

/// The error of a key that may seal no more packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl From<Exhausted> for Error {
    fn from(_: Exhausted) -> Self {
        Self::Exhausted
    }
}

/// The id of one packet under one key. It comes from the [`Sealer`] that it is used with, and
/// sealing consumes it: reusing an AEAD nonce destroys its security.
#[derive(Debug, PartialEq, Eq)]
pub struct PacketId(u32);

/// Consecutive packet ids.
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

/// The maximum number of packets under one key: ids start at 1.
const PACKET_LIMIT: u64 = u32::MAX as u64;

/// Blocks of 16 bytes in the longest inner packet, plus one per packet.
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

    /// Returns the maximum difference in length between a datagram and its inner packet. For an
    /// AEAD without framing the difference is exact.
    pub fn overhead(&self) -> usize {
        self.payload_offset()
            + self.framing.overhead()
            + match &self.key {
                Key::Aead(_) => 0,
                Key::Cbc(_) => ID + CbcSeal::MAX_PADDING,
            }
    }

    /// Returns the offset of the ciphertext in a datagram.
    fn payload_offset(&self) -> usize {
        self.header_length
            + match &self.key {
                Key::Aead(_) => Aead::OVERHEAD,
                Key::Cbc(cbc) => cbc.prefix(),
            }
    }

    /// Reserves ids for this many packets in one step. Over a transport that preserves order, all
    /// of them must be used in sequence: a peer may treat a gap as an attack.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] if too few ids, or too few blocks of the cipher's limit, remain.
    pub fn reserve(&self, packets: u32) -> Result<PacketIds, Exhausted> {
        let packets = u64::from(packets);
        // Checked first, so that repeated calls do not push the counter far beyond its limit.
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

    /// Returns an upper bound of the blocks encrypted so far: one for each packet's partial last
    /// block, and one more per packet.
    fn blocks(&self, issued: u64) -> u64 {
        self.bytes.load(Relaxed) / 16 + 2 * issued
    }

    /// Returns whether to negotiate a new key, well before this one is [`Exhausted`].
    pub fn wants_rekey(&self) -> bool {
        let issued = self.issued.load(Relaxed);
        issued >= 0xf000_0000 || self.blocks(issued) >= self.block_limit / 8 * 7
    }

    /// Returns the number of reserved packet ids, and the bytes of sealed inner packets.
    pub fn used(&self) -> (u64, u64) {
        (self.issued.load(Relaxed).min(PACKET_LIMIT), self.bytes.load(Relaxed))
    }

    /// Seals an inner packet, given in parts, into `out`, and returns the datagram's length. A
    /// packet in one part is encrypted directly into `out`; several parts are copied there first.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if the packet exceeds 65,535 bytes or `out` is too short;
    /// [`overhead`](Self::overhead) tells how much is needed.
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
                let tag: &mut [u8; TAG] = tag.try_into().expect("the offset includes the tag");
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
    /// Sets the counters, as if this much had been sealed.
    pub(super) fn age(&self, issued: u64, bytes: u64) {
        self.issued.store(issued, Relaxed);
        self.bytes.store(bytes, Relaxed);
    }
}
