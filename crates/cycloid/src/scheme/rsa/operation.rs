//! The uses of a private operation: how its input is encoded and how its result is delivered.
//! Single operations and batches of eight share both halves.

use rand_core::CryptoRng;

use super::digest_info::DigestInfo;
use super::hash_function::HashFunction;
use super::padding::pkcs1v15_encryption::{self, Rejection};
use super::padding::{oaep, pkcs1v15, pss};
use super::parameters::{Oaep, Pss};
use super::{Error, Hash, Restriction};
use crate::machine::words::Limb;
use crate::scheme::hash::DigestBytes;

/// A pending private operation and the destination of its result.
pub(super) struct Operation<'a> {
    purpose: Purpose<'a>,
    output: &'a mut [u8],
}

enum Purpose<'a> {
    SignPkcs1v15 {
        info: DigestInfo,
    },
    SignPss {
        pss: Pss<HashFunction>,
        digest: DigestBytes,
    },
    DecryptOaep {
        oaep: Oaep<'a, HashFunction>,
        ciphertext: &'a [u8],
    },
    DecryptPkcs1v15 {
        ciphertext: &'a [u8],
    },
    #[cfg(feature = "hazardous")]
    Raw {
        input: &'a [u8],
    },
}

impl<'a> Operation<'a> {
    /// Signs a digest with RSASSA-PKCS1-v1_5.
    pub(super) fn sign_pkcs1v15(
        hash: Hash,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        hash.check_suits_pkcs1v15()?;
        let info = DigestInfo::known(hash, digest).ok_or(Error::DigestLength)?;
        Self::sign_digest_info(info, signature)
    }

    /// Signs a DigestInfo with RSASSA-PKCS1-v1_5.
    pub(super) fn sign_digest_info(
        info: DigestInfo,
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        info.check_signable()?;
        Ok(Self { purpose: Purpose::SignPkcs1v15 { info }, output: signature })
    }

    /// Signs a digest with RSASSA-PSS and a random salt.
    pub(super) fn sign_pss(
        pss: Pss<HashFunction>,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        let digest = signable(pss.hash, digest)?;
        Ok(Self { purpose: Purpose::SignPss { pss, digest }, output: signature })
    }

    /// Signs a digest with RSASSA-PSS and a random salt, also one that is too short for new
    /// signatures.
    #[cfg(feature = "hazardous")]
    pub(super) fn sign_pss_legacy(
        pss: Pss<HashFunction>,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        let digest = of_length(pss.hash, digest)?;
        Ok(Self { purpose: Purpose::SignPss { pss, digest }, output: signature })
    }

    /// Decrypts with RSAES-OAEP.
    pub(super) const fn decrypt_oaep(
        oaep: Oaep<'a, HashFunction>,
        ciphertext: &'a [u8],
        output: &'a mut [u8],
    ) -> Self {
        Self { purpose: Purpose::DecryptOaep { oaep, ciphertext }, output }
    }

    /// Decrypts with RSAES-PKCS1-v1_5 and implicit rejection.
    pub(super) const fn decrypt_pkcs1v15(ciphertext: &'a [u8], output: &'a mut [u8]) -> Self {
        Self { purpose: Purpose::DecryptPkcs1v15 { ciphertext }, output }
    }

    /// Computes the bare power.
    #[cfg(feature = "hazardous")]
    pub(super) const fn raw(input: &'a [u8], output: &'a mut [u8]) -> Self {
        Self { purpose: Purpose::Raw { input }, output }
    }

    /// Returns an error unless a key with the restriction allows this operation.
    pub(super) fn check(&self, restriction: Restriction) -> Result<(), Error> {
        match &self.purpose {
            Purpose::SignPss { pss, .. } => restriction.allows_pss(*pss),
            Purpose::DecryptOaep { oaep, .. } if oaep.uses_shake() => Err(Error::HashUnsuitable),
            _ => restriction.allows_all(),
        }
    }

    /// Writes the message representative for a key of `bits` bits, as long as its modulus.
    pub(super) fn represent(
        &self,
        bits: usize,
        rng: &mut impl CryptoRng,
        representative: &mut [u8],
    ) -> Result<(), Error> {
        match &self.purpose {
            Purpose::SignPkcs1v15 { info } => {
                self.check_output(representative)?;
                pkcs1v15::encode(representative, info.as_ref())
            }
            Purpose::SignPss { pss, digest } => {
                self.check_output(representative)?;
                pss::encode(representative, bits, *pss, digest, rng)
            }
            Purpose::DecryptOaep { oaep, ciphertext } => {
                if !oaep.fits(representative.len()) {
                    return Err(Error::ModulusTooShort);
                }
                self.check_room(oaep.longest_message(representative.len()))?;
                copy(representative, ciphertext)
            }
            Purpose::DecryptPkcs1v15 { ciphertext } => {
                self.check_room(pkcs1v15_encryption::longest_message(representative.len()))?;
                copy(representative, ciphertext)
            }
            #[cfg(feature = "hazardous")]
            Purpose::Raw { input } => {
                self.check_output(representative)?;
                copy(representative, input)
            }
        }
    }

    /// Writes the result, which is as long as the modulus and is destroyed, to its destination.
    /// Returns the length of the delivered output. `d` is the private exponent.
    pub(super) fn deliver(&mut self, d: &[Limb], result: &mut [u8]) -> Result<usize, Error> {
        match &self.purpose {
            Purpose::SignPkcs1v15 { .. } | Purpose::SignPss { .. } => {
                self.output.copy_from_slice(result);
                Ok(result.len())
            }
            Purpose::DecryptOaep { oaep, .. } => oaep::decode(result, oaep, self.output),
            Purpose::DecryptPkcs1v15 { ciphertext } => {
                let rejection = Rejection::new(d, ciphertext);
                Ok(pkcs1v15_encryption::decode(result, &rejection, self.output))
            }
            #[cfg(feature = "hazardous")]
            Purpose::Raw { .. } => {
                self.output.copy_from_slice(result);
                Ok(result.len())
            }
        }
    }

    /// Checks that the output is as long as the modulus, as signatures are.
    fn check_output(&self, representative: &[u8]) -> Result<(), Error> {
        let (needed, given) = (representative.len(), self.output.len());
        if needed == given { Ok(()) } else { Err(Error::Length { needed, given }) }
    }

    /// Checks that the longest message fits, so that time does not depend on the actual length.
    const fn check_room(&self, needed: usize) -> Result<(), Error> {
        let given = self.output.len();
        if needed <= given { Ok(()) } else { Err(Error::OutputTooSmall { needed, given }) }
    }
}

/// Copies an input as long as the modulus, which is its own representative.
pub(super) fn copy(representative: &mut [u8], input: &[u8]) -> Result<(), Error> {
    let (needed, given) = (representative.len(), input.len());
    if needed != given {
        return Err(Error::Length { needed, given });
    }
    representative.copy_from_slice(input);
    Ok(())
}

/// Returns a digest that may be signed.
fn signable(hash: HashFunction, digest: &[u8]) -> Result<DigestBytes, Error> {
    if hash.is_retired() {
        return Err(Error::HashRetired);
    }
    of_length(hash, digest)
}

fn of_length(hash: HashFunction, digest: &[u8]) -> Result<DigestBytes, Error> {
    DigestBytes::of_length(hash.digest_length(), digest).ok_or(Error::DigestLength)
}
