//! Fragments of inner packets (`fragment`), for paths that lose long datagrams.
//!
//! Every inner packet, after its compression framing, begins with four bytes:
//!
//! | bits | |
//! |---|---|
//! | 0–1 | 0: a whole packet; 1: a fragment with others after it; 2: the last fragment |
//! | 2–9 | the number of the packet, modulo 256; 0 for a whole one |
//! | 10–14 | the index of the fragment, from 0 |
//! | 15–28 | in the last fragment: the length of each of the others, in units of four bytes |
//!
//! Bit 0 is the lowest bit of the big-endian number. All fragments but the last have the same
//! length, so each one's place is known. They arrive in any order.
//!
//! Source: openvpn(8), `--fragment`; packets of OpenVPN 2.6.14.

use crate::proto::Error;

/// Bytes of the header.
pub(super) const HEADER: usize = 4;

/// The most fragments of a packet.
const MAX_FRAGMENTS: usize = 32;

/// The unit of a fragment's length.
const UNIT: usize = 4;

/// The longest fragment that the header can express.
const LONGEST: usize = 0x3fff * UNIT;

/// How many packets are assembled at a time. The oldest makes room for the next.
const INCOMPLETE: usize = 8;

/// The longest assembled packet.
const LONGEST_PACKET: usize = u16::MAX as usize + 2;

const WHOLE: u32 = 0;
const NOT_LAST: u32 = 1;
const LAST: u32 = 2;

/// A packet's division into fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Division {
    /// One datagram.
    Whole,
    /// Several fragments of this length; the last may be shorter.
    Fragments(usize),
}

impl Division {
    /// Divides a packet so that no fragment, without its header, has more than `limit` bytes.
    /// Fragments are about equally long. Returns `None` if they would be too many.
    pub(super) fn of(length: usize, limit: usize) -> Option<Self> {
        if length <= limit {
            return Some(Self::Whole);
        }
        let longest = (limit / UNIT * UNIT).min(LONGEST);
        let count = length.div_ceil(longest.max(1));
        if longest == 0 || count > MAX_FRAGMENTS {
            return None;
        }
        Some(Self::Fragments(length.div_ceil(count).next_multiple_of(UNIT)))
    }

    /// Returns the fragments with their headers.
    pub(super) fn pieces(
        self,
        packet: &[u8],
        sequence: u8,
    ) -> impl ExactSizeIterator<Item = ([u8; HEADER], &[u8])> {
        let size = match self {
            Self::Whole => packet.len().max(1),
            Self::Fragments(size) => size,
        };
        let count = packet.len().div_ceil(size).max(1);
        (0..count).map(move |index| {
            let piece = &packet[index * size..packet.len().min((index + 1) * size)];
            let place = u32::from(sequence) << 2 | (index as u32) << 10;
            let header = match self {
                Self::Whole => WHOLE,
                Self::Fragments(_) if index + 1 < count => NOT_LAST | place,
                Self::Fragments(_) => LAST | place | ((size / UNIT) as u32) << 15,
            };
            (header.to_be_bytes(), piece)
        })
    }
}

/// The result of a datagram.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// It is a whole packet, which follows the header.
    Whole,
    /// It is a fragment of a packet of which others are missing.
    Fragment,
    /// It completes a packet, which is in [`Assembly::packet`].
    Complete,
}

/// Assembles fragments. It allocates when the first fragment arrives.
#[derive(Default)]
pub(super) struct Assembly {
    /// The packets that are assembled, in order of their first fragments.
    incomplete: Vec<Incomplete>,
    packet: Vec<u8>,
}

/// A packet of which fragments are missing.
struct Incomplete {
    sequence: u8,
    bytes: Vec<u8>,
    /// Bit i: fragment i is there.
    there: u32,
    /// The length of each fragment but the last, as far as it is known.
    size: Option<usize>,
    /// The number of fragments, once the last is there.
    count: Option<usize>,
}

