//! The hash functions of the schemes, chosen at run time.

pub(crate) mod eight;

use sha2::digest::Digest;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use zeroize::Zeroize;

/// A hash function (FIPS 180-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-1: for verifying old signatures only, and for OAEP.
    Sha1,
    /// SHA-224: for verifying old signatures only, and for OAEP.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

/// The longest digest, in bytes.
pub(crate) const MAX_DIGEST: usize = 64;

/// The output of a hash function; wiped when dropped, since its input may be secret.
#[derive(Clone, Debug)]
pub(crate) struct DigestBytes {
    bytes: [u8; MAX_DIGEST],
    length: usize,
}

impl DigestBytes {
    fn new<D: Digest>(parts: &[&[u8]]) -> Self {
        let mut digest = D::new();
        for part in parts {
            digest.update(part);
        }
        Self::of_output(digest.finalize())
    }

    /// Copies the output of a hash function, then wipes the original.
    pub(crate) fn of_output(mut output: impl AsRef<[u8]> + AsMut<[u8]>) -> Self {
        let mut bytes = [0; MAX_DIGEST];
        let length = output.as_ref().len();
        bytes[..length].copy_from_slice(output.as_ref());
        output.as_mut().zeroize();
        Self { bytes, length }
    }

    /// Returns `length` copies of `byte`.
    pub(crate) const fn filled(byte: u8, length: usize) -> Self {
        Self { bytes: [byte; MAX_DIGEST], length }
    }

    /// Returns a digest computed elsewhere, or `None` if its length is not that of the hash
    /// function.
    pub(crate) fn known(hash: Hash, digest: &[u8]) -> Option<Self> {
        let length = hash.digest_length();
        if digest.len() != length {
            return None;
        }
        let mut bytes = [0; MAX_DIGEST];
        bytes[..length].copy_from_slice(digest);
        Some(Self { bytes, length })
    }
}

impl Drop for DigestBytes {
    fn drop(&mut self) {
        self.bytes[..self.length].zeroize();
    }
}

impl core::ops::Deref for DigestBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Hash {
    /// Returns the length of the digest, in bytes.
    pub const fn digest_length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// Returns whether the function is for verifying old signatures only.
    pub(crate) const fn is_retired(self) -> bool {
        matches!(self, Self::Sha1 | Self::Sha224)
    }

    /// Hashes the concatenation of the parts.
    pub(crate) fn digest(self, parts: &[&[u8]]) -> DigestBytes {
        match self {
            Self::Sha1 => DigestBytes::new::<sha1::Sha1>(parts),
            Self::Sha224 => DigestBytes::new::<Sha224>(parts),
            Self::Sha256 => DigestBytes::new::<Sha256>(parts),
            Self::Sha384 => DigestBytes::new::<Sha384>(parts),
            Self::Sha512 => DigestBytes::new::<Sha512>(parts),
        }
    }
}
