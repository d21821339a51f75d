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
    /// The compression framing.
    pub framing: Framing,
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
    implicit_iv: Zeroizing<[u8; 8]>,
}

impl Aead {
    /// Bytes between header and ciphertext.
    pub(super) const OVERHEAD: usize = ID + TAG;

    /// Returns `None` if the cipher is not an AEAD.
    pub(super) fn new(half: Half<'_>, cipher: Cipher) -> Result<Option<Self>, Error> {
        let Some(algorithm) = cipher.aead() else { return Ok(None) };
        let key = UnboundKey::new(algorithm, half.cipher(cipher.key_length()))
            .map_err(|_| Error::Configuration("invalid key length for the cipher".into()))?;
        let mut implicit_iv = Zeroizing::new([0; 8]);
        implicit_iv.copy_from_slice(half.hmac(8));
        Ok(Some(Self { key: LessSafeKey::new(key), implicit_iv }))
    }

    #[inline]
    pub(super) fn nonce(&self, id: [u8; ID]) -> Nonce {
        let mut nonce = [0; 12];
        nonce[..ID].copy_from_slice(&id);
        nonce[ID..].copy_from_slice(&*self.implicit_iv);
        Nonce::assume_unique_for_key(nonce)
    }
}
