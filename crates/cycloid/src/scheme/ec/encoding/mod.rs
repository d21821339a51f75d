//! EC keys as DER and PEM: ECPrivateKey (RFC 5915; the format of SEC 1), PKCS #8 (RFC 5958) and
//! SubjectPublicKeyInfo (RFC 5480), with named curves; PEM as in RFC 7468.
//!
//! Reading DER borrows from the input. PEM is decoded into a stack buffer, which is wiped. Base64
//! is read and written without lookups or branches that depend on its contents.

mod der;
#[cfg(test)]
mod tests;

use ::der::Encode;
use ::der::oid::ObjectIdentifier;
use zeroize::Zeroizing;

use super::{Curve, EncodedPoint, Error, MAX_BYTES, PrivateKey, PublicKey};
use crate::machine::ct::{self, Mask};
use crate::machine::stack;
use crate::machine::words::{self, LIMB_BYTES, Limb};
use crate::scheme::FormatError;
use crate::scheme::encoding::{
    ENCRYPTED_LABEL, PKCS8_LABEL, PrivateInfo, PublicInfo, SPKI_LABEL, element, pem, write_der,
};
use crate::scheme::stack_use;

/// The formats of a private key.
#[derive(Clone, Copy)]
enum PrivateFormat {
    Sec1,
    Pkcs8,
    /// Either format.
    Any,
}

impl PrivateFormat {
    const SEC1_LABEL: &str = "EC PRIVATE KEY";

    /// Returns the PEM labels to search for. The label of encrypted keys is included so that they
    /// are refused with an error of their own.
    const fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Sec1 => &[Self::SEC1_LABEL],
            Self::Pkcs8 => &[PKCS8_LABEL, ENCRYPTED_LABEL],
            Self::Any => &[Self::SEC1_LABEL, PKCS8_LABEL, ENCRYPTED_LABEL],
        }
    }

    fn of_label(label: &str) -> Result<Self, Error> {
        match label {
            Self::SEC1_LABEL => Ok(Self::Sec1),
            PKCS8_LABEL => Ok(Self::Pkcs8),
            _ => Err(FormatError::Encrypted.into()),
        }
    }
}

/// Upper bound on the bytes that the base64 of a PEM block may encode, with white space counted as
/// base64: six times the longest key.
const PEM_ROOM: usize = 2048;

/// Returns the length of an AlgorithmIdentifier.
const fn algorithm_length<C: Curve>() -> usize {
    let name = element(der::name::<C>().as_bytes().len());
    element(element(der::ALGORITHM.as_bytes().len()) + name)
}

/// Returns the length of an uncompressed point in a BIT STRING.
const fn point_length<C: Curve>() -> usize {
    element(2 + 2 * C::BYTES)
}

/// Returns the maximum length of a private key on the curve in DER, in either format, in bytes.
pub const fn private_key_der_length<C: Curve>() -> usize {
    let version = element(1);
    let key = element(version + element(C::BYTES) + element(point_length::<C>()));
    element(version + algorithm_length::<C>() + element(key))
}

/// Returns the maximum length of a private key on the curve in PEM, in either format, in bytes.
pub const fn private_key_pem_length<C: Curve>() -> usize {
    pem::length(PKCS8_LABEL, private_key_der_length::<C>())
}

/// Returns the length of a public key on the curve in DER, in bytes.
pub const fn public_key_der_length<C: Curve>() -> usize {
    element(algorithm_length::<C>() + point_length::<C>())
}

/// Returns the length of a public key on the curve in PEM, in bytes.
pub const fn public_key_pem_length<C: Curve>() -> usize {
    pem::length(SPKI_LABEL, public_key_der_length::<C>())
}

