//! The hash functions of the schemes, chosen at run time.

pub(crate) mod eight;

#[cfg(any(test, feature = "small"))]
use sha2::block_api::Sha256VarCore;
use sha2::digest::Digest;
#[cfg(any(test, feature = "small"))]
use sha2::digest::block_api::{Buffer, UpdateCore, VariableOutputCore};
#[cfg(not(feature = "small"))]
use sha2::{Sha224, Sha256};
#[cfg(feature = "sha512")]
use sha2::{Sha384, Sha512, Sha512_224, Sha512_256};
#[cfg(feature = "sha3")]
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
#[cfg(feature = "sha3")]
use shake::digest::{ExtendableOutput, Update, XofReader};
#[cfg(feature = "sha3")]
use shake::{Shake128, Shake256};
use zeroize::Zeroize;

use crate::machine::ct;

/// A hash function (FIPS 180-4, FIPS 202).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hash {
    /// SHA-1: for old signatures, and for OAEP. RSA refuses to sign with it.
    #[cfg(feature = "sha1")]
    Sha1,
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    #[cfg(feature = "sha512")]
    Sha384,
    /// SHA-512.
    #[cfg(feature = "sha512")]
    Sha512,
    /// SHA-512/224.
    #[cfg(feature = "sha512")]
    Sha512_224,
    /// SHA-512/256.
    #[cfg(feature = "sha512")]
    Sha512_256,
    /// SHA3-224.
    #[cfg(feature = "sha3")]
    Sha3_224,
    /// SHA3-256.
    #[cfg(feature = "sha3")]
    Sha3_256,
    /// SHA3-384.
    #[cfg(feature = "sha3")]
    Sha3_384,
    /// SHA3-512.
    #[cfg(feature = "sha3")]
    Sha3_512,
    /// SHAKE128 with an output of 256 bits: for ECDSA and RSASSA-PSS (RFC 8692, RFC 8702).
    #[cfg(feature = "sha3")]
    Shake128,
    /// SHAKE256 with an output of 512 bits: for ECDSA and RSASSA-PSS.
    #[cfg(feature = "sha3")]
    Shake256,
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
    pub(crate) fn new<D: Digest>(parts: &[&[u8]]) -> Self {
        let mut digest = D::new();
        for part in parts {
            digest.update(part);
        }
        Self::of_output(digest.finalize())
    }

    /// Returns the first `length` bytes of the output of an extendable-output function.
    #[cfg(feature = "sha3")]
    fn extendable<D: Default + Update + ExtendableOutput>(parts: &[&[u8]], length: usize) -> Self {
        let mut bytes = [0; MAX_DIGEST];
        extended::<D>(parts).read(&mut bytes[..length]);
        Self { bytes, length }
    }

    /// Returns the output of SHA-224 or SHA-256 of 28 or 32 bytes, by the same code.
    #[cfg(any(test, feature = "small"))]
    fn sha2_of_length(length: usize, parts: &[&[u8]]) -> Self {
        let mut state = Sha256VarCore::new(length).expect("a length of SHA-2");
        let mut buffer = Buffer::<Sha256VarCore>::default();
        for part in parts {
            buffer.digest_blocks(part, |blocks| state.update_blocks(blocks));
        }
        let mut bytes = [0; MAX_DIGEST];
        let whole: &mut [u8; 32] = bytes.first_chunk_mut().expect("32 are fewer");
        state.finalize_variable_core(&mut buffer, whole.into());
        bytes[length..].zeroize();
        Self { bytes, length }
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
        Self::of_length(hash.digest_length(), digest)
    }

    /// Returns a digest computed elsewhere, or `None` if it has another length.
    pub(crate) fn of_length(length: usize, digest: &[u8]) -> Option<Self> {
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
        ct::wipe_bytes(&mut self.bytes[..self.length]);
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
            #[cfg(feature = "sha1")]
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            #[cfg(feature = "sha512")]
            Self::Sha512_224 => 28,
            #[cfg(feature = "sha512")]
            Self::Sha512_256 => 32,
            #[cfg(feature = "sha512")]
            Self::Sha384 => 48,
            #[cfg(feature = "sha512")]
            Self::Sha512 => 64,
            #[cfg(feature = "sha3")]
            Self::Sha3_224 => 28,
            #[cfg(feature = "sha3")]
            Self::Sha3_256 | Self::Shake128 => 32,
            #[cfg(feature = "sha3")]
            Self::Sha3_384 => 48,
            #[cfg(feature = "sha3")]
            Self::Sha3_512 | Self::Shake256 => 64,
        }
    }

    /// Returns the length of a block, in bytes.
    #[cfg(any(test, feature = "small"))]
    pub(crate) const fn block_length(self) -> usize {
        match self {
            #[cfg(feature = "sha1")]
            Self::Sha1 => 64,
            Self::Sha224 | Self::Sha256 => 64,
            #[cfg(feature = "sha512")]
            Self::Sha384 | Self::Sha512 | Self::Sha512_224 | Self::Sha512_256 => 128,
            #[cfg(feature = "sha3")]
            Self::Sha3_224 => 144,
            #[cfg(feature = "sha3")]
            Self::Sha3_256 | Self::Shake256 => 136,
            #[cfg(feature = "sha3")]
            Self::Sha3_384 => 104,
            #[cfg(feature = "sha3")]
            Self::Sha3_512 => 72,
            #[cfg(feature = "sha3")]
            Self::Shake128 => 168,
        }
    }

    /// Returns the function of SHA-3 with an output of the same length in place of SHAKE, and any
    /// other as it is.
    #[cfg(any(test, feature = "small"))]
    pub(crate) const fn fixed_length(self) -> Self {
        match self {
            #[cfg(feature = "sha3")]
            Self::Shake128 => Self::Sha3_256,
            #[cfg(feature = "sha3")]
            Self::Shake256 => Self::Sha3_512,
            other => other,
        }
    }

    /// Returns whether the function is for verifying old signatures only.
    pub(crate) const fn is_retired(self) -> bool {
        match self {
            #[cfg(feature = "sha1")]
            Self::Sha1 => true,
            _ => false,
        }
    }

    /// Returns whether the function has an output of any length.
    pub(crate) const fn is_extendable(self) -> bool {
        match self {
            #[cfg(feature = "sha3")]
            Self::Shake128 | Self::Shake256 => true,
            _ => false,
        }
    }

    /// Hashes the concatenation of the parts.
    #[inline(always)]
    pub(crate) fn digest(self, parts: &[&[u8]]) -> DigestBytes {
        self.function()(parts)
    }

    /// Returns the function that hashes the concatenation of parts. Inlined up to a program's call,
    /// so that a program that names one hash function does not contain the others.
    #[inline(always)]
    pub(crate) const fn function(self) -> Function {
        match self {
            #[cfg(feature = "sha1")]
            Self::Sha1 => sha1,
            Self::Sha224 => sha224,
            Self::Sha256 => sha256,
            #[cfg(feature = "sha512")]
            Self::Sha384 => sha384,
            #[cfg(feature = "sha512")]
            Self::Sha512 => sha512,
            #[cfg(feature = "sha512")]
            Self::Sha512_224 => sha512_224,
            #[cfg(feature = "sha512")]
            Self::Sha512_256 => sha512_256,
            #[cfg(feature = "sha3")]
            Self::Sha3_224 => sha3_224,
            #[cfg(feature = "sha3")]
            Self::Sha3_256 => sha3_256,
            #[cfg(feature = "sha3")]
            Self::Sha3_384 => sha3_384,
            #[cfg(feature = "sha3")]
            Self::Sha3_512 => sha3_512,
            #[cfg(feature = "sha3")]
            Self::Shake128 => shake128,
            #[cfg(feature = "sha3")]
            Self::Shake256 => shake256,
        }
    }

    /// Returns the function that computes `data ^= SHAKE(seed)` if this is SHAKE. Inlined like
    /// [`function`](Self::function).
    #[inline(always)]
    pub(crate) const fn mask_function(self) -> Option<MaskFunction> {
        match self {
            #[cfg(feature = "sha3")]
            Self::Shake128 => Some(mask128),
            #[cfg(feature = "sha3")]
            Self::Shake256 => Some(mask256),
            _ => None,
        }
    }
}

