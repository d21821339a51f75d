//! ECDSA: signatures as r and s of fixed width, and their DER.

use cycloid::scheme::ec::{self, Curve};
use cycloid::scheme::ecdsa::{NonceGenerator, Signature};
use rand_core::TryRng as _;

use crate::ec::{CurveNumber, EcPrivateKey, EcPublicKey, on_curve};
use crate::error::{CYCLOID_ERROR_LENGTH, CYCLOID_ERROR_RANDOM, ErrorCode, Failure, Outcome, run};
use crate::hash::{self, HashNumber};
use crate::memory::{reference, slice, slice_mut, write_exactly, write_within};
use crate::object;
use crate::random::{RandomSource, Source};

/// The most bytes of a signature with fixed width.
pub const CYCLOID_ECDSA_MAX_BYTES: usize = 132;
/// The most bytes of a signature in DER.
pub const CYCLOID_ECDSA_MAX_DER_BYTES: usize = 141;

/// Signs a message, deterministically (RFC 6979), with the hash function.
///
/// Writes r and s, each with `cycloid_ec_bytes(curve)` big-endian bytes, so `signature_length` is
/// twice that. Time does not depend on the key.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_HASH`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is a key. `message` has `message_length` bytes, and `signature` `signature_length` to
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_sign(
    key: *const EcPrivateKey,
    hash: HashNumber,
    message: *const u8,
    message_length: usize,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, message) = unsafe { (reference(key)?, slice(message, message_length)?) };
        let hash = hash::of(hash)?;
        on_curve!(key.curve()?, C => {
            check_length::<C>(signature_length)?;
            let made = object::value::<ec::PrivateKey<C>>(key)?.sign(hash, message);
            // SAFETY: the caller promises it.
            unsafe { write_exactly(&made.to_fixed(), signature, signature_length) }
        })
    })
}

/// Signs a digest of any length, deterministically (RFC 6979). `hash` is the function of the nonce,
/// usually that of the digest. Otherwise as `cycloid_ecdsa_sign`.
///
/// # Safety
/// As for `cycloid_ecdsa_sign`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_sign_prehashed(
    key: *const EcPrivateKey,
    hash: HashNumber,
    digest: *const u8,
    digest_length: usize,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, digest) = unsafe { (reference(key)?, slice(digest, digest_length)?) };
        let hash = hash::of(hash)?;
        on_curve!(key.curve()?, C => {
            check_length::<C>(signature_length)?;
            let made = object::value::<ec::PrivateKey<C>>(key)?.sign_prehashed(hash, digest);
            // SAFETY: the caller promises it.
            unsafe { write_exactly(&made.to_fixed(), signature, signature_length) }
        })
    })
}

/// Signs a digest with 32 random bytes in the nonce (RFC 6979, section 3.6): unlike deterministic
/// signatures, two of the same digest differ. Otherwise as `cycloid_ecdsa_sign_prehashed`.
///
/// Errors: also `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// As for `cycloid_ecdsa_sign`; `random` is null or a source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_sign_hedged(
    key: *const EcPrivateKey,
    hash: HashNumber,
    digest: *const u8,
    digest_length: usize,
    random: *const RandomSource,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, digest, mut random) =
            unsafe { (reference(key)?, slice(digest, digest_length)?, Source::new(random)?) };
        let hash = hash::of(hash)?;
        let mut bytes = zeroize::Zeroizing::new([0; 32]);
        random.try_fill_bytes(&mut *bytes).map_err(|_| Failure(CYCLOID_ERROR_RANDOM))?;
        on_curve!(key.curve()?, C => {
            check_length::<C>(signature_length)?;
            let made = object::value::<ec::PrivateKey<C>>(key)?.sign_hedged(hash, digest, &*bytes);
            // SAFETY: the caller promises it.
            unsafe { write_exactly(&made.to_fixed(), signature, signature_length) }
        })
    })
}

/// Signs a digest of any length with a given nonce: `cycloid_ec_bytes(curve)` big-endian bytes.
///
/// Hazardous: two signatures with one nonce, or one with a nonce of which someone knows a few bits,
/// reveal the private key. For protocols and test vectors that prescribe nonces.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`; `CYCLOID_ERROR_RANGE` for a nonce that is
/// 0, not less than the order, or gives no signature.
///
/// # Safety
/// `key` is a key. `digest` has `digest_length` bytes, `nonce` `nonce_length`, and `signature`
/// `signature_length` to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_hazardous_ecdsa_sign_with_nonce(
    key: *const EcPrivateKey,
    digest: *const u8,
    digest_length: usize,
    nonce: *const u8,
    nonce_length: usize,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, digest, nonce) = unsafe {
            (reference(key)?, slice(digest, digest_length)?, slice(nonce, nonce_length)?)
        };
        on_curve!(key.curve()?, C => {
            check_length::<C>(signature_length)?;
            let made = object::value::<ec::PrivateKey<C>>(key)?.sign_with_nonce(digest, nonce)?;
            // SAFETY: the caller promises it.
            unsafe { write_exactly(&made.to_fixed(), signature, signature_length) }
        })
    })
}

