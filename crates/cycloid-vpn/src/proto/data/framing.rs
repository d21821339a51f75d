//! Compression framing: one or two bytes that distinguish compressed from uncompressed packets.
//!
//! Nothing is ever compressed: compression before encryption reveals plaintext through lengths if
//! an attacker can choose part of the plaintext (VORACLE). But a peer with `compress` or `comp-lzo`
//! marks every packet, also uncompressed ones, and expects the same.

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

/// Framing bytes of version 1: uncompressed, LZO, LZ4.
const NOT_COMPRESSED: u8 = 0xfa;
const NOT_COMPRESSED_SWAP: u8 = 0xfb;
const LZO: u8 = 0x66;
const LZ4: u8 = 0x69;

/// The framing byte of version 2, and the second byte of uncompressed packets.
const V2: u8 = 0x50;
const V2_NOT_COMPRESSED: u8 = 0;

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
    /// [`Error::Incompatible`] for a compressed packet, [`Error::Malformed`] for missing framing.
    pub(super) fn strip(self, packet: &mut [u8]) -> Result<&mut [u8], Error> {
        match (self, &*packet) {
            (Self::None, _) | (_, []) => Ok(packet),
            (Self::Prefix | Self::Swap, [NOT_COMPRESSED, ..]) => Ok(&mut packet[1..]),
            (Self::Prefix | Self::Swap, [NOT_COMPRESSED_SWAP, ..]) => {
                let end = packet.len() - 1;
                packet[0] = packet[end];
                Ok(&mut packet[..end])
            }
            (Self::Prefix | Self::Swap, [LZO | LZ4, ..]) => Err(compressed()),
            (Self::Prefix | Self::Swap, _) => Err(Error::Malformed("missing compression framing")),
            (Self::StubV2, [V2, V2_NOT_COMPRESSED, ..]) => Ok(&mut packet[2..]),
            (Self::StubV2, [V2, ..]) => Err(compressed()),
            (Self::StubV2, _) => Ok(packet),
        }
    }
}

fn compressed() -> Error {
    Error::Incompatible(
        "the peer compresses packets, which leaks plaintext and is not supported".into(),
    )
}
