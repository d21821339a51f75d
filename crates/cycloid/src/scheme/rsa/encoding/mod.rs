//! RSA keys as DER and PEM: PKCS #1 (RFC 8017, appendices A.1.1 and A.1.2), PKCS #8 (RFC 5958) and
//! SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7); PEM as in RFC 7468.
//!
//! Reading borrows from the input, or for PEM from the caller's scratch. Writing goes from the
//! limbs directly to the caller's buffer. Base64 is read and written without lookups or branches
//! that depend on its contents. Only the lengths of a private key's encoded numbers become public.

mod algorithm;
mod der;
#[cfg(test)]
mod tests;

#[cfg(feature = "pkcs8")]
pub(in super::super) use algorithm::pss_algorithm;

use ::der::Encode;

use self::algorithm::Algorithm;
#[cfg(feature = "hazardous")]
use super::length::MIN_LEGACY_BITS;
use super::private::PrivateKey;
use super::private::private_key_scratch_limbs;
#[cfg(feature = "hazardous")]
use super::public::checked_legacy_length;
use super::public::{PublicKey, bit_length, checked_modulus_length, trimmed};
use super::{Error, Restriction, verify_scratch_limbs};
use crate::machine::words::{self, LIMB_BYTES, Limb};
use crate::machine::{ct, stack};
use crate::scheme::FormatError;
use crate::scheme::encoding::{
    ENCRYPTED_LABEL, PKCS8_LABEL, PrivateInfo, PublicInfo, SPKI_LABEL, element, pem, write_der,
};
use crate::scheme::stack_use;

/// The formats of a private key.
#[derive(Clone, Copy)]
enum PrivateFormat {
    Pkcs1,
    Pkcs8,
    /// Either format.
    Any,
}

impl PrivateFormat {
    const PKCS1_LABEL: &str = "RSA PRIVATE KEY";

    /// Returns the PEM labels to search for. The label of encrypted keys is included so that they
    /// are refused with an error of their own.
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
            _ => Err(FormatError::Encrypted.into()),
        }
    }
}

