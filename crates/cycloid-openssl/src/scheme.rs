//! Operations with keys, in Cycloid's terms. Whatever a scheme does not handle is left to the
//! default provider, which then also raises the errors of wrong parameters.

pub(crate) mod agreement;
pub(crate) mod ecdsa;
pub(crate) mod ed25519;
pub(crate) mod rsa;
pub(crate) mod rsa_encryption;

use std::ffi::CStr;
use std::sync::Arc;

use cycloid::scheme::Hash;
use zeroize::Zeroizing;

use crate::failure::Error;
use crate::ffi::params::Params;
use crate::key::Key;

/// What a key is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Sign,
    Verify,
}

/// A signature scheme with a key and its parameters.
pub(crate) trait Scheme: Clone + Sized + 'static {
    type Key: Key;

    /// The name of the algorithm.
    const NAME: &'static CStr;

    /// Whether the scheme hashes messages itself, so that it needs them as a whole.
    const ONE_SHOT: bool;

    /// Begins an operation, for a message hashed with `hash` if that is known.
    fn begin(
        key: Arc<Self::Key>,
        kind: &CStr,
        purpose: Purpose,
        hash: Option<Hash>,
    ) -> Option<Self>;

    /// Changes parameters. Returns whether all of them are handled here; otherwise none changes.
    fn set(&mut self, params: &Params<'_>) -> bool;

    /// Returns the maximum length of a signature, in bytes.
    fn longest(&self) -> usize;

    /// Signs a digest, or a message if the scheme is one-shot. `None` leaves it to the default
    /// provider.
    fn sign(&self, input: &[u8]) -> Result<Option<Vec<u8>>, Error>;

    /// Verifies the signature of a digest, or of a message if the scheme is one-shot.
    fn verify(&self, input: &[u8], signature: &[u8]) -> Option<bool>;
}

/// An agreement on a secret with a peer.
pub(crate) trait Agreement: Clone + Sized + 'static {
    type Key: Key;

    /// The name of the algorithm.
    const NAME: &'static CStr;

    /// Begins with the own key.
    fn begin(key: Arc<Self::Key>) -> Option<Self>;

    /// Sets the peer's public key.
    fn set_peer(&mut self, peer: Arc<Self::Key>) -> bool;

    /// Returns the length of the secret, in bytes.
    fn length(&self) -> usize;

    /// Whether a caller with too little room gets the first bytes of the secret, as from OpenSSL.
    const TRUNCATES: bool;

    /// Returns the secret.
    fn derive(&self) -> Result<Zeroizing<Vec<u8>>, Error>;
}
