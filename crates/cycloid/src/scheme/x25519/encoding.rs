//! Keys as DER and PEM (RFC 8410).

use super::{Error, FormatError, PrivateKey};
use crate::machine::stack;
use crate::scheme::rfc8410::{self, Template, X25519};
use crate::scheme::stack_use;

/// The length of a private key in DER, in bytes.
pub const PRIVATE_KEY_DER_LENGTH: usize = rfc8410::PRIVATE_DER_LENGTH;

/// The length of a private key in PEM, in bytes.
pub const PRIVATE_KEY_PEM_LENGTH: usize = rfc8410::PRIVATE_PEM_LENGTH;

/// The length of a public key in DER, in bytes.
pub const PUBLIC_KEY_DER_LENGTH: usize = rfc8410::PUBLIC_DER_LENGTH;

/// The length of a public key in PEM, in bytes.
pub const PUBLIC_KEY_PEM_LENGTH: usize = rfc8410::PUBLIC_PEM_LENGTH;

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

impl PrivateKey {
    /// Reads a key from PKCS #8 in DER. A public key stored with it must match; attributes are
    /// skipped.
    ///
    /// # Errors
    /// [`FormatError::Der`], [`FormatError::Algorithm`], [`FormatError::Encrypted`],
    /// [`FormatError::IsPublicKey`], [`FormatError::OtherPublicKey`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::X25519, || Self::read_der(der))
    }

    fn read_der(der: &[u8]) -> Result<Self, Error> {
        let info = rfc8410::read_private(der, X25519)?;
        let key = Self(*info.private);
        match info.public {
            Some(public) if *public != key.public_key() => Err(FormatError::OtherPublicKey.into()),
            _ => Ok(key),
        }
    }

    /// Reads the first private key in a PEM text, labelled `PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der); [`FormatError::Pem`], [`FormatError::PemLabel`].
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        stack::clean(stack_use::X25519, || rfc8410::with_private_pem(pem.as_ref(), Self::read_der))
    }

    /// Writes the key as PKCS #8 in DER. Returns the written prefix of `output`,
    /// [`PRIVATE_KEY_DER_LENGTH`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        stack::clean(stack_use::X25519, || {
            Ok(Template::private(&X25519, &self.0, None).to_der(output)?)
        })
    }

    /// Writes the key as PKCS #8 in PEM, like [`to_der`](Self::to_der): [`PRIVATE_KEY_PEM_LENGTH`]
    /// bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        stack::clean(stack_use::X25519, || {
            Ok(Template::private(&X25519, &self.0, None).to_private_pem(output)?)
        })
    }
}

/// Reads a public key from SubjectPublicKeyInfo in DER.
///
/// # Errors
/// [`FormatError::Der`], [`FormatError::Algorithm`].
pub fn public_key_from_der(der: &[u8]) -> Result<[u8; 32], Error> {
    Ok(*rfc8410::read_public(der, X25519)?)
}

/// Reads the first public key in a PEM text, labelled `PUBLIC KEY`.
///
/// # Errors
/// As [`public_key_from_der`]; [`FormatError::Pem`], [`FormatError::PemLabel`].
pub fn public_key_from_pem(pem: impl AsRef<[u8]>) -> Result<[u8; 32], Error> {
    rfc8410::with_public_pem(pem.as_ref(), public_key_from_der)
}

/// Writes a public key as SubjectPublicKeyInfo in DER. Returns the written prefix of `output`,
/// [`PUBLIC_KEY_DER_LENGTH`] bytes.
///
/// # Errors
/// [`FormatError::OutputTooSmall`]; nothing is written then.
pub fn public_key_to_der<'o>(key: &[u8; 32], output: &'o mut [u8]) -> Result<&'o [u8], Error> {
    Ok(Template::public(&X25519, key).to_der(output)?)
}

/// Writes a public key as SubjectPublicKeyInfo in PEM, like [`public_key_to_der`]:
/// [`PUBLIC_KEY_PEM_LENGTH`] bytes.
///
/// # Errors
/// [`FormatError::OutputTooSmall`]; nothing is written then.
pub fn public_key_to_pem<'o>(key: &[u8; 32], output: &'o mut [u8]) -> Result<&'o str, Error> {
    Ok(Template::public(&X25519, key).to_public_pem(output)?)
}
