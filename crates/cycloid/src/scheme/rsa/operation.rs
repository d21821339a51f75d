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
use crate::scheme::stack_use;

/// A pending private operation and the destination of its result.
///
/// The purpose is a type, so that a program contains only those that it uses; with [`Any`] it is
/// known at run time.
pub(super) struct Operation<'a, P = Any<'a>> {
    purpose: P,
    output: &'a mut [u8],
}

/// A use of the private operation.
pub(super) trait Purpose {
    /// The stack use of the whole operation, in bytes.
    const STACK_USE: usize = stack_use::RSA_PRIVATE;

    /// Returns an error unless a key with the restriction allows this operation.
    fn check(&self, restriction: Restriction) -> Result<(), Error>;

    /// Writes the message representative for a key of `bits` bits, as long as its modulus. `output`
    /// is the length of the destination.
    fn represent(
        &self,
        bits: usize,
        rng: &mut impl CryptoRng,
        representative: &mut [u8],
        output: usize,
    ) -> Result<(), Error>;

    /// Writes the result, which is as long as the modulus and is destroyed, to its destination.
    /// Returns the length of the delivered output. `d` is the private exponent.
    fn deliver(&self, d: &[Limb], result: &mut [u8], output: &mut [u8]) -> Result<usize, Error>;
}

/// RSASSA-PKCS1-v1_5.
pub(super) struct SignPkcs1v15 {
    info: DigestInfo,
}

/// RSASSA-PSS with a random salt.
pub(super) struct SignPss {
    pss: Pss<HashFunction>,
    digest: DigestBytes,
}

/// RSAES-OAEP.
pub(super) struct DecryptOaep<'a> {
    oaep: Oaep<'a, HashFunction>,
    ciphertext: &'a [u8],
}

/// RSAES-PKCS1-v1_5 with implicit rejection.
pub(super) struct DecryptPkcs1v15<'a> {
    ciphertext: &'a [u8],
}

/// The bare power.
#[cfg(feature = "hazardous")]
pub(super) struct Raw<'a> {
    input: &'a [u8],
}

