//! X25519 (RFC 7748): keys are 32 bytes in the caller's memory.

use cycloid::scheme::x25519::PrivateKey;
use cycloid::stack;

use crate::error::{ErrorCode, run};
use crate::memory::{array, write_exactly};
use crate::random::{RandomSource, Source};

/// The bytes of a private key, a public key and a shared secret.
pub const CYCLOID_X25519_BYTES: usize = 32;

/// Generates a private key of 32 bytes. The caller wipes it.
///
/// Errors: `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `private_key` has 32 bytes to write. `random` is null or a source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_x25519_generate(
    private_key: *mut u8,
    random: *const RandomSource,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let mut random = unsafe { Source::new(random) }?;
        let mut place = None;
        let key = stack::try_keep(&mut place, || PrivateKey::generate(&mut random))?;
        // SAFETY: the caller promises it.
        unsafe { write_exactly(key.as_bytes(), private_key, 32) }
    })
}

/// Computes the public key of a private key. Both have 32 bytes; any 32 bytes are a private key.
///
/// # Safety
/// `private_key` has 32 bytes, and `public_key` 32 to write. They may be the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_x25519_public_key(
    private_key: *const u8,
    public_key: *mut u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let key = PrivateKey::from(*unsafe { array(private_key) }?);
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&key.public_key(), public_key, 32) }
    })
}

/// Computes the secret of 32 bytes shared with the holder of `peer`. Time does not depend on the
/// key.
///
/// Errors: `CYCLOID_ERROR_SMALL_ORDER` if the secret is all zeros, whatever the private key is;
/// nothing is written then.
///
/// # Safety
/// `private_key` and `peer` have 32 bytes, and `secret` 32 to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_x25519_agree(
    private_key: *const u8,
    peer: *const u8,
    secret: *mut u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, peer) = unsafe { (PrivateKey::from(*array(private_key)?), array(peer)?) };
        let shared = key.agree(peer)?;
        // SAFETY: the caller promises it.
        unsafe { write_exactly(shared.as_bytes(), secret, 32) }
    })
}