/// The formats of a public key.
#[derive(Clone, Copy)]
enum PublicFormat {
    Pkcs1,
    Spki,
    /// Either format.
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

/// Returns the maximum length of an INTEGER of `bits` bits, in bytes.
const fn integer(bits: usize) -> usize {
    element(bits / 8 + 1)
}

/// The maximum length of an AlgorithmIdentifier, in bytes: id-RSASSA-PSS with two hash functions
/// and a salt.
const ALGORITHM_LENGTH: usize = {
    let hash = element(element(9) + element(0));
    let mask = element(element(9) + hash);
    let salt = element(integer(16));
    element(element(9) + element(element(hash) + element(mask) + salt))
};
/// The maximum length of the public exponent, in bytes.
const EXPONENT: usize = integer(64);

/// Returns the maximum length of a private key of `bits` bits and two primes of equal length in
/// DER, in either format, in bytes. For other keys, [`FormatError::OutputTooSmall`] has the length.
pub const fn private_key_der_length(bits: usize) -> usize {
    let version = integer(0);
    let parts = 2 * integer(bits) + EXPONENT + 5 * integer(bits.div_ceil(2));
    element(version + ALGORITHM_LENGTH + element(element(version + parts)))
}

/// Returns the maximum length of a private key of `bits` bits and two primes of equal length in
/// PEM, in either format, in bytes. For other keys, [`FormatError::OutputTooSmall`] has the length.
pub const fn private_key_pem_length(bits: usize) -> usize {
    pem::length(PKCS8_LABEL, private_key_der_length(bits))
}

/// Returns the maximum length of a public key of `bits` bits in DER, in either format, in bytes.
pub const fn public_key_der_length(bits: usize) -> usize {
    element(ALGORITHM_LENGTH + element(1 + element(integer(bits) + EXPONENT)))
}

/// Returns the maximum length of a public key of `bits` bits in PEM, in either format, in bytes.
pub const fn public_key_pem_length(bits: usize) -> usize {
    pem::length(SPKI_LABEL, public_key_der_length(bits))
}

/// Returns the limbs of scratch for reading a key of `bits` bits, private or public, from DER.
pub const fn der_scratch_limbs(bits: usize) -> usize {
    let (private, public) = (private_key_scratch_limbs(bits), verify_scratch_limbs(bits));
    if private > public { private } else { public }
}

/// Returns the limbs of scratch for reading a key of `bits` bits, private or public, from PEM that
/// holds the key and its public key. An unusual number of attributes or line breaks needs more.
pub const fn pem_scratch_limbs(bits: usize) -> usize {
    let decoded = private_key_der_length(bits) + public_key_der_length(bits);
    // Allows for a two-character line break after every 64 characters.
    der_scratch_limbs(bits) + (decoded + decoded / 32 + 8).div_ceil(LIMB_BYTES)
}

/// Keys in files. The caller provides the key's memory and the scratch: `memory` has at least
/// [`private_key_limbs`](super::private_key_limbs), and `scratch` [`der_scratch_limbs`] or
/// [`pem_scratch_limbs`], which is wiped, also on an error. A key is checked as by
/// [`new`](PrivateKey::new), with the same errors, and missing parts (zero in PKCS #1) are
/// computed. A key with missing parts, or with other than two primes of equal length, needs
/// [`any_private_key_scratch_limbs`](super::any_private_key_scratch_limbs) instead of
/// [`der_scratch_limbs`], and in PEM as much more.
///
/// PKCS #8 may have attributes, which are skipped, and a public key, which must match the private
/// key. The algorithm, rsaEncryption or id-RSASSA-PSS with or without parameters, determines the
/// key's [`Restriction`] and is written back from it. PKCS #1 has no algorithm, so a restricted key
/// cannot be written in that format.
impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PrivateKey<M> {
    /// Reads a key from DER, in either format.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`FormatError::Der`], [`FormatError::Encrypted`],
    /// [`KeyError::MultiPrime`](crate::scheme::rsa::KeyError::MultiPrime); of PKCS #8 also
    /// [`FormatError::Algorithm`], [`FormatError::Parameters`], [`Error::PssParameters`],
    /// [`Error::SaltTooLong`], [`FormatError::OtherPublicKey`].
    pub fn from_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || Self::read_der(der, PrivateFormat::Any, memory, scratch))
    }

    /// Reads a key from PKCS #8 in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_pkcs8_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || Self::read_der(der, PrivateFormat::Pkcs8, memory, scratch))
    }

    /// Reads a key from PKCS #1 in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_pkcs1_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || Self::read_der(der, PrivateFormat::Pkcs1, memory, scratch))
    }

    /// Reads the first private key in a PEM text, labelled `PRIVATE KEY` or `RSA PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der); [`FormatError::Pem`], [`FormatError::PemLabel`].
    pub fn from_pem(pem: impl AsRef<[u8]>, memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || {
            Self::read_pem(pem.as_ref(), PrivateFormat::Any, memory, scratch)
        })
    }

    /// Reads the first private key labelled `PRIVATE KEY` in a PEM text.
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

    /// Reads the first private key labelled `RSA PRIVATE KEY` in a PEM text.
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

    /// Writes the key as PKCS #8 in DER. Returns the written prefix of `output`, at most
    /// [`private_key_der_length`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs8_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        stack::clean(stack_use::RSA_KEY, || Ok(write_der(&self.private_info(), output)?))
    }

    /// Writes the key as PKCS #1 in DER, like [`to_pkcs8_der`](Self::to_pkcs8_der).
    ///
    /// # Errors
    /// [`Error::Restricted`], [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs1_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        self.restriction().allows_all()?;
        stack::clean(stack_use::RSA_KEY, || Ok(write_der(&self.structure(), output)?))
    }

    /// Writes the key as PKCS #8 in PEM. Returns the written prefix of `output`, at most
    /// [`private_key_pem_length`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs8_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        stack::clean(stack_use::RSA_KEY, || {
            Ok(pem::write(&self.private_info(), PKCS8_LABEL, output)?)
        })
    }

    /// Writes the key as PKCS #1 in PEM, like [`to_pkcs8_pem`](Self::to_pkcs8_pem).
    ///
    /// # Errors
    /// [`Error::Restricted`], [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs1_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        self.restriction().allows_all()?;
        stack::clean(stack_use::RSA_KEY, || {
            Ok(pem::write(&self.structure(), PrivateFormat::PKCS1_LABEL, output)?)
        })
    }

    /// If the memory is an array, it moves with the key and needs stack of its own.
    const STACK: usize = stack_use::RSA_KEY + 4 * size_of::<M>();

    fn read_der(
        der: &[u8],
        format: PrivateFormat,
        memory: M,
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let (key, restriction) = der::read_private(der, format)?;
        let components = key.components();
        check_length(components.modulus)?;
        check_scratch(components.modulus, scratch.len(), 0)?;
        Self::new(&components, memory, scratch)?.restricted(restriction)
    }

    /// Reads a key of a legacy length from PKCS #8 in DER.
    #[cfg(feature = "hazardous")]
    pub(super) fn read_legacy(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        stack::clean(Self::STACK, || {
            let (key, restriction) = der::read_private(der, PrivateFormat::Pkcs8)?;
            let components = key.components();
            let bits = bit_length(trimmed(components.modulus));
            checked_legacy_length(bits, MIN_LEGACY_BITS)?;
            check_scratch(components.modulus, scratch.len(), 0)?;
            Self::new_legacy(&components, memory, scratch)?.restricted(restriction)
        })
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
            let (key, restriction) = der::read_private(der, format)?;
            let components = key.components();
            check_length(components.modulus)?;
            check_scratch(components.modulus, scratch.len(), taken)?;
            Self::new(&components, memory, scratch)?.restricted(restriction)
        });
        ct::wipe(scratch);
        outcome
    }

    /// Returns OneAsymmetricKey.
    fn private_info(&self) -> impl Encode {
        PrivateInfo { algorithm: Algorithm(self.restriction()), key: self.structure() }
    }

    /// Returns RSAPrivateKey.
    fn structure(&self) -> impl Encode {
        der::PrivateKeyStructure(self.borrowed())
    }
}