/// Writes the nonce with which a digest is signed deterministically (RFC 6979): exactly
/// `cycloid_ec_bytes(curve)` big-endian bytes.
///
/// Hazardous: the nonce of a signature reveals the private key.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_HASH`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` is a key. `digest` has `digest_length` bytes, and `nonce` `nonce_length` to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_hazardous_ecdsa_nonce(
    key: *const EcPrivateKey,
    hash: HashNumber,
    digest: *const u8,
    digest_length: usize,
    nonce: *mut u8,
    nonce_length: usize,
) -> ErrorCode {
    run(|| {
        crate::memory::disjoint(
            &[crate::memory::Extent::of(nonce, nonce_length)],
            &[crate::memory::Extent::of(digest, digest_length)],
        )?;
        // SAFETY: the caller promises it, and the two do not overlap.
        let (key, digest, nonce) = unsafe {
            (reference(key)?, slice(digest, digest_length)?, slice_mut(nonce, nonce_length)?)
        };
        let hash = hash::of(hash)?;
        on_curve!(key.curve()?, C => {
            let key = object::value::<ec::PrivateKey<C>>(key)?;
            Ok(NonceGenerator::new(key, hash, digest, &[]).next(nonce)?)
        })
    })
}

/// Verifies a signature of a message with the hash function: r and s of fixed width, as
/// `cycloid_ecdsa_sign` writes them. Time depends on the arguments, which are public.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`, also for r or s out of range; `CYCLOID_ERROR_LENGTH`,
/// `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_HASH`.
///
/// # Safety
/// `key` is a key. `message` has `message_length` bytes, and `signature` `signature_length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_verify(
    key: *const EcPublicKey,
    hash: HashNumber,
    message: *const u8,
    message_length: usize,
    signature: *const u8,
    signature_length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, message, signature) = unsafe {
            (reference(key)?, slice(message, message_length)?, slice(signature, signature_length)?)
        };
        let hash = hash::of(hash)?;
        on_curve!(key.curve()?, C => {
            let key = object::value::<ec::PublicKey<C>>(key)?;
            Ok(key.verify(hash, message, &parse::<C>(signature)?)?)
        })
    })
}

/// Verifies a signature of a digest of any length. Otherwise as `cycloid_ecdsa_verify`.
///
/// # Safety
/// `key` is a key. `digest` has `digest_length` bytes, and `signature` `signature_length`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_verify_prehashed(
    key: *const EcPublicKey,
    digest: *const u8,
    digest_length: usize,
    signature: *const u8,
    signature_length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, digest, signature) = unsafe {
            (reference(key)?, slice(digest, digest_length)?, slice(signature, signature_length)?)
        };
        on_curve!(key.curve()?, C => {
            let key = object::value::<ec::PublicKey<C>>(key)?;
            Ok(key.verify_prehashed(digest, &parse::<C>(signature)?)?)
        })
    })
}

/// Converts a signature of fixed width to DER: writes it to the start of `der`, and its length to
/// `*der_length`. At most `CYCLOID_ECDSA_MAX_DER_BYTES` are written.
///
/// Errors: `CYCLOID_ERROR_CURVE`, `CYCLOID_ERROR_LENGTH`, `CYCLOID_ERROR_RANGE`,
/// `CYCLOID_ERROR_OUTPUT_TOO_SMALL`.
///
/// # Safety
/// `signature` has `signature_length` bytes. `der` has `capacity` bytes to write, and `der_length`
/// is a number to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_signature_to_der(
    curve: CurveNumber,
    signature: *const u8,
    signature_length: usize,
    der: *mut u8,
    capacity: usize,
    der_length: *mut usize,
) -> ErrorCode {
    run(|| {
        on_curve!(curve, C => {
            // SAFETY: the caller promises it.
            let signature = Signature::<C>::from_fixed(unsafe { slice(signature, signature_length) }?)?;
            // SAFETY: the caller promises it.
            unsafe { write_within(&signature.to_der(), der, capacity, der_length) }
        })
    })
}

/// Converts a signature in DER to fixed width: exactly twice `cycloid_ec_bytes(curve)` bytes.
///
/// Errors: `CYCLOID_ERROR_CURVE`, `CYCLOID_ERROR_ENCODING`, `CYCLOID_ERROR_RANGE`,
/// `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `der` has `der_length` bytes, and `signature` `signature_length` to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdsa_signature_from_der(
    curve: CurveNumber,
    der: *const u8,
    der_length: usize,
    signature: *mut u8,
    signature_length: usize,
) -> ErrorCode {
    run(|| {
        on_curve!(curve, C => {
            // SAFETY: the caller promises it.
            let read = Signature::<C>::from_der(unsafe { slice(der, der_length) }?)?;
            // SAFETY: the caller promises it.
            unsafe { write_exactly(&read.to_fixed(), signature, signature_length) }
        })
    })
}

/// Returns an error unless an output has the length of a signature.
pub(crate) fn check_length<C: Curve>(length: usize) -> Outcome {
    if length == 2 * C::BYTES { Ok(()) } else { Err(Failure(CYCLOID_ERROR_LENGTH)) }
}

/// Reads a signature to verify. One with r or s out of range is not valid.
pub(crate) fn parse<C: Curve>(bytes: &[u8]) -> Outcome<Signature<C>> {
    Signature::from_fixed(bytes).map_err(|error| match error {
        ec::Error::SignatureRange => ec::Error::Verification.into(),
        error => error.into(),
    })
}
