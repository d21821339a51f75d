//! Signatures with the probabilistic scheme, RSASSA-PSS (RFC 8017, sections 8.1 and 9.1).

use rand_core::CryptoRng;

use super::context::Context;
use super::operation::Operation;
use super::padding::pss::{Salt, is_encoding_of};
use super::parameters::Pss;
use super::public::PublicKey;
use super::verification::Scheme;
use super::{Error, Hash, HashFunction};
use crate::machine::words::Limb;

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'_, M, R> {
    /// Signs a message with RSASSA-PSS and a random salt as long as the digest; `signature` is as
    /// long as the modulus.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::HashRetired`], [`Error::RestrictedPss`],
    /// [`Error::RandomGenerator`], [`Error::Fault`]; `signature` is untouched then.
    #[inline(always)]
    pub fn sign_pss(
        &mut self,
        hash: Hash,
        message: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.sign_pss_with(Pss::new(hash), &hash.digest(&[message]), signature)
    }

    /// Like [`sign_pss`](Self::sign_pss), for a message given by its digest, with a random salt of
    /// `salt_length` bytes.
    ///
    /// # Errors
    /// As [`sign_pss`](Self::sign_pss), [`Error::DigestLength`], and [`Error::SaltTooLong`] if the
    /// salt does not fit the modulus.
    pub fn sign_pss_prehashed(
        &mut self,
        hash: Hash,
        digest: &[u8],
        salt_length: usize,
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.sign_pss_with(Pss { salt_length, ..Pss::new(hash) }, digest, signature)
    }

    /// Like [`sign_pss_prehashed`](Self::sign_pss_prehashed), with all parameters chosen by the
    /// caller.
    ///
    /// # Errors
    /// As [`sign_pss_prehashed`](Self::sign_pss_prehashed).
    #[inline(always)]
    pub fn sign_pss_with(
        &mut self,
        pss: Pss<impl Into<HashFunction>>,
        digest: &[u8],
        signature: &mut [u8],
    ) -> Result<(), Error> {
        self.perform(Operation::sign_pss(pss.general(), digest, signature)?)?;
        Ok(())
    }
}

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// Verifies an RSASSA-PSS signature whose salt is as long as the digest. `scratch` has at
    /// least [`verify_scratch_limbs`](super::verify_scratch_limbs). All values are public.
    ///
    /// # Errors
    /// [`Error::Signature`] if it is not valid; [`Error::MemoryTooSmall`];
    /// [`Error::RestrictedPss`].
    #[inline(always)]
    pub fn verify_pss(
        &self,
        hash: Hash,
        message: &[u8],
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.verify_pss_with(Pss::new(hash), &hash.digest(&[message]), signature, scratch)
    }

    /// Like [`verify_pss`](Self::verify_pss), for a message given by its digest, with a salt of
    /// `salt_length` bytes, or of any length.
    ///
    /// # Errors
    /// As [`verify_pss`](Self::verify_pss), and [`Error::DigestLength`].
    pub fn verify_pss_prehashed(
        &self,
        hash: Hash,
        digest: &[u8],
        salt_length: Option<usize>,
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.verify(Scheme::pss_of(hash, salt_length), hash, digest, signature, scratch)
    }

    /// Like [`verify_pss`](Self::verify_pss), for a message given by its digest, with all
    /// parameters chosen by the caller.
    ///
    /// # Errors
    /// As [`verify_pss_prehashed`](Self::verify_pss_prehashed).
    #[inline(always)]
    pub fn verify_pss_with(
        &self,
        pss: Pss<impl Into<HashFunction>>,
        digest: &[u8],
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        self.verify_pss_general(pss.general(), digest, signature, scratch)
    }

    fn verify_pss_general(
        &self,
        pss: Pss<HashFunction>,
        digest: &[u8],
        signature: &[u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        let Pss { hash, mask_hash, salt_length } = pss;
        if digest.len() != hash.digest_length() {
            return Err(Error::DigestLength);
        }
        self.restriction().allows_pss(pss)?;
        let (bits, salt) = (self.bits(), Salt::Exactly(salt_length));
        let encoded = self.opened(signature, scratch)?;
        if is_encoding_of(encoded, bits, hash, mask_hash, digest, salt) {
            Ok(())
        } else {
            Err(Error::Signature)
        }
    }
}