/// Keys in files. The caller provides the key's memory and the scratch: `memory` has at least
/// [`public_key_limbs`](super::public_key_limbs), and `scratch` [`der_scratch_limbs`] or
/// [`pem_scratch_limbs`]. A key is checked as by [`new`](PublicKey::new), with the same errors.
///
/// The algorithm, rsaEncryption or id-RSASSA-PSS with or without parameters, determines the key's
/// [`Restriction`] and is written back from it. PKCS #1 has no algorithm, so a restricted key
/// cannot be written in that format.
impl<M: AsRef<[Limb]> + AsMut<[Limb]>> PublicKey<M> {
    /// Reads a key from DER, in either format.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`FormatError::Der`]; of SubjectPublicKeyInfo also
    /// [`FormatError::Algorithm`], [`FormatError::Parameters`], [`Error::PssParameters`],
    /// [`Error::SaltTooLong`].
    pub fn from_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        Self::read_der(der, PublicFormat::Any, memory, scratch, 0)
    }

    /// Reads a key from SubjectPublicKeyInfo in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_spki_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        Self::read_der(der, PublicFormat::Spki, memory, scratch, 0)
    }

    /// Reads a key from PKCS #1 in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_pkcs1_der(der: &[u8], memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        Self::read_der(der, PublicFormat::Pkcs1, memory, scratch, 0)
    }

    /// Reads the first public key in a PEM text, labelled `PUBLIC KEY` or `RSA PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der); [`FormatError::Pem`], [`FormatError::PemLabel`].
    pub fn from_pem(pem: impl AsRef<[u8]>, memory: M, scratch: &mut [Limb]) -> Result<Self, Error> {
        Self::read_pem(pem.as_ref(), PublicFormat::Any, memory, scratch)
    }

    /// Reads the first public key labelled `PUBLIC KEY` in a PEM text.
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

    /// Reads the first public key labelled `RSA PUBLIC KEY` in a PEM text.
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

    /// Reads a key from DER when `taken` limbs of the scratch are already in use.
    fn read_der(
        der: &[u8],
        format: PublicFormat,
        memory: M,
        scratch: &mut [Limb],
        taken: usize,
    ) -> Result<Self, Error> {
        let (components, restriction) = der::read_public(der, format)?;
        check_length(components.modulus)?;
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
    /// Writes the key as SubjectPublicKeyInfo in DER. Returns the written prefix of `output`, at
    /// most [`public_key_der_length`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_spki_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        Ok(write_der(&self.public_info(), output)?)
    }

    /// Writes the key as PKCS #1 in DER, like [`to_spki_der`](Self::to_spki_der).
    ///
    /// # Errors
    /// [`Error::Restricted`], [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs1_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        self.restriction().allows_all()?;
        Ok(write_der(&self.structure(), output)?)
    }

    /// Writes the key as SubjectPublicKeyInfo in PEM. Returns the written prefix of `output`, at
    /// most [`public_key_pem_length`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_spki_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        Ok(pem::write(&self.public_info(), SPKI_LABEL, output)?)
    }

    /// Writes the key as PKCS #1 in PEM, like [`to_spki_pem`](Self::to_spki_pem).
    ///
    /// # Errors
    /// [`Error::Restricted`], [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs1_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        self.restriction().allows_all()?;
        Ok(pem::write(&self.structure(), PublicFormat::PKCS1_LABEL, output)?)
    }

    /// Returns SubjectPublicKeyInfo.
    fn public_info(&self) -> impl Encode {
        PublicInfo { algorithm: Algorithm(self.restriction()), key: self.structure() }
    }

    /// Returns RSAPublicKey.
    fn structure(&self) -> impl Encode {
        der::public_key(self.modulus_limbs(), self.exponent())
    }
}

/// Returns the modulus and the exponent of a public key in either format, and its restriction.
#[cfg(feature = "alloc")]
pub(super) fn public_components(der: &[u8]) -> Result<(&[u8], &[u8], Restriction), Error> {
    let (components, restriction) = der::read_public(der, PublicFormat::Any)?;
    Ok((components.modulus, components.exponent, restriction))
}

/// Decodes a block into the end of the scratch. Passes the DER, the number of limbs it occupies and
/// the rest of the scratch to a closure.
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

/// Checks that keys may have this modulus.
fn check_length(modulus: &[u8]) -> Result<(), Error> {
    checked_modulus_length(bit_length(trimmed(modulus)))
}

/// Checks that the scratch is long enough for a modulus, when `free` limbs are left and `taken` are
/// in use.
fn check_scratch(modulus: &[u8], free: usize, taken: usize) -> Result<(), Error> {
    let needed = der_scratch_limbs(bit_length(trimmed(modulus)));
    if free < needed {
        return Err(Error::MemoryTooSmall { needed: needed + taken, given: free + taken });
    }
    Ok(())
}
