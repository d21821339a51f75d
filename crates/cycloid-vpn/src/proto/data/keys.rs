//! Derives the data channel keys of both directions from the result of a key exchange.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::direction::{Half, Parameters};
use super::open::Opener;
use super::seal::Sealer;
use crate::proto::static_key::{Direction, StaticKey};
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
    let (client, server) = material.0.split_at(128);
    let (ours, theirs) = match role {
        Role::Client => (client, server),
        Role::Server => (server, client),
    };
    let sealer = Sealer::new(Half(ours), parameters)?;
    let opener = Opener::new(Half(theirs), parameters, &sealer)?;
    Ok((sealer, opener))
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
