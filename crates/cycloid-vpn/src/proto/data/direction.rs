//! The keys of one direction, and their negotiated parameters.

use aws_lc_rs::aead::{LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::framing::Framing;
use super::{ID, TAG};
use crate::proto::Error;
use crate::proto::wire::KeyId;

/// The negotiated parameters of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// The cipher.
    pub cipher: Cipher,
    /// The key id.
    pub key_id: KeyId,
    /// The peer id, 24 bits. With one, packets are sent as `DATA_V2`, otherwise as `DATA_V1`. Both
    /// are accepted.
    pub peer_id: Option<u32>,
    /// Whether data keys change by epochs. Requires an AEAD and a peer id.
    pub epochs: bool,
    /// The compression framing.
    pub framing: Framing,
    /// The longest datagram, whose packets are fragmented; `None` without the header of fragments.
    pub fragment: Option<u16>,
    /// Whether to accept packets that the peer compresses.
    pub decompress: bool,
    /// How many packet ids a packet may be late, at most [`super::MAX_REPLAY_WINDOW`]; 0 if the
    /// transport preserves order.
    pub replay_window: u32,
}

/// The 128 bytes of one direction.
#[derive(Clone, Copy)]
pub(super) struct Half<'a>(pub(super) &'a [u8]);

impl<'a> Half<'a> {
    pub(super) fn cipher(self, length: usize) -> &'a [u8] {
        &self.0[..length]
    }

    pub(super) fn hmac(self, length: usize) -> &'a [u8] {
        &self.0[64..64 + length]
    }
}

/// An AEAD key for one direction.
pub(super) struct Aead {
    pub(super) key: LessSafeKey,
    implicit_iv: Zeroizing<[u8; NONCE]>,
}

/// Bytes of every AEAD's nonce.
pub(super) const NONCE: usize = 12;

impl Aead {
    /// Bytes between header and ciphertext.
    pub(super) const OVERHEAD: usize = ID + TAG;

    /// Returns `None` if the cipher is not an AEAD.
    pub(super) fn new(half: Half<'_>, cipher: Cipher) -> Result<Option<Self>, Error> {
        if !cipher.is_aead() {
            return Ok(None);
        }
        let mut implicit_iv = Zeroizing::new([0; NONCE]);
        implicit_iv[ID..].copy_from_slice(half.hmac(NONCE - ID));
        Self::with_iv(cipher, half.cipher(cipher.key_length()), implicit_iv).map(Some)
    }

    /// Returns the key with all bytes that each nonce is combined with.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] for a cipher that is not an AEAD, or a wrong key length.
    pub(super) fn with_iv(
        cipher: Cipher,
        key: &[u8],
        implicit_iv: Zeroizing<[u8; NONCE]>,
    ) -> Result<Self, Error> {
        let key = cipher.aead().and_then(|algorithm| UnboundKey::new(algorithm, key).ok());
        let key =
            key.ok_or_else(|| Error::Configuration("invalid key length for the cipher".into()))?;
        Ok(Self { key: LessSafeKey::new(key), implicit_iv })
    }

    /// Returns the nonce of a packet: its id, followed by zeros, exclusive-or the implicit IV.
    #[inline]
    pub(super) fn nonce<const N: usize>(&self, id: [u8; N]) -> Nonce {
        let mut nonce = *self.implicit_iv;
        for (byte, id) in nonce.iter_mut().zip(id) {
            *byte ^= id;
        }
        Nonce::assume_unique_for_key(nonce)
    }
}