/// Any of these, chosen at run time.
pub(super) enum Any<'a> {
    SignPkcs1v15(SignPkcs1v15),
    SignPss(SignPss),
    DecryptOaep(DecryptOaep<'a>),
    DecryptPkcs1v15(DecryptPkcs1v15<'a>),
    #[cfg(feature = "hazardous")]
    Raw(Raw<'a>),
}

/// Evaluates `$run` with the purpose that it is.
macro_rules! with_purpose {
    ($any:expr, $purpose:ident => $run:expr) => {
        match $any {
            Any::SignPkcs1v15($purpose) => $run,
            Any::SignPss($purpose) => $run,
            Any::DecryptOaep($purpose) => $run,
            Any::DecryptPkcs1v15($purpose) => $run,
            #[cfg(feature = "hazardous")]
            Any::Raw($purpose) => $run,
        }
    };
}

/// Declares a purpose as one of [`Any`].
macro_rules! into_any {
    ($name:ident $purpose:ty) => {
        impl<'a> From<$purpose> for Any<'a> {
            fn from(purpose: $purpose) -> Self {
                Self::$name(purpose)
            }
        }
    };
}

into_any!(SignPkcs1v15 SignPkcs1v15);
into_any!(SignPss SignPss);
into_any!(DecryptOaep DecryptOaep<'a>);
into_any!(DecryptPkcs1v15 DecryptPkcs1v15<'a>);
#[cfg(feature = "hazardous")]
into_any!(Raw Raw<'a>);

impl Purpose for Any<'_> {
    fn check(&self, restriction: Restriction) -> Result<(), Error> {
        with_purpose!(self, purpose => purpose.check(restriction))
    }

    fn represent(
        &self,
        bits: usize,
        rng: &mut impl CryptoRng,
        representative: &mut [u8],
        output: usize,
    ) -> Result<(), Error> {
        with_purpose!(self, purpose => purpose.represent(bits, rng, representative, output))
    }

    fn deliver(&self, d: &[Limb], result: &mut [u8], output: &mut [u8]) -> Result<usize, Error> {
        with_purpose!(self, purpose => purpose.deliver(d, result, output))
    }
}

impl Purpose for SignPkcs1v15 {
    const STACK_USE: usize = stack_use::RSA_SIGN_PKCS1V15;

    fn check(&self, restriction: Restriction) -> Result<(), Error> {
        restriction.allows_all()
    }

    fn represent(
        &self,
        _bits: usize,
        _rng: &mut impl CryptoRng,
        representative: &mut [u8],
        output: usize,
    ) -> Result<(), Error> {
        check_output(representative, output)?;
        pkcs1v15::encode(representative, self.info.as_ref())
    }

    fn deliver(&self, _d: &[Limb], result: &mut [u8], output: &mut [u8]) -> Result<usize, Error> {
        deliver_whole(result, output)
    }
}

impl Purpose for SignPss {
    fn check(&self, restriction: Restriction) -> Result<(), Error> {
        restriction.allows_pss(self.pss)
    }

    fn represent(
        &self,
        bits: usize,
        rng: &mut impl CryptoRng,
        representative: &mut [u8],
        output: usize,
    ) -> Result<(), Error> {
        check_output(representative, output)?;
        pss::encode(representative, bits, self.pss, &self.digest, rng)
    }

    fn deliver(&self, _d: &[Limb], result: &mut [u8], output: &mut [u8]) -> Result<usize, Error> {
        deliver_whole(result, output)
    }
}

impl Purpose for DecryptOaep<'_> {
    fn check(&self, restriction: Restriction) -> Result<(), Error> {
        if self.oaep.uses_shake() { Err(Error::HashUnsuitable) } else { restriction.allows_all() }
    }

    fn represent(
        &self,
        _bits: usize,
        _rng: &mut impl CryptoRng,
        representative: &mut [u8],
        output: usize,
    ) -> Result<(), Error> {
        if !self.oaep.fits(representative.len()) {
            return Err(Error::ModulusTooShort);
        }
        check_room(self.oaep.longest_message(representative.len()), output)?;
        copy(representative, self.ciphertext)
    }

    fn deliver(&self, _d: &[Limb], result: &mut [u8], output: &mut [u8]) -> Result<usize, Error> {
        oaep::decode(result, &self.oaep, output)
    }
}

impl Purpose for DecryptPkcs1v15<'_> {
    fn check(&self, restriction: Restriction) -> Result<(), Error> {
        restriction.allows_all()
    }

    fn represent(
        &self,
        _bits: usize,
        _rng: &mut impl CryptoRng,
        representative: &mut [u8],
        output: usize,
    ) -> Result<(), Error> {
        check_room(pkcs1v15_encryption::longest_message(representative.len()), output)?;
        copy(representative, self.ciphertext)
    }

    fn deliver(&self, d: &[Limb], result: &mut [u8], output: &mut [u8]) -> Result<usize, Error> {
        let rejection = Rejection::new(d, self.ciphertext);
        Ok(pkcs1v15_encryption::decode(result, &rejection, output))
    }
}

#[cfg(feature = "hazardous")]
impl Purpose for Raw<'_> {
    fn check(&self, restriction: Restriction) -> Result<(), Error> {
        restriction.allows_all()
    }

    fn represent(
        &self,
        _bits: usize,
        _rng: &mut impl CryptoRng,
        representative: &mut [u8],
        output: usize,
    ) -> Result<(), Error> {
        check_output(representative, output)?;
        copy(representative, self.input)
    }

    fn deliver(&self, _d: &[Limb], result: &mut [u8], output: &mut [u8]) -> Result<usize, Error> {
        deliver_whole(result, output)
    }
}

impl<'a> Operation<'a, SignPkcs1v15> {
    /// Signs a digest with RSASSA-PKCS1-v1_5.
    pub(super) fn sign_pkcs1v15(
        hash: Hash,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        hash.check_suits_pkcs1v15()?;
        if digest.len() != hash.digest_length() {
            return Err(Error::DigestLength);
        }
        if hash.is_retired() {
            return Err(Error::HashRetired);
        }
        let purpose = SignPkcs1v15 { info: DigestInfo::known(hash, digest) };
        Ok(Self { purpose, output: signature })
    }

    /// Signs a DigestInfo with RSASSA-PKCS1-v1_5.
    pub(super) fn sign_digest_info(
        info: DigestInfo,
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        info.check_signable()?;
        Ok(Self { purpose: SignPkcs1v15 { info }, output: signature })
    }
}

impl<'a> Operation<'a, SignPss> {
    /// Signs a digest with RSASSA-PSS and a random salt.
    pub(super) fn sign_pss(
        pss: Pss<HashFunction>,
        digest: &[u8],
        signature: &'a mut [u8],
    ) -> Result<Self, Error> {
        let digest = signable(pss.hash, digest)?;
        Ok(Self { purpose: SignPss { pss, digest }, output: signature })
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
        Ok(Self { purpose: SignPss { pss, digest }, output: signature })
    }
}

impl<'a> Operation<'a, DecryptOaep<'a>> {
    /// Decrypts with RSAES-OAEP.
    pub(super) const fn decrypt_oaep(
        oaep: Oaep<'a, HashFunction>,
        ciphertext: &'a [u8],
        output: &'a mut [u8],
    ) -> Self {
        Self { purpose: DecryptOaep { oaep, ciphertext }, output }
    }
}

