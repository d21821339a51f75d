//! Measures the VPN's cost: rounds of packets through the engine in memory, and crowds of clients
//! that load a server.
//!
//! A round processes about 64 KiB of inner packets, which stay in the processor's cache as they do
//! between a device and a socket. [`Round::check`] compares the opened packets with the sealed
//! ones.

mod crowd;

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::net::offload::{Joiner, VirtioHeader, split};
use crate::proto::data::{
    CbcCipher, Cipher, Digest, Framing, KeyMaterial, Opener, Parameters, Sealer, keys,
};
use crate::proto::wire::KeyId;
use crate::proto::{Error, Role};

pub use crowd::Crowd;

/// Ciphers to measure: all that peers negotiate, and the CBC cipher for old peers.
pub const CIPHERS: [Cipher; 5] = [
    Cipher::Aes256Gcm,
    Cipher::ChaCha20Poly1305,
    Cipher::Aes192Gcm,
    Cipher::Aes128Gcm,
    Cipher::Cbc { cipher: CbcCipher::Aes256, digest: Digest::Sha256 },
];

/// Shape of the inner packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Packets of this many bytes.
    Packets(usize),
    /// A TCP super-packet, cut into packets of 1400 bytes before sealing and joined after opening.
    /// So its checksums are computed in both directions.
    SuperPacket,
}

impl Shape {
    /// Returns the size of an inner packet in bytes.
    pub const fn packet_bytes(self) -> usize {
        match self {
            Self::Packets(length) => length,
            Self::SuperPacket => HEADERS + SEGMENT,
        }
    }

    /// Returns the number of inner packets in a round.
    pub const fn packets(self) -> usize {
        match self {
            Self::Packets(length) => {
                let packets = ROUND / length;
                if packets > MAX_PACKETS { MAX_PACKETS } else { packets }
            }
            Self::SuperPacket => (u16::MAX as usize - HEADERS) / SEGMENT,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(length) => write!(f, "{length} B"),
            Self::SuperPacket => f.write_str("super-packet"),
        }
    }
}

/// Target size of a round's inner packets in bytes. `MAX_PACKETS` limits it for small packets.
const ROUND: usize = 64 << 10;
const MAX_PACKETS: usize = 256;

/// IPv4 and TCP headers without options.
const HEADERS: usize = 40;
const SEGMENT: usize = 1360;

/// A round of packets that can be sealed and opened repeatedly.
pub struct Round {
    shape: Shape,
    sealer: Arc<Sealer>,
    opener: Opener,
    joiner: Joiner,
    /// One inner packet, or the super-packet.
    template: Vec<u8>,
    /// Buffer in which a super-packet is cut.
    scratch: Vec<u8>,
    /// Buffer size for one datagram.
    stride: usize,
    datagrams: Vec<u8>,
    lengths: Vec<usize>,
}

impl Round {
    /// Returns a round with fixed test keys.
    ///
    /// # Errors
    ///
    /// Errors of the engine, which indicate a bug.
    pub fn new(cipher: Cipher, shape: Shape) -> Result<Self, Error> {
        let material = || KeyMaterial::from(Zeroizing::new(std::array::from_fn(|at| at as u8)));
        let parameters = Parameters {
            cipher,
            key_id: KeyId::new(0).ok_or(Error::KeyId(0))?,
            peer_id: Some(1),
            epochs: false,
            framing: Framing::None,
            fragment: None,
            decompress: false,
            replay_window: 64,
        };
        let (sealer, _) = keys(&material(), Role::Client, &parameters)?;
        let (_, opener) = keys(&material(), Role::Server, &parameters)?;
        let packets = shape.packets();
        let template = match shape {
            Shape::Packets(length) => vec![0x45; length],
            Shape::SuperPacket => super_packet(packets * SEGMENT),
        };
        let stride = shape.packet_bytes() + sealer.overhead();
        Ok(Self {
            shape,
            opener,
            joiner: Joiner::new(true, true),
            scratch: template.clone(),
            template,
            datagrams: vec![0; packets * stride],
            stride,
            lengths: vec![0; packets],
            sealer,
        })
    }

