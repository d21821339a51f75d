//! The data channel's ciphers, with the names used in configurations and `IV_CIPHERS`.

use aws_lc_rs::{aead, cipher, hmac};

/// Number of forged packets after which a key is no longer trusted: the limit of ChaCha20-Poly1305
/// (RFC 9001, section 6.6), the lowest of all ciphers here.
pub(super) const FORGERY_LIMIT: u64 = 1 << 36;

/// A cipher of the data channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES-256-GCM.
    Aes256Gcm,
    /// AES-192-GCM.
    Aes192Gcm,
    /// AES-128-GCM.
    Aes128Gcm,
    /// ChaCha20-Poly1305 (RFC 8439).
    ChaCha20Poly1305,
    /// AES-CBC with an HMAC, for old peers.
    Cbc {
        /// The block cipher.
        cipher: CbcCipher,
        /// The HMAC digest, set by `auth`.
        digest: Digest,
    },
}

/// A block cipher in CBC mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CbcCipher {
    /// AES-128.
    Aes128,
    /// AES-192.
    Aes192,
    /// AES-256.
    Aes256,
}

/// An HMAC digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    /// SHA-1: unbroken as an HMAC, and the default of `auth`.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Cipher {
    /// Returns the cipher with this name, ignoring case. `digest` applies to CBC only.
    pub fn from_name(name: &str, digest: Digest) -> Option<Self> {
        let cbc = |cipher| Self::Cbc { cipher, digest };
        [
            Self::Aes256Gcm,
            Self::Aes192Gcm,
            Self::Aes128Gcm,
            Self::ChaCha20Poly1305,
            cbc(CbcCipher::Aes256),
            cbc(CbcCipher::Aes192),
            cbc(CbcCipher::Aes128),
        ]
        .into_iter()
        .find(|cipher| cipher.name().eq_ignore_ascii_case(name))
    }

    /// Returns OpenVPN's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aes256Gcm => "AES-256-GCM",
            Self::Aes192Gcm => "AES-192-GCM",
            Self::Aes128Gcm => "AES-128-GCM",
            Self::ChaCha20Poly1305 => "CHACHA20-POLY1305",
            Self::Cbc { cipher: CbcCipher::Aes256, .. } => "AES-256-CBC",
            Self::Cbc { cipher: CbcCipher::Aes192, .. } => "AES-192-CBC",
            Self::Cbc { cipher: CbcCipher::Aes128, .. } => "AES-128-CBC",
        }
    }

    /// Returns whether it is an AEAD, without a separate HMAC.
    pub fn is_aead(self) -> bool {
        !matches!(self, Self::Cbc { .. })
    }

    /// Returns the key length in bytes.
    pub fn key_length(self) -> usize {
        match self {
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
            Self::Aes192Gcm => 24,
            Self::Aes128Gcm => 16,
            Self::Cbc { cipher, .. } => cipher.key_length(),
        }
    }

    /// Returns the maximum number of blocks under one key, plus one per packet, or `None` if packet
    /// ids run out first.
    ///
    /// With 2³⁶ blocks, an attacker's advantage against AES-GCM stays below 2⁻⁵⁷
    /// (draft-irtf-cfrg-aead-limits, section 5.1.1), and block collisions in CBC remain improbable.
    pub(super) fn block_limit(self) -> Option<u64> {
        (self != Self::ChaCha20Poly1305).then_some(1 << 36)
    }

    /// Returns the AEAD algorithm, or `None` for CBC.
    pub(super) fn aead(self) -> Option<&'static aead::Algorithm> {
        match self {
            Self::Aes256Gcm => Some(&aead::AES_256_GCM),
            Self::Aes192Gcm => Some(&aead::AES_192_GCM),
            Self::Aes128Gcm => Some(&aead::AES_128_GCM),
            Self::ChaCha20Poly1305 => Some(&aead::CHACHA20_POLY1305),
            Self::Cbc { .. } => None,
        }
    }
}

impl CbcCipher {
    /// Returns the key length in bytes.
    pub(super) fn key_length(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    pub(super) fn algorithm(self) -> &'static cipher::Algorithm {
        match self {
            Self::Aes128 => &cipher::AES_128,
            Self::Aes192 => &cipher::AES_192,
            Self::Aes256 => &cipher::AES_256,
        }
    }
}

impl Digest {
    /// Returns the digest with this name, ignoring case.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512].into_iter().find(|digest| {
            let known = digest.name();
            // OpenSSL also accepts "SHA-256" and "RSA-SHA256".
            known.eq_ignore_ascii_case(name)
                || name.split_once('-').is_some_and(|(prefix, rest)| {
                    (prefix.eq_ignore_ascii_case("SHA") && known[3..] == *rest)
                        || (prefix.eq_ignore_ascii_case("RSA") && known.eq_ignore_ascii_case(rest))
                })
        })
    }

    /// Returns OpenVPN's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
            Self::Sha384 => "SHA384",
            Self::Sha512 => "SHA512",
        }
    }

    /// Returns the output length in bytes, which is also OpenVPN's HMAC key length.
    pub fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    pub(in crate::proto) fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => hmac::HMAC_SHA256,
            Self::Sha384 => hmac::HMAC_SHA384,
            Self::Sha512 => hmac::HMAC_SHA512,
        }
    }
}
