//! Why an RSA operation failed.

use super::length::{MAX_BITS, MAX_LEGACY_BITS, MIN_BITS, MIN_GENERATED_BITS, MIN_LEGACY_BITS};
use super::parameters::Pss;
use crate::machine::words::LIMB_BYTES;
use crate::math::modular;
#[cfg(feature = "encoding")]
use crate::scheme::FormatError;
use crate::scheme::hash::Hash;
use crate::scheme::random;

/// Why an RSA operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The numbers are not a key.
    Key(KeyError),
    /// The file is not a key of this kind, or the buffer is too small for it.
    #[cfg(feature = "encoding")]
    Format(FormatError),
    /// Keys of this length are not generated: it is odd, below 2048 or above [`MAX_BITS`].
    GeneratedLength {
        /// Its bits.
        bits: usize,
    },
    /// The memory for a key, a context or the scratch is too small.
    MemoryTooSmall {
        /// Limbs needed.
        needed: usize,
        /// Limbs given.
        given: usize,
    },
    /// The buffer or the input is not as long as the modulus, in bytes.
    Length {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The output is too small for the longest message that the ciphertext may hold.
    OutputTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The parameters of RSASSA-PSS (RFC 4055, section 3.1) are malformed, or have an unsupported
    /// hash function, mask or trailer.
    PssParameters,
    /// The key is for RSASSA-PSS signatures only, and another operation was requested.
    Restricted,
    /// The key is for RSASSA-PSS signatures with other parameters only.
    RestrictedPss {
        /// Its parameters; the salt may be longer.
        allowed: Pss,
    },
    /// The random generator repeats itself, or gave no usable number in more tries than a sound one
    /// ever needs.
    RandomGenerator,
    /// The digest's length is not that of the hash function.
    DigestLength,
    /// The hash function is for verification only.
    HashRetired,
    /// The scheme does not use this hash function: SHAKE is for RSASSA-PSS only.
    HashUnsuitable,
    /// The modulus is too short for the hash function and the salt.
    SaltTooLong,
    /// The modulus, of a legacy key, is too short for the padding with its hash function.
    ModulusTooShort,
    /// The batch is for keys of another length.
    KeyLength {
        /// The length of the batch's moduli in bits.
        needed: usize,
        /// The length of the key's modulus in bits.
        given: usize,
    },
    /// The job has not been run yet.
    NotDone,
    /// The input, as a number, is not less than the modulus.
    OutOfRange,
    /// The signature is not valid for this message and key.
    Signature,
    /// The message is too long for the modulus and the padding.
    MessageTooLong {
        /// The longest message, in bytes.
        longest: usize,
        /// Bytes given.
        given: usize,
    },
    /// The ciphertext is not valid for this key and these parameters. The reason is not revealed.
    Decryption,
    /// The result failed its check: a hardware fault. Nothing was released.
    Fault,
}

impl Hash {
    /// Returns an error if PKCS #1 v1.5 has no identifier for the function.
    pub(super) const fn check_suits_pkcs1v15(self) -> Result<(), Error> {
        if self.is_extendable() { Err(Error::HashUnsuitable) } else { Ok(()) }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Key(error) => error.fmt(f),
            #[cfg(feature = "encoding")]
            Self::Format(error) => error.fmt(f),
            Self::GeneratedLength { bits } => write!(
                f,
                "keys are generated with an even number of bits from {MIN_GENERATED_BITS} to \
                 {MAX_BITS}, not {bits}"
            ),
            Self::MemoryTooSmall { needed, given } => {
                write!(f, "the memory has {given} limbs, but {needed} are needed")
            }
            Self::Length { needed, given } => {
                write!(f, "the buffer or input has {given} bytes, but the modulus has {needed}")
            }
            Self::OutputTooSmall { needed, given } => {
                write!(f, "the output has {given} bytes, but {needed} are needed")
            }
            Self::PssParameters => {
                f.write_str("the parameters of RSASSA-PSS are malformed or not supported")
            }
            Self::Restricted => {
                f.write_str("the key is restricted to signatures with RSASSA-PSS (id-RSASSA-PSS)")
            }
            Self::RestrictedPss { allowed: Pss { hash, mask_hash, salt_length } } => write!(
                f,
                "the key is restricted to RSASSA-PSS with {hash:?}, MGF1 with {mask_hash:?} and a \
                 salt of {salt_length} bytes or more"
            ),
            Self::RandomGenerator => {
                f.write_str("the random generator repeats itself or gives no usable number")
            }
            Self::DigestLength => f.write_str("the digest length does not match the hash function"),
            Self::HashRetired => f.write_str("the hash function is for verification only"),
            Self::HashUnsuitable => f.write_str("SHAKE is for RSASSA-PSS only"),
            Self::SaltTooLong => f.write_str("the modulus is too short for digest and salt"),
            Self::ModulusTooShort => {
                f.write_str("the modulus is too short for the padding with its hash function")
            }
            Self::KeyLength { needed, given } => {
                write!(f, "the key has {given} bits, but the batch is for {needed}")
            }
            Self::NotDone => f.write_str("the job has not been run"),
            Self::OutOfRange => f.write_str("the input is not less than the modulus"),
            Self::Signature => f.write_str("the signature is not valid"),
            Self::MessageTooLong { longest, given } => {
                write!(f, "the message has {given} bytes, but at most {longest} fit")
            }
            Self::Decryption => f.write_str("the ciphertext cannot be decrypted"),
            Self::Fault => f.write_str("the private operation gave a wrong result"),
        }
    }
}