impl Assembly {
    /// Takes a decrypted datagram, which begins with the header.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`]; an incomplete packet of the same number is then forgotten.
    pub(super) fn take(&mut self, datagram: &[u8]) -> Result<Arrived, Error> {
        let (header, piece) = datagram
            .split_first_chunk::<HEADER>()
            .ok_or(Error::Malformed("missing fragment header"))?;
        let header = u32::from_be_bytes(*header);
        if header & 3 == WHOLE {
            return Ok(Arrived::Whole);
        }
        let sequence = (header >> 2) as u8;
        let at = self.incomplete.iter().position(|packet| packet.sequence == sequence);
        let at = at.unwrap_or_else(|| {
            if self.incomplete.len() == INCOMPLETE {
                self.incomplete.remove(0);
            }
            self.incomplete.push(Incomplete::new(sequence));
            self.incomplete.len() - 1
        });
        match self.incomplete[at].add(header, piece) {
            None => {
                self.incomplete.remove(at);
                Err(Error::Malformed("fragment"))
            }
            Some(false) => Ok(Arrived::Fragment),
            Some(true) => {
                self.packet = self.incomplete.remove(at).bytes;
                Ok(Arrived::Complete)
            }
        }
    }

    /// Returns the packet that was completed last.
    pub(super) fn packet(&mut self) -> &mut [u8] {
        &mut self.packet
    }
}

impl Incomplete {
    fn new(sequence: u8) -> Self {
        Self { sequence, bytes: Vec::new(), there: 0, size: None, count: None }
    }

