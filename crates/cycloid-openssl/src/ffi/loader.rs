//! The system's loader of libraries: the loaded library that contains a function, and functions by
//! name.

#[cfg(unix)]
pub(super) use unix::{PROGRAM, function, library_of};
#[cfg(windows)]
pub(super) use windows::{PROGRAM, function, library_of};

#[cfg(unix)]
mod unix {
    use std::ffi::{CStr, c_void};

    /// All libraries that the program has loaded.
    pub(crate) const PROGRAM: *mut c_void = libc::RTLD_DEFAULT;

    /// Returns the library that `inside`, one of its functions, is part of, or null.
    ///
    /// # Safety
    /// `inside` is the address of a function.
    pub(crate) unsafe fn library_of(inside: *const c_void) -> *mut c_void {
        // SAFETY: `info` is filled by `dladdr` if it returns other than 0. The name belongs to the
        // loader. A library that is loaded already runs no code when opened again.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(inside, &raw mut info) == 0 || info.dli_fname.is_null() {
                std::ptr::null_mut()
            } else {
                libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD)
            }
        }
    }

    /// Returns the address of a function by name, or null.
    ///
    /// # Safety
    /// The handle is of a loaded library, or [`PROGRAM`].
    pub(crate) unsafe fn function(library: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: by the caller's promise.
        unsafe { libc::dlsym(library, name.as_ptr()) }
    }
}

#[cfg(windows)]
mod windows {
    use std::ffi::{CStr, c_char, c_void};
    use std::ptr::null_mut;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, inside: *const c_void, module: *mut *mut c_void) -> i32;
        fn GetModuleHandleW(name: *const u16) -> *mut c_void;
        fn GetProcAddress(module: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    /// `GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS`.
    const BY_ADDRESS: u32 = 2 | 4;

    /// The program itself.
    pub(crate) const PROGRAM: *mut c_void = null_mut();

    /// Returns the library that `inside`, one of its functions, is part of, or null.
    ///
    /// # Safety
    /// `inside` is the address of a function.
    pub(crate) unsafe fn library_of(inside: *const c_void) -> *mut c_void {
        let mut module = null_mut();
        // SAFETY: the call only compares the address, and writes to `module` if it succeeds.
        match unsafe { GetModuleHandleExW(BY_ADDRESS, inside, &raw mut module) } {
            0 => null_mut(),
            _ => module,
        }
    }

    /// Returns the address of a function by name, or null.
    ///
    /// # Safety
    /// The handle is of a loaded library, or [`PROGRAM`].
    pub(crate) unsafe fn function(library: *mut c_void, name: &CStr) -> *mut c_void {
        // SAFETY: by the caller's promise; null names the program.
        unsafe {
            let module =
                if library.is_null() { GetModuleHandleW(std::ptr::null()) } else { library };
            GetProcAddress(module, name.as_ptr())
        }
    }
}