    /// Seals the inner packets into datagrams.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn seal(&mut self) -> Result<(), Error> {
        let ids = self.sealer.reserve(self.lengths.len() as u32)?;
        let places = self.datagrams.chunks_exact_mut(self.stride).zip(&mut self.lengths);
        match self.shape {
            Shape::Packets(_) => {
                for (id, (place, length)) in ids.zip(places) {
                    *length = self.sealer.seal(id, &[&self.template], place)?;
                }
            }
            Shape::SuperPacket => {
                // `split` reads the headers from the start of the buffer, where the previous round
                // left those of its first packet.
                self.scratch[..HEADERS].copy_from_slice(&self.template[..HEADERS]);
                let mut segments = split(&virtio_header(), &mut self.scratch)
                    .map_err(|_| Error::Malformed("super-packet"))?;
                for (id, (place, length)) in ids.zip(places) {
                    let segment = segments.next().ok_or(Error::Short)?;
                    *length = self.sealer.seal(id, &[segment], place)?;
                }
            }
        }
        Ok(())
    }

    /// Opens the datagrams of the last `seal`. Works once for each `seal`.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new), and an error for datagrams that are already open: the replay
    /// window accepts each packet once.
    pub fn open(&mut self) -> Result<(), Error> {
        self.open_and(|_, _| true)
    }

    /// Seals and opens a round, and compares all packets.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new), and an error if an opened packet differs from the sealed one.
    pub fn check(&mut self) -> Result<(), Error> {
        // Splitting overwrites payload in the scratch buffer with headers.
        self.scratch.copy_from_slice(&self.template);
        self.seal()?;
        self.open_and(|opened, sealed| opened == sealed)
    }

    /// Opens the datagrams and calls `same` with the opened and the sealed bytes, without
    /// recomputed headers.
    fn open_and(&mut self, same: impl Fn(&[u8], &[u8]) -> bool) -> Result<(), Error> {
        let (mut opened, mut right) = (0, true);
        for (index, length) in self.lengths.iter().enumerate() {
            let at = index * self.stride;
            let datagram = &mut self.datagrams[at..at + length];
            let begin = datagram.as_ptr().addr();
            let inner = self.opener.open(datagram)?;
            match self.shape {
                Shape::Packets(_) => {
                    opened += inner.len();
                    right &= same(inner, &self.template);
                }
                Shape::SuperPacket => {
                    let payload = HEADERS + index * SEGMENT..HEADERS + (index + 1) * SEGMENT;
                    right &= same(&inner[HEADERS..], &self.template[payload]);
                    let begin = at + (inner.as_ptr().addr() - begin);
                    let end = begin + inner.len();
                    self.joiner.push(&self.datagrams, begin..end);
                }
            }
        }
        let mut expected = self.lengths.len() * self.template.len();
        if self.shape == Shape::SuperPacket {
            expected = self.template.len();
            // A super-packet must come out whole, or the joiner failed.
            self.joiner.flush(&mut self.datagrams, |slices| {
                let length: usize = slices[1..].iter().map(|slice| slice.len()).sum();
                opened = opened.max(length);
            });
        }
        if opened == expected && right { Ok(()) } else { Err(Error::Malformed("opened packets")) }
    }
}

/// Returns the virtio header that a TUN device puts before [`super_packet`].
fn virtio_header() -> VirtioHeader {
    VirtioHeader {
        flags: 1,
        gso_type: 1,
        header_length: HEADERS as u16,
        gso_size: SEGMENT as u16,
        checksum_start: 20,
        checksum_offset: 16,
    }
}

/// Returns a TCP super-packet with this many bytes of payload. Its checksum and lengths are
/// arbitrary: splitting recomputes them for each packet.
fn super_packet(payload: usize) -> Vec<u8> {
    let mut packet = vec![0x45; HEADERS + payload];
    packet[..20]
        .copy_from_slice(&[0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 8, 0, 1, 10, 8, 0, 2]);
    packet[20..HEADERS]
        .copy_from_slice(&[1, 1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opened_packets_equal_the_sealed_ones() {
        for cipher in CIPHERS {
            for shape in [Shape::Packets(64), Shape::Packets(1400), Shape::SuperPacket] {
                let mut round = Round::new(cipher, shape).unwrap();
                for _ in 0..3 {
                    round.check().unwrap();
                    round.seal().unwrap();
                    round.open().unwrap();
                }
                assert!(round.open().is_err(), "a packet opens once only");
                round.scratch.copy_from_slice(&round.template);
                round.seal().unwrap();
                round.template[HEADERS + 3] ^= 1;
                assert!(round.open_and(|opened, sealed| opened == sealed).is_err());
            }
        }
    }

    #[test]
    fn rounds_have_the_announced_size() {
        assert_eq!(Shape::Packets(64).packets(), MAX_PACKETS);
        assert_eq!(Shape::Packets(1400).packets(), 46);
        assert_eq!(Shape::SuperPacket.packets() * SEGMENT + HEADERS, 65_320);
    }
}
