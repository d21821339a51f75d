//! The ciphers of the data channel, by the names that configurations and `IV_CIPHERS` use.

use aws_lc_rs::{aead, cipher, hmac};

/// What protects the packets of the data channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES with 256 bits in Galois/counter mode.
    Aes256Gcm,
    /// AES with 192 bits in Galois/counter mode.
    Aes192Gcm,
    /// AES with 128 bits in Galois/counter mode.
    Aes128Gcm,
    /// ChaCha20 with Poly1305 (RFC 8439).
    ChaCha20Poly1305,
    /// AES in cipher block chaining, authenticated by an HMAC: for peers that know no better.
    Cbc {
        /// The block cipher.
        cipher: CbcCipher,
        /// The hash of the HMAC, which `auth` names.
        digest: Digest,
    },
}

/// A block cipher that is chained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CbcCipher {
    /// AES with 128 bits.
    Aes128,
    /// AES with 192 bits.
    Aes192,
    /// AES with 256 bits.
    Aes256,
}

/// The hash of an HMAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    /// SHA-1: as an HMAC not broken, and what `auth` is where nothing is said.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Cipher {
    /// The cipher of that name, in upper or lower case. `digest` is of account for CBC only.
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

    /// The name that OpenVPN uses.
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

    /// Whether it authenticates by itself, without an HMAC.
    pub fn is_aead(self) -> bool {
        !matches!(self, Self::Cbc { .. })
    }

    /// Bytes of its key.
    pub fn key_length(self) -> usize {
        match self {
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
            Self::Aes192Gcm => 24,
            Self::Aes128Gcm => 16,
            Self::Cbc { cipher, .. } => cipher.key_length(),
        }
    }

    /// The blocks that a key may encrypt, one counted on top for each packet; `None` where the
    /// packet ids end first.
    ///
    /// With 2³⁶ blocks the advantage of an attacker against AES in Galois/counter mode stays below
    /// 2⁻⁵⁷ (draft-irtf-cfrg-aead-limits, section 5.1.1), and 2³⁶ blocks are far from where chained
    /// ones repeat.
    pub(super) fn block_limit(self) -> Option<u64> {
        (self != Self::ChaCha20Poly1305).then_some(1 << 36)
    }

    /// The AEAD; `None` for CBC.
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
    /// Bytes of its key.
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
    /// The digest of that name, in upper or lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512].into_iter().find(|digest| {
            let known = digest.name();
            // "SHA-256" and "RSA-SHA256" are other names of OpenSSL's for it.
            known.eq_ignore_ascii_case(name)
                || name.split_once('-').is_some_and(|(prefix, rest)| {
                    (prefix.eq_ignore_ascii_case("SHA") && known[3..] == *rest)
                        || (prefix.eq_ignore_ascii_case("RSA") && known.eq_ignore_ascii_case(rest))
                })
        })
    }

    /// The name that OpenVPN uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
            Self::Sha384 => "SHA384",
            Self::Sha512 => "SHA512",
        }
    }

    /// Bytes of its output, and of the key that OpenVPN gives its HMAC.
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
