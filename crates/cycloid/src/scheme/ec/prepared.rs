//! Public keys that many signatures are verified with.

use core::fmt;

use super::{Curve, Error, PublicKey};
use crate::math::curve::{multiples_limbs, write_multiples};

/// A public key with multiples of its point, so that a signature is verified in less than half of
/// the time. Making it takes as long as some verifications, and memory: [`prepared_key_limbs`].
///
/// `M` is memory of the caller's, such as an array, a `Box` or a `&mut [u64]`. Nothing in it is
/// secret. It stays as long as it was and as it was written; where it has shrunk, verification is an
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

/// Limbs of memory for a [`PreparedPublicKey`]: 2304 for P-256, that is 18 KiB; 12, 30 and 61 KiB
/// for P-224, P-384 and P-521.
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
    /// The key itself.
    pub const fn public_key(&self) -> &PublicKey<C> {
        &self.key
    }

    #[cfg(test)]
    pub(in super::super) const fn memory(&self) -> &M {
        &self.memory
    }

    /// The multiples.
    ///
    /// # Errors
    /// [`Error::MemoryTooSmall`] where the memory, which is the caller's, has shrunk.
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
