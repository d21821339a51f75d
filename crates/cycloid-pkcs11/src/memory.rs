//! Converts C's pointers to slices, and writes results back through pointers.
//!
//! The functions are `unsafe` because nobody can check that a pointer is valid. Checkable defects
//! are ordinary errors: a null pointer with a length, an impossible length, or an impossible number
//! of attributes. Results are written through pointers, never through references, because C may
//! pass uninitialised memory, or the same memory as input and as output.

use std::ptr;

use cryptoki_sys::{CK_ATTRIBUTE, CK_ULONG, CK_UNAVAILABLE_INFORMATION};
use cycloid_hsm_protocol::{Code, Result};

/// The maximum number of attributes in a template; objects have about forty.
const MAX_ATTRIBUTES: CK_ULONG = 1024;

/// The maximum length of one piece of memory in bytes: 1 TiB.
const MAX_BYTES: CK_ULONG = 1 << 40;

/// Returns the slice of `count` values at `pointer`, which may be null if `count` is 0.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer with a count, and for impossible lengths.
///
/// # Safety
/// Anything not refused must be readable for as long as the slice is used.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, count: CK_ULONG) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    let bytes = count.checked_mul(size_of::<T>() as CK_ULONG).filter(|bytes| *bytes <= MAX_BYTES);
    let end = bytes.and_then(|bytes| (pointer.addr() as CK_ULONG).checked_add(bytes));
    if end.is_none() || pointer.is_null() || !pointer.is_aligned() {
        return Err(Code::ARGUMENTS_BAD.into());
    }
    // SAFETY: not null and aligned; the caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count as usize) })
}

/// Reads a value, aligned or not.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer.
///
/// # Safety
/// A non-null pointer must point to a `T`.
pub(crate) unsafe fn read<T: Copy>(pointer: *const T) -> Result<T> {
    if pointer.is_null() {
        return Err(Code::ARGUMENTS_BAD.into());
    }
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { pointer.read_unaligned() })
}

/// Writes a value, aligned or not.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer.
///
/// # Safety
/// A non-null pointer must point to room for a `T`.
pub(crate) unsafe fn write<T: Copy>(pointer: *mut T, value: T) -> Result<()> {
    if pointer.is_null() {
        return Err(Code::ARGUMENTS_BAD.into());
    }
    // SAFETY: guaranteed by the caller.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// Returns the attributes of a list, by number and value.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for an invalid list; [`Code::ATTRIBUTE_VALUE_INVALID`] for an invalid
/// value.
///
/// # Safety
/// As for [`slice()`], for the list and for each value.
pub(crate) unsafe fn attributes<'a>(
    pointer: *const CK_ATTRIBUTE,
    count: CK_ULONG,
) -> Result<Vec<(CK_ULONG, &'a [u8])>> {
    if count > MAX_ATTRIBUTES {
        return Err(Code::ARGUMENTS_BAD.into());
    }
    // SAFETY: guaranteed by the caller.
    let list = unsafe { slice(pointer, count)? };
    list.iter()
        .map(|attribute| {
            // SAFETY: guaranteed by the caller.
            let value = unsafe { slice(attribute.pValue.cast(), attribute.ulValueLen) };
            let value = value.map_err(|_| Code::ATTRIBUTE_VALUE_INVALID)?;
            Ok((attribute.type_, value))
        })
        .collect()
}

/// A function's output: room for a list of values whose length C learns.
///
/// A null pointer asks for the length alone. Insufficient room is an error that also reports the
/// length.
pub(crate) struct Output<T> {
    pointer: *mut T,
    capacity: CK_ULONG,
    length: *mut CK_ULONG,
}

impl<T: Copy> Output<T> {
    /// Describes room for as many values as `*length` says.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if `length` is null.
    ///
    /// # Safety
    /// `pointer`, unless null, must point to that much room, and both must stay valid as long as
    /// this value.
    pub(crate) unsafe fn new(pointer: *mut T, length: *mut CK_ULONG) -> Result<Self> {
        let capacity = match (length.is_null(), pointer.is_null()) {
            (true, _) => return Err(Code::ARGUMENTS_BAD.into()),
            // A caller who asks for the length need not have initialised it.
            (_, true) => 0,
            // SAFETY: guaranteed by the caller.
            _ => unsafe { read(length)? },
        };
        Ok(Self { pointer, capacity, length })
    }

