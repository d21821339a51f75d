//! Keys on the NIST curves (SP 800-186, section 3.2.1) and on others with prime order, for
//! [ECDSA](super::ecdsa) and [ECDH](super::ecdh).
//!
//! A curve is a type: [`P224`], [`P256`], [`P384`] or [`P521`]. [`Secp256k1`], [`BrainpoolP256`],
//! [`BrainpoolP384`], [`BrainpoolP512`] and [`P192`] are for keys that other software made: they
//! are computed one at a time, in plain Rust, and take several times as long. A [`PublicKey`] holds
//! a point that is on the curve and not infinity; no other value can be constructed. A
//! [`PrivateKey`] contains its public key and is wiped when dropped. The groups have prime order,
//! so every point on the curve is in the group.
//!
//! **Memory.** Nothing is allocated and no scratch is passed. An operation uses some kilobytes of
//! stack; a batch of eight uses some tens of kilobytes.
//!
//! **Time** depends on the curve and on no secret value. Public keys are public.
//!
//! ```
//! use cycloid::scheme::ec::{P256, PrivateKey, PublicKey};
//!
//! let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
//! let sent = key.public_key().to_uncompressed();
//! assert_eq!(PublicKey::<P256>::from_sec1(&sent)?, *key.public_key());
//! # Ok::<(), cycloid::scheme::ec::Error>(())
//! ```

pub mod arithmetic;
#[cfg(feature = "encoding")]
mod encoding;
mod error;
mod prepared;
mod private;
mod public;

#[cfg(feature = "encoding")]
pub use super::FormatError;
pub use crate::math::curve::{
    BrainpoolP256, BrainpoolP384, BrainpoolP512, Curve, P192, P224, P256, P384, P521, Secp256k1,
};
#[cfg(feature = "encoding")]
pub use encoding::{
    private_key_der_length, private_key_pem_length, public_key_der_length, public_key_pem_length,
};
pub use error::Error;
pub use prepared::{PreparedPublicKey, prepared_key_limbs};
pub use private::PrivateKey;
pub use public::{EncodedPoint, PublicKey};

/// Bytes in the longest coordinate or scalar.
pub(super) const MAX_BYTES: usize = 66;
