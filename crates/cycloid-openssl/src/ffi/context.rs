//! Common parts of the contexts of operations.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use super::abi::Param;
use super::default::{self, Object, Table};
use super::errors::Errors;
use super::params::{OwnedParams, Params};
use crate::failure::Failure;

/// The numbers of the functions of a kind of operations.
pub(crate) struct Numbers {
    pub(crate) operation: c_int,
    pub(crate) new: c_int,
    pub(crate) free: c_int,
    pub(crate) dup: c_int,
    pub(crate) get_params: c_int,
    pub(crate) set_params: c_int,
    pub(crate) gettable_params: c_int,
    pub(crate) settable_params: c_int,
}

/// A null address or a text, copied.
///
/// # Safety
/// `text` is null or a string.
pub(crate) unsafe fn copied(text: *const c_char) -> Option<CString> {
    // SAFETY: by the caller's word.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.into())
}

/// A slice that C passes as an address and a length.
///
/// # Safety
/// `data` is null or the address of `length` bytes that live for `'a`.
pub(crate) unsafe fn slice<'a>(data: *const u8, length: usize) -> &'a [u8] {
    if data.is_null() || length > isize::MAX as usize {
        return &[];
    }
    // SAFETY: by the caller's word.
    unsafe { std::slice::from_raw_parts(data, length) }
}

/// Writes a result to memory of C: its length alone if `output` is null.
///
/// # Safety
/// `output` is null or has room for `room` bytes; `length` is writable.
pub(crate) unsafe fn deliver(
    errors: Errors,
    result: &[u8],
    output: *mut u8,
    length: *mut usize,
    room: usize,
) -> bool {
    if !output.is_null() && room < result.len() {
        return errors.raise(Failure::OutputTooSmall, "");
    }
    // SAFETY: by the caller's word, and the length was compared with the room.
    unsafe {
        if !output.is_null() {
            std::ptr::copy_nonoverlapping(result.as_ptr(), output, result.len());
        }
        *length = result.len();
    }
    true
}

/// Creates a context in the default provider.
pub(crate) fn new_default(
    errors: Errors,
    numbers: &Numbers,
    name: &CStr,
    properties: Option<&CStr>,
) -> Option<Object> {
    let Some(table) = default::table(numbers.operation, name) else {
        errors.raise(Failure::NoDefault, "");
        return None;
    };
    default::new_context(table, numbers.new, numbers.free, properties)
}

/// Sets or gets parameters of a context of the default provider.
pub(crate) fn pass_params(object: &Object, id: c_int, params: *const Param) -> bool {
    type Pass = unsafe extern "C" fn(*mut c_void, *const Param) -> c_int;
    // SAFETY: both kinds of functions have this type; the array is OpenSSL's.
    unsafe {
        let pass = object.table().function::<Pass>(id);
        pass.is_some_and(|pass| pass(object.as_ptr(), params) == 1)
    }
}

/// Copies a context of the default provider.
pub(crate) fn duplicate(object: &Object, numbers: &Numbers) -> Option<Object> {
    type Dup = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
    // SAFETY: the function has this type; the object is valid, and its copy ours.
    unsafe {
        let dup = object.table().function::<Dup>(numbers.dup)?;
        Object::own(object.table(), dup(object.as_ptr()), numbers.free)
    }
}

/// Returns the default provider's list of parameters of contexts.
pub(crate) fn listed(numbers: &Numbers, name: &CStr, id: c_int) -> *const Param {
    type List = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const Param;
    let list = |table: &Table| {
        // SAFETY: the functions have this type, and accept that there is no context yet.
        unsafe { Some(table.function::<List>(id)?(std::ptr::null_mut(), table.context())) }
    };
    default::table(numbers.operation, name).and_then(list).unwrap_or(std::ptr::null())
}

/// Copies parameters for a later replay in the default provider.
pub(crate) fn remember(log: &mut OwnedParams, params: Params<'_>) {
    if !params.is_empty() {
        log.update(OwnedParams::copy_of(params));
    }
}