    /// Returns whether values are wanted, rather than their number alone.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.pointer.is_null()
    }

    /// Returns the number of values for which there is room: 0 if none are wanted.
    pub(crate) fn room(&self) -> usize {
        if self.is_wanted() { usize::try_from(self.capacity).unwrap_or(usize::MAX) } else { 0 }
    }

    /// Returns whether `needed` values are wanted and fit. Otherwise reports their number to C.
    ///
    /// # Errors
    /// [`Code::BUFFER_TOO_SMALL`].
    pub(crate) fn has_room(&mut self, needed: usize) -> Result<bool> {
        if self.is_wanted() && self.capacity >= needed as CK_ULONG {
            return Ok(true);
        }
        self.tell(needed);
        if self.is_wanted() { Err(Code::BUFFER_TOO_SMALL.into()) } else { Ok(false) }
    }

    /// Writes the values, or only their number if only that is wanted.
    ///
    /// # Errors
    /// [`Code::BUFFER_TOO_SMALL`].
    pub(crate) fn put(&mut self, values: &[T]) -> Result<()> {
        if self.has_room(values.len())? {
            let (from, bytes) = (values.as_ptr().cast::<u8>(), size_of_val(values));
            // SAFETY: `new`'s caller guarantees the room; `values` may overlap it.
            unsafe { ptr::copy(from, self.pointer.cast::<u8>(), bytes) };
            self.tell(values.len());
        }
        Ok(())
    }

    fn tell(&mut self, count: usize) {
        // SAFETY: not null, as `new` has checked, and valid by its caller's guarantee.
        unsafe { self.length.write_unaligned(count as CK_ULONG) };
    }
}

/// A list of attributes whose values C asks for.
pub(crate) struct Wanted {
    pointer: *mut CK_ATTRIBUTE,
    count: usize,
}

impl Wanted {
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] for an invalid list.
    ///
    /// # Safety
    /// The list and the room for its values must stay valid as long as this value.
    pub(crate) unsafe fn new(pointer: *mut CK_ATTRIBUTE, count: CK_ULONG) -> Result<Self> {
        if pointer.is_null() || !pointer.is_aligned() || count > MAX_ATTRIBUTES {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        Ok(Self { pointer, count: count as usize })
    }

    /// Returns the attributes' numbers.
    pub(crate) fn numbers(&self) -> Vec<CK_ULONG> {
        // SAFETY: the list is valid by the guarantee to `new`.
        (0..self.count).map(|at| unsafe { (*self.pointer.add(at)).type_ }).collect()
    }

    /// Writes the value of the attribute at an index, or its length, or marks it as unavailable.
    ///
    /// # Errors
    /// [`Code::BUFFER_TOO_SMALL`] if the value does not fit; it is then marked as unavailable.
    pub(crate) fn put(&mut self, at: usize, value: Option<&[u8]>) -> Result<()> {
        assert!(at < self.count);
        // SAFETY: the list and the values' room are valid by the guarantee to `new`.
        unsafe {
            let attribute = self.pointer.add(at);
            let (room, capacity) = ((*attribute).pValue, (*attribute).ulValueLen);
            let fits = |value: &&[u8]| room.is_null() || capacity >= value.len() as CK_ULONG;
            match value.filter(fits) {
                Some(value) => {
                    if !room.is_null() {
                        ptr::copy(value.as_ptr(), room.cast(), value.len());
                    }
                    (*attribute).ulValueLen = value.len() as CK_ULONG;
                }
                None => (*attribute).ulValueLen = CK_UNAVAILABLE_INFORMATION,
            }
            if value.is_some_and(|value| !fits(&value)) {
                return Err(Code::BUFFER_TOO_SMALL.into());
            }
        }
        Ok(())
    }
}
