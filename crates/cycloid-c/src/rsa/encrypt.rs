//! Encryption with RSAES-OAEP.

use core::ffi::c_void;

use cycloid::scheme::rsa::Oaep;

use super::sign::with;
use super::{Public, RsaContext, RsaPublicKey};
use crate::error::{ErrorCode, run};
use crate::hash::{self, HashNumber};
use crate::memory::{Extent, disjoint, slice, slice_mut, unique};
use crate::random::{RandomSource, Recording, Source};
use crate::sized::{self, scratch_limbs};

/// Encrypts a message by RSAES-OAEP with the hash function, also for the mask, and a label, which
/// may be empty. `ciphertext` has exactly as many bytes as the modulus; the longest message has as
/// many less two digests and 2.
///
/// `scratch` has `scratch_size` bytes, at least `cycloid_rsa_scratch_size` of the key's bits, is
/// aligned to 8 bytes, and is wiped.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_HASH`, `CYCLOID_ERROR_LENGTH`,
/// `CYCLOID_ERROR_MESSAGE_TOO_LONG`, `CYCLOID_ERROR_RANDOM`, `CYCLOID_ERROR_RESTRICTED`,
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`, `CYCLOID_ERROR_OVERLAP`.
///
/// # Safety
/// `key` is a key. `label` has `label_length` bytes, `message` `message_length`, and `ciphertext`
/// `ciphertext_length` to write. `random` is null or a source. `scratch` is memory of this size,
/// which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_encrypt_oaep(
    key: *const RsaPublicKey,
    hash: HashNumber,
    label: *const u8,
    label_length: usize,
    message: *const u8,
    message_length: usize,
    random: *const RandomSource,
    ciphertext: *mut u8,
    ciphertext_length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let output = Extent::of(ciphertext, ciphertext_length);
        let inputs = [Extent::of(label, label_length), Extent::of(message, message_length)];
        disjoint(&[output], &inputs)?;
        // SAFETY: the caller promises it, and the ciphertext overlaps no input.
        let (key, label, message, source, ciphertext, scratch) = unsafe {
            (
                sized::value::<Public>(key.cast())?,
                slice(label, label_length)?,
                slice(message, message_length)?,
                Source::new(random)?,
                slice_mut(ciphertext, ciphertext_length)?,
                scratch_limbs(scratch, scratch_size, &[output, inputs[0], inputs[1]])?,
            )
        };
        let mut random = Recording::new(source);
        let oaep = Oaep { label, ..Oaep::new(hash::of(hash)?) };
        let done = key.encrypt_oaep(&oaep, message, &mut random, ciphertext, scratch);
        let released = random.release(done);
        if released.is_err() {
            ciphertext.fill(0);
        }
        released
    })
}

/// Decrypts a ciphertext by RSAES-OAEP: writes the message to the start of `message`, and its
/// length to `*message_length`. `capacity` is at least the length of the longest message, whatever
/// the ciphertext holds. Time depends neither on the key nor on the message.
///
/// Errors: `CYCLOID_ERROR_DECRYPTION`, which does not say what is wrong; `CYCLOID_ERROR_KEY`, also
/// if the context's key has been wiped or replaced; `CYCLOID_ERROR_HASH`, `CYCLOID_ERROR_LENGTH`,
/// `CYCLOID_ERROR_OUTPUT_TOO_SMALL`, `CYCLOID_ERROR_RANDOM`, `CYCLOID_ERROR_OVERLAP`.
///
/// # Safety
/// `context` is a context that nothing else uses meanwhile. `label` has `label_length` bytes,
/// `ciphertext` `ciphertext_length`, and `message` `capacity` to write. `message_length` is a number
/// to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_rsa_decrypt_oaep(
    context: *mut RsaContext,
    hash: HashNumber,
    label: *const u8,
    label_length: usize,
    ciphertext: *const u8,
    ciphertext_length: usize,
    message: *mut u8,
    capacity: usize,
    message_length: *mut usize,
) -> ErrorCode {
    run(|| {
        let outputs = [Extent::of(message, capacity), Extent::of(message_length, 1)];
        let inputs = [Extent::of(label, label_length), Extent::of(ciphertext, ciphertext_length)];
        disjoint(&outputs, &inputs)?;
        // SAFETY: the caller promises it, and the message overlaps no input.
        let (label, message_length) =
            unsafe { (slice(label, label_length)?, unique(message_length)?) };
        let oaep = Oaep { label, ..Oaep::new(hash::of(hash)?) };
        *message_length = 0;
        // SAFETY: the caller promises it.
        *message_length = unsafe {
            with(
                context,
                ciphertext,
                ciphertext_length,
                message,
                capacity,
                |context, input, output| context.decrypt_oaep(&oaep, input, output),
            )
        }?;
        Ok(())
    })
}
