//! Compression framing: one or two bytes that distinguish compressed from uncompressed packets.
//!
//! Nothing is ever compressed: compression before encryption reveals plaintext through lengths if
//! an attacker can choose part of the plaintext (VORACLE). But a peer with `compress` or `comp-lzo`
//! marks every packet, also uncompressed ones, and expects the same. Packets that it compresses are
//! decompressed if the configuration allows it (`allow-compression asym`).

use super::{lz4, lzo};
use crate::proto::Error;

/// The framing of inner packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// No framing.
    #[default]
    None,
    /// One byte before the packet: `comp-lzo no`.
    Prefix,
    /// One byte replaces the first byte, which moves to the end: `compress`, `compress stub`.
    Swap,
    /// Two bytes, only before packets that would look framed: `compress stub-v2`.
    StubV2,
}

/// A compression algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Lzo,
    Lz4,
}

impl Algorithm {
    /// Decompresses a packet into `out`. Returns its length, or `None` for malformed input or too
    /// long output.
    pub(super) fn decompress(self, input: &[u8], out: &mut [u8]) -> Option<usize> {
        match self {
            Self::Lzo => lzo::decompress(input, out),
            Self::Lz4 => lz4::decompress(input, out),
        }
    }
}

/// A packet without framing.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Plain(&'a mut [u8]),
    Compressed(Algorithm, &'a [u8]),
}

/// Framing bytes of version 1: uncompressed, LZO, LZ4.
const NOT_COMPRESSED: u8 = 0xfa;
const NOT_COMPRESSED_SWAP: u8 = 0xfb;
const LZO: u8 = 0x66;
const LZ4: u8 = 0x69;

/// The framing byte of version 2, and the second byte: uncompressed, LZ4, LZO.
const V2: u8 = 0x50;
const V2_NOT_COMPRESSED: u8 = 0;
const V2_LZ4: u8 = 1;
const V2_LZO: u8 = 2;

impl Framing {
    /// Returns the maximum number of framing bytes.
    pub(super) const fn overhead(self) -> usize {
        match self {
            Self::None => 0,
            Self::Prefix | Self::Swap => 1,
            Self::StubV2 => 2,
        }
    }

    /// Returns whether a packet that starts like this is sent without framing.
    pub(super) fn is_plain(self, packet: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Prefix | Self::Swap => false,
            Self::StubV2 => packet.first() != Some(&V2),
        }
    }

    /// Writes a packet, given in parts, with framing to `out`. Returns its length, or `None` if
    /// `out` is too short.
    pub(super) fn write(self, parts: &[&[u8]], out: &mut [u8]) -> Option<usize> {
        let mark: &[u8] = match self {
            Self::Prefix => &[NOT_COMPRESSED],
            Self::StubV2 if parts.iter().find_map(|part| part.first()) == Some(&V2) => {
                &[V2, V2_NOT_COMPRESSED]
            }
            Self::None | Self::Swap | Self::StubV2 => &[],
        };
        let mut end = 0;
        for part in [mark].iter().chain(parts) {
            out.get_mut(end..end + part.len())?.copy_from_slice(part);
            end += part.len();
        }
        if self == Self::Swap && end != 0 {
            *out.get_mut(end)? = std::mem::replace(&mut out[0], NOT_COMPRESSED_SWAP);
            end += 1;
        }
        Some(end)
    }

    /// Removes the framing of a decrypted packet.
    ///
    /// # Errors
    ///
    /// [`Error::Incompatible`] for an unknown algorithm, [`Error::Malformed`] for missing framing.
    pub(super) fn strip(self, packet: &mut [u8]) -> Result<Content<'_>, Error> {
        // A packet with swapped framing has its first byte at the end.
        let unswap = |packet: &mut [u8]| {
            let end = packet.len() - 1;
            packet[0] = packet[end];
            end
        };
        match (self, &*packet) {
            (Self::None, _) | (_, []) => Ok(Content::Plain(packet)),
            (Self::Prefix | Self::Swap, [NOT_COMPRESSED, ..]) => {
                Ok(Content::Plain(&mut packet[1..]))
            }
            (Self::Prefix | Self::Swap, [NOT_COMPRESSED_SWAP, ..]) => {
                let end = unswap(packet);
                Ok(Content::Plain(&mut packet[..end]))
            }
            (Self::Prefix | Self::Swap, [LZO, ..]) => {
                Ok(Content::Compressed(Algorithm::Lzo, &packet[1..]))
            }
            (Self::Prefix | Self::Swap, [LZ4, ..]) => {
                let end = unswap(packet);
                Ok(Content::Compressed(Algorithm::Lz4, &packet[..end]))
            }
            (Self::Prefix | Self::Swap, _) => Err(Error::Malformed("missing compression framing")),
            (Self::StubV2, [V2, V2_NOT_COMPRESSED, ..]) => Ok(Content::Plain(&mut packet[2..])),
            (Self::StubV2, [V2, V2_LZ4, ..]) => {
                Ok(Content::Compressed(Algorithm::Lz4, &packet[2..]))
            }
            (Self::StubV2, [V2, V2_LZO, ..]) => {
                Ok(Content::Compressed(Algorithm::Lzo, &packet[2..]))
            }
            (Self::StubV2, [V2, ..]) => Err(compressed()),
            (Self::StubV2, _) => Ok(Content::Plain(packet)),
        }
    }
}

/// Returns the error of a compressed packet.
pub(super) fn compressed() -> Error {
    Error::Incompatible(
        "the peer compresses packets, and allow-compression asym is not set here".into(),
    )
}
