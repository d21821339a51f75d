//! Keys: parsed from attributes or their form at rest, and prepared for use.

pub(crate) mod curve;
mod diffie_hellman;
mod ed448;
pub(crate) mod pem;
mod prime_curve;
pub(crate) mod private;
pub(crate) mod public;
mod witnessed;

use std::sync::Arc;

use zeroize::Zeroizing;

pub use curve::Curve;
pub(crate) use diffie_hellman::DhKey;
pub(crate) use prime_curve::{PrimeCurveKey, on_prime_curve, with_prime_curves};
pub(crate) use private::PrivateKey;
pub(crate) use public::PublicKey;
pub(crate) use witnessed::{BlsKey, Ed448Key, EdwardsKey};

/// A key prepared for use.
#[derive(Clone)]
pub enum Key {
    /// A key that signs, decrypts or agrees.
    Private(PrivateKey),
    /// A key that verifies or encrypts.
    Public(Arc<PublicKey>),
    /// A key of AES or HMAC.
    Secret(Arc<Zeroizing<Vec<u8>>>),
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Private(_) => "Key::Private",
            Self::Public(_) => "Key::Public",
            Self::Secret(_) => "Key::Secret",
        })
    }
}
