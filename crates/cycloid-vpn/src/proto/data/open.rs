//! Opens datagrams into inner packets.

use std::sync::Arc;

use aws_lc_rs::aead::Aad;

use super::cbc::CbcOpen;
use super::cipher::FORGERY_LIMIT;
use super::direction::{Aead, Half, Parameters};
use super::fragment::{Arrived, Assembly, HEADER};
use super::framing::{Algorithm, Content, Framing, compressed};
use super::receive_epochs::ReceiveEpochs;
use super::replay::ReplayWindow;
use super::seal::Sealer;
use super::{EPOCH_ID, ID, TAG, header_length};
use crate::proto::Error;
use crate::proto::packet_id::{LongId, LongReplayWindow};
use crate::proto::wire::KeyId;

/// The key for receiving, owned by the receiving thread.
pub struct Opener {
    key: Key,
    key_id: KeyId,
    framing: Framing,
    /// Whether the peer may compress.
    decompress: bool,
    /// Room for a decompressed or assembled packet, if there can be one, and its length.
    apart: Option<Box<[u8]>>,
    length: usize,
    /// The incomplete packets, if there are fragments.
    assembly: Option<Assembly>,
    window: ReplayWindow,
    /// Whether the last opened packet had the highest id so far.
    newest: bool,
    packets: u64,
    bytes: u64,
    forged: u64,
}

/// An opened packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Opened<'a> {
    /// A part of the datagram.
    InPlace(&'a mut [u8]),
    /// The packet was compressed or fragmented, and is in [`Opener::apart`].
    Apart,
    /// It is a fragment, and others of its packet are missing.
    Fragment,
}

/// The longest decompressed or assembled packet in bytes.
const LONGEST: usize = u16::MAX as usize;

enum Key {
    Aead(Aead),
    Epochs(ReceiveEpochs),
    Cbc(CbcOpen),
    Static(CbcOpen, LongReplayWindow),
}

impl Opener {
    /// Returns the key for one direction. `sealer` is the key for the other direction: with epochs,
    /// it follows a peer that has moved to a later epoch.
    pub(super) fn new(
        half: Half<'_>,
        parameters: &Parameters,
        sealer: &Arc<Sealer>,
    ) -> Result<Self, Error> {
        let &Parameters { cipher, replay_window, epochs, .. } = parameters;
        let key = if epochs && cipher.is_aead() {
            Key::Epochs(ReceiveEpochs::new(half, cipher, replay_window, sealer)?)
        } else {
            match Aead::new(half, cipher)? {
                Some(aead) => Key::Aead(aead),
                None => Key::Cbc(CbcOpen::new(half, cipher)?),
            }
        };
        Ok(Self::with_key(key, parameters))
    }

    /// Returns the key of a static key's direction.
    pub(super) fn of_static_key(half: Half<'_>, parameters: &Parameters) -> Result<Self, Error> {
        let cbc = CbcOpen::new(half, parameters.cipher)?;
        let window = LongReplayWindow::new(parameters.replay_window);
        Ok(Self::with_key(Key::Static(cbc, window), parameters))
    }

    fn with_key(key: Key, parameters: &Parameters) -> Self {
        let &Parameters { key_id, framing, fragment, decompress, replay_window, .. } = parameters;
        let window = ReplayWindow::new(replay_window);
        let decompress = decompress && framing != Framing::None;
        let assembly = fragment.map(|_| Assembly::default());
        let has_apart = decompress || assembly.is_some();
        let apart = has_apart.then(|| vec![0; LONGEST].into_boxed_slice());
        let (packets, bytes, forged) = (0, 0, 0);
        Self {
            key,
            key_id,
            framing,
            decompress,
            apart,
            length: 0,
            assembly,
            window,
            newest: false,
            packets,
            bytes,
            forged,
        }
    }