    /// Adds a fragment. Returns whether the packet is complete, or `None` for a fragment that does
    /// not fit the others.
    fn add(&mut self, header: u32, piece: &[u8]) -> Option<bool> {
        let index = (header >> 10 & 0x1f) as usize;
        let size = match header & 3 {
            NOT_LAST => piece.len(),
            LAST => (header >> 15 & 0x3fff) as usize * UNIT,
            _ => return None,
        };
        let is_last = header & 3 == LAST;
        let fits = size > 0
            && size.is_multiple_of(UNIT)
            && !piece.is_empty()
            && piece.len() <= size
            && self.size.is_none_or(|known| known == size)
            && self.count.is_none_or(|count| if is_last { index + 1 == count } else { index + 1 < count })
            // A last fragment has the highest index.
            && (!is_last || self.there >> index >> 1 == 0);
        let end = index * size + piece.len();
        if !fits || end > LONGEST_PACKET {
            return None;
        }
        self.size = Some(size);
        if is_last {
            self.count = Some(index + 1);
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[end - piece.len()..end].copy_from_slice(piece);
        self.there |= 1 << index;
        Some(self.count.is_some_and(|count| self.there == u32::MAX >> (MAX_FRAGMENTS - count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn datagrams(packet: &[u8], limit: usize, sequence: u8) -> Vec<Vec<u8>> {
        let division = Division::of(packet.len(), limit).unwrap();
        division.pieces(packet, sequence).map(|(header, piece)| [&header, piece].concat()).collect()
    }

    proptest! {
        #[test]
        fn packets_arrive_in_any_order_of_their_fragments(
            packet in prop::collection::vec(any::<u8>(), 0..4000),
            limit in 130_usize..1600,
            sequence: u8,
            order: prop::sample::Index,
            twice: bool,
        ) {
            let mut datagrams = datagrams(&packet, limit, sequence);
            prop_assert!(datagrams.iter().all(|datagram| datagram.len() <= limit + HEADER));
            prop_assert_eq!(datagrams.len() > 1, packet.len() > limit);
            let mut assembly = Assembly::default();
            if let [whole] = &datagrams[..] {
                prop_assert_eq!(assembly.take(whole), Ok(Arrived::Whole));
                prop_assert_eq!(&whole[HEADER..], &packet);
                return Ok(());
            }
            let by = order.index(datagrams.len());
            datagrams.rotate_left(by);
            if by % 2 == 1 {
                datagrams.reverse();
            }
            for (at, datagram) in datagrams.iter().enumerate() {
                let is_last = at + 1 == datagrams.len();
                if twice && !is_last {
                    prop_assert_eq!(assembly.take(datagram), Ok(Arrived::Fragment));
                }
                let expected = if is_last { Arrived::Complete } else { Arrived::Fragment };
                prop_assert_eq!(assembly.take(datagram), Ok(expected));
            }
            prop_assert_eq!(assembly.packet(), &packet[..]);
        }

        #[test]
        fn any_bytes_are_bounded(
            datagrams in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..60),
        ) {
            let mut assembly = Assembly::default();
            for datagram in &datagrams {
                let arrived = assembly.take(datagram);
                prop_assert!(assembly.incomplete.len() <= INCOMPLETE);
                if arrived == Ok(Arrived::Complete) {
                    prop_assert!(assembly.packet().len() <= LONGEST_PACKET);
                }
            }
        }
    }

    #[test]
    fn headers_have_the_bits_of_the_table() {
        let packet = [7; 100];
        assert_eq!(datagrams(&packet, 100, 9)[0][..HEADER], [0; 4]);
        let pieces = datagrams(&packet, 43, 0xa5);
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.len() - HEADER).collect();
        assert_eq!(lengths, [36, 36, 28]);
        let header = |piece: &[u8]| u32::from_be_bytes(*piece.first_chunk().unwrap());
        assert_eq!(header(&pieces[0]), 1 | 0xa5 << 2);
        assert_eq!(header(&pieces[1]), 1 | 0xa5 << 2 | 1 << 10);
        assert_eq!(header(&pieces[2]), 2 | 0xa5 << 2 | 2 << 10 | 9 << 15);
    }

    #[test]
    fn packets_in_too_many_fragments_are_not_divided() {
        assert!(Division::of(32 * 40, 41).is_some());
        assert_eq!(Division::of(32 * 40 + 1, 41), None);
        assert_eq!(Division::of(10, 3), None);
        assert_eq!(Division::of(10, 0), None);
        assert_eq!(Division::of(0, 0), Some(Division::Whole));
    }

    #[test]
    fn the_oldest_incomplete_packet_makes_room() {
        let mut assembly = Assembly::default();
        let pieces = |sequence| datagrams(&[sequence; 50], 40, sequence);
        for sequence in 0..=INCOMPLETE as u8 {
            assert_eq!(assembly.take(&pieces(sequence)[0]), Ok(Arrived::Fragment));
        }
        assert_eq!(assembly.take(&pieces(1)[1]), Ok(Arrived::Complete));
        assert_eq!(assembly.packet(), [1; 50]);
        assert_eq!(assembly.take(&pieces(0)[1]), Ok(Arrived::Fragment), "it was forgotten");
    }

    #[test]
    fn fragments_that_do_not_fit_are_errors() {
        let good = datagrams(&[1; 100], 40, 5);
        let changed = |piece: &[u8], change: u32| {
            let header = u32::from_be_bytes(*piece.first_chunk().unwrap()) ^ change;
            [&header.to_be_bytes(), &piece[HEADER..]].concat()
        };
        let wrong = [
            good[0][..3].to_vec(),
            good[0][..HEADER].to_vec(),
            good[0][..HEADER + 33].to_vec(),
            good[0][..HEADER + 32].to_vec(),
            // Type 3, another length of the others, a length of 0, and an index below another.
            changed(&good[2], 1),
            changed(&good[2], 1 << 15),
            changed(&good[2], 9 << 15),
            changed(&good[2], 2 << 10),
        ];
        for wrong in wrong {
            let mut assembly = Assembly::default();
            assert_eq!(assembly.take(&good[1]), Ok(Arrived::Fragment));
            assert!(assembly.take(&wrong).is_err(), "{:x?}", &wrong[..3]);
        }
        // After the last fragment none may follow, and there is only one.
        let mut assembly = Assembly::default();
        assert_eq!(assembly.take(&good[2]), Ok(Arrived::Fragment));
        assert!(assembly.take(&changed(&good[1], 2 << 10)).is_err());
        assert!(assembly.incomplete.is_empty());
    }
}
