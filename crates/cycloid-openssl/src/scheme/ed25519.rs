//! Ed25519 (RFC 8032, section 5.1).

use std::ffi::CStr;
use std::sync::Arc;

use cycloid::scheme::Hash;

use super::{Purpose, Scheme};
use crate::failure::Error;
use crate::ffi::large_stack::on_large_stack;
use crate::ffi::params::Params;
use crate::key::ed25519::Ed25519Key;

/// Ed25519 without context and prehashing.
#[derive(Clone)]
pub(crate) struct Ed25519(Arc<Ed25519Key>);

impl Scheme for Ed25519 {
    type Key = Ed25519Key;

    const NAME: &'static CStr = c"ED25519";
    const ONE_SHOT: bool = true;

    fn begin(key: Arc<Ed25519Key>, _: &CStr, purpose: Purpose, hash: Option<Hash>) -> Option<Self> {
        let usable = purpose == Purpose::Verify || key.private().is_some();
        (usable && hash.is_none()).then_some(Self(key))
    }

    fn set(&mut self, params: &Params<'_>) -> bool {
        params.is_empty()
    }

    fn longest(&self) -> usize {
        64
    }

    fn sign(&self, message: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.0.private().map(|key| on_large_stack(|| key.sign(message).to_vec())))
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> Option<bool> {
        // OpenSSL checks the equation without the cofactor as well.
        let signature = signature.try_into();
        let verify = |it| on_large_stack(|| self.0.public().verify(message, it).is_ok());
        Some(signature.is_ok_and(verify))
    }
}