/// Hashes the concatenation of parts.
pub(crate) type Function = fn(&[&[u8]]) -> DigestBytes;

/// Computes `data ^= mask(seed)`.
pub(crate) type MaskFunction = fn(&[u8], &mut [u8]);

/// Declares a [`Function`] for each hash function. Generic code would be compiled in each program.
macro_rules! functions {
    ($($(#[$attribute:meta])* $name:ident $digest:ty;)+) => {$(
        $(#[$attribute])*
        fn $name(parts: &[&[u8]]) -> DigestBytes {
            DigestBytes::new::<$digest>(parts)
        }
    )+};
}

functions! {
    #[cfg(feature = "sha1")]
    sha1 sha1::Sha1;
    #[cfg(not(feature = "small"))]
    sha224 Sha224;
    #[cfg(not(feature = "small"))]
    sha256 Sha256;
    #[cfg(feature = "sha512")]
    sha384 Sha384;
    #[cfg(feature = "sha512")]
    sha512 Sha512;
    #[cfg(feature = "sha512")]
    sha512_224 Sha512_224;
    #[cfg(feature = "sha512")]
    sha512_256 Sha512_256;
    #[cfg(feature = "sha3")]
    sha3_224 Sha3_224;
    #[cfg(feature = "sha3")]
    sha3_256 Sha3_256;
    #[cfg(feature = "sha3")]
    sha3_384 Sha3_384;
    #[cfg(feature = "sha3")]
    sha3_512 Sha3_512;
}

#[cfg(feature = "small")]
fn sha224(parts: &[&[u8]]) -> DigestBytes {
    DigestBytes::sha2_of_length(28, parts)
}

#[cfg(feature = "small")]
fn sha256(parts: &[&[u8]]) -> DigestBytes {
    DigestBytes::sha2_of_length(32, parts)
}

#[cfg(feature = "sha3")]
fn shake128(parts: &[&[u8]]) -> DigestBytes {
    DigestBytes::extendable::<Shake128>(parts, Hash::Shake128.digest_length())
}

#[cfg(feature = "sha3")]
fn shake256(parts: &[&[u8]]) -> DigestBytes {
    DigestBytes::extendable::<Shake256>(parts, Hash::Shake256.digest_length())
}

#[cfg(feature = "sha3")]
fn mask128(seed: &[u8], data: &mut [u8]) {
    mask(extended::<Shake128>(&[seed]), data);
}

#[cfg(feature = "sha3")]
fn mask256(seed: &[u8], data: &mut [u8]) {
    mask(extended::<Shake256>(&[seed]), data);
}

/// Returns the output of an extendable-output function.
#[cfg(feature = "sha3")]
fn extended<D: Default + Update + ExtendableOutput>(parts: &[&[u8]]) -> D::Reader {
    let mut state = D::default();
    parts.iter().for_each(|part| state.update(part));
    state.finalize_xof()
}

/// Computes `data ^= output`.
#[cfg(feature = "sha3")]
fn mask(mut output: impl XofReader, data: &mut [u8]) {
    let mut bytes = [0; MAX_DIGEST];
    for part in data.chunks_mut(MAX_DIGEST) {
        output.read(&mut bytes[..part.len()]);
        part.iter_mut().zip(&bytes).for_each(|(byte, mask)| *byte ^= mask);
    }
    bytes.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_for_both_lengths_of_sha2_agrees_with_each() {
        let message: [u8; 200] = core::array::from_fn(|i| i as u8);
        for length in 0..message.len() {
            let (first, second) = message[..length].split_at(length / 3);
            let parts = [first, second];
            let both = [28, 32].map(|length| DigestBytes::sha2_of_length(length, &parts));
            let of_224 = DigestBytes::new::<Sha224>(&parts);
            let of_256 = DigestBytes::new::<Sha256>(&parts);
            assert!(*both[0] == *of_224 && *both[1] == *of_256, "{length}");
            assert_eq!(both[0].bytes[28..], [0; MAX_DIGEST - 28]);
        }
    }
}
