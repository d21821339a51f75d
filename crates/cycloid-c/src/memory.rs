//! Pointers and lengths of C, checked and converted to references.

use core::slice;

use crate::error::{
    CYCLOID_ERROR_ALIGNMENT, CYCLOID_ERROR_LENGTH, CYCLOID_ERROR_NULL,
    CYCLOID_ERROR_OUTPUT_TOO_SMALL, CYCLOID_ERROR_OVERLAP, Failure, Outcome,
};

/// Returns an error for null, and for memory that is not aligned to the type.
pub(crate) fn checked<T>(pointer: *const T) -> Outcome {
    if pointer.is_null() {
        return Err(Failure(CYCLOID_ERROR_NULL));
    }
    if pointer.is_aligned() { Ok(()) } else { Err(Failure(CYCLOID_ERROR_ALIGNMENT)) }
}

/// Returns the value at a pointer.
///
/// # Safety
/// Unless it is null or misaligned, the pointer is to a `T` that nothing changes meanwhile.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T) -> Outcome<&'a T> {
    checked(pointer)?;
    // SAFETY: it is neither null nor misaligned, and the caller promises the rest.
    Ok(unsafe { &*pointer })
}

/// Returns the value at a pointer, to change it.
///
/// # Safety
/// Unless it is null or misaligned, the pointer is to a `T` that nothing else uses meanwhile.
pub(crate) unsafe fn unique<'a, T>(pointer: *mut T) -> Outcome<&'a mut T> {
    checked(pointer)?;
    // SAFETY: it is neither null nor misaligned, and the caller promises the rest.
    Ok(unsafe { &mut *pointer })
}

/// Returns `count` values to read. Null is an empty list if `count` is 0.
///
/// # Safety
/// Unless it is null or misaligned, the pointer is to `count` values that nothing changes meanwhile.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> Outcome<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    check_extent(pointer, count)?;
    // SAFETY: it is neither null nor misaligned, its size is possible, and the caller promises the
    // rest.
    Ok(unsafe { slice::from_raw_parts(pointer, count) })
}

/// Returns `count` values to write. Null is an empty list if `count` is 0.
///
/// # Safety
/// Unless it is null or misaligned, the pointer is to `count` values that nothing else uses
/// meanwhile.
pub(crate) unsafe fn slice_mut<'a, T>(pointer: *mut T, count: usize) -> Outcome<&'a mut [T]> {
    if count == 0 {
        return Ok(&mut []);
    }
    check_extent(pointer, count)?;
    // SAFETY: it is neither null nor misaligned, its size is possible, and the caller promises the
    // rest.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, count) })
}

/// Returns an error unless `count` values from a pointer on can exist. A negative length of C has
/// become a large one.
pub(crate) fn check_extent<T>(pointer: *const T, count: usize) -> Outcome {
    checked(pointer)?;
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize);
    match bytes.and_then(|bytes| pointer.addr().checked_add(bytes)) {
        Some(_) => Ok(()),
        None => Err(Failure(CYCLOID_ERROR_LENGTH)),
    }
}

/// Returns an array to read.
///
/// # Safety
/// As for [`slice`].
pub(crate) unsafe fn array<'a, const N: usize>(pointer: *const u8) -> Outcome<&'a [u8; N]> {
    // SAFETY: the caller promises it.
    unsafe { reference(pointer.cast()) }
}

/// Copies `bytes` to an output of exactly that length.
///
/// # Safety
/// Unless it is null, `output` is to `length` bytes that nothing else uses meanwhile.
pub(crate) unsafe fn write_exactly(bytes: &[u8], output: *mut u8, length: usize) -> Outcome {
    if length != bytes.len() {
        return Err(Failure(CYCLOID_ERROR_LENGTH));
    }
    // SAFETY: the caller promises it.
    unsafe { slice_mut(output, length) }?.copy_from_slice(bytes);
    Ok(())
}

/// Returns an output to write, and the number to which its length is written.
///
/// # Safety
/// Unless they are null or misaligned, `output` is to `capacity` bytes and `length` to a number,
/// which nothing else uses meanwhile.
pub(crate) unsafe fn output_and_length<'a>(
    output: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> Outcome<(&'a mut [u8], &'a mut usize)> {
    disjoint(&[Extent::of(output, capacity)], &[Extent::of(length, 1)])?;
    // SAFETY: the caller promises it, and they do not overlap.
    Ok(unsafe { (slice_mut(output, capacity)?, unique(length)?) })
}

/// Copies `bytes` to the start of an output, and stores their number.
///
/// # Safety
/// Unless they are null, `output` is to `capacity` bytes and `length` to a number, which nothing
/// else uses meanwhile.
pub(crate) unsafe fn write_within(
    bytes: &[u8],
    output: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> Outcome {
    // SAFETY: the caller promises it.
    let (output, length) = unsafe { output_and_length(output, capacity, length) }?;
    let output = output.get_mut(..bytes.len()).ok_or(Failure(CYCLOID_ERROR_OUTPUT_TOO_SMALL))?;
    output.copy_from_slice(bytes);
    *length = bytes.len();
    Ok(())
}

/// Memory that an argument occupies.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    start: usize,
    end: usize,
}

impl Extent {
    pub(crate) fn of<T>(pointer: *const T, count: usize) -> Self {
        let start = pointer.addr();
        Self { start, end: start.saturating_add(count.saturating_mul(size_of::<T>())) }
    }

    fn overlaps(&self, other: &Self) -> bool {
        // Empty ones overlap nothing.
        self.start.max(other.start) < self.end.min(other.end)
    }
}

/// Returns an error if an output overlaps another one or an input.
pub(crate) fn disjoint(outputs: &[Extent], inputs: &[Extent]) -> Outcome {
    let overlap = outputs
        .iter()
        .enumerate()
        .any(|(i, output)| outputs[..i].iter().chain(inputs).any(|other| output.overlaps(other)));
    if overlap { Err(Failure(CYCLOID_ERROR_OVERLAP)) } else { Ok(()) }
}