impl<'a> Operation<'a, DecryptPkcs1v15<'a>> {
    /// Decrypts with RSAES-PKCS1-v1_5 and implicit rejection.
    pub(super) const fn decrypt_pkcs1v15(ciphertext: &'a [u8], output: &'a mut [u8]) -> Self {
        Self { purpose: DecryptPkcs1v15 { ciphertext }, output }
    }
}

#[cfg(feature = "hazardous")]
impl<'a> Operation<'a, Raw<'a>> {
    /// Computes the bare power.
    pub(super) const fn raw(input: &'a [u8], output: &'a mut [u8]) -> Self {
        Self { purpose: Raw { input }, output }
    }
}

impl<'a, P: Into<Any<'a>>> Operation<'a, P> {
    /// Returns the same operation, its purpose known at run time.
    pub(super) fn any(self) -> Operation<'a> {
        Operation { purpose: self.purpose.into(), output: self.output }
    }
}

impl<P: Purpose> Operation<'_, P> {
    /// Returns an error unless a key with the restriction allows this operation.
    pub(super) fn check(&self, restriction: Restriction) -> Result<(), Error> {
        self.purpose.check(restriction)
    }

    /// Writes the message representative for a key of `bits` bits, as long as its modulus.
    pub(super) fn represent(
        &self,
        bits: usize,
        rng: &mut impl CryptoRng,
        representative: &mut [u8],
    ) -> Result<(), Error> {
        self.purpose.represent(bits, rng, representative, self.output.len())
    }

    /// Writes the result, which is as long as the modulus and is destroyed, to its destination.
    /// Returns the length of the delivered output. `d` is the private exponent.
    pub(super) fn deliver(&mut self, d: &[Limb], result: &mut [u8]) -> Result<usize, Error> {
        self.purpose.deliver(d, result, self.output)
    }
}

/// Checks that the output is as long as the modulus, as signatures are.
const fn check_output(representative: &[u8], given: usize) -> Result<(), Error> {
    let needed = representative.len();
    if needed == given { Ok(()) } else { Err(Error::Length { needed, given }) }
}

/// Checks that the longest message fits, so that time does not depend on the actual length.
const fn check_room(needed: usize, given: usize) -> Result<(), Error> {
    if needed <= given { Ok(()) } else { Err(Error::OutputTooSmall { needed, given }) }
}

/// Copies a result as long as the modulus, and as the output.
fn deliver_whole(result: &[u8], output: &mut [u8]) -> Result<usize, Error> {
    output.copy_from_slice(result);
    Ok(result.len())
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
