//! Keys that are too short, and signatures of digests that are too short, for programs that still
//! require them. **Hazardous**: a modulus of 1024 bits can be factored by a well-funded party, one
//! of 512 bits by anybody, and two messages with one SHA-1 digest have been found.
//!
//! A key from here has 2040 bits at most; [`PrivateKey::new`] and its like take longer ones. It
//! works in every operation as they do: blinded, constant-time, checked, alone and in batches.

use rand_core::CryptoRng;

use super::Error;
use super::batch::Job;
use super::components::PrivateComponents;
use super::context::Context;
use super::hash_function::HashFunction;
use super::length::{MIN_LEGACY_BITS, MIN_WEAK_PUBLIC_BITS};
use super::operation::Operation;
use super::parameters::Pss;
use super::private::PrivateKey;
use super::public::{PublicKey, bit_length, checked_legacy_length, trimmed};
use crate::machine::words::Limb;

impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PrivateKey<M> {
    /// Like [`new`](Self::new), for a legacy key: its modulus has 1024 to 2040 bits.
    ///
    /// # Errors
    /// [`KeyError::LegacyLength`](crate::scheme::rsa::KeyError::LegacyLength); else as
    /// [`new`](Self::new).
    pub fn new_legacy(
        components: &PrivateComponents<'_>,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let bits = bit_length(trimmed(components.modulus));
        let checked = checked_legacy_length(bits, MIN_LEGACY_BITS);
        Self::of_checked_length(checked, components, memory, scratch)
    }

    /// Like [`generate`](Self::generate), for a legacy key of 1024 to 2040 bits, an even number.
    ///
    /// # Errors
    /// [`Error::GeneratedLength`] for another length; else as [`generate`](Self::generate).
    pub fn generate_legacy(
        bits: usize,
        public_exponent: u32,
        memory: M,
        rng: &mut impl CryptoRng,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        if checked_legacy_length(bits, MIN_LEGACY_BITS).is_err() || !bits.is_multiple_of(2) {
            return Err(Error::GeneratedLength { bits });
        }
        Self::generate_checked(bits, public_exponent, memory, rng, scratch)
    }

    /// Like [`from_pkcs8_der`](Self::from_pkcs8_der), for a legacy key of 1024 to 2040 bits.
    ///
    /// # Errors
    /// [`KeyError::LegacyLength`](crate::scheme::rsa::KeyError::LegacyLength); else as
    /// [`from_pkcs8_der`](Self::from_pkcs8_der).
    #[cfg(feature = "encoding")]
    pub fn from_pkcs8_der_legacy(
        der: &[u8],
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        Self::read_legacy(der, memory, scratch)
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PublicKey<M> {
    /// Like [`new`](Self::new), for a legacy key: its modulus has 512 to 2040 bits.
    ///
    /// # Errors
    /// [`KeyError::LegacyLength`](crate::scheme::rsa::KeyError::LegacyLength); else as
    /// [`new`](Self::new).
    pub fn new_legacy(
        modulus: &[u8],
        exponent: &[u8],
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        Self::legacy(MIN_WEAK_PUBLIC_BITS, modulus, exponent, memory, scratch)
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'_, M, R> {
    /// Like [`sign_pss_with`](Self::sign_pss_with), also for SHA-1 and other hash functions that
    /// are for verification only.
    ///
    /// # Errors
    /// As [`sign_pss_with`](Self::sign_pss_with), except for [`Error::HashRetired`].
    pub fn sign_pss_legacy(
        &mut self,
        pss: Pss<impl Into<HashFunction>>,
        digest: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.perform(Operation::sign_pss_legacy(pss.general(), digest, signature)?)?;
        Ok(())
    }
}

impl<'a> Job<'a> {
    /// Creates a job for [`Context::sign_pss_legacy`].
    pub fn sign_pss_legacy<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        key: &'a PrivateKey<M>,
        pss: Pss<impl Into<HashFunction>>,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Self {
        Self::new(key, Operation::sign_pss_legacy(pss.general(), digest, signature))
    }
}

#[cfg(test)]
mod tests;
