//! Keys as DER and PEM: PKCS #1 (RFC 8017, appendices A.1.1 and A.1.2), PKCS #8 (RFC 5958) and
//! SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7); PEM as in RFC 7468.
//!
//! Reading borrows from the input, or for PEM from the caller's scratch; writing goes from the
//! limbs to the caller's buffer. Base64 is read and written without lookups or branches that depend
//! on it. What becomes known of a private key is the length of its encoded numbers.

mod algorithm;
mod der;
#[cfg(test)]
mod tests;

use ::der::Encode;

use self::algorithm::Algorithm;
use super::private::PrivateKey;
use super::public::{PublicKey, bit_length, checked_modulus_length, trimmed};
use super::{Error, Restriction, limbs, verify_scratch_limbs};
use crate::machine::words::{self, LIMB_BYTES, Limb};
use crate::machine::{ct, stack};
use crate::scheme::encoding::{
    self, ENCRYPTED_LABEL, PKCS8_LABEL, PrivateInfo, PublicInfo, SPKI_LABEL, element, pem,
    write_der,
};
use crate::scheme::stack_use;

encoding::causes!(Error);

/// The formats of a private key.
#[derive(Clone, Copy)]
enum PrivateFormat {
    Pkcs1,
    Pkcs8,
    /// Whichever it is.
    Any,
}

impl PrivateFormat {
    const PKCS1_LABEL: &str = "RSA PRIVATE KEY";

    /// The labels by which PEM is searched; a key that is encrypted is found, to be refused.
    const fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Pkcs1 => &[Self::PKCS1_LABEL],
            Self::Pkcs8 => &[PKCS8_LABEL, ENCRYPTED_LABEL],
            Self::Any => &[Self::PKCS1_LABEL, PKCS8_LABEL, ENCRYPTED_LABEL],
        }
    }

    fn of_label(label: &str) -> Result<Self, Error> {
        match label {
            Self::PKCS1_LABEL => Ok(Self::Pkcs1),
            PKCS8_LABEL => Ok(Self::Pkcs8),
            _ => Err(Error::Encrypted),
        }
    }
}

/// The formats of a public key.
#[derive(Clone, Copy)]
enum PublicFormat {
    Pkcs1,
    Spki,
    /// Whichever it is.
    Any,
}

impl PublicFormat {
    const PKCS1_LABEL: &str = "RSA PUBLIC KEY";

    const fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Pkcs1 => &[Self::PKCS1_LABEL],
            Self::Spki => &[SPKI_LABEL],
            Self::Any => &[Self::PKCS1_LABEL, SPKI_LABEL],
        }
    }

    fn of_label(label: &str) -> Self {
        if label == Self::PKCS1_LABEL { Self::Pkcs1 } else { Self::Spki }
    }
}

/// The most bytes that an INTEGER of `bits` bits has.
const fn integer(bits: usize) -> usize {
    element(bits / 8 + 1)
}

/// The most bytes that AlgorithmIdentifier has: of id-RSASSA-PSS with two hash functions and a salt.
const ALGORITHM_LENGTH: usize = {
    let hash = element(element(9) + element(0));
    let mask = element(element(9) + hash);
    let salt = element(integer(16));
    element(element(9) + element(element(hash) + element(mask) + salt))
};
/// The public exponent.
const EXPONENT: usize = integer(32);

/// The most bytes that a private key of `bits` bits has in DER, in either format.
pub const fn private_key_der_length(bits: usize) -> usize {
    let version = integer(0);
    let parts = 2 * integer(bits) + EXPONENT + 5 * integer(bits.div_ceil(2));
    element(version + ALGORITHM_LENGTH + element(element(version + parts)))
}

/// The most bytes that a private key of `bits` bits has in PEM, in either format.
pub const fn private_key_pem_length(bits: usize) -> usize {
    pem::length(PKCS8_LABEL, private_key_der_length(bits))
}

