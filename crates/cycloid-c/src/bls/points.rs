//! Multiples and pairings of encoded points.

use core::ffi::c_void;

use cycloid::bls12_381::{Cycloid, Fr, G1, G1Affine, G2, G2Affine, pairing_check};

use super::lists::Room;
use crate::error::{CYCLOID_ERROR_LIST, CYCLOID_ERROR_VERIFICATION, ErrorCode, Failure, run};
use crate::memory::{Extent, slice, write_exactly};
use crate::sized::scratch_limbs;

/// Computes a multiple of a point of G1: compressed points of 48 bytes, and a scalar of 32
/// big-endian bytes, less than the order. Time does not depend on the scalar.
///
/// Errors: those of reading the point; `CYCLOID_ERROR_RANGE` for the scalar.
///
/// # Safety
/// `point` has 48 bytes, `scalar` 32, and `product` 48 to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_g1_multiply(
    product: *mut u8,
    point: *const u8,
    scalar: *const u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (point, scalar) = unsafe { (slice(point, 48)?, slice(scalar, 32)?) };
        let point = G1::<Cycloid>::from(G1Affine::from_compressed(point)?);
        let mut scalar = Fr::from_be_bytes(scalar)?;
        let result = point.multiply(&scalar).to_affine().to_compressed();
        scalar.wipe();
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&result, product, 48) }
    })
}

/// Computes a multiple of a point of G2: compressed points of 96 bytes. Otherwise as
/// `cycloid_bls_g1_multiply`.
///
/// # Safety
/// `point` has 96 bytes, `scalar` 32, and `product` 96 to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_g2_multiply(
    product: *mut u8,
    point: *const u8,
    scalar: *const u8,
) -> ErrorCode {
    run(|| {
        // SAFETY: the caller promises it.
        let (point, scalar) = unsafe { (slice(point, 96)?, slice(scalar, 32)?) };
        let point = G2::<Cycloid>::from(G2Affine::from_compressed(point)?);
        let mut scalar = Fr::from_be_bytes(scalar)?;
        let result = point.multiply(&scalar).to_affine().to_compressed();
        scalar.wipe();
        // SAFETY: the caller promises it.
        unsafe { write_exactly(&result, product, 96) }
    })
}

/// Checks that the product of the pairings of `count` pairs of points is 1. Points are compressed:
/// 48 bytes each in `g1`, one after the other, and 96 each in `g2`. Scratch is as for
/// `cycloid_bls_aggregate_signatures`.
///
/// Errors: `CYCLOID_ERROR_VERIFICATION` if it is not 1; those of reading points;
/// `CYCLOID_ERROR_MEMORY_TOO_SMALL`.
///
/// # Safety
/// `g1` has 48·`count` bytes, and `g2` 96·`count`. `scratch` is memory of its size, which need not be
/// initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cycloid_bls_pairing_check(
    g1: *const u8,
    g2: *const u8,
    count: usize,
    scratch: *mut c_void,
    scratch_size: usize,
) -> ErrorCode {
    run(|| {
        let bytes = |each: usize| count.checked_mul(each).ok_or(Failure(CYCLOID_ERROR_LIST));
        let others = [Extent::of(g1, bytes(48)?), Extent::of(g2, bytes(96)?)];
        // SAFETY: the caller promises it.
        let (g1, g2, scratch) = unsafe {
            (
                slice(g1, bytes(48)?)?,
                slice(g2, bytes(96)?)?,
                scratch_limbs(scratch, scratch_size, &others)?,
            )
        };
        let mut room = Room(scratch);
        let p = room.list(count, |i| {
            Ok(G1Affine::<Cycloid>::from_compressed(&g1[48 * i..48 * (i + 1)])?)
        })?;
        let q = room.list(count, |i| {
            Ok(G2Affine::<Cycloid>::from_compressed(&g2[96 * i..96 * (i + 1)])?)
        })?;
        if pairing_check(p, q)? { Ok(()) } else { Err(Failure(CYCLOID_ERROR_VERIFICATION)) }
    })
}
