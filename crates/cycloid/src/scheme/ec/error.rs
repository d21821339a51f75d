//! The error type of keys, points and signatures on NIST curves.

use core::fmt;

use crate::math::curve::DecodeError;
#[cfg(feature = "encoding")]
use crate::scheme::FormatError;
use crate::scheme::random;

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file is not a key of this kind, or the buffer is too small for it.
    #[cfg(feature = "encoding")]
    Format(FormatError),
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
    /// The key, the peer's key or the signature is on another curve (run-time curves).
    OtherCurve,
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

#[cfg(feature = "encoding")]
impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

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
            #[cfg(feature = "encoding")]
            Self::Format(error) => error.fmt(f),
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
            Self::OtherCurve => f.write_str("the values are on different curves"),
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