/// The most bytes that a public key of `bits` bits has in DER, in either format.
pub const fn public_key_der_length(bits: usize) -> usize {
    element(ALGORITHM_LENGTH + element(1 + element(integer(bits) + EXPONENT)))
}

/// The most bytes that a public key of `bits` bits has in PEM, in either format.
pub const fn public_key_pem_length(bits: usize) -> usize {
    pem::length(SPKI_LABEL, public_key_der_length(bits))
}

/// Limbs of scratch for reading a key of `bits` bits, private or public, from DER.
pub const fn der_scratch_limbs(bits: usize) -> usize {
    let (private, public) = (4 * limbs(bits) + 4, verify_scratch_limbs(bits));
    if private > public { private } else { public }
}

/// Limbs of scratch for reading a key of `bits` bits, private or public, from PEM that holds the
/// key and its public key; an unusual number of attributes or line breaks takes more.
pub const fn pem_scratch_limbs(bits: usize) -> usize {
    let decoded = private_key_der_length(bits) + public_key_der_length(bits);
    // A line break of two characters on each line of 64.
    der_scratch_limbs(bits) + (decoded + decoded / 32 + 8).div_ceil(LIMB_BYTES)
}

/// The key, its memory and the scratch being the caller's. `memory` has at least
/// [`private_key_limbs`](super::private_key_limbs); `scratch` [`der_scratch_limbs`] or
/// [`pem_scratch_limbs`], and is wiped, also on an error. A key is checked as by
/// [`new`](PrivateKey::new), with the same errors.
///
/// PKCS #8 may have attributes, which are passed over, and a public key, which must be the private
/// key's. The algorithm, rsaEncryption or id-RSASSA-PSS with or without parameters, becomes the key's
/// [`Restriction`], and that the algorithm. PKCS #1 has none, so a key that is restricted is not
/// written as that.
impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PrivateKey<M> {
    /// A key from DER, in whichever format.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::Der`], [`Error::Encrypted`], [`Error::MultiPrime`];
    /// of PKCS #8 also [`Error::Algorithm`], [`Error::Parameters`], [`Error::PssParameters`],
    /// [`Error::SaltTooLong`], [`Error::PublicKey`].
    pub fn from_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || Self::read_der(der, PrivateFormat::Any, memory, scratch))
    }

    /// A key from PKCS #8 in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_pkcs8_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || Self::read_der(der, PrivateFormat::Pkcs8, memory, scratch))
    }

    /// A key from PKCS #1 in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_pkcs1_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || Self::read_der(der, PrivateFormat::Pkcs1, memory, scratch))
    }

    /// The first private key in a PEM text, labelled `PRIVATE KEY` or `RSA PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der); [`Error::Pem`], [`Error::PemLabel`].
    pub fn from_pem(pem: impl AsRef<[u8]>, memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || {
            Self::read_pem(pem.as_ref(), PrivateFormat::Any, memory, scratch)
        })
    }

    /// The first private key in a PEM text that is labelled `PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`from_pem`](Self::from_pem).
    pub fn from_pkcs8_pem(
        pem: impl AsRef<[u8]>,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        stack::clean(Self::STACK, || {
            Self::read_pem(pem.as_ref(), PrivateFormat::Pkcs8, memory, scratch)
        })
    }

    /// The first private key in a PEM text that is labelled `RSA PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`from_pem`](Self::from_pem).
    pub fn from_pkcs1_pem(
        pem: impl AsRef<[u8]>,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        stack::clean(Self::STACK, || {
            Self::read_pem(pem.as_ref(), PrivateFormat::Pkcs1, memory, scratch)
        })
    }

    /// Writes the key as PKCS #8 in DER to the start of `output`, and gives what is there then: at
    /// most [`private_key_der_length`].
    ///
    /// # Errors
    /// [`Error::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs8_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        stack::clean(stack_use::RSA_KEY, || Ok(write_der(&self.private_info(), output)?))
    }

    /// Writes the key as PKCS #1 in DER, as [`to_pkcs8_der`](Self::to_pkcs8_der).
    ///
    /// # Errors
    /// [`Error::Restricted`], [`Error::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs1_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        self.restriction().allows_all()?;
        stack::clean(stack_use::RSA_KEY, || Ok(write_der(&self.structure(), output)?))
    }

    /// Writes the key as PKCS #8 in PEM to the start of `output`, and gives what is there then: at
    /// most [`private_key_pem_length`].
    ///
    /// # Errors
    /// [`Error::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs8_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        stack::clean(stack_use::RSA_KEY, || {
            Ok(pem::write(&self.private_info(), PKCS8_LABEL, output)?)
        })
    }

    /// Writes the key as PKCS #1 in PEM, as [`to_pkcs8_pem`](Self::to_pkcs8_pem).
    ///
    /// # Errors
    /// [`Error::Restricted`], [`Error::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs1_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        self.restriction().allows_all()?;
        stack::clean(stack_use::RSA_KEY, || {
            Ok(pem::write(&self.structure(), PrivateFormat::PKCS1_LABEL, output)?)
        })
    }

    /// Where the memory is an array, it is moved within.
    const STACK: usize = stack_use::RSA_KEY + 4 * size_of::<M>();

    fn read_der(
        der: &[u8],
        format: PrivateFormat,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let (components, restriction) = der::read_private(der, format)?;
        check_scratch(components.modulus, scratch.len(), 0)?;
        Self::new(&components, memory, scratch)?.restricted(restriction)
    }

    fn read_pem(
        pem: &[u8],
        format: PrivateFormat,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let block = pem::find(pem, format.labels())?;
        let format = PrivateFormat::of_label(block.label)?;
        let outcome = with_decoded(&block, scratch, |der, taken, scratch| {
            let (components, restriction) = der::read_private(der, format)?;
            check_scratch(components.modulus, scratch.len(), taken)?;
            Self::new(&components, memory, scratch)?.restricted(restriction)
        });
        ct::wipe(scratch);
        outcome
    }

    /// OneAsymmetricKey.
    fn private_info(&self) -> impl Encode {
        PrivateInfo { algorithm: Algorithm(self.restriction()), key: self.structure() }
    }

    /// RSAPrivateKey.
    fn structure(&self) -> impl Encode {
        der::private_key(&self.borrowed().parts(), self.public().exponent())
    }
}

