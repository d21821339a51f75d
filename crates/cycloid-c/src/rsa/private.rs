//! Private keys of RSA: made, read, written and wiped.

use core::ffi::c_void;

use cycloid::scheme::rsa::PrivateKey;

use super::{Private, RsaPrivateKey, RsaPublicKey};
use crate::ec::is_pem;
use crate::error::{ErrorCode, run};
use crate::memory::{Extent, output_and_length, slice};
use crate::random::{RandomSource, Recording, Source};
use crate::sized::{self, scratch_limbs};

/// Generates a private key of `bits` bits, an even number from 2048, with an odd public exponent of
/// at least 65537.
///
/// `key` has `size` bytes, at least `cycloid_rsa_private_key_size(bits)`, and `scratch`
/// `scratch_size`, at least `cycloid_rsa_scratch_size(bits)`, which is wiped. Both are aligned to 8
/// bytes. The key must stay in place until it is wiped.
///
/// Errors: `CYCLOID_ERROR_NUMBERS`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`, `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `key` and `scratch` are separate memory of these sizes, which need not be initialised. `random`
/// is null or a source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_generate(
    key: *mut RsaPrivateKey,
    size: usize,
    bits: usize,
    public_exponent: u32,
    random: *const RandomSource,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [Extent::of(key.cast::<u8>(), size)];
        // SAFETY: the caller promises it.
        let (source, scratch) =
            unsafe { (Source::new(random)?, scratch_limbs(scratch, scratch_size, &others)?) };
        let mut random = Recording::new(source);
        // SAFETY: the caller promises it.
        let made = unsafe {
            sized::make(key.cast(), size, |limbs| {
                PrivateKey::generate(bits, public_exponent, limbs, &mut random, scratch)
            })
        };
        let outcome = random.release(made);
        if outcome.is_err() {
            // SAFETY: the caller promises it; there may be no key.
            let _ = unsafe { sized::wipe::<Private>(key.cast()) };
        }
        outcome
    })
}

/// Reads a private key from a file's contents: PKCS #8 or PKCS #1, in DER or in PEM.
///
/// `key` has `size` bytes, at least `cycloid_rsa_private_key_size` of the key's bits, and `scratch`
/// `scratch_size`, at least `cycloid_rsa_scratch_size` of the same, which is wiped. Both are
/// aligned to 8 bytes. The parts are checked against each other; the primes are not tested. The key
/// must stay in place until it is wiped.
///
/// Errors: `CYCLOID_ERROR_FILE`, `CYCLOID_ERROR_ENCRYPTED`, `CYCLOID_ERROR_NUMBERS`,
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `key` and `scratch` are separate memory of these sizes, which need not be initialised. `file` has
/// `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_private_key_from_file(
    key: *mut RsaPrivateKey,
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
                    PrivateKey::from_pem(file, limbs, scratch)
                } else {
                    PrivateKey::from_der(file, limbs, scratch)
                }
            })
        }
    })
}

/// Writes a private key as PKCS #8 in DER to the start of `der`, and its length to `*length`. A key
/// of n bits takes at most n/8·5 + 128 bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_OUTPUT_TOO_SMALL`.
///
/// # Safety
/// `key` is a key. `der` has `capacity` bytes to write, and `length` is a number to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_private_key_to_der(
    key: *const RsaPrivateKey,
    der: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, (der, length)) = unsafe {
            (sized::value::<Private>(key.cast())?, output_and_length(der, capacity, length)?)
        };
        *length = key.to_pkcs8_der(der)?.len();
        Ok(())
    })
}

/// Returns the bits of a private key's modulus; 0 for null and for memory that holds no key.
///
/// # Safety
/// `key` is null or initialised memory of at least 64 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_private_key_bits(key: *const RsaPrivateKey) -> usize {
    // SAFETY: the caller promises it.
    unsafe { sized::value::<Private>(key.cast()) }.map_or(0, PrivateKey::bits)
}

/// Makes the public key of a private key.
///
/// `public_key` has `size` bytes, at least `cycloid_rsa_public_key_size` of the key's bits, and
/// `scratch` `scratch_size`, at least `cycloid_rsa_scratch_size` of the same. Both are aligned to 8
/// bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `key` is a key. `public_key` and `scratch` are separate memory of these sizes, which need not be
/// initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_private_key_public(
    key: *const RsaPrivateKey,
    public_key: *mut RsaPublicKey,
    size: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [Extent::of(public_key.cast::<u8>(), size)];
        // SAFETY: the caller promises it.
        let (key, scratch) = unsafe {
            (sized::value::<Private>(key.cast())?, scratch_limbs(scratch, scratch_size, &others)?)
        };
        // SAFETY: the caller promises it.
        unsafe { super::public::copy(&key.public(), public_key, size, scratch) }
    })
}

/// Wipes a private key.
///
/// Errors: `CYCLOID_ERROR_KEY` if the memory holds none; nothing is written then.
///
/// # Safety
/// `key` is initialised memory of at least 64 bytes, which nothing else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_private_key_wipe(key: *mut RsaPrivateKey) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe { sized::wipe::<Private>(key.cast()) })
}
