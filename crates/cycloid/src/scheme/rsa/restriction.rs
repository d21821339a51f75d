//! Restrictions on the use of a key, given by its algorithm identifier (RFC 8017, appendices A.1
//! and A.2.3; RFC 4055, sections 1.2 and 3.1).

use super::{Error, Hash, HashFunction, Pss};

/// The permitted uses of a key. A restriction is part of the key: it is read and written with it,
/// and every operation respects it, alone and in batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restriction {
    /// rsaEncryption: no restriction.
    #[default]
    None,
    /// id-RSASSA-PSS without parameters: PSS signatures only.
    Pss,
    /// id-RSASSA-PSS with parameters: PSS signatures with these two hash functions and with a salt
    /// of at least this length. The trailer is 0xbc.
    PssWith(Pss),
}

impl Restriction {
    /// Checks that a key with a modulus of `bits` bits may have the restriction: that it permits
    /// some use and has an identifier.
    ///
    /// # Errors
    /// [`Error::SaltTooLong`], [`Error::PssParameters`].
    pub(super) fn check_for(self, bits: usize) -> Result<(), Error> {
        match self {
            // RFC 8702, section 3.1.
            Self::PssWith(pss)
                if (pss.hash.is_extendable() || pss.mask_hash.is_extendable())
                    && pss != Pss::new(pss.hash) =>
            {
                Err(Error::PssParameters)
            }
            // RFC 8017, section 9.1.1, step 3.
            Self::PssWith(pss)
                if pss.salt_length.saturating_add(pss.hash.digest_length() + 2)
                    > (bits - 1).div_ceil(8) =>
            {
                Err(Error::SaltTooLong)
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if the key is for PSS only.
    ///
    /// # Errors
    /// [`Error::Restricted`].
    pub(super) const fn allows_all(self) -> Result<(), Error> {
        match self {
            Self::None => Ok(()),
            Self::Pss | Self::PssWith(_) => Err(Error::Restricted),
        }
    }

    /// Returns the minimum length of the salt in bytes, or an error if the key is not for PSS with
    /// these hash functions.
    ///
    /// # Errors
    /// [`Error::RestrictedPss`].
    pub(super) fn least_salt(self, hash: Hash, mask_hash: Hash) -> Result<usize, Error> {
        match self {
            Self::None | Self::Pss => Ok(0),
            Self::PssWith(allowed) if allowed.hash == hash && allowed.mask_hash == mask_hash => {
                Ok(allowed.salt_length)
            }
            Self::PssWith(allowed) => Err(Error::RestrictedPss { allowed }),
        }
    }

    /// Returns an error unless the key is for PSS with these parameters.
    ///
    /// # Errors
    /// [`Error::RestrictedPss`].
    pub(super) fn allows_pss(self, pss: Pss<impl Into<HashFunction>>) -> Result<(), Error> {
        let pss = pss.general();
        let (Some(hash), Some(mask_hash)) = (pss.hash.known(), pss.mask_hash.known()) else {
            // A restriction names known functions.
            return match self {
                Self::None | Self::Pss => Ok(()),
                Self::PssWith(allowed) => Err(Error::RestrictedPss { allowed }),
            };
        };
        match (self, self.least_salt(hash, mask_hash)?) {
            (Self::PssWith(allowed), least) if pss.salt_length < least => {
                Err(Error::RestrictedPss { allowed })
            }
            _ => Ok(()),
        }
    }

    /// Returns the restriction `to` if the key has none so far or the same one.
    ///
    /// # Errors
    /// [`Error::Restricted`], [`Error::RestrictedPss`], [`Error::SaltTooLong`],
    /// [`Error::PssParameters`].
    pub(super) fn narrowed(self, to: Self, bits: usize) -> Result<Self, Error> {
        to.check_for(bits)?;
        match (self, to) {
            (Self::None, to) => Ok(to),
            (Self::Pss, Self::Pss | Self::PssWith(_)) => Ok(to),
            (Self::Pss, Self::None) => Err(Error::Restricted),
            (Self::PssWith(allowed), to) if to != self => Err(Error::RestrictedPss { allowed }),
            (Self::PssWith(_), _) => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests;
