//! Aggregates, and lists of keys, messages and signatures, in scratch memory of the caller's.

use core::ffi::c_void;

use cycloid::bls12_381::signature;

use super::{BlsPublicKey, BlsSignature, Message, Public, Signed, scheme_of};
use crate::error::{CYCLOID_ERROR_MEMORY_TOO_SMALL, ErrorCode, Failure, Outcome, run};
use crate::memory::{Extent, reference, slice};
use crate::object::{self, Kind};
use crate::random::{RandomSource, Source};
use crate::sized::scratch_limbs;

/// Returns the bytes of scratch for a list of `count` keys, signatures, messages or pairs of
/// points; 0 for more than can be.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_bls_scratch_size(count: usize) -> usize {
    let each = size_of::<Public>() + size_of::<Signed>() + size_of::<&[u8]>();
    count.checked_mul(each).filter(|bytes| *bytes <= isize::MAX as usize).unwrap_or(0)
}

/// Scratch, from which lists are cut.
pub(super) struct Room<'a>(pub(super) &'a mut [u64]);

impl<'a> Room<'a> {
    /// Makes a list of values in the scratch.
    pub(super) fn list<T: Copy>(
        &mut self,
        count: usize,
        value: impl Fn(usize) -> Outcome<T>,
    ) -> Outcome<&'a [T]> {
        const { assert!(align_of::<T>() <= align_of::<u64>()) };
        let words = count.checked_mul(size_of::<T>().div_ceil(8));
        let (room, rest) = words
            .and_then(|words| core::mem::take(&mut self.0).split_at_mut_checked(words))
            .ok_or(Failure(CYCLOID_ERROR_MEMORY_TOO_SMALL))?;
        self.0 = rest;
        let start = room.as_mut_ptr().cast::<T>();
        for i in 0..count {
            // SAFETY: the room has `count` values, and is aligned for them.
            unsafe { start.add(i).write(value(i)?) };
        }
        // SAFETY: all of them have been written, and the room is borrowed for as long.
        Ok(unsafe { core::slice::from_raw_parts(start, count) })
    }
}

fn messages<'a>(room: &mut Room<'a>, messages: &'a [Message]) -> Outcome<&'a [&'a [u8]]> {
    // SAFETY: the caller of each function with messages promises that they are there.
    room.list(messages.len(), |i| unsafe { slice(messages[i].bytes, messages[i].length) })
}

fn copies<T: Kind + Copy, W: object::Words>(list: &[W], i: usize) -> Outcome<T> {
    object::value::<T>(&list[i]).copied()
}

/// Adds signatures up.
///
/// `scratch` has `scratch_size` bytes, at least `cycloid_bls_scratch_size(count)`, and is aligned
/// to 8 bytes.
///
/// Errors: `CYCLOID_ERROR_LIST` for an empty list; `CYCLOID_ERROR_KEY`,
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `signatures` has `count` signatures. `sum` is memory for a signature, and `scratch` memory of its
/// size; neither need be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_aggregate_signatures(
    sum: *mut BlsSignature,
    signatures: *const BlsSignature,
    count: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [Extent::of(sum, 1), Extent::of(signatures, count)];
        // SAFETY: the caller promises it.
        let (list, scratch) =
            unsafe { (slice(signatures, count)?, scratch_limbs(scratch, scratch_size, &others)?) };
        let list = Room(scratch).list(count, |i| copies::<Signed, _>(list, i))?;
        // SAFETY: the caller promises it.
        unsafe { object::make(sum, || Signed::aggregate(list)) }
    })
}

/// Adds public keys up. Otherwise as `cycloid_bls_aggregate_signatures`.
///
/// Errors: also `CYCLOID_ERROR_INFINITY` for a sum that is infinity.
///
/// # Safety
/// `keys` has `count` keys. `sum` is memory for a key, and `scratch` memory of its size; neither need
/// be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_aggregate_public_keys(
    sum: *mut BlsPublicKey,
    keys: *const BlsPublicKey,
    count: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [Extent::of(sum, 1), Extent::of(keys, count)];
        // SAFETY: the caller promises it.
        let (list, scratch) =
            unsafe { (slice(keys, count)?, scratch_limbs(scratch, scratch_size, &others)?) };
        let list = Room(scratch).list(count, |i| copies::<Public, _>(list, i))?;
        // SAFETY: the caller promises it.
        unsafe { object::make(sum, || Public::aggregate(list)) }
    })
}

