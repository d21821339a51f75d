//! ECDH and X25519, without key derivation.

use std::ffi::CStr;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::Agreement;
use crate::failure::{Error, Failure};
use crate::ffi::large_stack::on_large_stack;
use crate::key::ec::EcKey;
use crate::key::x25519::X25519Key;

/// ECDH on a NIST curve.
#[derive(Clone)]
pub(crate) struct Ecdh {
    key: Arc<EcKey>,
    peer: Option<Arc<EcKey>>,
}

impl Agreement for Ecdh {
    type Key = EcKey;

    const NAME: &'static CStr = c"ECDH";
    const TRUNCATES: bool = true;

    fn begin(key: Arc<EcKey>) -> Option<Self> {
        key.private()?;
        Some(Self { key, peer: None })
    }

    fn set_peer(&mut self, peer: Arc<EcKey>) -> bool {
        let fits = peer.public().is_some() && peer.curve() == self.key.curve();
        if fits {
            self.peer = Some(peer);
        }
        fits
    }

    fn length(&self) -> usize {
        self.key.curve().bytes()
    }

    fn derive(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let private = self.key.private().ok_or(Failure::NoPrivateKey)?;
        let peer = self.peer.as_ref().and_then(|peer| peer.public()).ok_or(Failure::NoPeer)?;
        let secret = on_large_stack(|| private.agree(peer))
            .map_err(|error| Failure::Derivation.because(error))?;
        Ok(Zeroizing::new(secret.to_vec()))
    }
}

/// X25519 (RFC 7748).
#[derive(Clone)]
pub(crate) struct X25519 {
    key: Arc<X25519Key>,
    peer: Option<Arc<X25519Key>>,
}

impl Agreement for X25519 {
    type Key = X25519Key;

    const NAME: &'static CStr = c"X25519";
    const TRUNCATES: bool = false;

    fn begin(key: Arc<X25519Key>) -> Option<Self> {
        key.private()?;
        Some(Self { key, peer: None })
    }

    fn set_peer(&mut self, peer: Arc<X25519Key>) -> bool {
        let fits = peer.public().is_some();
        if fits {
            self.peer = Some(peer);
        }
        fits
    }

    fn length(&self) -> usize {
        32
    }

    fn derive(&self) -> Result<Zeroizing<Vec<u8>>, Error> {
        let private = self.key.private().ok_or(Failure::NoPrivateKey)?;
        let peer = self.peer.as_ref().and_then(|peer| peer.public()).ok_or(Failure::NoPeer)?;
        let secret = on_large_stack(|| private.agree(peer))
            .map_err(|error| Failure::Derivation.because(error))?;
        Ok(Zeroizing::new(secret.as_bytes().to_vec()))
    }
}
