//! The hash functions of signatures and encryption, by number.

use cycloid::scheme::Hash;

use crate::error::{CYCLOID_ERROR_HASH, Failure, Outcome};

/// A hash function: one of `CYCLOID_SHA256` and so on.
pub type HashNumber = u32;

/// SHA-1: for old signatures, and for OAEP. RSA refuses to sign with it.
pub const CYCLOID_SHA1: u32 = 1;
/// SHA-224.
pub const CYCLOID_SHA224: u32 = 2;
/// SHA-256.
pub const CYCLOID_SHA256: u32 = 3;
/// SHA-384.
pub const CYCLOID_SHA384: u32 = 4;
/// SHA-512.
pub const CYCLOID_SHA512: u32 = 5;
/// SHA-512/224.
pub const CYCLOID_SHA512_224: u32 = 6;
/// SHA-512/256.
pub const CYCLOID_SHA512_256: u32 = 7;
/// SHA3-224.
pub const CYCLOID_SHA3_224: u32 = 8;
/// SHA3-256.
pub const CYCLOID_SHA3_256: u32 = 9;
/// SHA3-384.
pub const CYCLOID_SHA3_384: u32 = 10;
/// SHA3-512.
pub const CYCLOID_SHA3_512: u32 = 11;

/// Returns the length of a hash function's digest in bytes; 0 for an unknown number.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_hash_length(hash: HashNumber) -> usize {
    of(hash).map_or(0, Hash::digest_length)
}

/// Returns the hash function with a number.
pub(crate) fn of(number: HashNumber) -> Outcome<Hash> {
    Ok(match number {
        CYCLOID_SHA1 => Hash::Sha1,
        CYCLOID_SHA224 => Hash::Sha224,
        CYCLOID_SHA256 => Hash::Sha256,
        #[cfg(feature = "sha512")]
        CYCLOID_SHA384 => Hash::Sha384,
        #[cfg(feature = "sha512")]
        CYCLOID_SHA512 => Hash::Sha512,
        #[cfg(feature = "sha512")]
        CYCLOID_SHA512_224 => Hash::Sha512_224,
        #[cfg(feature = "sha512")]
        CYCLOID_SHA512_256 => Hash::Sha512_256,
        #[cfg(feature = "sha3")]
        CYCLOID_SHA3_224 => Hash::Sha3_224,
        #[cfg(feature = "sha3")]
        CYCLOID_SHA3_256 => Hash::Sha3_256,
        #[cfg(feature = "sha3")]
        CYCLOID_SHA3_384 => Hash::Sha3_384,
        #[cfg(feature = "sha3")]
        CYCLOID_SHA3_512 => Hash::Sha3_512,
        _ => return Err(Failure(CYCLOID_ERROR_HASH)),
    })
}
