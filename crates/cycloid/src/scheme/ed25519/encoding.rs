//! Keys as DER and PEM (RFC 8410).

use super::{Error, FormatError, SigningKey, VerifyingKey};
use crate::machine::stack;
use crate::scheme::rfc8410::{self, ED25519, Template};
use crate::scheme::stack_use;

/// The length of a private key in DER, in bytes.
pub const PRIVATE_KEY_DER_LENGTH: usize = rfc8410::PRIVATE_DER_LENGTH;

/// The length of a private key in PEM, in bytes.
pub const PRIVATE_KEY_PEM_LENGTH: usize = rfc8410::PRIVATE_PEM_LENGTH;

/// The length of a private key with its public key in DER, in bytes.
pub const KEY_PAIR_DER_LENGTH: usize = rfc8410::PAIR_DER_LENGTH;

/// The length of a private key with its public key in PEM, in bytes.
pub const KEY_PAIR_PEM_LENGTH: usize = rfc8410::PAIR_PEM_LENGTH;

/// The length of a public key in DER, in bytes.
pub const PUBLIC_KEY_DER_LENGTH: usize = rfc8410::PUBLIC_DER_LENGTH;

/// The length of a public key in PEM, in bytes.
pub const PUBLIC_KEY_PEM_LENGTH: usize = rfc8410::PUBLIC_PEM_LENGTH;

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

impl SigningKey {
    /// Reads a key from PKCS #8 in DER, of either version. A public key stored with it must match;
    /// attributes are skipped. Files of the crate ring up to version 0.16, which tagged the public
    /// key wrongly, are accepted.
    ///
    /// # Errors
    /// [`FormatError::Der`], [`FormatError::Algorithm`], [`FormatError::Encrypted`],
    /// [`FormatError::IsPublicKey`], [`FormatError::OtherPublicKey`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        stack::clean(stack_use::ED25519_SIGN, || Self::read_der(der))
    }

    fn read_der(der: &[u8]) -> Result<Self, Error> {
        let info = rfc8410::read_private(der, ED25519)?;
        let key = Self::of_seed(info.private);
        match info.public {
            Some(public) if public != key.verifying_key().as_bytes() => {
                Err(FormatError::OtherPublicKey.into())
            }
            _ => Ok(key),
        }
    }

    /// Reads the first private key in a PEM text, labelled `PRIVATE KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der); [`FormatError::Pem`], [`FormatError::PemLabel`].
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        stack::clean(stack_use::ED25519_SIGN, || {
            rfc8410::with_private_pem(pem.as_ref(), Self::read_der)
        })
    }

    /// Writes the key as PKCS #8 of version 1 in DER, which every reader accepts. Returns the
    /// written prefix of `output`, [`PRIVATE_KEY_DER_LENGTH`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        stack::clean(stack_use::ED25519_SIGN, || {
            Ok(Template::private(&ED25519, self.seed(), None).to_der(output)?)
        })
    }

    /// Writes the key and its public key as PKCS #8 of version 2 in DER, like
    /// [`to_der`](Self::to_der): [`KEY_PAIR_DER_LENGTH`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_key_pair_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        let public = self.verifying_key().as_bytes();
        stack::clean(stack_use::ED25519_SIGN, || {
            Ok(Template::private(&ED25519, self.seed(), Some(public)).to_der(output)?)
        })
    }

    /// Writes the key as PKCS #8 of version 1 in PEM, like [`to_der`](Self::to_der):
    /// [`PRIVATE_KEY_PEM_LENGTH`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        stack::clean(stack_use::ED25519_SIGN, || {
            Ok(Template::private(&ED25519, self.seed(), None).to_private_pem(output)?)
        })
    }

    /// Writes the key and its public key as PKCS #8 of version 2 in PEM, like
    /// [`to_der`](Self::to_der): [`KEY_PAIR_PEM_LENGTH`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_key_pair_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        let public = self.verifying_key().as_bytes();
        stack::clean(stack_use::ED25519_SIGN, || {
            Ok(Template::private(&ED25519, self.seed(), Some(public)).to_private_pem(output)?)
        })
    }
}

impl VerifyingKey {
    /// Reads a key from SubjectPublicKeyInfo in DER.
    ///
    /// # Errors
    /// [`FormatError::Der`], [`FormatError::Algorithm`]; those of [`new`](Self::new).
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        Self::new(rfc8410::read_public(der, ED25519)?)
    }

    /// Reads the first public key in a PEM text, labelled `PUBLIC KEY`.
    ///
    /// # Errors
    /// As [`from_der`](Self::from_der); [`FormatError::Pem`], [`FormatError::PemLabel`].
    pub fn from_pem(pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        rfc8410::with_public_pem(pem.as_ref(), Self::from_der)
    }

    /// Writes the key as SubjectPublicKeyInfo in DER. Returns the written prefix of `output`,
    /// [`PUBLIC_KEY_DER_LENGTH`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_der<'o>(&self, output: &'o mut [u8]) -> Result<&'o [u8], Error> {
        Ok(Template::public(&ED25519, self.as_bytes()).to_der(output)?)
    }

    /// Writes the key as SubjectPublicKeyInfo in PEM, like [`to_der`](Self::to_der):
    /// [`PUBLIC_KEY_PEM_LENGTH`] bytes.
    ///
    /// # Errors
    /// [`FormatError::OutputTooSmall`]; nothing is written then.
    pub fn to_pem<'o>(&self, output: &'o mut [u8]) -> Result<&'o str, Error> {
        Ok(Template::public(&ED25519, self.as_bytes()).to_public_pem(output)?)
    }
}