/// Keys in files. The curve is given by name and must match the type. A public key stored with the
/// scalar must match it. Attributes of PKCS #8 are skipped.
///
/// The scalar is written with as many bytes as the order has (RFC 5915, section 3). On reading,
/// leading zeros may be missing or extra, as some programs write them so; the number of zeros
/// becomes public.
///
/// ```
/// use cycloid::scheme::ec::{self, P256, PrivateKey, PublicKey};
///
/// let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
/// let mut text = [0; ec::private_key_pem_length::<P256>()];
/// let same = PrivateKey::<P256>::from_pem(key.to_pkcs8_pem(&mut text)?)?;
///
/// let mut der = [0; ec::public_key_der_length::<P256>()];
/// let public = PublicKey::<P256>::from_spki_der(key.public_key().to_spki_der(&mut der)?)?;
/// assert_eq!(public.to_compressed()[..], same.public_key().to_compressed()[..]);
/// # Ok::<(), ec::Error>(())
/// ```
///
/// The output of these functions contains the key: the caller wipes it after use.
impl<C: Curve> PrivateKey<C> {
    /// Reads a key from DER, in either format.
    ///
    /// # Errors
    /// [`Error::PrivateKeyRange`]; [`FormatError::Der`], [`FormatError::Encrypted`],
    /// [`FormatError::IsPublicKey`], [`FormatError::OtherCurve`],
    /// [`FormatError::ExplicitParameters`], [`FormatError::Parameters`],
    /// [`FormatError::OtherPublicKey`]; of PKCS #8 also [`FormatError::Algorithm`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::ec_key::<C>(), || Self::read_der(der, PrivateFormat::Any))
    }

    /// Reads a key from PKCS #8 in DER.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::ec_key::<C>(), || Self::read_der(der, PrivateFormat::Pkcs8))
    }

    /// Reads a key from ECPrivateKey in DER, which must name the curve.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der).
    pub fn from_sec1_der(der: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::ec_key::<C>(), || Self::read_der(der, PrivateFormat::Sec1))
    }

    /// Reads the first private key in a PEM text, labelled `PRIVATE KEY` or `EC PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der); [`FormatError::Pem`], [`FormatError::PemLabel`],
    /// [`FormatError::PemTooLong`].
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        stack::clean(stack_use::ec_key::<C>(), || Self::read_pem(pem.as_ref(), PrivateFormat::Any))
    }

    /// Reads the first private key labelled `PRIVATE KEY` in a PEM text.
    ///
    /// # Errors
    /// As [`from_pem`](Self::from_pem).
    pub fn from_pkcs8_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        stack::clean(stack_use::ec_key::<C>(), || {
            Self::read_pem(pem.as_ref(), PrivateFormat::Pkcs8)
        })
    }

    /// Reads the first private key labelled `EC PRIVATE KEY` in a PEM text.
    ///
    /// # Errors
    /// As [`from_pem`](Self::from_pem).
    pub fn from_sec1_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        stack::clean(stack_use::ec_key::<C>(), || Self::read_pem(pem.as_ref(), PrivateFormat::Sec1))
    }

    /// Writes the key and its public key as PKCS #8 in DER. Returns the written prefix of `output`,
    /// at most [`private_key_der_length`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs8_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        stack::clean(stack_use::ec_key::<C>(), || Ok(write_der(&self.parts().pkcs8(), output)?))
    }

    /// Writes the key as ECPrivateKey in DER, like [`to_pkcs8_der`](Self::to_pkcs8_der).
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_sec1_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        stack::clean(stack_use::ec_key::<C>(), || Ok(write_der(&self.parts().sec1(), output)?))
    }

    /// Writes the key and its public key as PKCS #8 in PEM. Returns the written prefix of `output`,
    /// at most [`private_key_pem_length`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pkcs8_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        stack::clean(stack_use::ec_key::<C>(), || {
            Ok(pem::write(&self.parts().pkcs8(), PKCS8_LABEL, output)?)
        })
    }

    /// Writes the key as ECPrivateKey in PEM, like [`to_pkcs8_pem`](Self::to_pkcs8_pem).
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_sec1_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        stack::clean(stack_use::ec_key::<C>(), || {
            Ok(pem::write(&self.parts().sec1(), PrivateFormat::SEC1_LABEL, output)?)
        })
    }

    fn read_der(der: &[u8], format: PrivateFormat) -> Result<Self, Error> {
        let components = der::read_private(der, format, der::name::<C>())?;
        let key = Self::from_padded(components.scalar)?;
        let public = key.public_key();
        for point in components.public.into_iter().flatten() {
            // An encoding is unique. So no point is decoded, which takes a square root.
            if *point != *public.to_uncompressed() && *point != *public.to_compressed() {
                return Err(FormatError::OtherPublicKey.into());
            }
        }
        Ok(key)
    }

    /// Reads a key from its scalar, with any number of leading zeros.
    fn from_padded(bytes: &[u8]) -> Result<Self, Error> {
        let (beyond, bytes) = bytes.split_at(bytes.len().saturating_sub(C::BYTES));
        let beyond = beyond.iter().fold(0, |any, byte| any | Limb::from(*byte));
        // Whether the number is too large is the function's result.
        if !Mask::is_zero(beyond).reveal() {
            return Err(Error::PrivateKeyRange);
        }
        let mut padded = Zeroizing::new([0; MAX_BYTES]);
        let padded = &mut padded[..C::BYTES];
        padded[C::BYTES - bytes.len()..].copy_from_slice(bytes);
        Self::read_bytes(padded)
    }

    fn read_pem(pem: &[u8], format: PrivateFormat) -> Result<Self, Error> {
        let block = pem::find_private(pem, format.labels())?;
        let format = PrivateFormat::of_label(block.label)?;
        with_decoded(&block, |der| Self::read_der(der, format))
    }

    fn parts(&self) -> PrivateParts {
        let mut scalar = Zeroizing::new([0; MAX_BYTES]);
        // The length is correct, so this cannot fail.
        let outcome = self.to_bytes(&mut scalar[..C::BYTES]);
        debug_assert_eq!(outcome, Ok(()));
        let public = self.public_key().to_uncompressed();
        PrivateParts { scalar, length: C::BYTES, public, name: der::name::<C>() }
    }
}

