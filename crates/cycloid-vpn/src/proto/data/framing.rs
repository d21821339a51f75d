//! The byte or two that tell a packet that was compressed from one that was not.
//!
//! Nothing is ever compressed: compressing before encrypting tells lengths, and so contents, to
//! whoever can have some of the plaintext chosen (VORACLE). But a peer that was told of `compress`
//! or `comp-lzo` marks each packet, also those that it leaves alone, and wants the marks of others.

use crate::proto::Error;

/// How an inner packet is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Not at all.
    #[default]
    None,
    /// One byte before the packet: `comp-lzo no`.
    Prefix,
    /// The mark takes the place of the first byte, which moves to the end: `compress`,
    /// `compress stub`.
    Swap,
    /// Two bytes, before such packets only as would be taken for marked: `compress stub-v2`.
    StubV2,
}

/// Marks of the first kind: not compressed, LZO, LZ4.
const NOT_COMPRESSED: u8 = 0xfa;
const NOT_COMPRESSED_SWAP: u8 = 0xfb;
const LZO: u8 = 0x66;
const LZ4: u8 = 0x69;

/// The mark of the second kind, and what follows it where nothing was compressed.
const V2: u8 = 0x50;
const V2_NOT_COMPRESSED: u8 = 0;

impl Framing {
    /// The most bytes that a mark takes.
    pub(super) const fn overhead(self) -> usize {
        match self {
            Self::None => 0,
            Self::Prefix | Self::Swap => 1,
            Self::StubV2 => 2,
        }
    }

    /// Whether a packet that begins like this goes out as it is.
    pub(super) fn is_plain(self, packet: &[u8]) -> bool {
        match self {
            Self::None => true,
            Self::Prefix | Self::Swap => false,
            Self::StubV2 => packet.first() != Some(&V2),
        }
    }

    /// Puts a packet, given in parts, into `out` with its mark, and says how many bytes it takes;
    /// `None` where `out` is too short.
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

    /// Takes the mark off a packet that was opened.
    ///
    /// # Errors
    ///
    /// [`Error::Incompatible`] where it was compressed, [`Error::Malformed`] where the mark is
    /// missing.
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
            (Self::Prefix | Self::Swap, _) => Err(Error::Malformed("no mark of compression")),
            (Self::StubV2, [V2, V2_NOT_COMPRESSED, ..]) => Ok(&mut packet[2..]),
            (Self::StubV2, [V2, ..]) => Err(compressed()),
            (Self::StubV2, _) => Ok(packet),
        }
    }
}

fn compressed() -> Error {
    Error::Incompatible("the peer compresses packets, which is not supported as it leaks".into())
}
