//! Hash functions within mechanisms.

use super::ckm;

/// A hash function within a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Hash {
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    Sha3_224,
    Sha3_256,
    Sha3_384,
    Sha3_512,
}

impl Hash {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
        Self::Sha3_224,
        Self::Sha3_256,
        Self::Sha3_384,
        Self::Sha3_512,
    ];

    /// Returns the hash function that the mechanism is.
    pub const fn of(mechanism: u32) -> Option<Self> {
        Some(match mechanism {
            ckm::SHA_1 => Self::Sha1,
            ckm::SHA224 => Self::Sha224,
            ckm::SHA256 => Self::Sha256,
            ckm::SHA384 => Self::Sha384,
            ckm::SHA512 => Self::Sha512,
            ckm::SHA3_224 => Self::Sha3_224,
            ckm::SHA3_256 => Self::Sha3_256,
            ckm::SHA3_384 => Self::Sha3_384,
            ckm::SHA3_512 => Self::Sha3_512,
            _ => return None,
        })
    }

    /// Returns the hash function that a signature mechanism applies first. A program may hash
    /// itself and set `digested`.
    pub const fn before(mechanism: u32) -> Option<Self> {
        Some(match mechanism {
            ckm::SHA1_RSA_PKCS | ckm::SHA1_RSA_PKCS_PSS | ckm::ECDSA_SHA1 => Self::Sha1,
            ckm::SHA224_RSA_PKCS | ckm::SHA224_RSA_PKCS_PSS | ckm::ECDSA_SHA224 => Self::Sha224,
            ckm::SHA256_RSA_PKCS | ckm::SHA256_RSA_PKCS_PSS | ckm::ECDSA_SHA256 => Self::Sha256,
            ckm::SHA384_RSA_PKCS | ckm::SHA384_RSA_PKCS_PSS | ckm::ECDSA_SHA384 => Self::Sha384,
            ckm::SHA512_RSA_PKCS | ckm::SHA512_RSA_PKCS_PSS | ckm::ECDSA_SHA512 => Self::Sha512,
            ckm::SHA3_224_RSA_PKCS | ckm::SHA3_224_RSA_PKCS_PSS | ckm::ECDSA_SHA3_224 => {
                Self::Sha3_224
            }
            ckm::SHA3_256_RSA_PKCS | ckm::SHA3_256_RSA_PKCS_PSS | ckm::ECDSA_SHA3_256 => {
                Self::Sha3_256
            }
            ckm::SHA3_384_RSA_PKCS | ckm::SHA3_384_RSA_PKCS_PSS | ckm::ECDSA_SHA3_384 => {
                Self::Sha3_384
            }
            ckm::SHA3_512_RSA_PKCS | ckm::SHA3_512_RSA_PKCS_PSS | ckm::ECDSA_SHA3_512 => {
                Self::Sha3_512
            }
            _ => return None,
        })
    }

    /// Returns the hash function of an HMAC of full length.
    pub const fn of_hmac(mechanism: u32) -> Option<Self> {
        Some(match mechanism {
            ckm::SHA_1_HMAC => Self::Sha1,
            ckm::SHA224_HMAC => Self::Sha224,
            ckm::SHA256_HMAC => Self::Sha256,
            ckm::SHA384_HMAC => Self::Sha384,
            ckm::SHA512_HMAC => Self::Sha512,
            ckm::SHA3_224_HMAC => Self::Sha3_224,
            ckm::SHA3_256_HMAC => Self::Sha3_256,
            ckm::SHA3_384_HMAC => Self::Sha3_384,
            ckm::SHA3_512_HMAC => Self::Sha3_512,
            _ => return None,
        })
    }

    /// Returns the hash function of an HMAC whose parameter is its length.
    pub const fn of_general_hmac(mechanism: u32) -> Option<Self> {
        Some(match mechanism {
            ckm::SHA_1_HMAC_GENERAL => Self::Sha1,
            ckm::SHA224_HMAC_GENERAL => Self::Sha224,
            ckm::SHA256_HMAC_GENERAL => Self::Sha256,
            ckm::SHA384_HMAC_GENERAL => Self::Sha384,
            ckm::SHA512_HMAC_GENERAL => Self::Sha512,
            ckm::SHA3_224_HMAC_GENERAL => Self::Sha3_224,
            ckm::SHA3_256_HMAC_GENERAL => Self::Sha3_256,
            ckm::SHA3_384_HMAC_GENERAL => Self::Sha3_384,
            ckm::SHA3_512_HMAC_GENERAL => Self::Sha3_512,
            _ => return None,
        })
    }

    /// Returns the length of a digest in bytes.
    pub const fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 | Self::Sha3_224 => 28,
            Self::Sha256 | Self::Sha3_256 => 32,
            Self::Sha384 | Self::Sha3_384 => 48,
            Self::Sha512 | Self::Sha3_512 => 64,
        }
    }
}