impl core::error::Error for Error {}

random::cause!(Error);

#[cfg(feature = "encoding")]
impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Format(error)
    }
}

impl From<modular::Error> for Error {
    /// Converts errors of modular arithmetic. Its arguments were checked here, so an error is a
    /// lack of memory or an impossible result.
    fn from(error: modular::Error) -> Self {
        match error {
            modular::Error::ScratchTooSmall { needed, given } => {
                Self::MemoryTooSmall { needed: needed / LIMB_BYTES, given: given / LIMB_BYTES }
            }
            modular::Error::ModulusEven | modular::Error::ModulusZero => KeyError::Even.into(),
            modular::Error::RandomGenerator => Self::RandomGenerator,
            _ => Self::Fault,
        }
    }
}

/// Why numbers are not an RSA key, or not one that is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The modulus has fewer than [`MIN_BITS`] bits or more than [`MAX_BITS`].
    ModulusLength {
        /// Its bits.
        bits: usize,
    },
    /// The modulus of a legacy key has fewer than 1024 bits or more than 2040. With the feature
    /// `hazardous`, that of a public key may have 512.
    LegacyLength {
        /// Its bits.
        bits: usize,
    },
    /// The modulus, or a prime, is even.
    Even,
    /// The public exponent is even, below 3, or has more than 64 bits.
    PublicExponent,
    /// The primes are equal or too close to each other, or one has fewer than 64 bytes.
    Primes,
    /// The product of the primes is not the modulus.
    Product,
    /// The private exponent, one of its residues or the coefficient does not match the primes and
    /// the public exponent.
    PrivateExponent,
    /// The modulus has the fingerprint of keys that are easily factored (ROCA, CVE-2017-15361).
    Fingerprint,
    /// The private key has more than five primes, which is not supported, or has more than two and
    /// misses a part.
    MultiPrime,
    /// A factor of the modulus is composite.
    Composite,
}

impl core::fmt::Display for KeyError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::ModulusLength { bits } => {
                write!(f, "a modulus of {bits} bits is not between {MIN_BITS} and {MAX_BITS}")
            }
            Self::LegacyLength { bits } => write!(
                f,
                "a modulus of {bits} bits is not between {MIN_LEGACY_BITS} and {MAX_LEGACY_BITS}, \
                 the lengths of legacy keys"
            ),
            Self::Even => f.write_str("the modulus or a prime is even"),
            Self::PublicExponent => {
                f.write_str("the public exponent is even, below 3 or longer than 64 bits")
            }
            Self::Primes => f.write_str("the primes are equal, too close or too short"),
            Self::Product => f.write_str("the product of the primes is not the modulus"),
            Self::PrivateExponent => {
                f.write_str("the private exponents or the coefficient do not match the primes")
            }
            Self::Fingerprint => f.write_str("the modulus is easily factored (ROCA)"),
            Self::MultiPrime => f.write_str(
                "the key has more than five primes, or more than two and a part is missing",
            ),
            Self::Composite => f.write_str("a factor of the modulus is not prime"),
        }
    }
}

impl core::error::Error for KeyError {}

impl From<KeyError> for Error {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}
