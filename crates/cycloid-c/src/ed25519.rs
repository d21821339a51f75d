//! Ed25519 (RFC 8032).

use cycloid::scheme::ed25519::{Rule, SigningKey, Variant, VerifyingKey};

use crate::error::{CYCLOID_ERROR_PARAMETER, ErrorCode, Failure, Outcome, run};
use crate::memory::{array, reference, slice, write_exactly};
use crate::object::{self, Kind, words};
use crate::random::{RandomSource, Source};

/// The bytes of a private key's seed and of a public key.
pub const CYCLOID_ED25519_KEY_BYTES: usize = 32;
/// The bytes of a signature.
pub const CYCLOID_ED25519_SIGNATURE_BYTES: usize = 64;

/// The equation of RFC 8032 without the cofactor, which most implementations verify.
pub const CYCLOID_ED25519_COFACTORLESS: u32 = 0;
/// As without a rule, and refuses points of small order.
pub const CYCLOID_ED25519_STRICT: u32 = 1;
/// The equation with the cofactor (ZIP 215).
pub const CYCLOID_ED25519_COFACTORED: u32 = 2;

/// A private key, with its public key. A plain value: it may be copied and moved, and each copy
/// must be wiped.
#[repr(C)]
pub struct Ed25519PrivateKey {
    /// The key.
    pub opaque: [u64; 64],
}

/// A public key. A plain value, which may be copied and moved.
#[repr(C)]
pub struct Ed25519PublicKey {
    /// The key.
    pub opaque: [u64; 32],
}

words! { Ed25519PrivateKey Ed25519PublicKey }

impl Kind for SigningKey {
    const TAG: u64 = object::tag(3, 1);
}

impl Kind for VerifyingKey {
    const TAG: u64 = object::tag(4, 1);
}

const _: () = {
    assert!(size_of::<SigningKey>() < size_of::<Ed25519PrivateKey>());
    assert!(size_of::<VerifyingKey>() < size_of::<Ed25519PublicKey>());
};

/// Generates a private key.
///
/// Errors: `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `random` is null or a source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_generate(
    key: *mut Ed25519PrivateKey,
    random: *const RandomSource,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let mut random = unsafe { Source::new(random) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || SigningKey::generate(&mut random)) }
    })
}

/// Makes a private key from its seed of 32 bytes.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `seed` has 32 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_private_key_from_seed(
    key: *mut Ed25519PrivateKey,
    seed: *const u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let seed = unsafe { array(seed) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || Ok::<_, Failure>(SigningKey::from_seed(seed))) }
    })
}

/// Writes the seed of a private key, 32 bytes.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key. `seed` has 32 bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_private_key_to_seed(
    key: *const Ed25519PrivateKey,
    seed: *mut u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<SigningKey>(unsafe { reference(key) }?)?;
        // SAFETY: the caller promises it.
        unsafe { write_exactly(key.seed(), seed, 32) }
    })
}

/// Copies the public key out of a private key.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key, and `public_key` memory for one, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_private_key_public(
    key: *const Ed25519PrivateKey,
    public_key: *mut Ed25519PublicKey,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let public = *object::value::<SigningKey>(unsafe { reference(key) }?)?.verifying_key();
        // SAFETY: the caller promises it.
        unsafe { object::put(public_key, public) }
    })
}

/// Wipes a private key, or whatever the memory holds.
///
/// # Safety
/// `key` is memory of its type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_private_key_wipe(
    key: *mut Ed25519PrivateKey,
) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe { object::wipe(key) })
}

/// Reads a public key from its 32 bytes.
///
/// Errors: `CYCLOID_ERROR_NOT_ON_CURVE`.
///
/// # Safety
/// `key` is memory for a key, which need not be initialised. `bytes` has 32 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_public_key_from_bytes(
    key: *mut Ed25519PublicKey,
    bytes: *const u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let bytes = unsafe { array(bytes) }?;
        // SAFETY: the caller promises it.
        unsafe { object::make(key, || VerifyingKey::new(bytes)) }
    })
}

/// Writes the 32 bytes of a public key.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key. `bytes` has 32 bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_public_key_to_bytes(
    key: *const Ed25519PublicKey,
    bytes: *mut u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = object::value::<VerifyingKey>(unsafe { reference(key) }?)?;
        // SAFETY: the caller promises it.
        unsafe { write_exactly(key.as_bytes(), bytes, 32) }
    })
}

/// Signs a message: writes 64 bytes. Time does not depend on the key.
///
/// Errors: `CYCLOID_ERROR_KEY`.
///
/// # Safety
/// `key` is a key. `message` has `message_length` bytes, and `signature` 64 to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_sign(
    key: *const Ed25519PrivateKey,
    message: *const u8,
    message_length: usize,
    signature: *mut u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, message) = unsafe { (reference(key)?, slice(message, message_length)?) };
        let made = object::value::<SigningKey>(key)?.sign(message);
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&made, signature, 64) }
    })
}

/// Verifies a signature of 64 bytes, by `rule`, such as `CYCLOID_ED25519_COFACTORLESS`. Time
/// depends on the arguments, which are public.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`; `CYCLOID_ERROR_SMALL_ORDER` for a public key of small
/// order by the strict rule; `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_PARAMETER`.
///
/// # Safety
/// `key` is a key. `message` has `message_length` bytes, and `signature` 64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ed25519_verify(
    key: *const Ed25519PublicKey,
    rule: u32,
    message: *const u8,
    message_length: usize,
    signature: *const u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, message, signature) =
            unsafe { (reference(key)?, slice(message, message_length)?, array(signature)?) };
        let key = object::value::<VerifyingKey>(key)?;
        Ok(key.verify_with(rule_of(rule)?, Variant::Plain, message, signature)?)
    })
}

/// Returns the rule with a number.
pub(crate) fn rule_of(number: u32) -> Outcome<Rule> {
    Ok(match number {
        CYCLOID_ED25519_COFACTORLESS => Rule::Cofactorless,
        CYCLOID_ED25519_STRICT => Rule::Strict,
        CYCLOID_ED25519_COFACTORED => Rule::Cofactored,
        _ => return Err(Failure(CYCLOID_ERROR_PARAMETER)),
    })
}
