//! Why a key file was refused.

use core::fmt;

use crate::scheme::{dh, ec, ed25519, rsa, x25519};

/// Why a key file was refused: what it is, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file is in no known format.
    Unknown,
    /// The file is encrypted and no passphrase was given.
    Encrypted {
        /// The kind of file.
        what: &'static str,
    },
    /// The passphrase is wrong, or the encrypted part is damaged.
    Passphrase,
    /// Deriving the decryption key would take too long or too much memory.
    Costly,
    /// The file is of a known kind that is not read.
    Unsupported {
        /// The kind of file.
        what: &'static str,
        /// The next step.
        hint: &'static str,
    },
    /// The file needs a feature that the library was compiled without.
    Feature {
        /// The kind of file.
        what: &'static str,
        /// The feature's name.
        feature: &'static str,
    },
    /// The file holds a public key, but a private key is required.
    IsPublic {
        /// The kind of file.
        what: &'static str,
    },
    /// The file holds a private key, but a public key is required.
    IsPrivate {
        /// The kind of file.
        what: &'static str,
    },
    /// The file is damaged.
    Malformed {
        /// The kind of file.
        what: &'static str,
    },
    /// The public key in the file does not match the private key.
    Mismatch,
    /// The RSA key is not valid.
    Rsa(rsa::Error),
    /// The key on a NIST curve is not valid.
    Ec(ec::Error),
    /// The Ed25519 key is not valid.
    Ed25519(ed25519::Error),
    /// The X25519 key is not valid.
    X25519(x25519::Error),
    /// The Diffie-Hellman key is not valid.
    Dh(dh::Error),
}

/// The refusal of DSA keys.
pub(super) const DSA: Error =
    Error::Unsupported { what: "a DSA key, which Cycloid does not support", hint: REPLACE };

/// The next step with an algorithm that is not supported.
pub(super) const REPLACE: &str = "use a key for RSA, a NIST curve, Ed25519 or X25519";

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str(
                "no key file: neither PEM nor DER, nor a line or file of OpenSSH, nor a JSON Web Key",
            ),
            Self::Encrypted { what } => write!(f, "{what}: give its passphrase"),
            Self::Passphrase => f.write_str("the passphrase is wrong, or the file is damaged"),
            Self::Costly => f.write_str(
                "deriving the key from the passphrase would take too long or too much memory: \
                 encrypt the file again with fewer iterations",
            ),
            Self::Unsupported { what, hint } => write!(f, "{what}: {hint}"),
            Self::Feature { what, feature } => {
                write!(f, "{what}: compile Cycloid with the feature `{feature}`")
            }
            Self::IsPublic { what } => write!(f, "{what}: give the file of the private key"),
            Self::IsPrivate { what } => write!(f, "{what}: give the file of the public key"),
            Self::Malformed { what } => write!(f, "damaged {what}: get the file again"),
            Self::Mismatch => {
                f.write_str("the public key in the file does not match the private key")
            }
            Self::Rsa(error) => write!(f, "RSA key: {error}"),
            Self::Ec(error) => write!(f, "EC key: {error}"),
            Self::Ed25519(error) => write!(f, "Ed25519 key: {error}"),
            Self::X25519(error) => write!(f, "X25519 key: {error}"),
            Self::Dh(error) => write!(f, "Diffie-Hellman key: {error}"),
        }
    }
}

impl core::error::Error for Error {}

macro_rules! causes {
    ($($module:ident => $variant:ident),*) => {
        $(impl From<$module::Error> for Error {
            fn from(error: $module::Error) -> Self {
                Self::$variant(error)
            }
        })*
    };
}

causes!(rsa => Rsa, ec => Ec, ed25519 => Ed25519, x25519 => X25519, dh => Dh);
