//! Public keys with precomputed multiples, for verifying many signatures.

use core::fmt;

use super::{Curve, Error, PublicKey};
use crate::math::curve::{multiples_limbs, write_multiples};

/// A public key with precomputed multiples of its point. With it a verification takes less than
/// half the time. Preparing takes as long as a few verifications and needs [`prepared_key_limbs`]
/// of memory.
///
/// `M` is the caller's memory, such as an array, a `Box` or a `&mut [u64]`. Its contents are not
/// secret. Its length and contents must not change; if it has shrunk, verification returns an
/// error.
///
/// ```
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::ec::{P256, PreparedPublicKey, PrivateKey, prepared_key_limbs};
///
/// let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
/// let memory = [0; prepared_key_limbs::<P256>()];
/// let prepared = PreparedPublicKey::new(*key.public_key(), memory)?;
/// for message in [b"one", b"two"] {
///     prepared.verify(Hash::Sha256, message, &key.sign(Hash::Sha256, message))?;
/// }
/// # Ok::<(), cycloid::scheme::ec::Error>(())
/// ```
#[derive(Clone)]
pub struct PreparedPublicKey<C: Curve, M> {
    key: PublicKey<C>,
    memory: M,
}

/// Returns the limbs of memory for a [`PreparedPublicKey`]: 2304 for P-256, which is 18 KiB; 12, 30
/// and 61 KiB for P-224, P-384 and P-521.
pub const fn prepared_key_limbs<C: Curve>() -> usize {
    multiples_limbs::<C>()
}

impl<C: Curve, M: AsRef<[u64]> + AsMut<[u64]>> PreparedPublicKey<C, M> {
    /// Computes the multiples of a key's point.
    ///
    /// # Errors
    /// [`Error::MemoryTooSmall`].
    pub fn new(key: PublicKey<C>, mut memory: M) -> Result<Self, Error> {
        let (needed, given) = (prepared_key_limbs::<C>(), memory.as_mut().len());
        let multiples =
            memory.as_mut().get_mut(..needed).ok_or(Error::MemoryTooSmall { needed, given })?;
        write_multiples(key.point(), multiples);
        Ok(Self { key, memory })
    }
}

impl<C: Curve, M: AsRef<[u64]>> PreparedPublicKey<C, M> {
    /// Returns the key itself.
    pub const fn public_key(&self) -> &PublicKey<C> {
        &self.key
    }

    #[cfg(test)]
    pub(in super::super) const fn memory(&self) -> &M {
        &self.memory
    }

    /// Returns the multiples.
    ///
    /// # Errors
    /// [`Error::MemoryTooSmall`] if the caller's memory has shrunk.
    pub(in super::super) fn multiples(&self) -> Result<&[u64], Error> {
        let (needed, memory) = (prepared_key_limbs::<C>(), self.memory.as_ref());
        memory.get(..needed).ok_or(Error::MemoryTooSmall { needed, given: memory.len() })
    }
}

impl<C: Curve, M> fmt::Debug for PreparedPublicKey<C, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ec::PreparedPublicKey({:?})", self.key)
    }
}
