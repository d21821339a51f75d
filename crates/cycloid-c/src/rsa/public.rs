//! Public keys of RSA.

use core::ffi::c_void;

use cycloid::Limb;
use cycloid::scheme::rsa::{MAX_BITS, PublicKey};

use super::{Public, RsaPublicKey};
use crate::ec::is_pem;
use crate::error::{CYCLOID_ERROR_NUMBERS, ErrorCode, Failure, Outcome, run};
use crate::memory::{Extent, output_and_length, slice};
use crate::sized::{self, scratch_limbs};

/// Makes a public key from the modulus and the public exponent, both big-endian.
///
/// `key` has `size` bytes, at least `cycloid_rsa_public_key_size` of the key's bits, and `scratch`
/// `scratch_size`, at least `cycloid_rsa_scratch_size` of the same. Both are aligned to 8 bytes.
/// The key must stay in place.
///
/// Errors: `CYCLOID_ERROR_NUMBERS`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `key` and `scratch` are separate memory of these sizes, which need not be initialised. `modulus`
/// has `modulus_length` bytes, and `exponent` `exponent_length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_public_key_from_numbers(
    key: *mut RsaPublicKey,
    size: usize,
    modulus: *const u8,
    modulus_length: usize,
    exponent: *const u8,
    exponent_length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [
            Extent::of(key.cast::<u8>(), size),
            Extent::of(modulus, modulus_length),
            Extent::of(exponent, exponent_length),
        ];
        // SAFETY: the caller promises it.
        let (modulus, exponent, scratch) = unsafe {
            (
                slice(modulus, modulus_length)?,
                slice(exponent, exponent_length)?,
                scratch_limbs(scratch, scratch_size, &others)?,
            )
        };
        // SAFETY: the caller promises it.
        unsafe {
            sized::make(key.cast(), size, |limbs| PublicKey::new(modulus, exponent, limbs, scratch))
        }
    })
}

/// Reads a public key from a file's contents: SubjectPublicKeyInfo or PKCS #1, in DER or in PEM.
/// Memory is as for `cycloid_rsa_public_key_from_numbers`.
///
/// Errors: `CYCLOID_ERROR_FILE`, `CYCLOID_ERROR_NUMBERS`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `key` and `scratch` are separate memory of these sizes, which need not be initialised. `file` has
/// `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_public_key_from_file(
    key: *mut RsaPublicKey,
    size: usize,
    file: *const u8,
    length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [Extent::of(key.cast::<u8>(), size), Extent::of(file, length)];
        // SAFETY: the caller promises it.
        let (file, scratch) =
            unsafe { (slice(file, length)?, scratch_limbs(scratch, scratch_size, &others)?) };
        // SAFETY: the caller promises it.
        unsafe {
            sized::make(key.cast(), size, |limbs| {
                if is_pem(file) {
                    PublicKey::from_pem(file, limbs, scratch)
                } else {
                    PublicKey::from_der(file, limbs, scratch)
                }
            })
        }
    })
}

/// Writes a public key as SubjectPublicKeyInfo in DER to the start of `der`, and its length to
/// `*length`. A key of n bits takes at most n/8 + 128 bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_OUTPUT_TOO_SMALL`.
///
/// # Safety
/// `key` is a key. `der` has `capacity` bytes to write, and `length` is a number to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_public_key_to_der(
    key: *const RsaPublicKey,
    der: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, (der, length)) = unsafe {
            (sized::value::<Public>(key.cast())?, output_and_length(der, capacity, length)?)
        };
        *length = key.to_spki_der(der)?.len();
        Ok(())
    })
}

/// Returns the bits of a public key's modulus; 0 for null and for memory that holds no key.
///
/// # Safety
/// `key` is null or initialised memory of at least 64 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_public_key_bits(key: *const RsaPublicKey) -> usize {
    // SAFETY: the caller promises it.
    unsafe { sized::value::<Public>(key.cast()) }.map_or(0, PublicKey::bits)
}

/// Copies a key, with its restriction, to the caller's memory.
///
/// # Safety
/// As for [`sized::make`].
pub(super) unsafe fn copy(
    key: &PublicKey<&[Limb]>,
    memory: *mut RsaPublicKey,
    size: usize,
    scratch: &mut [Limb],
) -> Outcome {
    let mut room = [0; MAX_BITS / 8];
    let length = key.length();
    let modulus = room.get_mut(..length).ok_or(Failure(CYCLOID_ERROR_NUMBERS))?;
    for (byte, i) in modulus.iter_mut().rev().zip(0..) {
        *byte = (key.modulus_limbs()[i / 8] >> (8 * (i % 8))) as u8;
    }
    // SAFETY: the caller promises it.
    unsafe {
        sized::make(memory.cast(), size, |limbs| {
            PublicKey::new(modulus, &key.exponent().to_be_bytes(), limbs, scratch)?
                .restricted(key.restriction())
        })
    }
}
