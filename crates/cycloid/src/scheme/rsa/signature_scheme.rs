//! The signature schemes, chosen at run time.

use super::{Hash, Pss};

/// A signature scheme and its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureScheme {
    /// RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2).
    Pkcs1v15(Hash),
    /// RSASSA-PSS (RFC 8017, section 8.1).
    Pss(Pss),
}

impl SignatureScheme {
    /// Returns RSASSA-PSS with one hash function, and a salt as long as its digest.
    pub const fn pss(hash: Hash) -> Self {
        Self::Pss(Pss::new(hash))
    }

    /// Returns the hash function of the message.
    pub const fn hash(self) -> Hash {
        match self {
            Self::Pkcs1v15(hash) | Self::Pss(Pss { hash, .. }) => hash,
        }
    }
}
