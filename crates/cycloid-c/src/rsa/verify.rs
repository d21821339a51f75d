//! Verification of signatures of RSA.

use core::ffi::c_void;

use cycloid::Limb;
use cycloid::scheme::rsa;

use super::{Public, RsaPublicKey};
use crate::error::{ErrorCode, Outcome, run};
use crate::hash::{self, HashNumber};
use crate::memory::{Extent, slice};
use crate::sized::{self, scratch_limbs};

/// The salt of a signature may have any length: `SIZE_MAX`, which cbindgen cannot write.
pub(super) const CYCLOID_RSA_ANY_SALT: usize = usize::MAX;

/// Verifies a signature of a message by RSASSA-PKCS1-v1_5 with the hash function.
///
/// `scratch` has `scratch_size` bytes, at least `cycloid_rsa_scratch_size` of the key's bits, and
/// is aligned to 8 bytes. Time depends on the arguments, which are public.
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
    // SAFETY: the caller promises it.
    run(|| unsafe {
        let hash = hash::of(hash)?;
        with(
            key,
            (message, message_length),
            (signature, signature_length),
            (scratch, scratch_size),
            |key, input, signature, scratch| key.verify_pkcs1v15(hash, input, signature, scratch),
        )
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
    // SAFETY: the caller promises it.
    run(|| unsafe {
        let hash = hash::of(hash)?;
        with(
            key,
            (digest, digest_length),
            (signature, signature_length),
            (scratch, scratch_size),
            |key, input, signature, scratch| {
                key.verify_pkcs1v15_prehashed(hash, input, signature, scratch)
            },
        )
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
    // SAFETY: the caller promises it.
    run(|| unsafe {
        let hash = hash::of(hash)?;
        with(
            key,
            (message, message_length),
            (signature, signature_length),
            (scratch, scratch_size),
            |key, input, signature, scratch| key.verify_pss(hash, input, signature, scratch),
        )
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
    // SAFETY: the caller promises it.
    run(|| unsafe {
        let hash = hash::of(hash)?;
        let salt = (salt_length != CYCLOID_RSA_ANY_SALT).then_some(salt_length);
        with(
            key,
            (digest, digest_length),
            (signature, signature_length),
            (scratch, scratch_size),
            |key, input, signature, scratch| {
                key.verify_pss_prehashed(hash, input, salt, signature, scratch)
            },
        )
    })
}

/// Reads the arguments of a verification, each pointer with its length, and verifies.
///
/// # Safety
/// As for `cycloid_rsa_verify_pkcs1v15`.
unsafe fn with(
    key: *const RsaPublicKey,
    (input, input_length): (*const u8, usize),
    (signature, signature_length): (*const u8, usize),
    (scratch, scratch_size): (*mut c_void, usize),
    verify: impl FnOnce(&Public, &[u8], &[u8], &mut [Limb]) -> Result<(), rsa::Error>,
) -> Outcome {
    let others = [Extent::of(input, input_length), Extent::of(signature, signature_length)];
    // SAFETY: the caller promises it.
    let (key, input, signature, scratch) = unsafe {
        (
            sized::value::<Public>(key.cast())?,
            slice(input, input_length)?,
            slice(signature, signature_length)?,
            scratch_limbs(scratch, scratch_size, &others)?,
        )
    };
    Ok(verify(key, input, signature, scratch)?)
}
