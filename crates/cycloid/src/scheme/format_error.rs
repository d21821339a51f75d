//! Why a file is not a key of the expected kind.

use core::fmt;

/// Why reading or writing a key in a file's format failed.
///
/// The file is not what the caller expects, or it is damaged. The numbers in it are the concern of
/// the scheme's own error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The bytes are not a key of this kind in DER: they are truncated, have trailing data, encode
    /// a length or a number in more bytes than necessary, or contain a negative number.
    Der,
    /// The text holds no PEM (RFC 7468), or its base64 is invalid.
    Pem,
    /// The text is PEM, but no label matches this kind of key.
    PemLabel,
    /// The PEM is several times longer than a key of this kind.
    PemTooLong,
    /// The private key is encrypted with a password; decrypt it first.
    Encrypted,
    /// The file holds a public key, but a private key is required.
    IsPublicKey,
    /// The key is for another algorithm.
    Algorithm,
    /// The parameters of the algorithm are not those that its standard requires. For a curve: it is
    /// not named, or has different names in two places.
    Parameters,
    /// The curve is given by explicit parameters instead of its name. This is not supported, and
    /// RFC 5480, section 2.1.1, forbids it.
    ExplicitParameters,
    /// The key is on another curve.
    OtherCurve,
    /// The public key stored with the private key does not match it.
    OtherPublicKey,
    /// The output buffer is too small for the key.
    OutputTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Der => f.write_str("the DER is not a key of this kind"),
            Self::Pem => f.write_str("the text is not PEM, or its base64 is wrong"),
            Self::PemLabel => f.write_str("no PEM label matches this kind of key"),
            Self::PemTooLong => f.write_str("the PEM is too long to be a key"),
            Self::Encrypted => f.write_str("the private key is encrypted with a password"),
            Self::IsPublicKey => f.write_str("the file holds a public key, not a private one"),
            Self::Algorithm => f.write_str("the key is for another algorithm"),
            Self::Parameters => f.write_str("the algorithm parameters are wrong, or name no curve"),
            Self::ExplicitParameters => f.write_str("explicit curve parameters are not supported"),
            Self::OtherCurve => f.write_str("the key is on another curve"),
            Self::OtherPublicKey => {
                f.write_str("the public key in the file does not match the private key")
            }
            Self::OutputTooSmall { needed, given } => {
                write!(f, "the output has {given} bytes, but {needed} are needed")
            }
        }
    }
}

impl core::error::Error for FormatError {}
