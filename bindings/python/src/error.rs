//! Errors of the library as exceptions of Python. `cycloid/_errors.py` defines the classes.

use cycloid::bls12_381;
use cycloid::key_file;
use cycloid::scheme::{FormatError, dh, ec, ed25519, rsa, x25519};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The classes, imported when the first exception is raised.
mod classes {
    pyo3::import_exception!(cycloid._errors, AgreementError);
    pyo3::import_exception!(cycloid._errors, DecryptionError);
    pyo3::import_exception!(cycloid._errors, InternalError);
    pyo3::import_exception!(cycloid._errors, InvalidKey);
    pyo3::import_exception!(cycloid._errors, InvalidSignature);
    pyo3::import_exception!(cycloid._errors, ParameterError);
    pyo3::import_exception!(cycloid._errors, PassphraseError);
    pyo3::import_exception!(cycloid._errors, UnsupportedKey);
}

use classes::{AgreementError, DecryptionError, InternalError, PassphraseError, UnsupportedKey};
pub(crate) use classes::{InvalidKey, InvalidSignature, ParameterError};

/// An error of the library.
pub(crate) trait Raise {
    /// Returns the exception that Python sees.
    fn raise(self) -> PyErr;
}

/// Converts the error of a result.
pub(crate) trait OrRaise<T> {
    /// Returns the value, or the exception that Python sees.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Raise> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(Raise::raise)
    }
}

/// Returns the exception for a wrong argument.
pub(crate) fn parameter(text: impl Into<String>) -> PyErr {
    ParameterError::new_err(text.into())
}

/// Returns the exception for a signature that does not verify, for whatever reason.
pub(crate) fn signature() -> PyErr {
    InvalidSignature::new_err("the signature is not valid")
}

/// Returns the exception for copying or pickling a private key.
pub(crate) fn secret_copy() -> PyErr {
    PyTypeError::new_err(
        "private keys are neither copied nor pickled: share the object, or export it by to_pem()",
    )
}

fn key(error: impl ToString) -> PyErr {
    InvalidKey::new_err(error.to_string())
}

fn internal(error: impl ToString) -> PyErr {
    InternalError::new_err(error.to_string())
}

impl Raise for FormatError {
    fn raise(self) -> PyErr {
        match self {
            Self::Encrypted => PassphraseError::new_err(self.to_string()),
            Self::OutputTooSmall { .. } => internal(self),
            _ => key(self),
        }
    }
}

impl Raise for ec::Error {
    fn raise(self) -> PyErr {
        match self {
            Self::Format(error) => error.raise(),
            Self::OtherCurve => parameter(self.to_string()),
            Self::Verification | Self::SignatureFormat | Self::SignatureRange => signature(),
            Self::Fault | Self::RandomGenerator | Self::NotDone | Self::MemoryTooSmall { .. } => {
                internal(self)
            }
            _ => key(self),
        }
    }
}

impl Raise for ed25519::Error {
    fn raise(self) -> PyErr {
        match self {
            Self::Format(error) => error.raise(),
            Self::Signature | Self::WeakPublicKey => signature(),
            Self::ContextTooLong | Self::DigestLength => parameter(self.to_string()),
            Self::PublicKey => key(self),
            _ => internal(self),
        }
    }
}

impl Raise for x25519::Error {
    fn raise(self) -> PyErr {
        match self {
            Self::Format(error) => error.raise(),
            Self::SharedSecret => AgreementError::new_err(self.to_string()),
            _ => internal(self),
        }
    }
}

impl Raise for dh::Error {
    fn raise(self) -> PyErr {
        match self {
            Self::PublicRange | Self::PublicSubgroup | Self::SharedSecret => {
                AgreementError::new_err(self.to_string())
            }
            Self::RandomGenerator | Self::NotDone | Self::MemoryTooSmall { .. } => internal(self),
            Self::OtherGroup => parameter(self.to_string()),
            _ => key(self),
        }
    }
}

impl Raise for rsa::Error {
    fn raise(self) -> PyErr {
        match self {
            Self::Format(error) => error.raise(),
            Self::Key(_) | Self::PssParameters => key(self),
            Self::Signature => signature(),
            Self::Decryption => DecryptionError::new_err(self.to_string()),
            Self::Fault | Self::RandomGenerator | Self::NotDone | Self::MemoryTooSmall { .. } => {
                internal(self)
            }
            _ => parameter(self.to_string()),
        }
    }
}

/// Returns the exception for a ciphertext. Its length and range are public.
pub(crate) fn decryption(error: rsa::Error) -> PyErr {
    match error {
        rsa::Error::Length { .. } | rsa::Error::OutOfRange => {
            DecryptionError::new_err("the ciphertext cannot be decrypted")
        }
        error => error.raise(),
    }
}

impl Raise for bls12_381::Error {
    fn raise(self) -> PyErr {
        match self {
            Self::Verification => signature(),
            Self::Empty
            | Self::Counts { .. }
            | Self::SameMessage
            | Self::KeyMaterialTooShort
            | Self::ShareNumber
            | Self::Threshold => parameter(self.to_string()),
            Self::Fault | Self::RandomGenerator | Self::ScratchTooSmall { .. } => internal(self),
            _ => key(self),
        }
    }
}

impl Raise for key_file::Error {
    fn raise(self) -> PyErr {
        match self {
            Self::Encrypted { .. } | Self::Passphrase => PassphraseError::new_err(self.to_string()),
            Self::Unsupported { .. } | Self::Feature { .. } | Self::Costly => {
                UnsupportedKey::new_err(self.to_string())
            }
            Self::Rsa(error) => error.raise(),
            Self::Ec(error) => error.raise(),
            Self::Ed25519(error) => error.raise(),
            Self::X25519(error) => error.raise(),
            Self::Dh(error) => error.raise(),
            _ => key(self),
        }
    }
}

/// Returns the exception for a key whose kind the package does not have.
pub(crate) fn unsupported(what: &str) -> PyErr {
    UnsupportedKey::new_err(format!("{what}: not supported from Python"))
}

/// Returns the exception for a random generator that fails.
pub(crate) fn no_randomness() -> PyErr {
    internal("the system's random generator fails")
}

impl Raise for PyErr {
    fn raise(self) -> PyErr {
        self
    }
}
