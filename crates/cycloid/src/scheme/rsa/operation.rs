//! What a private operation is for: what the power is taken of, and what becomes of it. One
//! operation and eight side by side are made of the same two halves.

use rand_core::CryptoRng;

use super::{Error, Hash, pkcs1v15, pss};
use crate::scheme::hash::DigestBytes;

/// A private operation that is still to be done, and where its result goes.
pub(super) struct Operation<'a> {
    purpose: Purpose,
    output: &'a mut [u8],
}

enum Purpose {
    SignPkcs1v15 { hash: Hash, digest: DigestBytes },
    SignPss { hash: Hash, digest: DigestBytes, salt_length: usize },
}

impl<'a> Operation<'a> {
    /// RSASSA-PKCS1-v1_5 signature of a digest.
    pub(super) fn sign_pkcs1v15(
        hash: Hash,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        let digest = signable(hash, digest)?;
        Ok(Self { purpose: Purpose::SignPkcs1v15 { hash, digest }, output: signature })
    }

    /// RSASSA-PSS signature of a digest, with a random salt of so many bytes.
    pub(super) fn sign_pss(
        hash: Hash,
        digest: &[u8],
        salt_length: usize,
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        let digest = signable(hash, digest)?;
        Ok(Self { purpose: Purpose::SignPss { hash, digest, salt_length }, output: signature })
    }

    /// Writes the message representative for a key of `bits` bits, as long as its modulus.
    pub(super) fn represent(
        &self,
        bits: usize,
        rng: &mut impl CryptoRng,
        representative: &mut [u8],
    ) -> Result<(), Error> {
        match &self.purpose {
            Purpose::SignPkcs1v15 { hash, digest } => {
                self.check_signature(representative)?;
                pkcs1v15::encode(representative, *hash, digest);
                Ok(())
            }
            Purpose::SignPss { hash, digest, salt_length } => {
                self.check_signature(representative)?;
                pss::encode(representative, bits, *hash, digest, *salt_length, rng)
            }
        }
    }

    /// Takes the result, as long as the modulus, to where it goes; gives the bytes written there.
    pub(super) fn deliver(&mut self, result: &mut [u8]) -> Result<usize, Error> {
        match &self.purpose {
            Purpose::SignPkcs1v15 { .. } | Purpose::SignPss { .. } => {
                self.output.copy_from_slice(result);
                Ok(result.len())
            }
        }
    }

    /// A signature is as long as the modulus, as the representative is.
    fn check_signature(&self, representative: &[u8]) -> Result<(), Error> {
        let (needed, given) = (representative.len(), self.output.len());
        if needed == given { Ok(()) } else { Err(Error::Length { needed, given }) }
    }
}

/// A digest that may be signed.
fn signable(hash: Hash, digest: &[u8]) -> Result<DigestBytes, Error> {
    if hash.is_retired() {
        return Err(Error::HashRetired);
    }
    DigestBytes::known(hash, digest).ok_or(Error::DigestLength)
}
