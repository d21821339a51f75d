//! Verification of signatures of RSA.

use core::ffi::c_void;

use super::{Public, RsaPublicKey};
use crate::error::{ErrorCode, run};
use crate::hash::{self, HashNumber};
use crate::memory::slice;
use crate::sized::{self, scratch_limbs};

/// The salt of a signature may have any length: `SIZE_MAX`, which cbindgen cannot write.
pub(super) const CYCLOID_RSA_ANY_SALT: usize = usize::MAX;

/// Verifies a signature of a message by RSASSA-PKCS1-v1_5 with the hash function.
///
/// `scratch` has `scratch_size` bytes, at least `cycloid_rsa_scratch_size` of the key's bits, and is
/// aligned to 8 bytes. Time depends on the arguments, which are public.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`, also for a signature that is not as long as the modulus;
/// `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_HASH`, `CYCLOID_ERROR_RESTRICTED`,
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `key` is a key. `message` has `message_length` bytes, and `signature` `signature_length`.
/// `scratch` is memory of this size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_verify_pkcs1v15(
    key: *const RsaPublicKey,
    hash: HashNumber,
    message: *const u8,
    message_length: usize,
    signature: *const u8,
    signature_length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, message, signature, scratch) = unsafe {
            (
                sized::value::<Public>(key.cast())?,
                slice(message, message_length)?,
                slice(signature, signature_length)?,
                scratch_limbs(scratch, scratch_size)?,
            )
        };
        Ok(key.verify_pkcs1v15(hash::of(hash)?, message, signature, scratch)?)
    })
}

/// Verifies a signature of a digest by RSASSA-PKCS1-v1_5. Otherwise as
/// `cycloid_rsa_verify_pkcs1v15`.
///
/// # Safety
/// As for `cycloid_rsa_verify_pkcs1v15`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_verify_pkcs1v15_prehashed(
    key: *const RsaPublicKey,
    hash: HashNumber,
    digest: *const u8,
    digest_length: usize,
    signature: *const u8,
    signature_length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, digest, signature, scratch) = unsafe {
            (
                sized::value::<Public>(key.cast())?,
                slice(digest, digest_length)?,
                slice(signature, signature_length)?,
                scratch_limbs(scratch, scratch_size)?,
            )
        };
        Ok(key.verify_pkcs1v15_prehashed(hash::of(hash)?, digest, signature, scratch)?)
    })
}

/// Verifies a signature of a message by RSASSA-PSS with the hash function, also for the mask, and a
/// salt as long as the digest. Otherwise as `cycloid_rsa_verify_pkcs1v15`.
///
/// # Safety
/// As for `cycloid_rsa_verify_pkcs1v15`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_verify_pss(
    key: *const RsaPublicKey,
    hash: HashNumber,
    message: *const u8,
    message_length: usize,
    signature: *const u8,
    signature_length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, message, signature, scratch) = unsafe {
            (
                sized::value::<Public>(key.cast())?,
                slice(message, message_length)?,
                slice(signature, signature_length)?,
                scratch_limbs(scratch, scratch_size)?,
            )
        };
        Ok(key.verify_pss(hash::of(hash)?, message, signature, scratch)?)
    })
}

/// Verifies a signature of a digest by RSASSA-PSS, with a salt of `salt_length` bytes, or of any
/// length for `CYCLOID_RSA_ANY_SALT`. Otherwise as `cycloid_rsa_verify_pss`.
///
/// # Safety
/// As for `cycloid_rsa_verify_pkcs1v15`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_verify_pss_prehashed(
    key: *const RsaPublicKey,
    hash: HashNumber,
    digest: *const u8,
    digest_length: usize,
    salt_length: usize,
    signature: *const u8,
    signature_length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, digest, signature, scratch) = unsafe {
            (
                sized::value::<Public>(key.cast())?,
                slice(digest, digest_length)?,
                slice(signature, signature_length)?,
                scratch_limbs(scratch, scratch_size)?,
            )
        };
        let salt = (salt_length != CYCLOID_RSA_ANY_SALT).then_some(salt_length);
        Ok(key.verify_pss_prehashed(hash::of(hash)?, digest, salt, signature, scratch)?)
    })
}
