//! Derives the data channel keys of both directions from the result of a key exchange.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::ID;
use super::cipher::Cipher;
use super::direction::{Half, NONCE, Parameters};
use super::framing::Framing;
use super::open::Opener;
use super::seal::Sealer;
use crate::proto::static_key::{Direction, StaticKey};
use crate::proto::wire::KeyId;
use crate::proto::{Error, Role};

/// The result of a key exchange: 256 bytes, wiped on drop.
///
/// Two halves, for packets of the TLS client and of the TLS server. Each half has 64 bytes for the
/// cipher and 64 for the HMAC; an AEAD uses the first eight HMAC bytes for its nonces. Of each 64
/// bytes only the first ones are used, as many as the cipher needs. With epochs, the first 32 bytes
/// of each half are the secret of its first epoch.
pub struct KeyMaterial(Zeroizing<[u8; 256]>);

impl From<Zeroizing<[u8; 256]>> for KeyMaterial {
    fn from(bytes: Zeroizing<[u8; 256]>) -> Self {
        Self(bytes)
    }
}

impl KeyMaterial {
    /// Returns this end's half, and the peer's.
    fn halves(&self, role: Role) -> (Half<'_>, Half<'_>) {
        let (client, server) = self.0.split_at(128);
        match role {
            Role::Client => (Half(client), Half(server)),
            Role::Server => (Half(server), Half(client)),
        }
    }
}

/// Returns the keys of one end.
///
/// # Errors
///
/// [`Error::Configuration`] if the peer id has more than 24 bits, or if epochs are required without
/// an AEAD or a peer id.
pub fn keys(
    material: &KeyMaterial,
    role: Role,
    parameters: &Parameters,
) -> Result<(Arc<Sealer>, Opener), Error> {
    if parameters.peer_id.is_some_and(|id| id >= 1 << 24) {
        return Err(Error::Configuration("a peer id has 24 bits".into()));
    }
    if parameters.epochs && (parameters.peer_id.is_none() || !parameters.cipher.is_aead()) {
        return Err(Error::Configuration(
            "epochs of data keys require an AEAD and a peer id".into(),
        ));
    }
    let (ours, theirs) = material.halves(role);
    let sealer = Sealer::new(ours, parameters)?;
    let opener = Opener::new(theirs, parameters, &sealer)?;
    Ok((sealer, opener))
}

/// The AEAD keys of one end, for a data channel outside of this program.
pub struct RawKeys {
    /// The cipher, an AEAD.
    pub cipher: Cipher,
    /// The key id.
    pub key_id: KeyId,
    /// The peer id, 24 bits.
    pub peer_id: u32,
    /// Seals packets.
    pub sealing: RawKey,
    /// Opens packets.
    pub opening: RawKey,
}

/// The AEAD key of one direction. Wiped on drop.
pub struct RawKey {
    /// As many bytes as the cipher's key has.
    pub key: Zeroizing<Vec<u8>>,
    /// The end of each nonce, after the packet id.
    pub nonce_tail: Zeroizing<[u8; NONCE - ID]>,
}

impl fmt::Debug for RawKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawKeys").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

/// Returns the keys of one end as bytes, or `None` if packets under them need more than an AEAD:
/// without a peer id, with epochs, a framing, or fragments.
pub fn raw_keys(material: &KeyMaterial, role: Role, parameters: &Parameters) -> Option<RawKeys> {
    let Parameters { cipher, key_id, peer_id, epochs, framing, fragment, .. } = *parameters;
    let peer_id = peer_id.filter(|id| *id < 1 << 24)?;
    if !cipher.is_aead() || epochs || framing != Framing::None || fragment.is_some() {
        return None;
    }
    let raw = |half: Half<'_>| {
        let mut nonce_tail = Zeroizing::new([0; NONCE - ID]);
        nonce_tail.copy_from_slice(half.hmac(NONCE - ID));
        RawKey { key: Zeroizing::new(half.cipher(cipher.key_length()).to_vec()), nonce_tail }
    };
    let (ours, theirs) = material.halves(role);
    Some(RawKeys { cipher, key_id, peer_id, sealing: raw(ours), opening: raw(theirs) })
}

/// Returns the keys of one end of a tunnel with a static key, whose packets have no header. The
/// first packets have this time, in seconds since 1970.
///
/// Each half of the key serves one direction; without a direction, the first one serves both.
///
/// # Errors
///
/// [`Error::Configuration`] for a cipher other than CBC, or with a peer id or epochs.
pub fn static_keys(
    key: &StaticKey,
    direction: Option<Direction>,
    parameters: &Parameters,
    unix: u32,
) -> Result<(Arc<Sealer>, Opener), Error> {
    if parameters.cipher.is_aead() || parameters.peer_id.is_some() || parameters.epochs {
        return Err(Error::Configuration("a static key needs a CBC cipher".into()));
    }
    let (first, second) = key.as_bytes().split_at(128);
    let (ours, theirs) = match direction {
        None => (first, first),
        Some(Direction::Normal) => (first, second),
        Some(Direction::Inverse) => (second, first),
    };
    let sealer = Sealer::of_static_key(Half(ours), parameters, unix)?;
    Ok((sealer, Opener::of_static_key(Half(theirs), parameters)?))
}
