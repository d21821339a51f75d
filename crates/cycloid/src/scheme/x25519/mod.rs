//! X25519 (RFC 7748): two parties that each have a [`PrivateKey`] and know the other's public key
//! share a secret.
//!
//! - [`PrivateKey`]: public key and agreement, one at a time.
//! - [`run_batch`]: any number of them, eight side by side.
//!
//! A public key is 32 bytes, and all 32 bytes are one: what is p or more is reduced, the highest
//! bit is passed over, and points on the twist are as good as others (section 5). A secret that is
//! all zeros, which is what comes of a public key of small order, is refused (section 6.1).
//!
//! Nothing but the stack is used. **Time** depends on no key and no secret; that a secret was
//! refused becomes known.
//!
//! ```
//! use cycloid::scheme::x25519::PrivateKey;
//!
//! let rng = &mut getrandom::SysRng;
//! let (alice, bob) = (PrivateKey::generate(rng)?, PrivateKey::generate(rng)?);
//! let shared = alice.agree(&bob.public_key())?;
//! assert_eq!(shared.as_bytes(), bob.agree(&alice.public_key())?.as_bytes());
//! # Ok::<(), cycloid::scheme::x25519::Error>(())
//! ```

mod batch;
#[cfg(feature = "encoding")]
mod encoding;

use core::fmt;

use rand_core::TryCryptoRng;

use super::little_endian::{self, limbs};
use super::random;
#[cfg(feature = "encoding")]
pub use super::rfc8410::FormatError;
use super::stack_use;
use crate::machine::words::{self, Limb};
use crate::machine::{ct, stack};
use crate::math::curve::edwards::{Scalar, UOfBase, one};
use crate::math::curve::montgomery::{Factors, Ladder};
pub use batch::{Job, run_batch, run_batch_with};
#[cfg(feature = "encoding")]
pub use encoding::{
    PRIVATE_KEY_DER_LENGTH, PRIVATE_KEY_PEM_LENGTH, PUBLIC_KEY_DER_LENGTH, PUBLIC_KEY_PEM_LENGTH,
    public_key_from_der, public_key_from_pem, public_key_to_der, public_key_to_pem,
};

/// Why an operation was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The shared secret would have been all zeros.
    SharedSecret,
    /// The random generator failed, or repeats itself.
    RandomGenerator,
    /// The [`Job`] has not been in a batch.
    NotDone,
    /// A key was not read or written.
    #[cfg(feature = "encoding")]
    Format(FormatError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedSecret => f.write_str("the public key gives a secret that can be guessed"),
            Self::RandomGenerator => f.write_str("the random generator fails or repeats itself"),
            Self::NotDone => f.write_str("the job has not been done"),
            #[cfg(feature = "encoding")]
            Self::Format(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

random::cause!(Error);

/// A private key: 32 bytes, of which [`agree`](Self::agree) and [`public_key`](Self::public_key)
/// pass over five bits (RFC 7748, section 5); wiped when dropped.
pub struct PrivateKey([u8; 32]);

impl Drop for PrivateKey {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.0);
    }
}

/// Nothing of the key.
impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x25519::PrivateKey")
    }
}

/// Whatever the bytes are, they are a key.
impl From<[u8; 32]> for PrivateKey {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl PrivateKey {
    /// A random key.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`] where the generator fails, or gives the same eight bytes twice:
    /// zeros, ones, or whatever else it is stuck at.
    pub fn generate(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        stack::clean(stack_use::X25519, || {
            let mut key = Self([0; 32]);
            random::fill(rng, &mut key.0)?;
            Ok(key)
        })
    }

    /// The bytes of the key.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The public key, which the other party needs.
    pub fn public_key(&self) -> [u8; 32] {
        stack::clean(stack_use::X25519, || {
            let u = one::<UOfBase>(&self.base_number());
            ct::mark_public(&u);
            little_endian::bytes(&u)
        })
    }

    /// The secret shared with the party whose public key is `peer`.
    ///
    /// # Errors
    /// [`Error::SharedSecret`].
    pub fn agree(&self, peer: &[u8; 32]) -> Result<SharedSecret, Error> {
        stack::clean(stack_use::X25519, || {
            let mut u = one::<Ladder>(&self.factors(peer));
            let shared = SharedSecret::new(&u);
            ct::wipe(&mut u);
            shared
        })
    }

    /// The number that the key stands for, from 2²⁵⁴ to 2²⁵⁵ and divisible by 8 (RFC 7748, section
    /// 5).
    fn number(&self) -> [Limb; 4] {
        let mut number = limbs(&self.0);
        number[0] &= !7;
        number[3] = number[3] & (Limb::MAX >> 1) | 1 << 62;
        number
    }

    /// What gives the public key, as the order of the base point is that of the scalars.
    fn base_number(&self) -> Scalar {
        let mut number = self.number();
        let scalar = Scalar::reduced(&number, &[0; 4]);
        ct::wipe(&mut number);
        scalar
    }

    /// What gives a shared secret.
    fn factors(&self, peer: &[u8; 32]) -> Factors {
        Factors { number: self.number(), u: limbs(peer) }
    }
}

/// A shared secret, to derive keys from; wiped when dropped.
pub struct SharedSecret([u8; 32]);

impl Drop for SharedSecret {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.0);
    }
}

/// Nothing of the secret.
impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x25519::SharedSecret")
    }
}

impl SharedSecret {
    /// The secret whose number is u, unless it is 0.
    fn new(u: &[Limb; 4]) -> Result<Self, Error> {
        // What is refused is not used, so it may be known that it was.
        if words::is_zero(u).reveal() {
            return Err(Error::SharedSecret);
        }
        Ok(Self(little_endian::bytes(u)))
    }

    /// The bytes of the secret.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
