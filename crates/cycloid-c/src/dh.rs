//! Finite-field Diffie-Hellman in the named groups of RFC 7919 and RFC 3526.
//!
//! Sizes are in bytes, and memory is aligned to 8 bytes.

use core::ffi::c_void;

use cycloid::Limb;
use cycloid::scheme::dh::{self, Group, PrivateKey, Validation};

use crate::error::{CYCLOID_ERROR_PARAMETER, ErrorCode, Failure, Outcome, run};
use crate::memory::{Extent, disjoint, slice, slice_mut};
use crate::object;
use crate::random::{RandomSource, Source};
use crate::sized::{self, Kind, scratch_limbs};

/// A group: one of `CYCLOID_FFDHE2048` and so on.
pub type GroupNumber = u32;

/// The group ffdhe2048 of RFC 7919.
pub const CYCLOID_FFDHE2048: u32 = 1;
/// The group ffdhe3072 of RFC 7919.
pub const CYCLOID_FFDHE3072: u32 = 2;
/// The group ffdhe4096 of RFC 7919.
pub const CYCLOID_FFDHE4096: u32 = 3;
/// The group ffdhe6144 of RFC 7919.
pub const CYCLOID_FFDHE6144: u32 = 4;
/// The group ffdhe8192 of RFC 7919.
pub const CYCLOID_FFDHE8192: u32 = 5;
/// Group 14 of RFC 3526, of 2048 bits.
pub const CYCLOID_MODP2048: u32 = 6;
/// Group 15 of RFC 3526, of 3072 bits.
pub const CYCLOID_MODP3072: u32 = 7;
/// Group 16 of RFC 3526, of 4096 bits.
pub const CYCLOID_MODP4096: u32 = 8;
/// Group 17 of RFC 3526, of 6144 bits.
pub const CYCLOID_MODP6144: u32 = 9;
/// Group 18 of RFC 3526, of 8192 bits.
pub const CYCLOID_MODP8192: u32 = 10;

/// A private exponent in memory of `cycloid_dh_private_key_size` bytes, which must stay in place.
pub struct DhPrivateKey {
    _opaque: (),
}

pub(crate) type Private = PrivateKey<'static, &'static mut [Limb]>;

impl Kind for Private {
    const TAG: u64 = object::tag(8, 1);
}

/// Returns the group with a number.
fn of(number: GroupNumber) -> Outcome<&'static Group<'static>> {
    let name = match number {
        CYCLOID_FFDHE2048 => "ffdhe2048",
        CYCLOID_FFDHE3072 => "ffdhe3072",
        CYCLOID_FFDHE4096 => "ffdhe4096",
        CYCLOID_FFDHE6144 => "ffdhe6144",
        CYCLOID_FFDHE8192 => "ffdhe8192",
        CYCLOID_MODP2048 => "modp2048",
        CYCLOID_MODP3072 => "modp3072",
        CYCLOID_MODP4096 => "modp4096",
        CYCLOID_MODP6144 => "modp6144",
        CYCLOID_MODP8192 => "modp8192",
        _ => return Err(Failure(CYCLOID_ERROR_PARAMETER)),
    };
    Group::named(name).ok_or(Failure(CYCLOID_ERROR_PARAMETER))
}

/// Returns the bytes of a public value and of a shared secret; 0 for an unknown group.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_dh_bytes(group: GroupNumber) -> usize {
    of(group).map_or(0, Group::length)
}

/// Returns the bytes of a private key; 0 for an unknown group.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_dh_private_key_size(group: GroupNumber) -> usize {
    of(group).map_or(0, |group| sized::size::<Private>(dh::private_key_limbs(group.bits())))
}

/// Returns the bytes of scratch; 0 for an unknown group.
#[unsafe(no_mangle)]
pub extern "C" fn cycloid_dh_scratch_size(group: GroupNumber) -> usize {
    of(group).map_or(0, |group| dh::scratch_limbs(group.bits(), group.bits()) * size_of::<Limb>())
}