/// Verifies an aggregate of signatures of one message, by keys whose possession has been proved.
/// Scratch is as for `cycloid_bls_aggregate_signatures`.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`, `CYCLOID_ERROR_LIST`, `CYCLOID_ERROR_KEY`,
/// `CYCLOID_ERROR_INFINITY`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `keys` has `count` keys. `message` has `message_length` bytes. `signature` is a signature, and
/// `scratch` memory of its size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_fast_aggregate_verify(
    keys: *const BlsPublicKey,
    count: usize,
    message: *const u8,
    message_length: usize,
    signature: *const BlsSignature,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [
            Extent::of(keys, count),
            Extent::of(message, message_length),
            Extent::of(signature, 1),
        ];
        // SAFETY: the caller promises it.
        let (keys, message, signature, scratch) = unsafe {
            (
                slice(keys, count)?,
                slice(message, message_length)?,
                reference(signature)?,
                scratch_limbs(scratch, scratch_size, &others)?,
            )
        };
        let keys = Room(scratch).list(count, |i| copies::<Public, _>(keys, i))?;
        let signature = object::value::<Signed>(signature)?;
        Ok(signature::fast_aggregate_verify(keys, message, signature)?)
    })
}

/// Verifies an aggregate of signatures, of one message by each key. Scratch is as for
/// `cycloid_bls_aggregate_signatures`.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION`; `CYCLOID_ERROR_LIST` for an empty list, and for equal
/// messages in the basic scheme; `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_PARAMETER`,
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `keys` has `count` keys, and `list` as many messages. `signature` is a signature, and `scratch`
/// memory of its size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_aggregate_verify(
    scheme: u32,
    keys: *const BlsPublicKey,
    list: *const Message,
    count: usize,
    signature: *const BlsSignature,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let scheme = scheme_of(scheme)?;
        let others = [Extent::of(keys, count), Extent::of(list, count), Extent::of(signature, 1)];
        // SAFETY: the caller promises it.
        let (keys, list, signature, scratch) = unsafe {
            (
                slice(keys, count)?,
                slice(list, count)?,
                reference(signature)?,
                scratch_limbs(scratch, scratch_size, &others)?,
            )
        };
        let mut room = Room(scratch);
        let keys = room.list(count, |i| copies::<Public, _>(keys, i))?;
        let list = messages(&mut room, list)?;
        let signature = object::value::<Signed>(signature)?;
        Ok(signature::aggregate_verify(scheme, keys, list, signature)?)
    })
}

/// Verifies many signatures at once, each of its own message by its own key, with random weights.
/// One that is invalid makes the whole list invalid. Scratch is as for
/// `cycloid_bls_aggregate_signatures`.
///
/// Errors: as for `cycloid_bls_aggregate_verify`, and `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `keys` has `count` keys, `list` as many messages, and `signatures` as many signatures. `random` is
/// null or a source. `scratch` is memory of its size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_batch_verify(
    scheme: u32,
    keys: *const BlsPublicKey,
    list: *const Message,
    signatures: *const BlsSignature,
    count: usize,
    random: *const RandomSource,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let scheme = scheme_of(scheme)?;
        let others =
            [Extent::of(keys, count), Extent::of(list, count), Extent::of(signatures, count)];
        // SAFETY: the caller promises it.
        let (keys, list, signatures, mut random, scratch) = unsafe {
            (
                slice(keys, count)?,
                slice(list, count)?,
                slice(signatures, count)?,
                Source::new(random)?,
                scratch_limbs(scratch, scratch_size, &others)?,
            )
        };
        let mut room = Room(scratch);
        let keys = room.list(count, |i| copies::<Public, _>(keys, i))?;
        let signatures = room.list(count, |i| copies::<Signed, _>(signatures, i))?;
        let list = messages(&mut room, list)?;
        Ok(signature::batch_verify(scheme, keys, list, signatures, &mut random)?)
    })
}