    /// Opens a datagram in place and returns the inner packet. After an error the contents of
    /// `packet` are unspecified.
    ///
    /// The caller has found this key by the peer id of a `DATA_V2` packet; an AEAD also
    /// authenticates that id.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`], [`Error::NotAuthentic`] and [`Error::Replay`], after which the packet
    /// is dropped; [`Error::Incompatible`] if the peer compresses and may not; [`Error::Exhausted`]
    /// after 2³⁶ forgeries.
    pub fn open_any<'a>(&mut self, packet: &'a mut [u8]) -> Result<Opened<'a>, Error> {
        const SHORT: Error = Error::Malformed("data packet too short");
        let first = *packet.first().ok_or(SHORT)?;
        // Packets under a static key have no header.
        let header = match self.key {
            Key::Static(..) => 0,
            _ => header_length(first).ok_or(Error::Malformed("not a data packet"))?,
        };
        if header > 0 && first & 7 != self.key_id.get() {
            return Err(Error::NotAuthentic("another key id"));
        }
        if self.forged >= FORGERY_LIMIT {
            return Err(Error::Exhausted);
        }
        let inner = match &mut self.key {
            Key::Aead(aead) => {
                let (prefix, body) =
                    packet.split_at_mut_checked(header + Aead::OVERHEAD).ok_or(SHORT)?;
                let (prefix, tag) = prefix.split_at(header + ID);
                let id: [u8; ID] = prefix[header..].try_into().map_err(|_| SHORT)?;
                self.window.check(u32::from_be_bytes(id).into())?;
                let additional = if header == 1 { &prefix[1..] } else { prefix };
                let inner = aead
                    .key
                    .open_in_place_separate_tag(aead.nonce(id), Aad::from(additional), tag, body)
                    .map_err(|_| {
                        self.forged += 1;
                        Error::NotAuthentic("data packet")
                    })?;
                self.newest = self.window.commit(u32::from_be_bytes(id).into());
                inner
            }
            Key::Epochs(epochs) => {
                if header == 1 {
                    return Err(Error::Malformed("data packet without a peer id"));
                }
                let (prefix, body) = packet.split_at_mut_checked(header + EPOCH_ID).ok_or(SHORT)?;
                let length = body.len().checked_sub(TAG).ok_or(SHORT)?;
                let (body, tag) = body.split_at_mut(length);
                let (_, id) = prefix.split_last_chunk::<EPOCH_ID>().ok_or(SHORT)?;
                let (inner, newest) = epochs.open(*id, prefix, tag, body)?;
                self.newest = newest;
                inner
            }
            Key::Cbc(cbc) => {
                let body = packet.get_mut(header..).ok_or(SHORT)?;
                let plain = cbc.open(body)?;
                let (id, inner) = plain.split_first_chunk_mut::<ID>().ok_or(SHORT)?;
                let id = u32::from_be_bytes(*id).into();
                self.window.check(id)?;
                self.newest = self.window.commit(id);
                inner
            }
            Key::Static(cbc, window) => {
                let plain = cbc.open(packet)?;
                let (id, inner) = plain.split_first_chunk_mut::<{ LongId::LEN }>().ok_or(SHORT)?;
                let id = LongId::from_bytes(id);
                window.check(id)?;
                self.newest = window.commit(id);
                inner
            }
        };
        self.packets += 1;
        self.bytes += inner.len() as u64;
        let Some(assembly) = &mut self.assembly else { return self.unframe(inner) };
        match assembly.take(inner)? {
            Arrived::Whole => self.unframe(&mut inner[HEADER..]),
            Arrived::Fragment => Ok(Opened::Fragment),
            Arrived::Complete => {
                let framing = self.framing;
                match framing.strip(assembly.packet())? {
                    Content::Plain(inner) => {
                        let room = self.apart.as_mut().and_then(|room| room.get_mut(..inner.len()));
                        room.ok_or(Error::Malformed("packet too long"))?.copy_from_slice(inner);
                        self.length = inner.len();
                    }
                    Content::Compressed(algorithm, inner) => {
                        let room = self.apart.as_mut().filter(|_| self.decompress);
                        self.length = decompress(algorithm, inner, room)?;
                    }
                }
                Ok(Opened::Apart)
            }
        }
    }

    /// Removes the compression framing of a packet, and decompresses it.
    fn unframe<'a>(&mut self, inner: &'a mut [u8]) -> Result<Opened<'a>, Error> {
        match self.framing.strip(inner)? {
            Content::Plain(inner) => Ok(Opened::InPlace(inner)),
            Content::Compressed(algorithm, inner) => {
                let room = self.apart.as_mut().filter(|_| self.decompress);
                self.length = decompress(algorithm, inner, room)?;
                Ok(Opened::Apart)
            }
        }
    }

    /// Opens a datagram whose sender neither compresses nor fragments, as
    /// [`open_any`](Self::open_any) does.
    ///
    /// # Errors
    ///
    /// Those of [`open_any`](Self::open_any), and [`Error::Incompatible`] for a compressed packet
    /// or a fragment.
    pub fn open<'a>(&mut self, packet: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        match self.open_any(packet)? {
            Opened::InPlace(inner) => Ok(inner),
            Opened::Apart => Err(compressed()),
            Opened::Fragment => Err(Error::Incompatible("the peer fragments packets".into())),
        }
    }

    /// Returns the packet that [`open_any`](Self::open_any) has decompressed or assembled last.
    pub fn apart(&mut self) -> &mut [u8] {
        self.apart.as_mut().map_or(&mut [], |room| &mut room[..self.length])
    }

    /// Returns whether the last opened packet is the latest that the peer has sent, as far as is
    /// known: a packet that was delayed, on purpose or not, is no news of the peer's address.
    pub fn opened_newest(&self) -> bool {
        self.newest
    }

    /// Returns the number of authentic packets so far, and the bytes of their inner packets.
    pub fn used(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }
}

/// Decompresses a packet into `room`, which is `None` if the peer may not compress. Returns the
/// length.
fn decompress(
    algorithm: Algorithm,
    packet: &[u8],
    room: Option<&mut Box<[u8]>>,
) -> Result<usize, Error> {
    let length = algorithm.decompress(packet, room.ok_or_else(compressed)?);
    length.ok_or(Error::Malformed("compressed packet"))
}

#[cfg(test)]
impl Opener {
    /// Sets the current epoch's number of blocks, as if this much had been opened.
    /// Returns the number of epochs whose keys are derived.
    pub(super) fn epochs(&self) -> usize {
        match &self.key {
            Key::Epochs(epochs) => epochs.len(),
            _ => 0,
        }
    }

    pub(super) fn age(&mut self, blocks: u64) {
        let Key::Epochs(epochs) = &mut self.key else { panic!("a key with epochs") };
        epochs.age(blocks);
    }
}
