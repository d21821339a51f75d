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

/// A slice that C passes as an address and a length. Null is empty if the length is 0; other bytes
/// that cannot exist raise an error.
///
/// # Safety
/// `data` is null or the address of `length` bytes that live for `'a`.
pub(crate) unsafe fn slice<'a>(errors: Errors, data: *const u8, length: usize) -> Option<&'a [u8]> {
    if length == 0 {
        return Some(&[]);
    }
    if data.is_null() || length > isize::MAX as usize {
        errors.raise(Failure::Input, "");
        return None;
    }
    // SAFETY: by the caller's word.
    Some(unsafe { std::slice::from_raw_parts(data, length) })
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

/// The settings of an operation, call by call, for a replay in the default provider: what it
/// accepts depends on their order.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    begin: OwnedParams,
    later: Vec<OwnedParams>,
}

impl Settings {
    /// More calls are left to the default provider at once, so that a context does not grow.
    const MOST: usize = 64;

    /// Copies the settings that an operation begins with.
    pub(crate) fn beginning(params: Params<'_>) -> Self {
        Self { begin: OwnedParams::copy_of(params), later: Vec::new() }
    }

    /// Returns the settings with another digest at the beginning.
    pub(crate) fn with_digest(&self, name: &str) -> Self {
        let mut changed = self.clone();
        changed.begin.update(OwnedParams::default().with_text(c"digest", name));
        changed
    }

    /// Adds the settings of a call. They replace those of the last call if that set the same.
    /// Returns whether there is room for more.
    pub(crate) fn add(&mut self, params: Params<'_>) -> bool {
        if !params.is_empty() {
            let added = OwnedParams::copy_of(params);
            match self.later.last_mut() {
                Some(last) if last.sets_the_same(&added) => *last = added,
                _ => self.later.push(added),
            }
        }
        self.later.len() < Self::MOST
    }

    /// Begins an operation in a context of the default provider, and sets what was set since.
    /// `begin` calls the context's function with the settings of the beginning.
    pub(crate) fn replay(
        &self,
        object: &Object,
        set_params: c_int,
        begin: impl FnOnce(Params<'_>) -> bool,
    ) -> bool {
        let set = |later: &OwnedParams| {
            later.with(|params| pass_params(object, set_params, params.as_ptr()))
        };
        self.begin.with(begin) && self.later.iter().all(set)
    }
}
