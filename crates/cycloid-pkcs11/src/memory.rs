//! What C hands over, as Rust sees it. Pointers become slices here, and results are written back here.
//!
//! The functions are `unsafe` because nobody can check that a pointer leads where its caller says. What
//! can be checked is: a null pointer with a length, a length that no memory has, and a count that no
//! template has are ordinary errors. Results are written through the pointers, never through references,
//! because C may hand over memory that it has not written yet, or the same as input and as output.

use std::ptr;

use cryptoki_sys::{CK_ATTRIBUTE, CK_ULONG, CK_UNAVAILABLE_INFORMATION};
use cycloid_hsm::{Code, Result};

/// The most attributes that a template may have; objects have some forty.
const MAX_ATTRIBUTES: CK_ULONG = 1024;

/// No program has more than this in one piece, in bytes: 1 TiB.
const MAX_BYTES: CK_ULONG = 1 << 40;

/// The slice of `count` values at `pointer`, which may be null if there are none.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer to something, and for lengths that cannot be.
///
/// # Safety
/// What is not refused must be readable for as long as the slice is used.
pub(crate) unsafe fn slice<'a, T>(pointer: *const T, count: CK_ULONG) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    let bytes = count.checked_mul(size_of::<T>() as CK_ULONG).filter(|bytes| *bytes <= MAX_BYTES);
    let end = bytes.and_then(|bytes| (pointer.addr() as CK_ULONG).checked_add(bytes));
    if end.is_none() || pointer.is_null() || !pointer.is_aligned() {
        return Err(Code::ARGUMENTS_BAD.into());
    }
    // SAFETY: not null and aligned; the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count as usize) })
}

/// Reads a value, wherever it stands.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer.
///
/// # Safety
/// A pointer that is not null must lead to a `T`.
pub(crate) unsafe fn read<T: Copy>(pointer: *const T) -> Result<T> {
    if pointer.is_null() {
        return Err(Code::ARGUMENTS_BAD.into());
    }
    // SAFETY: the caller promises it.
    Ok(unsafe { pointer.read_unaligned() })
}

/// Writes a value, wherever it belongs.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer.
///
/// # Safety
/// A pointer that is not null must lead to room for a `T`.
pub(crate) unsafe fn write<T: Copy>(pointer: *mut T, value: T) -> Result<()> {
    if pointer.is_null() {
        return Err(Code::ARGUMENTS_BAD.into());
    }
    // SAFETY: the caller promises it.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// The values of a list of attributes, by their numbers.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a list that cannot be; [`Code::ATTRIBUTE_VALUE_INVALID`] for such a value.
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
    // SAFETY: the caller promises it.
    let list = unsafe { slice(pointer, count)? };
    list.iter()
        .map(|attribute| {
            // SAFETY: the caller promises it.
            let value = unsafe { slice(attribute.pValue.cast(), attribute.ulValueLen) };
            let value = value.map_err(|_| Code::ATTRIBUTE_VALUE_INVALID)?;
            Ok((attribute.type_, value))
        })
        .collect()
}

/// Room for a list of values whose length C learns: a function's output.
///
/// A null pointer asks for the length alone. Too little room is an error that tells the length too.
pub(crate) struct Output<T> {
    pointer: *mut T,
    capacity: CK_ULONG,
    length: *mut CK_ULONG,
}

impl<T: Copy> Output<T> {
    /// Room for as many values as stand at `length`.
    ///
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] if `length` is null.
    ///
    /// # Safety
    /// `pointer`, unless null, must lead to that much room, and both must stay as long as this does.
    pub(crate) unsafe fn new(pointer: *mut T, length: *mut CK_ULONG) -> Result<Self> {
        let capacity = match (length.is_null(), pointer.is_null()) {
            (true, _) => return Err(Code::ARGUMENTS_BAD.into()),
            // Who asks for the length need not have written anything there.
            (_, true) => 0,
            // SAFETY: the caller promises it.
            _ => unsafe { read(length)? },
        };
        Ok(Self { pointer, capacity, length })
    }

    /// Whether values are wanted, rather than their number alone.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.pointer.is_null()
    }

    /// Whether `needed` values are wanted and have room. Tells how many there will be where they are not
    /// wanted or have not.
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

    /// Gives the values, or only their number if only that is wanted.
    ///
    /// # Errors
    /// [`Code::BUFFER_TOO_SMALL`].
    pub(crate) fn put(&mut self, values: &[T]) -> Result<()> {
        if self.has_room(values.len())? {
            let (from, bytes) = (values.as_ptr().cast::<u8>(), size_of_val(values));
            // SAFETY: there is room by the promise to `new`; `values` may overlap it.
            unsafe { ptr::copy(from, self.pointer.cast::<u8>(), bytes) };
            self.tell(values.len());
        }
        Ok(())
    }

    fn tell(&mut self, count: usize) {
        // SAFETY: not null, as `new` has seen, and still there by the promise to it.
        unsafe { self.length.write_unaligned(count as CK_ULONG) };
    }
}

/// A list of attributes whose values C wants to know.
pub(crate) struct Wanted {
    pointer: *mut CK_ATTRIBUTE,
    count: usize,
}

impl Wanted {
    /// # Errors
    /// [`Code::ARGUMENTS_BAD`] for a list that cannot be.
    ///
    /// # Safety
    /// The list and the room for each of its values must be there as long as this is.
    pub(crate) unsafe fn new(pointer: *mut CK_ATTRIBUTE, count: CK_ULONG) -> Result<Self> {
        if pointer.is_null() || !pointer.is_aligned() || count > MAX_ATTRIBUTES {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        Ok(Self { pointer, count: count as usize })
    }

    /// The attributes' numbers.
    pub(crate) fn numbers(&self) -> Vec<CK_ULONG> {
        // SAFETY: the list is there by the promise to `new`.
        (0..self.count).map(|at| unsafe { (*self.pointer.add(at)).type_ }).collect()
    }

    /// Gives the value of the attribute at a place, or its length, or says that it has none.
    ///
    /// # Errors
    /// [`Code::BUFFER_TOO_SMALL`] if the value has no room; then it is as if there were none.
    pub(crate) fn put(&mut self, at: usize, value: Option<&[u8]>) -> Result<()> {
        assert!(at < self.count);
        // SAFETY: the list and the values' room are there by the promise to `new`.
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
