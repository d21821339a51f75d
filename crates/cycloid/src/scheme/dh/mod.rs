//! Finite-field Diffie-Hellman: the groups of RFC 7919 and RFC 3526, and custom groups.
//!
//! Two parties have a [`PrivateKey`] x each, in the same [`Group`], and know the other's public
//! value g^x mod p; they compute a shared secret. Values are big-endian bytes; results are as long
//! as p.
//!
//! - [`PrivateKey`]: public value and agreement, one at a time.
//! - [`run_batch`]: any number of them, eight side by side.
//! - [`Generator`]: public values from a table, three to four times as fast.
//! - [`Group::new`]: a custom group, checked; [`OwnedGroup`] owns its numbers.
//!
//! **Memory.** A key lives in memory of the caller's choice, [`private_key_limbs`], and is wiped
//! when dropped. Operations take scratch, at best [`scratch_limbs`], at least
//! [`minimum_scratch_limbs`], and wipe it. The known groups are constants, ready for use.
//!
//! **Validation.** The operation that takes a value from outside checks it, to the [`Validation`]
//! level that the caller names. A predictable shared secret is never released.
//!
//! **Time** depends on the lengths of p and of the private exponent, and on no secret value. Public
//! values, including the peer's, are public, and the time to check them depends on them.
//!
//! ```
//! use cycloid::scheme::dh::{self, Group, PrivateKey, Validation};
//!
//! const BITS: usize = 2048;
//! const EXPONENT_BITS: usize = dh::exponent_bits(BITS);
//! let group = &Group::FFDHE2048;
//! let rng = &mut getrandom::SysRng;
//! let mut scratch = [0; dh::scratch_limbs(BITS, EXPONENT_BITS)];
//!
//! // Each party makes a key and sends its public value to the other.
//! let alice = PrivateKey::generate(group, [0; dh::private_key_limbs(EXPONENT_BITS)], rng)?;
//! let mut from_alice = [0; BITS / 8];
//! alice.public_value(&mut from_alice, &mut scratch)?;
//! let bob = PrivateKey::generate(group, [0; dh::private_key_limbs(EXPONENT_BITS)], rng)?;
//! let mut from_bob = [0; BITS / 8];
//! bob.public_value(&mut from_bob, &mut scratch)?;
//!
//! let (mut shared, mut same) = ([0; BITS / 8], [0; BITS / 8]);
//! alice.agree(&from_bob, Validation::Full, &mut shared, &mut scratch)?;
//! bob.agree(&from_alice, Validation::Full, &mut same, &mut scratch)?;
//! assert_eq!(shared, same);
//! # Ok::<(), dh::Error>(())
//! ```

mod batch;
mod generator;
mod group;
mod groups;
#[cfg(feature = "alloc")]
mod owned;
mod parameters;
mod private;
mod public;
#[cfg(test)]
mod tests;

pub use batch::{Job, batch_scratch_limbs, run_batch};
pub use generator::{Generator, generator_limbs, generator_scratch_limbs};
pub use group::{Group, exponent_bits};
#[cfg(feature = "alloc")]
pub use owned::OwnedGroup;
pub use parameters::{Parameters, group_limbs, group_scratch_limbs};
pub use private::{PrivateKey, minimum_scratch_limbs, private_key_limbs, scratch_limbs};
pub use public::Validation;

use crate::machine::words::{LIMB_BITS, LIMB_BYTES};
use crate::math::modular;
pub use crate::math::modular::Comb;

/// The shortest modulus that a group may have, in bits.
pub const MIN_BITS: usize = 2048;

/// The longest modulus that a group may have, in bits.
pub const MAX_BITS: usize = 8192;

/// Why a Diffie-Hellman operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The modulus has fewer than [`MIN_BITS`] bits or more than [`MAX_BITS`].
    ModulusLength {
        /// Its bits.
        bits: usize,
    },
    /// The modulus is not prime.
    NotPrime,
    /// The modulus is not a safe prime, and the order of the generator was not given.
    NotSafePrime,
    /// The given order is too short, is not prime, or does not divide p − 1.
    Order,
    /// The generator is not between 2 and p − 2, or has another order than the one given.
    Generator,
    /// The key belongs to another group.
    OtherGroup,
    /// The private exponent is 0, is too large for the group, or gives 1 as public value.
    PrivateExponent,
    /// The public value is not between 2 and p − 2.
    PublicRange,
    /// The public value is not in the subgroup that the generator generates.
    PublicSubgroup,
    /// The shared secret would have been 0, 1 or p − 1.
    SharedSecret,
    /// The random generator fails or repeats itself.
    RandomGenerator,
    /// The [`Job`] has not run in a batch yet.
    NotDone,
    /// The result buffer is not as long as the modulus, in bytes.
    Length {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The memory for a key, a group or the scratch is too small.
    MemoryTooSmall {
        /// Limbs needed.
        needed: usize,
        /// Limbs given.
        given: usize,
    },
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::ModulusLength { bits } => {
                write!(f, "a modulus of {bits} bits is not between {MIN_BITS} and {MAX_BITS}")
            }
            Self::NotPrime => f.write_str("the modulus is not prime"),
            Self::NotSafePrime => {
                f.write_str("the modulus is not a safe prime, and no order is given")
            }
            Self::Order => f.write_str("the order is not a prime of 224 bits that divides p − 1"),
            Self::Generator => f.write_str("the generator does not have the order"),
            Self::OtherGroup => f.write_str("the key belongs to another group"),
            Self::PrivateExponent => f.write_str("the private exponent is not valid for the group"),
            Self::PublicRange => f.write_str("the public value is not between 2 and p − 2"),
            Self::PublicSubgroup => f.write_str("the public value is not in the subgroup"),
            Self::SharedSecret => f.write_str("the shared secret is predictable"),
            Self::RandomGenerator => f.write_str("the random generator fails or repeats itself"),
            Self::NotDone => f.write_str("the job has not been run"),
            Self::Length { needed, given } => {
                write!(f, "the buffer has {given} bytes, but the modulus has {needed}")
            }
            Self::MemoryTooSmall { needed, given } => {
                write!(f, "the memory has {given} limbs, but {needed} are needed")
            }
        }
    }
}

impl core::error::Error for Error {}

super::random::cause!(Error);

impl From<modular::Error> for Error {
    /// The modulus of a group is odd and not too long, so only the scratch or the random generator
    /// can be wrong.
    fn from(error: modular::Error) -> Self {
        match error {
            modular::Error::ScratchTooSmall { needed, given } => {
                Self::MemoryTooSmall { needed: needed / LIMB_BYTES, given: given / LIMB_BYTES }
            }
            modular::Error::RandomGenerator => Self::RandomGenerator,
            _ => unreachable!("a group has been checked"),
        }
    }
}

/// Returns the limbs of a number of `bits` bits.
const fn limbs(bits: usize) -> usize {
    bits.div_ceil(LIMB_BITS)
}

/// Returns the first `needed` limbs of `memory`.
fn checked_memory(memory: &mut [u64], needed: usize) -> Result<&mut [u64], Error> {
    let given = memory.len();
    memory.get_mut(..needed).ok_or(Error::MemoryTooSmall { needed, given })
}