/// The parts that a written private key consists of.
struct PrivateParts {
    scalar: Zeroizing<[u8; MAX_BYTES]>,
    length: usize,
    public: EncodedPoint,
    name: ObjectIdentifier,
}

impl PrivateParts {
    /// Returns a standalone ECPrivateKey, which names the curve.
    fn sec1(&self) -> impl Encode {
        der::private_key(&self.scalar[..self.length], Some(&self.name), &self.public)
    }

    /// Returns OneAsymmetricKey, which names the curve in the algorithm and, as is customary, does
    /// not repeat it in the key.
    fn pkcs8(&self) -> impl Encode {
        let key = der::private_key(&self.scalar[..self.length], None, &self.public);
        PrivateInfo { algorithm: der::algorithm(&self.name), key }
    }
}

/// Keys in files: SubjectPublicKeyInfo with a named curve, which must match the type. Points are
/// read in compressed or uncompressed form and written uncompressed.
impl<C: Curve> PublicKey<C> {
    /// Reads a key from SubjectPublicKeyInfo in DER.
    ///
    /// # Errors
    /// As [`from_sec1`](Self::from_sec1); [`FormatError::Der`], [`FormatError::Algorithm`],
    /// [`FormatError::OtherCurve`], [`FormatError::ExplicitParameters`],
    /// [`FormatError::Parameters`].
    pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
        Self::from_sec1(der::read_public_info(der, der::name::<C>())?)
    }

    /// Reads the first public key in a PEM text, labelled `PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_spki_der`](Self::from_spki_der); [`FormatError::Pem`], [`FormatError::PemLabel`],
    /// [`FormatError::PemTooLong`].
    pub fn from_spki_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        with_decoded(&pem::find(pem.as_ref(), &[SPKI_LABEL])?, Self::from_spki_der)
    }

    /// Writes the key as SubjectPublicKeyInfo in DER, with the point uncompressed. Returns the
    /// written prefix of `output`, which has [`public_key_der_length`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_spki_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        let (point, name) = (self.to_uncompressed(), der::name::<C>());
        Ok(write_der(&public_info(&point, &name), output)?)
    }

    /// Writes the key as SubjectPublicKeyInfo in PEM, with the point uncompressed. Returns the
    /// written prefix of `output`, which has [`public_key_pem_length`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_spki_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        let (point, name) = (self.to_uncompressed(), der::name::<C>());
        Ok(pem::write(&public_info(&point, &name), SPKI_LABEL, output)?)
    }
}

fn public_info<'a>(point: &'a [u8], name: &'a ObjectIdentifier) -> impl Encode + use<'a> {
    PublicInfo { algorithm: der::algorithm(name), key: der::Point(point) }
}

/// Decodes a block, passes the DER to a closure and wipes it afterwards.
fn with_decoded<T>(
    block: &pem::Block<'_>,
    read: impl FnOnce(&[u8]) -> Result<T, Error>,
) -> Result<T, Error> {
    if block.most_bytes() > PEM_ROOM {
        return Err(FormatError::PemTooLong.into());
    }
    let mut room = [0; PEM_ROOM / LIMB_BYTES];
    let decoded = block.decode(words::as_bytes_mut(&mut room)).map_err(Error::from);
    let outcome = decoded.and_then(read);
    ct::wipe(&mut room);
    outcome
}
