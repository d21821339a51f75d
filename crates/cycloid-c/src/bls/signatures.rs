//! Signatures of one message by one key, and proofs of possession.

use super::{BlsPrivateKey, BlsPublicKey, BlsSignature, Private, Public, Signed, scheme_of};
use crate::error::{ErrorCode, Failure, run};
use crate::memory::{reference, slice};
use crate::object;

/// Signs a message. Time does not depend on the key.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_PARAMETER` for an unknown scheme.
///
/// # Safety
/// `key` is a key. `message` has `message_length` bytes. `signature` is memory for a signature, which
/// need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_sign(
    key: *const BlsPrivateKey,
    scheme: u32,
    message: *const u8,
    message_length: usize,
    signature: *mut BlsSignature,
) -> ErrorCode {
    run(|| {
        let scheme = scheme_of(scheme)?;
        // SAFETY: the caller promises it.
        let (key, message) = unsafe { (reference(key)?, slice(message, message_length)?) };
        let key = object::value::<Private>(key)?;
        // SAFETY: the caller promises it.
        unsafe { object::make(signature, || Ok::<_, Failure>(key.sign(scheme, message))) }
    })
}

/// Verifies a signature of a message. Time depends on the arguments, which are public.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`, `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_PARAMETER`.
///
/// # Safety
/// `key` is a key, and `signature` a signature. `message` has `message_length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_verify(
    key: *const BlsPublicKey,
    scheme: u32,
    message: *const u8,
    message_length: usize,
    signature: *const BlsSignature,
) -> ErrorCode {
    run(|| {
        let scheme = scheme_of(scheme)?;
        // SAFETY: the caller promises it.
        let (key, message, signature) =
            unsafe { (reference(key)?, slice(message, message_length)?, reference(signature)?) };
        let key = object::value::<Public>(key)?;
        Ok(key.verify(scheme, message, object::value::<Signed>(signature)?)?)
    })
}

/// Proves possession of a private key.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key. `proof` is memory for a signature, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_prove_possession(
    key: *const BlsPrivateKey,
    proof: *mut BlsSignature,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<Private>(unsafe { reference(key) }?)?;
        // SAFETY: the caller promises it.
        unsafe { object::make(proof, || Ok::<_, Failure>(key.prove_possession())) }
    })
}

/// Verifies a proof of possession.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`, `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key, and `proof` a signature.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_verify_possession(
    key: *const BlsPublicKey,
    proof: *const BlsSignature,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, proof) = unsafe { (reference(key)?, reference(proof)?) };
        let key = object::value::<Public>(key)?;
        Ok(key.verify_possession(object::value::<Signed>(proof)?)?)
    })
}
