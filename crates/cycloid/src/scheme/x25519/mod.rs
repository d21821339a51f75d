//! X25519 key agreement (RFC 7748): two parties with a [`PrivateKey`] each and the other's public
//! key compute a shared secret.
//!
//! - [`PrivateKey`]: public key and agreement, one at a time.
//! - [`run_batch`]: any number of them, eight side by side.
//!
//! All strings of 32 bytes are valid public keys: numbers of p or more are reduced, the highest bit
//! is ignored, and points on the twist are allowed (section 5). An all-zero secret, which results
//! from a public key of small order, is refused (section 6.1).
//!
//! All memory is on the stack. **Time** depends on no key and no secret; whether a secret was
//! refused becomes public.
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

#[cfg(feature = "encoding")]
pub use super::FormatError;
use super::little_endian::{self, limbs};
use super::random;
use super::stack_use;
use crate::machine::words::{self, Limb};
use crate::machine::{ct, stack};
use crate::math::curve::edwards::{HAS_BASE_TABLE, Scalar, UOfBase, one};
use crate::math::curve::montgomery::{Factors, multiply};
pub use batch::{Job, run_batch};
#[cfg(feature = "encoding")]
pub use encoding::{
    PRIVATE_KEY_DER_LENGTH, PRIVATE_KEY_PEM_LENGTH, PUBLIC_KEY_DER_LENGTH, PUBLIC_KEY_PEM_LENGTH,
    public_key_from_der, public_key_from_pem, public_key_to_der, public_key_to_pem,
};

/// Why an X25519 operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The shared secret would have been all zeros.
    SharedSecret,
    /// The random generator fails or repeats itself.
    RandomGenerator,
    /// The [`Job`] has not run in a batch yet.
    NotDone,
    /// Reading or writing a key failed.
    #[cfg(feature = "encoding")]
    Format(FormatError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedSecret => {
                f.write_str("the public key has small order: the shared secret would be zero")
            }
            Self::RandomGenerator => f.write_str("the random generator fails or repeats itself"),
            Self::NotDone => f.write_str("the job has not been run"),
            #[cfg(feature = "encoding")]
            Self::Format(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

random::cause!(Error);

/// The public key of the base point, u = 9 (RFC 7748, section 4.1).
const BASE: [u8; 32] = {
    let mut nine = [0; 32];
    nine[0] = 9;
    nine
};

/// A private key: 32 bytes, five bits of which [`agree`](Self::agree) and
/// [`public_key`](Self::public_key) ignore (RFC 7748, section 5); wiped when dropped.
pub struct PrivateKey([u8; 32]);

impl Drop for PrivateKey {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.0);
    }
}

/// Prints nothing of the key.
impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x25519::PrivateKey")
    }
}

/// Any 32 bytes are a valid key.
impl From<[u8; 32]> for PrivateKey {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl PrivateKey {
    /// Generates a random key.
    ///
    /// # Errors
    /// [`Error::RandomGenerator`] if the generator fails or returns the same eight bytes twice, as
    /// one that is stuck does.
    pub fn generate(rng: &mut impl TryCryptoRng) -> Result<Self, Error> {
        stack::clean(stack_use::X25519, || {
            let mut key = Self([0; 32]);
            random::fill(rng, &mut key.0)?;
            Ok(key)
        })
    }

    /// Returns the bytes of the key.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the public key, to be sent to the other party.
    pub fn public_key(&self) -> [u8; 32] {
        stack::clean(stack_use::X25519, || {
            // Without a table, the ladder is faster.
            let u = if HAS_BASE_TABLE {
                one::<UOfBase>(&self.base_number())
            } else {
                multiply(&self.factors(&BASE))
            };
            // It is the public key.
            ct::mark_public(&u);
            little_endian::bytes(&u)
        })
    }

    /// Returns the secret shared with the party whose public key is `peer`.
    ///
    /// # Errors
    /// [`Error::SharedSecret`].
    pub fn agree(&self, peer: &[u8; 32]) -> Result<SharedSecret, Error> {
        stack::clean(stack_use::X25519, || {
            let mut u = multiply(&self.factors(peer));
            let shared = SharedSecret::new(&u);
            ct::wipe(&mut u);
            shared
        })
    }

    /// Returns the number that the key encodes, from 2²⁵⁴ to 2²⁵⁵ and divisible by 8 (RFC 7748,
    /// section 5).
    fn number(&self) -> [Limb; 4] {
        let mut number = limbs(&self.0);
        number[0] &= !7;
        number[3] = number[3] & (Limb::MAX >> 1) | 1 << 62;
        number
    }

    /// Returns the scalar of the public key, reduced modulo the order of the base point.
    fn base_number(&self) -> Scalar {
        let mut number = self.number();
        let scalar = Scalar::reduced(&number, &[0; 4]);
        ct::wipe(&mut number);
        scalar
    }

    /// Returns the inputs of the ladder for a shared secret.
    fn factors(&self, peer: &[u8; 32]) -> Factors {
        Factors { number: self.number(), u: limbs(peer) }
    }
}

/// A shared secret, for deriving keys; wiped when dropped.
pub struct SharedSecret([u8; 32]);

impl Drop for SharedSecret {
    fn drop(&mut self) {
        ct::wipe_bytes(&mut self.0);
    }
}

/// Prints nothing of the secret.
impl fmt::Debug for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("x25519::SharedSecret")
    }
}

impl SharedSecret {
    /// Returns the secret with the number u, unless u is 0.
    fn new(u: &[Limb; 4]) -> Result<Self, Error> {
        // A refused secret is not used, so the refusal may be public.
        if words::is_zero(u).reveal() {
            return Err(Error::SharedSecret);
        }
        Ok(Self(little_endian::bytes(u)))
    }

    /// Returns the bytes of the secret.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
