//! The error type of encodings, lists, keys and signatures.

use core::fmt;

use crate::scheme::random;

/// Why a BLS12-381 operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The encoding has the wrong length.
    Length {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The flags in the first byte of a point do not match the encoding or contradict each other.
    Flags,
    /// An integer is not below its modulus, or infinity's flag is followed by nonzero bits.
    NotCanonical,
    /// The text is not an integer in decimal, or in hexadecimal with the prefix `0x`.
    Digits,
    /// The point is not on the curve.
    NotOnCurve,
    /// The point or the element is not in the group of order r.
    NotInGroup,
    /// The point is infinity, which is not allowed here.
    Infinity,
    /// The secret key is 0.
    ZeroKey,
    /// The key material has fewer than 32 bytes.
    KeyMaterialTooShort,
    /// Lists that belong together have different lengths.
    Counts {
        /// Length of the first list.
        first: usize,
        /// Length of the other list.
        other: usize,
    },
    /// The list is empty.
    Empty,
    /// Two messages are equal, which the basic scheme forbids.
    SameMessage,
    /// Two shares have the same number, or one has the number 0.
    ShareNumber,
    /// The threshold is 0, or larger than the number of shares.
    Threshold,
    /// More bytes are asked for than a message can be expanded to.
    TooManyBytes {
        /// The most bytes.
        most: usize,
        /// Bytes asked for.
        asked: usize,
    },
    /// The length is not a power of two up to 2³², or not that of the domain.
    Domain,
    /// A value that must be invertible is 0.
    Zero,
    /// Two points of an interpolation are equal.
    SamePoint,
    /// The scratch is too small.
    ScratchTooSmall {
        /// Limbs needed.
        needed: usize,
        /// Limbs given.
        given: usize,
    },
    /// The signature is not one of this message by this key.
    Verification,
    /// The signature that was made does not verify, so it was not released: a key has changed in
    /// memory, or a computation went wrong.
    Fault,
    /// The random generator failed, or repeats itself.
    RandomGenerator,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { needed, given } => {
                write!(f, "{given} bytes were given, but {needed} are needed")
            }
            Self::Flags => f.write_str("the flags do not match this encoding"),
            Self::NotCanonical => f.write_str("an integer is not below its modulus"),
            Self::Digits => f.write_str("the text is not a decimal or hexadecimal integer"),
            Self::NotOnCurve => f.write_str("the point is not on the curve"),
            Self::NotInGroup => f.write_str("the element is not in the group"),
            Self::Infinity => f.write_str("the point is infinity"),
            Self::ZeroKey => f.write_str("the secret key is 0"),
            Self::KeyMaterialTooShort => f.write_str("the key material has fewer than 32 bytes"),
            Self::Counts { first, other } => {
                write!(f, "the lists have {first} and {other} members")
            }
            Self::Empty => f.write_str("the list is empty"),
            Self::SameMessage => f.write_str("two messages are equal"),
            Self::ShareNumber => f.write_str("a share number is 0 or occurs twice"),
            Self::Threshold => {
                f.write_str("the threshold is 0 or larger than the number of shares")
            }
            Self::TooManyBytes { most, asked } => {
                write!(f, "a message expands to at most {most} bytes, but {asked} were requested")
            }
            Self::Domain => {
                f.write_str("the length is not a power of two or not the domain's length")
            }
            Self::Zero => f.write_str("a value that must be invertible is 0"),
            Self::SamePoint => f.write_str("two points of an interpolation are equal"),
            Self::ScratchTooSmall { needed, given } => {
                write!(f, "the scratch has {given} limbs, but {needed} are needed")
            }
            Self::Verification => f.write_str("the signature does not verify"),
            Self::Fault => f.write_str("the signature that was made does not verify"),
            Self::RandomGenerator => f.write_str("the random generator fails or repeats itself"),
        }
    }
}

impl core::error::Error for Error {}

random::cause!(Error);

/// Refuses lists that belong together and have different lengths.
pub(super) fn equal_counts(first: usize, other: usize) -> Result<(), Error> {
    if first == other { Ok(()) } else { Err(Error::Counts { first, other }) }
}

/// Bytes as an array.
pub(super) fn array<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::Length { needed: N, given: bytes.len() })
}