/// The key, its memory and the scratch being the caller's. `memory` has at least
/// [`public_key_limbs`](super::public_key_limbs); `scratch` [`der_scratch_limbs`] or
/// [`pem_scratch_limbs`]. A key is checked as by [`new`](PublicKey::new), with the same errors.
///
/// The algorithm, rsaEncryption or id-RSASSA-PSS with or without parameters, becomes the key's
/// [`Restriction`], and that the algorithm. PKCS #1 has none, so a key that is restricted is not
/// written as that.
impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PublicKey<M> {
    /// A key from DER, in whichever format.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`Error::Der`]; of SubjectPublicKeyInfo also
    /// [`Error::Algorithm`], [`Error::Parameters`], [`Error::PssParameters`],
    /// [`Error::SaltTooLong`].
    pub fn from_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        Self::read_der(der, PublicFormat::Any, memory, scratch, 0)
    }

    /// A key from SubjectPublicKeyInfo in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_spki_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        Self::read_der(der, PublicFormat::Spki, memory, scratch, 0)
    }

    /// A key from PKCS #1 in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_pkcs1_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        Self::read_der(der, PublicFormat::Pkcs1, memory, scratch, 0)
    }

    /// The first public key in a PEM text, labelled `PUBLIC KEY` or `RSA PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der); [`Error::Pem`], [`Error::PemLabel`].
    pub fn from_pem(pem: impl AsRef<[u8]>, memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        Self::read_pem(pem.as_ref(), PublicFormat::Any, memory, scratch)
    }

    /// The first public key in a PEM text that is labelled `PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_pem`](Self::from_pem).
    pub fn from_spki_pem(
        pem: impl AsRef<[u8]>,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        Self::read_pem(pem.as_ref(), PublicFormat::Spki, memory, scratch)
    }

    /// The first public key in a PEM text that is labelled `RSA PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_pem`](Self::from_pem).
    pub fn from_pkcs1_pem(
        pem: impl AsRef<[u8]>,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        Self::read_pem(pem.as_ref(), PublicFormat::Pkcs1, memory, scratch)
    }

    /// `taken` limbs of the scratch are in use already.
    fn read_der(
        der: &[u8],
        format: PublicFormat,
        memory: M,
        scratch: &mut [Limb],
        taken: usize,
    ) -> Result<Self, Error> {
        let (components, restriction) = der::read_public(der, format)?;
        check_scratch(components.modulus, scratch.len(), taken)?;
        Self::new(components.modulus, components.exponent, memory, scratch)?.restricted(restriction)
    }

    fn read_pem(
        pem: &[u8],
        format: PublicFormat,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let block = pem::find(pem, format.labels())?;
        let format = PublicFormat::of_label(block.label);
        with_decoded(&block, scratch, |der, taken, scratch| {
            Self::read_der(der, format, memory, scratch, taken)
        })
    }
}

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// Writes the key as SubjectPublicKeyInfo in DER to the start of `output`, and gives what is
    /// there then: at most [`public_key_der_length`].
    ///
    /// # Errors
    /// [`Error::OutputTooSmall`]; nothing is written then.
    pub fn to_spki_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        Ok(write_der(&self.public_info(), output)?)
    }

    /// Writes the key as PKCS #1 in DER, as [`to_spki_der`](Self::to_spki_der).
    ///
    /// # Errors
    /// [`Error::Restricted`], [`Error::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs1_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        self.restriction().allows_all()?;
        Ok(write_der(&self.structure(), output)?)
    }

    /// Writes the key as SubjectPublicKeyInfo in PEM to the start of `output`, and gives what is
    /// there then: at most [`public_key_pem_length`].
    ///
    /// # Errors
    /// [`Error::OutputTooSmall`]; nothing is written then.
    pub fn to_spki_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        Ok(pem::write(&self.public_info(), SPKI_LABEL, output)?)
    }

    /// Writes the key as PKCS #1 in PEM, as [`to_spki_pem`](Self::to_spki_pem).
    ///
    /// # Errors
    /// [`Error::Restricted`], [`Error::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs1_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        self.restriction().allows_all()?;
        Ok(pem::write(&self.structure(), PublicFormat::PKCS1_LABEL, output)?)
    }

    /// SubjectPublicKeyInfo.
    fn public_info(&self) -> impl Encode {
        PublicInfo { algorithm: Algorithm(self.restriction()), key: self.structure() }
    }

    /// RSAPublicKey.
    fn structure(&self) -> impl Encode {
        der::public_key(self.modulus_limbs(), self.exponent())
    }
}

/// Decodes a block into the end of the scratch, and hands on the DER, the limbs that it takes
/// there, and the rest of the scratch.
fn with_decoded<T>(
    block: &pem::Block<'_>,
    scratch: &mut [Limb],
    read: impl FnOnce(&[u8], usize, &mut [Limb]) -> Result<T, Error>,
) -> Result<T, Error> {
    let (given, taken) = (scratch.len(), block.most_bytes().div_ceil(LIMB_BYTES));
    let free = given.checked_sub(taken).ok_or(Error::MemoryTooSmall { needed: taken, given })?;
    let (rest, end) = scratch.split_at_mut(free);
    read(block.decode(words::as_bytes_mut(end))?, taken, rest)
}

/// Whether the scratch is long enough for a modulus, when `free` limbs are left and `taken` are in
/// use.
fn check_scratch(modulus: &[u8], free: usize, taken: usize) -> Result<(), Error> {
    let bits = bit_length(trimmed(modulus));
    checked_modulus_length(bits)?;
    let needed = der_scratch_limbs(bits);
    if free < needed {
        return Err(Error::MemoryTooSmall { needed: needed + taken, given: free + taken });
    }
    Ok(())
}
