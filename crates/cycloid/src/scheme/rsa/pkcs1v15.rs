//! Signatures with PKCS #1 v1.5 padding (RFC 8017, sections 8.2 and 9.2).

use rand_core::CryptoRng;

use super::context::Context;
use super::digest_info::DigestInfo;
use super::operation::Operation;
use super::public::PublicKey;
use super::{Error, Hash};
use crate::machine::words::Limb;

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'_, M, R> {
    /// Signs a message with RSASSA-PKCS1-v1_5; `signature` is as long as the modulus.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::HashRetired`], [`Error::HashUnsuitable`], [`Error::Restricted`],
    /// [`Error::RandomGenerator`], [`Error::Fault`]; `signature` is untouched then.
    #[inline(always)]
    pub fn sign_pkcs1v15(
        &mut self,
        hash: Hash,
        message: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.sign_pkcs1v15_prehashed(hash, &hash.digest(&[message]), signature)
    }

    /// Like [`sign_pkcs1v15`](Self::sign_pkcs1v15), for a message given by its digest.
    ///
    /// # Errors
    /// As [`sign_pkcs1v15`](Self::sign_pkcs1v15), and [`Error::DigestLength`].
    pub fn sign_pkcs1v15_prehashed(
        &mut self,
        hash: Hash,
        digest: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.perform(Operation::sign_pkcs1v15(hash, digest, signature)?)?;
        Ok(())
    }

    /// Signs a digest by any hash function with RSASSA-PKCS1-v1_5; `signature` is as long as the
    /// modulus.
    ///
    /// # Errors
    /// As [`sign_pkcs1v15`](Self::sign_pkcs1v15); [`Error::HashRetired`] for a digest of fewer than
    /// 28 bytes.
    pub fn sign_digest_info(
        &mut self,
        info: &DigestInfo,
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.perform(Operation::sign_digest_info(info.clone(), signature)?)?;
        Ok(())
    }
}

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// Verifies an RSASSA-PKCS1-v1_5 signature. `scratch` has at least
    /// [`verify_scratch_limbs`](super::verify_scratch_limbs). All values are public.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid; [`Error::HashUnsuitable`],
    /// [`Error::MemoryTooSmall`], [`Error::Restricted`].
    #[inline(always)]
    pub fn verify_pkcs1v15(
        &self,
        hash: Hash,
        message: &[u8],
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.verify_pkcs1v15_prehashed(hash, &hash.digest(&[message]), signature, scratch)
    }

    /// Like [`verify_pkcs1v15`](Self::verify_pkcs1v15), for a message given by its digest.
    ///
    /// # Errors
    /// As [`verify_pkcs1v15`](Self::verify_pkcs1v15), and [`Error::DigestLength`].
    pub fn verify_pkcs1v15_prehashed(
        &self,
        hash: Hash,
        digest: &[u8],
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        if digest.len() != hash.digest_length() {
            return Err(Error::DigestLength);
        }
        hash.check_suits_pkcs1v15()?;
        self.verify_digest_info(&DigestInfo::known(hash, digest), signature, scratch)
    }
}
