//! An instance of the provider, and the errors that it puts into OpenSSL's queue.

use std::ffi::{CString, c_char, c_int, c_void};

use crate::failure::Failure;

/// An instance of the provider in a library context.
pub(crate) struct Provider {
    /// The version, and the settings that have no effect.
    pub(super) version: CString,
    pub(super) handle: *const c_void,
    pub(super) new_error: Option<unsafe extern "C" fn(*const c_void)>,
    pub(super) set_error_debug:
        Option<unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char)>,
    pub(super) vset_error:
        Option<unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void)>,
}

/// A provider for raising errors, as OpenSSL passes it to constructors.
#[derive(Clone, Copy)]
pub(crate) struct Errors(*const Provider);

impl Errors {
    /// Returns the errors of a provider, by the context that OpenSSL passes to constructors.
    pub(crate) const fn of(context: *mut c_void) -> Self {
        Self(context.cast_const().cast())
    }

    /// Puts an error into OpenSSL's queue, with details. Returns `false`, for C.
    pub(crate) fn raise(self, failure: Failure, details: &str) -> bool {
        // In the core's format, a percent sign would begin a conversion.
        let format = CString::new(details.replace('%', "%%")).unwrap_or_default();
        // A list of variable arguments, which a format without conversions does not read. It is
        // passed by address on x86-64 and AArch64.
        let mut no_arguments = [0_u64; 8];
        // SAFETY: OpenSSL keeps the provider until all its objects are gone, and its functions take
        // the handle that they came with.
        unsafe {
            let Some(provider) = self.0.as_ref() else { return false };
            if let (Some(new), Some(debug), Some(set)) =
                (provider.new_error, provider.set_error_debug, provider.vset_error)
            {
                new(provider.handle);
                debug(provider.handle, c"cycloid".as_ptr(), 0, std::ptr::null());
                let text = if details.is_empty() { std::ptr::null() } else { format.as_ptr() };
                set(provider.handle, failure as u32, text, (&raw mut no_arguments).cast());
            }
        }
        false
    }
}