/// Generates a private key.
///
/// `key` has `size` bytes, at least `cycloid_dh_private_key_size(group)`, and is aligned to 8
/// bytes. It must stay in place until it is wiped.
///
/// Errors: `CYCLOID_ERROR_PARAMETER` for an unknown group, `CYCLOID_ERROR_MEMORY_TOO_SMALL`,
/// `CYCLOID_ERROR_RANDOM`.
///
/// # Safety
/// `key` is memory of this size, which need not be initialised. `random` is null or a source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_dh_generate(
    key: *mut DhPrivateKey,
    size: usize,
    group: GroupNumber,
    random: *const RandomSource,
) -> ErrorCode {
    run(|| {
        let group = of(group)?;
        // SAFETY: the caller promises it.
        let mut random = unsafe { Source::new(random) }?;
        // SAFETY: the caller promises it.
        unsafe {
            sized::make(key.cast(), size, |limbs| PrivateKey::generate(group, limbs, &mut random))
        }
    })
}

/// Reads a private exponent, big-endian. Its length, including leading zeros, is public. Memory is
/// as for `cycloid_dh_generate`.
///
/// Errors: `CYCLOID_ERROR_PARAMETER`, `CYCLOID_ERROR_RANGE`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `key` is memory of this size, which need not be initialised. `exponent` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_dh_private_key_from_bytes(
    key: *mut DhPrivateKey,
    size: usize,
    group: GroupNumber,
    exponent: *const u8,
    length: usize,
) -> ErrorCode {
    run(|| {
        let group = of(group)?;
        // SAFETY: the caller promises it.
        let exponent = unsafe { slice(exponent, length) }?;
        // SAFETY: the caller promises it.
        unsafe { sized::make(key.cast(), size, |limbs| PrivateKey::new(group, exponent, limbs)) }
    })
}

/// Computes the public value of a private key: exactly `cycloid_dh_bytes(group)` big-endian bytes.
///
/// `scratch` has `scratch_size` bytes, at best `cycloid_dh_scratch_size(group)`, is aligned to 8
/// bytes, and is wiped.
///
/// Errors: `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`, `CYCLOID_ERROR_MEMORY_TOO_SMALL`,
/// `CYCLOID_ERROR_OVERLAP`.
///
/// # Safety
/// `key` is a key. `value` has `length` bytes to write. `scratch` is memory of this size, which need
/// not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_dh_public_value(
    key: *const DhPrivateKey,
    value: *mut u8,
    length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let others = [Extent::of(value, length)];
        // SAFETY: the caller promises it.
        let (key, value, scratch) = unsafe {
            (
                sized::value::<Private>(key.cast())?,
                slice_mut(value, length)?,
                scratch_limbs(scratch, scratch_size, &others)?,
            )
        };
        Ok(key.public_value(value, scratch)?)
    })
}

/// Computes the secret shared with the holder of the public value `peer`, big-endian: exactly
/// `cycloid_dh_bytes(group)` bytes. The peer's value is checked to be in the group. Scratch is as
/// for `cycloid_dh_public_value`. Time does not depend on the key.
///
/// Errors: `CYCLOID_ERROR_RANGE` and `CYCLOID_ERROR_NOT_IN_GROUP` for the peer's value;
/// `CYCLOID_ERROR_SMALL_ORDER`, `CYCLOID_ERROR_KEY`, `CYCLOID_ERROR_LENGTH`,
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`, `CYCLOID_ERROR_OVERLAP`.
///
/// # Safety
/// `key` is a key. `peer` has `peer_length` bytes, and `secret` `length` to write. `scratch` is
/// memory of this size, which need not be initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_dh_agree(
    key: *const DhPrivateKey,
    peer: *const u8,
    peer_length: usize,
    secret: *mut u8,
    length: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        disjoint(&[Extent::of(secret, length)], &[Extent::of(peer, peer_length)])?;
        let others = [Extent::of(peer, peer_length), Extent::of(secret, length)];
        // SAFETY: the caller promises it, and the secret does not overlap the peer's value.
        let (key, peer, secret, scratch) = unsafe {
            (
                sized::value::<Private>(key.cast())?,
                slice(peer, peer_length)?,
                slice_mut(secret, length)?,
                scratch_limbs(scratch, scratch_size, &others)?,
            )
        };
        Ok(key.agree(peer, Validation::Full, secret, scratch)?)
    })
}

/// Wipes a private key.
///
/// Errors: `CYCLOID_ERROR_KEY` if the memory holds none; nothing is written then.
///
/// # Safety
/// `key` is initialised memory of at least 64 bytes, which nothing else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_dh_private_key_wipe(key: *mut DhPrivateKey) -> ErrorCode {
    // SAFETY: the caller promises it.
    run(|| unsafe { sized::wipe::<Private>(key.cast()) })
}
