//! From what a key exchange gave to keys for the two directions.

use aws_lc_rs::aead::{LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::framing::Framing;
use super::open::Opener;
use super::seal::Sealer;
use super::{ID, TAG};
use crate::proto::wire::KeyId;
use crate::proto::{Error, Role};

/// What a key exchange gave: 256 bytes, wiped when dropped.
///
/// Two halves, for the packets of the TLS client and those of the server; each 64 bytes for the
/// cipher and 64 for the HMAC, of which an AEAD takes the first eight for its nonces. Only the
/// first bytes of each 64 are used, as many as the cipher wants.
pub struct KeyMaterial(Zeroizing<[u8; 256]>);

impl From<Zeroizing<[u8; 256]>> for KeyMaterial {
    fn from(bytes: Zeroizing<[u8; 256]>) -> Self {
        Self(bytes)
    }
}

/// What both ends agreed on for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// What protects the packets.
    pub cipher: Cipher,
    /// Which of the keys in use this is.
    pub key_id: KeyId,
    /// With one, of 24 bits, packets go out as `DATA_V2`; without, as `DATA_V1`. Both come in.
    pub peer_id: Option<u32>,
    /// How packets are marked as not compressed.
    pub framing: Framing,
    /// How many packet ids back a packet may come late, [`super::MAX_REPLAY_WINDOW`] at most; 0
    /// where the transport keeps the order.
    pub replay_window: u32,
}

/// The keys of one end.
///
/// # Errors
///
/// [`Error::Configuration`] where the peer id has more than 24 bits.
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

/// An AEAD for one direction.
pub(super) struct Aead {
    pub(super) key: LessSafeKey,
    implicit_iv: Zeroizing<[u8; 8]>,
}

impl Aead {
    /// Bytes between the header and the ciphertext.
    pub(super) const OVERHEAD: usize = ID + TAG;

    /// `None` where the cipher is none.
    pub(super) fn new(half: Half<'_>, cipher: Cipher) -> Result<Option<Self>, Error> {
        let Some(algorithm) = cipher.aead() else { return Ok(None) };
        let key = UnboundKey::new(algorithm, half.cipher(cipher.key_length()))
            .map_err(|_| Error::Configuration("the cipher takes no such key".into()))?;
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
