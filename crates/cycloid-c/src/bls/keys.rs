//! Keys and signatures of BLS12-381: generation, derivation and encodings.

use super::{BlsPrivateKey, BlsPublicKey, BlsSignature, Private, Public, Signed};
use crate::error::{ErrorCode, Failure, run};
use crate::memory::{reference, slice, write_exactly};
use crate::object;
use crate::random::{RandomSource, Source};

/// Generates a private key.
///
/// Errors: `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `random` is null or a source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_generate(
    key: *mut BlsPrivateKey,
    random: *const RandomSource,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let mut random = unsafe { Source::new(random) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Private::generate(&mut random)) }
    })
}

/// Derives a private key from secret key material of at least 32 bytes (`KeyGen` of the IETF's
/// draft).
///
/// Errors: `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `material` has `material_length` bytes,
/// and `info` `info_length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_derive(
    key: *mut BlsPrivateKey,
    material: *const u8,
    material_length: usize,
    info: *const u8,
    info_length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (material, info) =
            unsafe { (slice(material, material_length)?, slice(info, info_length)?) };
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Private::key_gen(material, info)) }
    })
}

/// Reads a private key: 32 big-endian bytes.
///
/// Errors: `CYCLOID_ERROR_LENGTH`, `CYCLOID_ERROR_RANGE`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_from_bytes(
    key: *mut BlsPrivateKey,
    bytes: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let bytes = unsafe { slice(bytes, length) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Private::from_bytes(bytes)) }
    })
}

/// Writes a private key: exactly 32 big-endian bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is a key. `bytes` has `length` bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_to_bytes(
    key: *const BlsPrivateKey,
    bytes: *mut u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<Private>(unsafe { reference(key) }?)?;
        let scalar = zeroize::Zeroizing::new(key.to_bytes());
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&*scalar, bytes, length) }
    })
}

/// Computes the public key of a private key.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key, and `public_key` memory for one, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_public(
    key: *const BlsPrivateKey,
    public_key: *mut BlsPublicKey,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<Private>(unsafe { reference(key) }?)?;
        // SAFETY: the caller promises it.
        unsafe { object::make(public_key, || Ok::<_, Failure>(key.public_key())) }
    })
}

/// Wipes a private key, or whatever the memory holds.
///
/// # Safety
/// `key` is memory of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_private_key_wipe(key: *mut BlsPrivateKey) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe { object::wipe(key) })
}

/// Reads a public key, compressed or not, and checks that it is in the group and not infinity.
///
/// Errors: `CYCLOID_ERROR_LENGTH`, `CYCLOID_ERROR_ENCODING`, `CYCLOID_ERROR_RANGE`,
/// `CYCLOID_ERROR_NOT_ON_CURVE`, `CYCLOID_ERROR_NOT_IN_GROUP`, `CYCLOID_ERROR_INFINITY`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_public_key_from_bytes(
    key: *mut BlsPublicKey,
    bytes: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let bytes = unsafe { slice(bytes, length) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Public::from_bytes(bytes)) }
    })
}

/// Writes a public key, compressed: exactly 48 bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is a key. `bytes` has `length` bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_public_key_to_bytes(
    key: *const BlsPublicKey,
    bytes: *mut u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<Public>(unsafe { reference(key) }?)?;
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&key.to_bytes(), bytes, length) }
    })
}

/// Reads a signature, compressed or not, and checks that it is in the group.
///
/// Errors: as for `cycloid_bls_public_key_from_bytes`, except for infinity.
///
/// # Safety
/// `signature` is memory for a signature, which need not be initialised. `bytes` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_signature_from_bytes(
    signature: *mut BlsSignature,
    bytes: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let bytes = unsafe { slice(bytes, length) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(signature, || Signed::from_bytes(bytes)) }
    })
}

/// Writes a signature, compressed: exactly 96 bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `signature` is a signature. `bytes` has `length` bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_signature_to_bytes(
    signature: *const BlsSignature,
    bytes: *mut u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let signature = object::value::<Signed>(unsafe { reference(signature) }?)?;
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&signature.to_bytes(), bytes, length) }
    })
}
