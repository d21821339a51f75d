//! The error type of keys, points and signatures on NIST curves.

use core::fmt;

use crate::math::curve::DecodeError;
use crate::scheme::random;

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The private key is not from 1 to n − 1.
    PrivateKeyRange,
    /// The scalar is not from 0 to n − 1.
    ScalarRange,
    /// The encoding has the wrong length.
    Length {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The first byte of a point is not defined by SEC 1, or does not match the encoding's length.
    PointFormat,
    /// The point is infinity.
    PointAtInfinity,
    /// A coordinate is not less than the field's prime.
    CoordinateRange,
    /// The point is not on the curve.
    NotOnCurve,
    /// r or s is not from 1 to n − 1.
    SignatureRange,
    /// The signature is not DER.
    SignatureFormat,
    /// The bytes are not a key of this format in DER: they are truncated, have trailing data, or
    /// encode a length in more bytes than necessary.
    Der,
    /// The text holds no PEM (RFC 7468), or its base64 is invalid.
    Pem,
    /// The text is PEM, but no label matches this kind of key.
    PemLabel,
    /// The PEM is several times longer than a key with its public key.
    PemTooLong,
    /// The private key is encrypted with a password; decrypt it elsewhere first.
    Encrypted,
    /// The file holds a public key, but a private key is required.
    IsPublicKey,
    /// The key is not an elliptic-curve key (id-ecPublicKey).
    Algorithm,
    /// The key is on another curve.
    OtherCurve,
    /// The curve is given by explicit parameters instead of its name. This is not supported, and
    /// RFC 5480, section 2.1.1, forbids it.
    ExplicitParameters,
    /// The curve is not named, or has different names in two places.
    Parameters,
    /// The public key stored with the private key does not match it.
    OtherPublicKey,
    /// The output buffer is too small for the key.
    OutputTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The memory for the key's multiples is too small.
    MemoryTooSmall {
        /// Limbs needed.
        needed: usize,
        /// Limbs given.
        given: usize,
    },
    /// The signature is not valid for this message and key.
    Verification,
    /// The signature that was made does not verify, so it was not released. A key has changed in
    /// memory, or a computation went wrong.
    Fault,
    /// The random generator fails or repeats itself.
    RandomGenerator,
    /// The job has not been run in a batch yet.
    NotDone,
}

random::cause!(Error);

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Range => Self::CoordinateRange,
            DecodeError::NotOnCurve => Self::NotOnCurve,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PrivateKeyRange => f.write_str("the private key is 0 or not below the order"),
            Self::ScalarRange => f.write_str("the scalar is not below the order"),
            Self::Length { needed, given } => {
                write!(f, "{given} bytes were given, but {needed} are needed")
            }
            Self::PointFormat => f.write_str("the bytes are not a SEC 1 encoding of a point"),
            Self::PointAtInfinity => f.write_str("the point is infinity"),
            Self::CoordinateRange => f.write_str("a coordinate is not below the prime"),
            Self::NotOnCurve => f.write_str("the point is not on the curve"),
            Self::SignatureRange => f.write_str("r or s is 0 or not below the order"),
            Self::SignatureFormat => f.write_str("the signature is not DER"),
            Self::Der => f.write_str("the DER is not a key in this format"),
            Self::Pem => f.write_str("the text is not PEM, or its base64 is wrong"),
            Self::PemLabel => f.write_str("no PEM label matches this kind of key"),
            Self::PemTooLong => f.write_str("the PEM is too long to be a key"),
            Self::Encrypted => f.write_str("the private key is encrypted with a password"),
            Self::IsPublicKey => f.write_str("the file holds a public key, not a private one"),
            Self::Algorithm => f.write_str("the key is not an elliptic-curve key"),
            Self::OtherCurve => f.write_str("the key is on another curve"),
            Self::ExplicitParameters => f.write_str("explicit curve parameters are not supported"),
            Self::Parameters => f.write_str("the curve is not named, or has two names"),
            Self::OtherPublicKey => {
                f.write_str("the public key in the file does not match the private key")
            }
            Self::OutputTooSmall { needed, given } => {
                write!(f, "the output has {given} bytes, but {needed} are needed")
            }
            Self::MemoryTooSmall { needed, given } => {
                write!(f, "the memory has {given} limbs, but {needed} are needed")
            }
            Self::Verification => f.write_str("the signature does not verify"),
            Self::Fault => f.write_str("the signature that was made does not verify"),
            Self::RandomGenerator => f.write_str("the random generator fails or repeats itself"),
            Self::NotDone => f.write_str("the job has not been run"),
        }
    }
}

impl core::error::Error for Error {}
