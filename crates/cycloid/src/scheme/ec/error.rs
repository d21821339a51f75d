//! What can be wrong with a key, a point or a signature.

use core::fmt;

use crate::math::curve::DecodeError;

/// Why an operation was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A private key is not from 1 to n − 1.
    PrivateKeyRange,
    /// An encoding is not as long as it must be.
    Length {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The first byte of a point is none that SEC 1 knows, or its length is not the one that belongs
    /// to it.
    PointFormat,
    /// The point is infinity.
    PointAtInfinity,
    /// A coordinate is not less than the prime.
    CoordinateRange,
    /// The point is not on the curve.
    NotOnCurve,
    /// r or s is not from 1 to n − 1.
    SignatureRange,
    /// The signature is not DER.
    SignatureFormat,
    /// The signature is not one of this message by this key.
    Verification,
    /// The job has not been in a batch.
    NotDone,
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
            Self::PrivateKeyRange => f.write_str("the private key is 0 or not below the order"),
            Self::Length { needed, given } => {
                write!(f, "{needed} bytes are needed, and {given} were given")
            }
            Self::PointFormat => f.write_str("the bytes are no SEC 1 encoding of a point"),
            Self::PointAtInfinity => f.write_str("the point is infinity"),
            Self::CoordinateRange => f.write_str("a coordinate is not below the prime"),
            Self::NotOnCurve => f.write_str("the point is not on the curve"),
            Self::SignatureRange => f.write_str("r or s is 0 or not below the order"),
            Self::SignatureFormat => f.write_str("the signature is not DER"),
            Self::Verification => f.write_str("the signature does not verify"),
            Self::NotDone => f.write_str("the job has not been in a batch"),
        }
    }
}

impl core::error::Error for Error {}
