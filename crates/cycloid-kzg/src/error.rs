//! The error type.

use core::fmt;

use cycloid::bls12_381;

/// Why a KZG operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A blob, cell, element or point has the wrong number of bytes.
    Length {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// An element or a point is not encoded as required.
    Encoding(bls12_381::Error),
    /// Lists that belong together have different lengths.
    Counts,
    /// A cell's index is not below 128.
    CellIndex,
    /// The indices of the cells are not in ascending order, or one occurs twice.
    Order,
    /// Fewer than half or more than all of the cells are given.
    CellCount,
    /// The setup does not have 4096 points of G1 and 65 of G2.
    Setup,
    /// The points of the setup are not the powers of one τ in ascending order.
    Powers,
    /// The proof does not match the commitment.
    Verification,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { needed, given } => {
                write!(f, "{given} bytes were given, but {needed} are needed")
            }
            Self::Encoding(error) => error.fmt(f),
            Self::Counts => f.write_str("lists that belong together have different lengths"),
            Self::CellIndex => f.write_str("the index of a cell is not below 128"),
            Self::Order => f.write_str("the indices of the cells are not in ascending order"),
            Self::CellCount => f.write_str("at least 64 and at most 128 cells are needed"),
            Self::Setup => f.write_str("the setup does not have 4096 points of G1 and 65 of G2"),
            Self::Powers => f.write_str("the points of the setup are not the powers of one number"),
            Self::Verification => f.write_str("the proof does not match the commitment"),
        }
    }
}

impl core::error::Error for Error {}

impl From<bls12_381::Error> for Error {
    fn from(error: bls12_381::Error) -> Self {
        Self::Encoding(error)
    }
}

/// Refuses lists that belong together and have different lengths.
pub(crate) fn equal_counts(first: usize, other: usize) -> Result<(), Error> {
    if first == other { Ok(()) } else { Err(Error::Counts) }
}
