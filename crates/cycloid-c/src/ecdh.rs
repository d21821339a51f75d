//! ECDH.

use cycloid::scheme::ec;

use crate::ec::{EcPrivateKey, EcPublicKey, on_curve};
use crate::error::{CYCLOID_ERROR_CURVE, ErrorCode, Failure, run};
use crate::memory::{reference, write_exactly};
use crate::object;

/// Computes the secret shared with the holder of `peer`: the x coordinate of the product, exactly
/// `cycloid_ec_bytes(curve)` big-endian bytes (SP 800-56A, section 5.7.1.2). Time does not depend
/// on the key.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_CURVE`, `CYCLOID_ERROR_LENGTH`.
///
/// # Safety
/// `key` and `peer` are keys. `secret` has `length` bytes to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_ecdh_agree(
    key: *const EcPrivateKey,
    peer: *const EcPublicKey,
    secret: *mut u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (key, peer) = unsafe { (reference(key)?, reference(peer)?) };
        let curve = key.curve()?;
        if peer.curve()? != curve {
            return Err(Failure(CYCLOID_ERROR_CURVE));
        }
        on_curve!(curve, C => {
            let (key, peer) =
                (object::value::<ec::PrivateKey<C>>(key)?, object::value::<ec::PublicKey<C>>(peer)?);
            // SAFETY: the caller promises it.
            unsafe { write_exactly(&key.agree(peer), secret, length) }
        })
    })
}
