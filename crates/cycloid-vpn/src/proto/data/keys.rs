//! Derives the data channel keys of both directions from the result of a key exchange.

use aws_lc_rs::aead::{LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::framing::Framing;
use super::open::Opener;
use super::seal::Sealer;
use super::{ID, TAG};
use crate::proto::wire::KeyId;
use crate::proto::{Error, Role};

/// The result of a key exchange: 256 bytes, wiped on drop.
///
/// Two halves, for packets of the TLS client and of the TLS server. Each half has 64 bytes for the
/// cipher and 64 for the HMAC; an AEAD uses the first eight HMAC bytes for its nonces. Of each 64
/// bytes only the first ones are used, as many as the cipher needs.
pub struct KeyMaterial(Zeroizing<[u8; 256]>);

impl From<Zeroizing<[u8; 256]>> for KeyMaterial {
    fn from(bytes: Zeroizing<[u8; 256]>) -> Self {
        Self(bytes)
    }
}

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

/// Returns the keys of one end.
///
/// # Errors
///
/// [`Error::Configuration`] if the peer id has more than 24 bits.
pub fn keys(
    material: &KeyMaterial,
    role: Role,
    parameters: &Parameters,
) -> Result<(Sealer, Opener), Error> {
    if parameters.peer_id.is_some_and(|id| id >= 1 << 24) {
        return Err(Error::Configuration("a peer id has 24 bits".into()));
    }
    let (client, server) = material.0.split_at(128);
    let (ours, theirs) = match role {
        Role::Client => (client, server),
        Role::Server => (server, client),
    };
    Ok((Sealer::new(Half(ours), parameters)?, Opener::new(Half(theirs), parameters)?))
}

/// The 128 bytes of one direction.
#[derive(Clone, Copy)]
pub(super) struct Half<'a>(&'a [u8]);

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
