//! Opens datagrams into inner packets.

use aws_lc_rs::aead::Aad;

use super::cbc::CbcOpen;
use super::direction::{Aead, Half, Parameters};
use super::framing::Framing;
use super::replay::ReplayWindow;
use super::{ID, header_length};
use crate::proto::Error;
use crate::proto::wire::KeyId;

/// The key for receiving, owned by the receiving thread.
pub struct Opener {
    key: Key,
    key_id: KeyId,
    framing: Framing,
    window: ReplayWindow,
    /// Whether the last opened packet had the highest id so far.
    newest: bool,
    packets: u64,
    bytes: u64,
    forged: u64,
}

#[expect(clippy::large_enum_variant, reason = "only a few exist at a time")]
enum Key {
    Aead(Aead),
    Cbc(CbcOpen),
}

/// Number of forged packets after which a key is no longer trusted: the limit of ChaCha20-Poly1305
/// (RFC 9001, section 6.6), the lowest of all ciphers here.
const FORGERY_LIMIT: u64 = 1 << 36;

impl Opener {
    pub(super) fn new(half: Half<'_>, parameters: &Parameters) -> Result<Self, Error> {
        let &Parameters { cipher, key_id, framing, replay_window, .. } = parameters;
        let key = match Aead::new(half, cipher)? {
            Some(aead) => Key::Aead(aead),
            None => Key::Cbc(CbcOpen::new(half, cipher)?),
        };
        let window = ReplayWindow::new(replay_window);
        Ok(Self { key, key_id, framing, window, newest: false, packets: 0, bytes: 0, forged: 0 })
    }

    /// Opens a datagram in place and returns the inner packet, a slice of it. After an error the
    /// contents of `packet` are unspecified.
    ///
    /// The caller has found this key by the peer id of a `DATA_V2` packet; an AEAD also
    /// authenticates that id.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`], [`Error::NotAuthentic`] and [`Error::Replay`], after which the packet
    /// is dropped; [`Error::Incompatible`] if the peer compresses; [`Error::Exhausted`] after 2³⁶
    /// forgeries.
    pub fn open<'a>(&mut self, packet: &'a mut [u8]) -> Result<&'a mut [u8], Error> {
        const SHORT: Error = Error::Malformed("data packet too short");
        let first = *packet.first().ok_or(SHORT)?;
        let header = header_length(first).ok_or(Error::Malformed("not a data packet"))?;
        if first & 7 != self.key_id.get() {
            return Err(Error::NotAuthentic("another key id"));
        }
        if self.forged >= FORGERY_LIMIT {
            return Err(Error::Exhausted);
        }
        let inner = match &self.key {
            Key::Aead(aead) => {
                let (prefix, body) =
                    packet.split_at_mut_checked(header + Aead::OVERHEAD).ok_or(SHORT)?;
                let (prefix, tag) = prefix.split_at(header + ID);
                let id: [u8; ID] = prefix[header..].try_into().map_err(|_| SHORT)?;
                self.window.check(u32::from_be_bytes(id))?;
                let additional = if header == 1 { &prefix[1..] } else { prefix };
                let inner = aead
                    .key
                    .open_in_place_separate_tag(aead.nonce(id), Aad::from(additional), tag, body)
                    .map_err(|_| {
                        self.forged += 1;
                        Error::NotAuthentic("data packet")
                    })?;
                self.newest = self.window.commit(u32::from_be_bytes(id));
                inner
            }
            Key::Cbc(cbc) => {
                let body = packet.get_mut(header..).ok_or(SHORT)?;
                let plain = cbc.open(body)?;
                let (id, inner) = plain.split_first_chunk_mut::<ID>().ok_or(SHORT)?;
                let id = u32::from_be_bytes(*id);
                self.window.check(id)?;
                self.newest = self.window.commit(id);
                inner
            }
        };
        self.packets += 1;
        self.bytes += inner.len() as u64;
        self.framing.strip(inner)
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
